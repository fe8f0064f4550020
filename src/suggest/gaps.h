/* gaps.h -- the gaps of coverage by number, and which of them a call fills. */
#ifndef SUGGEST_GAPS_H
#define SUGGEST_GAPS_H

#include <jansson.h>

#include "base/map.h"
#include "cover/cover.h"
#include "cover/syscalls.h"
#include "manual/manual.h"
#include "op/kind.h"

enum { GAP_NONE = -1, GAP_ALL_ARGUMENTS = -1 };

struct gap {
	struct manual_example best; /* count 0: no script yet */
	bool filled;                /* by a script that was taken */
};

struct gaps {
	struct str_map names; /* to the number */
	struct gap *list;
	size_t count;
	int output[OP_COUNT][COVER_ERRNOS]; /* by base call; GAP_NONE: there is none */
	/* Of one system call, the one that is searched. */
	const struct syscall *row;
	int input[OP_ARGS_MAX][PARTITIONS_MAX]; /* by argument of its operation */
};

struct gaps *gaps_new(const json_t *names);
void gaps_free(struct gaps *g);
const char *gaps_name(const struct gaps *g, size_t i);

/* From now on, calls are of this row. */
void gaps_select(struct gaps *g, const struct syscall *row);
/* Whether a gap that calls of the row could fill is open. */
bool gaps_are_open(const struct gaps *g);
/* Whether the value of an argument is in a partition that is untested and open. */
bool gaps_want_value(const struct gaps *g, unsigned argument, const struct arg *value);

/* Visits the gaps that a call fills which ends with this error. Inputs count for the argument that
 * is given, or for all. */
void gaps_visit(struct gaps *g, const struct call *call, int error, int argument,
		void (*visit)(void *to, struct gap *gap), void *to);

#endif
