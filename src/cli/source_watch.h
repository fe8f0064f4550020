/* source_watch.h -- which files of a Linux source tree change, while it is edited.
 *
 * By inotify, on all directories that the build of a kernel in a process reads; names that it does
 * not compile or include (backups and lock files of editors, objects) do not count. */
#ifndef CLI_SOURCE_WATCH_H
#define CLI_SOURCE_WATCH_H

#include "base/map.h"

struct err;

struct source_watch {
	const char *tree;
	int fd;
	char **dirs; /* by watch descriptor: "fs/ext4", "" for the tree itself; NULL: none */
	size_t dir_count;
	struct str_map changed; /* paths below the tree, each once; all since the last wait */
};

/* Changes count from now on. The name of the tree is kept. Close it also after a failure. */
int source_watch_open(struct source_watch *w, const char *tree, struct err *err);
void source_watch_close(struct source_watch *w);

/* Forgets what has changed, waits for a change and then until nothing changes for a moment: many
 * files are written at once. Returns early when a stop is requested, with nothing changed. */
int source_watch_await(struct source_watch *w, struct err *err);

#endif
