/* parts.h -- work that can be divided: --part I/N does one part of N, which need not know of the
 * others, and what all parts have printed is put together again. */
#ifndef CLI_PARTS_H
#define CLI_PARTS_H

#include <jansson.h>

#include "run/run.h"
#include "settings/opt.h"

/* The field is a `const char *`. */
#define PART_OPT(settings, field) \
	{ \
		"part", OPT_TEXT, offsetof(settings, field), "I/N", \
			"only part I of N, counted from 1: N runs with the same options do all " \
			"of " \
			"the work, in any order and on any machine", \
			0, 0 \
	}

struct part_number {
	unsigned number, count; /* 0 to count-1 */
};

#define PART_ALL \
	{ \
		.number = 0, .count = 1 \
	}

enum { PARTS_MAX = 1000000 };

/* "2/8": the second of eight; NULL leaves *ret as it is. An exit code. */
int part_read(const char *text, struct part_number *ret, struct err *err);

/* Of a command that has --part. The options of the command are parsed before any of these. */
struct command_parts {
	const char *const
		*whole_only; /* options that make work that cannot be divided; NULL ends */
	/* Can it be run on what the command line names? An exit code. */
	int (*check)(const char *operand, struct err *err);
	/* Takes over the figures of one part from its run.json; its findings are those of the run
	 * already. */
	void (*add)(struct run *all, const json_t *part);
	/* Writes and prints the result of all; `status` is that of the work before. */
	int (*finish)(struct run *all, int status, struct err *err);
};

#endif
