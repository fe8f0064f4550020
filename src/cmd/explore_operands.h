/* explore_operands.h -- operands of `assay explore` that mean more than a value. */
#ifndef CMD_EXPLORE_OPERANDS_H
#define CMD_EXPLORE_OPERANDS_H

#include "base/arena.h"
#include "cover/cover.h"
#include "explore/portfolio.h"
#include "settings/opt.h"
#include "target/target.h"

/* "full" is every call, "touched+N" every N-th. */
int explore_read_verify(const char *text, unsigned *ret, struct err *err);
/* Adds what is tested already, of all these files. */
int explore_read_coverage(const struct opt_list *files, struct cover *before, struct err *err);

/* A run that is continued (NULL: none) has a directory, and is the search of one target. */
int explore_check_resume(const char *resume, const char *out, bool one_target, struct err *err);

/* What options add to the profile, as rows `ops.NAME=WEIGHT`: failures and looking for leaks are
 * operations. Returns how many, at most one more than there are failures. */
size_t explore_add_operations(const char **overrides, const struct opt_list *faults, bool leaks,
			      struct arena *arena);

/* Names of other configurations of the target's file system. */
struct explore_variants {
	struct buf names;
	const char *list[PORTFOLIO_VARIANTS];
	size_t count;
};
void explore_variants_find(struct explore_variants *v, const struct target *t);

/* The target and those it is compared with; fields that one of them does not have are ignored. */
struct explore_targets {
	struct target **list;
	size_t count;
};

/* To be closed also after a failure. */
int explore_targets_open(struct explore_targets *t, const char *first,
			 const struct opt_list *against, const struct target_options *with,
			 bool learn, struct err *err);
void explore_targets_close(struct explore_targets *t);

#endif
