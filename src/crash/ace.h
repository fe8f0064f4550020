/* ace.h -- all workloads of one to three operations on a few files, each by its number.
 *
 * The bounds are those of ACE: 13 operations on foo, bar, A/foo, A/bar, A and B (ace.def), each
 * followed by fsync of a file or directory, by sync, or by nothing; the last one never by nothing.
 * What can be persisted follows from the operands of all operations: up to two operations, the
 * operands, their siblings and their parents; with three, the operands alone, and each operation
 * must have to do with one before it. So there are 328 workloads of one operation and 241,720 of
 * two, the published numbers, and all of them are legal: ace_build.h resolves the dependencies by
 * what exists, where the published tool lost track of sizes and of names that moved.
 *
 * Differences to the published workloads:
 * - Dependencies are on the disk before the workload begins, unless in_place is set.
 * - The published tool adds msync to mmapwrite and nothing behind it, so that it generates every
 *   such workload several times. Here fsync of the mapped file is msync of the mapping, and the
 *   others are as for any operation.
 * - remove is unlink of an open file (they were the same).
 * - A direct write behind the end of the file begins at the next page, if that end is unaligned.
 * - Nested: A/C can be made by mkdir, and no directory is moved into itself.
 * - Three writes are generated, too; any operations that share no path are not.
 *
 * Workloads are numbered from 0 without gaps, so that a run can be split, sampled and resumed. One
 * takes a few microseconds. Impossible and symmetric ones have no number. */
#ifndef CRASH_ACE_H
#define CRASH_ACE_H

#include "crash/ace_table.h"
#include "workload/workload.h"

struct ace_options {
	unsigned length;     /* operations: 1 to 3 */
	bool nested;         /* also A/C, A/C/foo and A/C/bar */
	bool wide;           /* argument values are drawn (ace_values.c), by seed and index */
	bool in_place;       /* dependencies precede the operation, unsynced, as published */
	uint64_t seed;       /* of wide inputs */
	uint64_t disk_bytes; /* bounds wide inputs; 0: no bound */
};

typedef unsigned ace_path_set; /* bits of enum ace_path */

struct ace {
	struct ace_options options;
	struct ace_use uses[ACE_USES_MAX];
	/* Of each use: its operands, what has to do with them, what can be persisted with them. */
	ace_path_set operands[ACE_USES_MAX], related[ACE_USES_MAX], persisted[ACE_USES_MAX];
	size_t use_count;
	/* For each choice of all operations but the last one, the index of its first workload. */
	uint64_t *starts;
	size_t start_count;
	uint64_t count; /* of workloads */
};

/* "seq-2" or "seq-2-nested" sets length and nested. */
int ace_parse(struct ace_options *ret, const char *text, struct err *err);

void ace_init(struct ace *a, const struct ace_options *options);
void ace_free(struct ace *a);
/* The workload with this index, below a->count, in memory of the arena; the same whenever the
 * options are. */
void ace_workload(const struct ace *a, uint64_t index, struct arena *arena, struct workload *ret);

#endif
