/* fault.c -- loads and stores by this process, and the signals that end them. */
#include "syscall/fault.h"

#include <setjmp.h>
#include <signal.h>
#include <string.h>

#include "op/op.h"

enum { FAULT_PAGE = 4096 };

/* Where a fault goes to; NULL outside of a copy. */
static _Thread_local sigjmp_buf *fault_landing;

static void on_fault(int signal_number)
{
	if (fault_landing)
		siglongjmp(*fault_landing, signal_number);
	signal(signal_number, SIG_DFL);
}

/* From `at`, what is left of its page, at most. */
static size_t fault_part(const void *at, size_t left)
{
	size_t part = FAULT_PAGE - (size_t)at % FAULT_PAGE;

	return part < left ? part : left;
}

/* mapped: the address of the copy that may fault. */
static size_t fault_copy(char *to, const char *from, const char *mapped, size_t count,
			 int *ret_error)
{
	struct sigaction handler = { .sa_handler = on_fault }, bus, segment;
	volatile size_t done = 0;
	sigjmp_buf landing;
	int number;

	sigaction(SIGBUS, &handler, &bus);
	sigaction(SIGSEGV, &handler, &segment);
	fault_landing = &landing;
	number = sigsetjmp(landing, 1);
	while (!number && done < count) {
		size_t part = fault_part(mapped + done, count - done);

		memcpy(to + done, from + done, part);
		done += part;
	}
	fault_landing = NULL;
	sigaction(SIGBUS, &bus, NULL);
	sigaction(SIGSEGV, &segment, NULL);
	*ret_error = number == SIGBUS ? ERROR_SIGBUS : number ? ERROR_SIGSEGV : 0;
	return done;
}

size_t fault_load(void *to, const void *from, size_t count, int *ret_error)
{
	return fault_copy(to, from, from, count, ret_error);
}

size_t fault_store(void *to, const void *from, size_t count, int *ret_error)
{
	return fault_copy(to, from, to, count, ret_error);
}
