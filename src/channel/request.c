/* request.c -- what ended a request: failures that are ours, results of programs. */
#include "channel/request.h"

#include <errno.h>

#include "base/must.h"

bool failure_is_ours(int failure)
{
	static const int ours[] = { ECHILD, ESRCH, ENOMEM, EAGAIN, EMFILE, ENFILE, EUSERS };

	for (size_t i = 0; i < ARRAY_LEN(ours); i++)
		if (failure == -ours[i])
			return true;
	return false;
}

void program_end_free(struct program_end *e)
{
	buf_free(&e->output);
	*e = (struct program_end){ 0 };
}
