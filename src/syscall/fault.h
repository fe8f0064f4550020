/* fault.h -- loads from and stores to memory that may not be there. */
#ifndef SYSCALL_FAULT_H
#define SYSCALL_FAULT_H

#include <stddef.h>

/* Both copy page by page, in ascending order, and return how many bytes they copied. Where a signal
 * ends them, *ret_error is ERROR_SIGBUS or ERROR_SIGSEGV, else it is 0. The mapping is `from` of
 * the one, `to` of the other; the other memory is there. */
size_t fault_load(void *to, const void *from, size_t count, int *ret_error);
size_t fault_store(void *to, const void *from, size_t count, int *ret_error);

#endif
