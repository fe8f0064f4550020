/* patience.h -- whether a process that does not answer hangs, or was not allowed to run.
 *
 * Time counts against a deadline only as far as the machine let the process, and all that it has
 * started, work: not while it is stopped, not while it waits for a CPU, and less where many share
 * few CPUs. Looking costs nothing to speak of in the first second, and then a look at /proc. Where
 * that cannot be read all time counts. */
#ifndef SANDBOX_PATIENCE_H
#define SANDBOX_PATIENCE_H

#include <stdint.h>
#include <sys/types.h>

enum patience_left {
	PATIENCE_LEFT,
	PATIENCE_OVER,    /* it had the time, and used it up */
	PATIENCE_STARVED, /* it never got the time: our failure, or the machine's */
};

struct patience {
	pid_t pid;
	int64_t limit_ns;
	int64_t begin_ns, look_ns; /* when it began, and when it was looked last */
	int64_t counted_ns;
	uint64_t run_ns; /* CPU time of all of them at the last look; 0: not known */
};

/* To be called before a chroot from where /proc cannot be seen; else it happens by itself. */
void patience_prepare(void);

/* The process is to answer within the limit, from now on. */
void patience_begin(struct patience *p, pid_t pid, int64_t limit_ns);
/* To be asked every so often, a few times a second. */
enum patience_left patience_look(struct patience *p);

#endif
