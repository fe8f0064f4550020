/* server.h -- carrying out what stands on a channel: plans and walks, there where the file system
 * is.
 *
 * The channel's owner waits meanwhile; what is found goes back on the channel. */
#ifndef CHANNEL_SERVER_H
#define CHANNEL_SERVER_H

#include "channel/channel.h"

struct err;
struct scanner;
struct tree;

struct channel_server {
	struct channel *channel;
	void *own;
	/* Makes a call; -ETIME: it hung. */
	int (*call)(void *own, const struct call *c, struct outcome *ret, struct err *err);
	int (*walk)(void *own, struct tree *ret, struct err *err);
	/* Whether the file system is mounted; asked before every step. */
	bool (*attached)(void *own);
	/* Whether it is gone nevertheless (a daemon died). */
	bool (*gone)(void *own);
};

/* What a walk takes: everything that a test can have made. Also of large files. */
struct scanner *channel_server_scanner(unsigned fields, bool labelled);

void channel_server_follow(struct channel_server *s);
void channel_server_observe(struct channel_server *s);

#endif
