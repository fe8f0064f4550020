/* owner.h -- a process that ends when the one that made it does, at whatever moment that is.
 *
 * PR_SET_PDEATHSIG alone is not enough: the signal never comes if the owner was killed before the
 * child asked for it. */
#ifndef PROCESS_OWNER_H
#define PROCESS_OWNER_H

#include <sys/types.h>

/* In a child: the signal comes when its parent, `owner`, ends. Exits at once if that is gone. The
 * kernel forgets it whenever credentials change. */
void owner_follow(pid_t owner, int signal);

/* The same across PID namespaces, where the parent has no number: before clone(), a descriptor of
 * this process, which both sides close; -1 where none can be had, and then the gap stays. */
int owner_open(void);
void owner_follow_fd(int owner_fd, int signal);

#endif
