/* check.h -- what the parts of check.c share: the recovered tree beside the history. */
#ifndef PERSISTENCE_CHECK_H
#define PERSISTENCE_CHECK_H

#include "persistence/window.h"

/* A name of the recovered tree, or one that is missing there: the steps at which the history has
 * the same, as bits from the base on. */
struct name_steps {
	uint64_t dir; /* of the history */
	const char *name;
	size_t len;
	uint64_t steps;
};

struct check {
	struct crash_window w;
	const struct tree *seen;
	struct buf path; /* where the walk is */
	struct name_steps *names;
	size_t name_count, name_cap;
	struct broken_promise *broken; /* the first one found */
	bool found;
};

/* Of the path where the walk is; the first report stays. */
void check_report(struct check *x, const char *what, size_t step, const char *seen,
		  const char *reason);
/* The first step from `from` on that has the object; behind the last one, if none has. */
size_t check_first_step(const struct check *x, uint64_t ino, size_t from);
/* Whether the size and the bytes of a file are allowed; else reports why not. */
bool check_data(struct check *x, uint64_t ino, const struct inode *seen);

#endif
