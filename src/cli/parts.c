/* parts.c -- work that can be divided: which part is meant. */
#include "cli/parts.h"

#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "cli/command.h"

int part_read(const char *text, struct part_number *ret, struct err *err)
{
	unsigned number, count;
	int used = 0;

	if (!text)
		return EXIT_CLEAN;
	if (sscanf(text, "%9u/%9u%n", &number, &count, &used) < 2 || text[used] || !number ||
	    number > count || count > PARTS_MAX) {
		err_set(err, EINVAL, "--part: %s is not I/N, with I from 1 to N", text);
		return EXIT_USAGE;
	}
	*ret = (struct part_number){ number - 1, count };
	return EXIT_CLEAN;
}
