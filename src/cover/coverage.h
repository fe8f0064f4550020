/* coverage.h -- what a tracer or a reader of traces measures, and what it says about itself.
 *
 * Counts by partition and errno are those of cover.h; beside them the values of flags as they were
 * given, and how much calls returned. Every output says how many calls were lost or could not be
 * attributed, and whether what is attributed is exact. */
#ifndef COVER_COVERAGE_H
#define COVER_COVERAGE_H

#include <jansson.h>

#include "cover/cover.h"
#include "cover/syscalls.h"

/* The values of one flag argument, with their counts; open addressing. */
struct flag_combination {
	uint64_t value, count; /* count 0: free */
	uint16_t op, arg;
};
struct flag_combinations {
	struct flag_combination *slots;
	size_t count, cap;
};

enum { COVERAGE_COMBINATIONS_MAX = 1 << 16 };

struct coverage {
	struct cover counts;
	struct flag_combinations combinations;
	uint64_t *returned[OP_COUNT]; /* by class of number; NULL until the first */
	uint64_t made[TRACE_ROWS];    /* by row of syscalls.def */
	uint64_t calls;               /* attributed and counted */
	uint64_t lost;                /* not counted, or not wholly */
	uint64_t unattributed;        /* may or may not be on the mount */
	uint64_t unknown;             /* lines, events and calls without a row */
	uint64_t understood;          /* by a reader: calls that have one, wherever they were */
	bool exact;                   /* no attribution by names alone */
	bool cut;                     /* the trace ended in the middle */
	const char *source;           /* "bpf", "strace", ... */
	const char *selected; /* how the command's processes are recognised: "cgroup", ... */
};

void coverage_init(struct coverage *c, const char *source);
void coverage_free(struct coverage *c);
/* A call of that row: how often, with which result (negative errno). */
void coverage_result(struct coverage *c, const struct syscall *s, int64_t ret, uint64_t times);
/* One value of an argument, by its place among the arguments that the row counts. */
void coverage_value(struct coverage *c, const struct syscall *s, unsigned arg, int64_t value,
		    uint64_t times);
/* All of them, by position; values from SYSCALL_BEHIND on are what lay behind a pointer. Known says
 * which are there, a bit each. */
void coverage_values(struct coverage *c, const struct syscall *s,
		     const int64_t value[SYSCALL_VALUES], unsigned known);

/* The whole, as DESIGN names it: calls lost unattributed exact input output untested ... */
json_t *coverage_json(struct coverage *c);

#endif
