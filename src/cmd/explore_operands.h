/* explore_operands.h -- operands of `assay explore` that mean more than a value. */
#ifndef CMD_EXPLORE_OPERANDS_H
#define CMD_EXPLORE_OPERANDS_H

#include "base/opt.h"
#include "cover/cover.h"
#include "target/target.h"

/* "full" is every call, "touched+N" every N-th. */
int explore_read_verify(const char *text, unsigned *ret, struct err *err);
/* Adds what is tested already, of all these files. */
int explore_read_coverage(const struct opt_list *files, struct cover *before, struct err *err);

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
