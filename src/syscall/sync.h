/* sync.h -- sync(2), as far as it concerns the file system under test. */
#ifndef SYSCALL_SYNC_H
#define SYSCALL_SYNC_H

/* Writes what is cached of the file system that root_fd is in. Returns 0, or -1 and errno where the
 * kernel knows that something could not be written. */
int sync_file_system(int root_fd);

#endif
