/* daemon.h -- a FUSE daemon: started until it serves its mount, stopped until it is gone.
 *
 * For the second process of a PID namespace, to whom, as a subreaper, all that a daemon leaves
 * behind falls. */
#ifndef SANDBOX_DAEMON_H
#define SANDBOX_DAEMON_H

#include <stdbool.h>

struct buf;
struct err;

enum { DAEMON_OUTPUT_MAX = 2048 };

/* How a daemon ended that no one stopped. Memory that the sandbox shares with its owner. */
struct daemon_end {
	bool known;
	int status;                     /* of wait(2) */
	char output[DAEMON_OUTPUT_MAX]; /* its last lines */
};

/* Runs the command and returns when something is mounted at the directory. Where the command
 * ends without that, the error holds what it said. *end is reset, and filled when the daemon has
 * ended (daemon_killed). */
int daemon_start(const char *command, const char *mount, int pass_fd, double seconds,
		 struct daemon_end *end, struct err *err);
/* "signal 11 (SIGSEGV)", "exit status 1"; nothing where it is not known. */
void daemon_print_end(const struct daemon_end *end, struct buf *out);
/* Unmounts, and waits until every process is gone; after the given time they are killed. -ECHILD
 * if another process has killed one of them. */
int daemon_stop(const char *mount, double seconds, struct err *err);
/* Kills all its processes, as a crash would: whatever it holds in memory is lost. Of one that is
 * dead already nothing is left to do. A daemon that has a file of its mount open closes it when it
 * ends, and waits for itself: then the connection is ended. -ETIMEDOUT: it does not end even so. */
int daemon_kill(const char *mount, double seconds, struct err *err);
/* Only sends the signal; also from another thread. The end is ours, then, no other process's. */
void daemon_send_kill(void);
/* Whether the daemon answers for its mount no more. */
bool daemon_gone(const char *mount);
/* Of a daemon that is gone: -ECHILD where it was killed by SIGKILL. No program does that to itself;
 * it was another process or the OOM killer, unless it was daemon_send_kill(). */
int daemon_killed(struct err *err);

#endif
