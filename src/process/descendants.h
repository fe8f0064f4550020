/* descendants.h -- all processes that a process has started, and those have, as /proc shows them.
 */
#ifndef PROCESS_DESCENDANTS_H
#define PROCESS_DESCENDANTS_H

#include <stddef.h>
#include <sys/types.h>

/* Adds those below any of the `count` processes that are there already, at most up to `max` in
 * all; returns how many there are now. proc_fd is a descriptor of /proc. */
size_t descendants_add(int proc_fd, pid_t *pids, size_t count, size_t max);

#endif
