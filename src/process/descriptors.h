/* descriptors.h -- what a forked process keeps of the descriptors it inherits. */
#ifndef PROCESS_DESCRIPTORS_H
#define PROCESS_DESCRIPTORS_H

#include <stddef.h>

/* Closes all but the given ones; 0, 1 and 2 become /dev/null: a process that the kernel does not
 * let go must not keep open what others wait to see closed. */
void descriptors_keep(const int *fds, size_t count);

#endif
