/* request.c -- failures that are ours, and reports of programs. */
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

void program_report_free(struct program_report *r)
{
	buf_free(&r->output);
	*r = (struct program_report){ 0 };
}
