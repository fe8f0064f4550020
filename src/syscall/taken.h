/* taken.h -- file handles that calls took, by the numbers a script gives them.
 *
 * They belong to all processes of a script: a handle is bytes. They are kept when a caller is
 * freed, because they outlive a remount, and lost when one is reset. */
#ifndef SYSCALL_TAKEN_H
#define SYSCALL_TAKEN_H

#include <fcntl.h>
#include <stdint.h>

union taken_handle {
	struct file_handle head; /* of no bytes: none was taken */
	char bytes[sizeof(struct file_handle) + MAX_HANDLE_SZ];
};

union taken_handle *handle_taken(int64_t number);
/* Processes that are forked from now on have the same handles. Without memory they do not. */
void handles_share(void);
void handles_forget(void);

#endif
