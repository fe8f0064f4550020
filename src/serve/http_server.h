/* http_server.h -- pages of runs by HTTP: read-only, on this machine unless another address is
 * given.
 *
 * One thread answers one request after the other, so that nothing is locked; a page takes some
 * milliseconds. Connections, their memory and their time are limited. Once it listens, the process
 * can open no files but those below its directory, write none, and start nothing
 * (process/confine.h). */
#ifndef SERVE_HTTP_SERVER_H
#define SERVE_HTTP_SERVER_H

#include "serve/request_guard.h"
#include "serve/run_index.h"
#include "serve/served_runs.h"

struct MHD_Daemon;
struct buf;
struct err;

enum {
	HTTP_SERVER_CONNECTIONS_MAX = 64,
	HTTP_SERVER_CONNECTIONS_OF_ONE_MAX = 48,
	HTTP_SERVER_IDLE_SECONDS_MAX = 15,
	HTTP_SERVER_REQUEST_BYTES_MAX = 32 << 10,
};

struct http_server {
	struct served_root root;
	struct run_index index;
	struct request_guard guard;
	struct MHD_Daemon *daemon;
	char machine[256];
};

/* address: numeric; one that is not loopback, and a file with one, require a token. Without such a
 * file the token is a random one. */
int http_server_open(struct http_server *s, const char *path, const char *address, unsigned port,
		     const char *token_path, struct err *err);
/* Where it can be reached; show_token: with the token in it. */
void http_server_url(const struct http_server *s, bool show_token, struct buf *out);
/* Answers requests until it is to stop (base/stop.h). */
int http_server_run(struct http_server *s, struct err *err);
void http_server_close(struct http_server *s);

#endif
