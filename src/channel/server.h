/* server.h -- the server's side of a channel: it carries out plans and scans, there where the file
 * system is. The client waits meanwhile. */
#ifndef CHANNEL_SERVER_H
#define CHANNEL_SERVER_H

#include "channel/message.h"

struct scanner;
struct tree;

struct channel_server {
	struct message *message;
	void *own;
	/* Makes a call; -ETIME: it hung. */
	int (*call)(void *own, const struct call *c, struct outcome *ret, struct err *err);
	int (*scan)(void *own, struct tree *ret, struct err *err);
	/* Looks at a part again (tree_scan_part()); NULL: all is scanned instead. The trees of
	 * `times` have to share what did not change. */
	bool (*scan_part)(void *own, const char *paths, struct tree *t);
	/* Whether the file system is mounted; asked before every step. */
	bool (*attached)(void *own);
	/* Whether it is gone nevertheless (a daemon died). */
	bool (*gone)(void *own);
	/* Waits until the clock that files get their times from has moved. */
	void (*let_time_pass)(void *own);
	/* By how much that clock surely moves from one call to the next; 0: unknown. */
	int64_t call_ns;
	struct times_watch times; /* of the scans */
	size_t parts;             /* looks at parts since the last one at all */
};

/* What a scan reads: everything that a test can have made. Also of large files. */
struct scanner *channel_server_scanner(unsigned fields, bool labelled);

/* To be called before each request is served. */
void channel_server_begin(struct channel_server *s);
void channel_server_follow(struct channel_server *s);
void channel_server_observe(struct channel_server *s);

#endif
