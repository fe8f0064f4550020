/* descriptors.h -- what a forked process keeps of the descriptors it inherits. */
#ifndef TARGET_DESCRIPTORS_H
#define TARGET_DESCRIPTORS_H

#include <stddef.h>

/* Closes all but the given ones; 0 and 1 become /dev/null, 2 stays for our own bugs. */
void descriptors_keep(const int *fds, size_t count);

#endif
