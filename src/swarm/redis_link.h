/* redis_link.h -- a connection to a Redis or Valkey server: commands are added, sent together, and
 * their replies read in the same order.
 *
 * hiredis reads the replies; the socket is ours, since Debian's hiredis knows no TLS. Every step
 * has a time limit. A lost connection is -ENOTCONN, whatever the reason; what the server refuses is
 * another error (redis_reply_check). */
#ifndef SWARM_REDIS_LINK_H
#define SWARM_REDIS_LINK_H

#include <hiredis/hiredis.h>

#include "base/buf.h"
#include "base/err.h"
#include "swarm/redis_url.h"

struct redis_link {
	int fd; /* -1: there is no connection */
	void *tls, *tls_context;
	struct redisReader *reader;
	struct buf out;
	char server[64]; /* the run_id of its process: another one after a restart */
	bool is_cluster;
};

#define REDIS_LINK_INIT \
	{ \
		.fd = -1 \
	}

/* Connects, logs in and chooses the database. */
int redis_link_open(struct redis_link *l, const struct redis_url *u, struct err *err);
void redis_link_close(struct redis_link *l);

/* A command of `count` arguments, which follow one by one. */
void redis_link_begin(struct redis_link *l, size_t count);
void redis_link_arg(struct redis_link *l, const void *data, size_t len);
void redis_link_args(struct redis_link *l, const char *text);
void redis_link_argu(struct redis_link *l, uint64_t value);
/* Sends what was added. */
int redis_link_send(struct redis_link *l, struct err *err);
/* The next reply; never one that is an error: that is returned. freeReplyObject() frees it. */
int redis_link_read(struct redis_link *l, redisReply **ret, struct err *err);
/* Sends what was added, and reads one reply where only success matters. */
int redis_link_finish(struct redis_link *l, struct err *err);
/* Sends one command as of redisCommand() and reads its reply. */
int redis_link_ask(struct redis_link *l, redisReply **ret, struct err *err, const char *format,
		   ...);
/* The same where only success matters. */
int redis_link_do(struct redis_link *l, struct err *err, const char *format, ...);

/* What an error reply means: -ENOMEM, -EACCES, -ENOTCONN where the server is about to be ready, or
 * -EPROTO. */
int redis_reply_check(const redisReply *r, struct err *err);
/* A number, or a text that is one; 0 for anything else. */
uint64_t redis_reply_number(const redisReply *r);
/* Element i of an array; NULL if there is none. */
const redisReply *redis_reply_at(const redisReply *r, size_t i);
/* A line "name:value" of INFO; false if there is none. */
bool redis_info(const redisReply *r, const char *name, char *ret, size_t size);

#endif
