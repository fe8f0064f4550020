/* redis_url.h -- where a Redis or Valkey server is, and how it is entered.
 *
 *	redis://[[USER]:PASSWORD@]HOST[:PORT][/DB]
 *	rediss://...          the same by TLS; ?ca=FILE &cert=FILE &key=FILE
 *	unix://[[USER]:PASSWORD@]/PATH[?db=N]
 *
 * USER and PASSWORD may contain %XX. */
#ifndef SWARM_REDIS_URL_H
#define SWARM_REDIS_URL_H

#include <stdbool.h>

#include "base/buf.h"

struct redis_url {
	char *host, *socket; /* one of them */
	char *user, *password;
	char *ca, *cert, *key; /* files for TLS; NULL: the system's, none, none */
	unsigned port, db;
	bool tls;
};

/* The text of a URL: as given, or of a file, or of ASSAY_REDIS in the environment. */
int redis_url_choose(struct buf *ret, const char *given, const char *file, struct err *err);
/* On failure nothing is to be freed. Messages never contain the password. */
int redis_url_parse(struct redis_url *u, const char *text, struct err *err);
void redis_url_free(struct redis_url *u);
/* For people: without user and password. */
void redis_url_print(const struct redis_url *u, struct buf *out);

#endif
