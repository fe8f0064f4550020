/* sync.c -- sync(2) of one file system of the running kernel.
 *
 * The system call itself waits for every disk of the machine: for minutes on a busy one, and for
 * ever where another mount is stuck, which is no hang of the file system under test. */
#include "syscall/sync.h"

#include <unistd.h>

int sync_file_system(int root_fd)
{
	return syncfs(root_fd);
}
