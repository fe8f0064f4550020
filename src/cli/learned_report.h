/* learned_report.h -- what a target was found to lack, as it is printed and kept: never silent. */
#ifndef CLI_LEARNED_REPORT_H
#define CLI_LEARNED_REPORT_H

#include <stdbool.h>

struct learned_list;
struct run;
struct target;

/* Of --no-learn. */
#define LEARN_OPT(settings, field) \
	{ \
		"learn", OPT_FLAG, offsetof(settings, field), NULL, \
			"probe first what a file system without a description lacks, and judge " \
			"by that", \
			0, 0 \
	}

/* What run.json has of it. */
#define LEARNED_FIGURES "learned", "learned_in_part", "descriptions"

/* run.json lists what was learned of the target: [{target, trait, value, fields, what, reason,
 * hides}]; and how to describe it, as text. */
void learned_add(struct run *run, const struct target *t);
/* One line for each missing feature, and the description; nothing where nothing was learned. */
void learned_print(const struct run *run);
/* The same of a target that was probed for its own sake, with what contradicts its description. */
void learned_print_target(const struct target *t, const struct learned_list *l, bool json);

#endif
