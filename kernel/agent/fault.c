// SPDX-License-Identifier: GPL-2.0
/* fault.c -- loads from and stores to mappings of the kernel in this process: it makes them itself.
 */
#include "syscall/fault.h"

#include <signal.h>

#include "kernel/driver/assay.h"
#include "op/op.h"

static size_t guest_access(void *plain, const void *mapped, size_t count, bool store,
			   int *ret_error)
{
	int number;
	size_t done = assay_access(plain, (unsigned long)mapped, count, store, &number);

	*ret_error = number == SIGBUS ? ERROR_SIGBUS : number ? ERROR_SIGSEGV : 0;
	return done;
}

size_t fault_load(void *to, const void *from, size_t count, int *ret_error)
{
	return guest_access(to, from, count, false, ret_error);
}

size_t fault_store(void *to, const void *from, size_t count, int *ret_error)
{
	return guest_access((void *)from, to, count, true, ret_error);
}
