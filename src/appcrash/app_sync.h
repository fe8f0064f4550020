/* app_sync.h -- sync(2) and syncfs(2) of a program, which FUSE does not hear of.
 *
 * A seccomp filter hands these two calls of the program, and of all it starts, to a thread of ours.
 * The thread flushes the mount, writes the call to the script and returns for the program. No other
 * file system is synced. Where the kernel does not allow that, the calls are not recorded. */
#ifndef APPCRASH_APP_SYNC_H
#define APPCRASH_APP_SYNC_H

#include <pthread.h>
#include <sys/stat.h>

struct err;

struct app_sync {
	const char *dir; /* of the mount */
	int trace_fd;
	int ends[2]; /* the child sends the listener by [1] */
	pthread_t thread;
	struct stat mount;
};

int app_sync_start(struct app_sync *a, const char *dir, int trace_fd, struct err *err);
/* In the child, before it executes the program. */
void app_sync_enter(void *of);
/* After the program has ended. */
void app_sync_stop(struct app_sync *a);

#endif
