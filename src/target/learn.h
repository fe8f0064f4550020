/* learn.h -- what a file system without a description lacks, found out by short probes.
 *
 * A probe (learn.def) is a few calls on an empty file system. What is seen is judged by two models:
 * one with the trait, one without. The trait is learned only if the first accepts everything, the
 * second does not, and a second try shows the same. So a bug is not taken for a missing feature. */
#ifndef TARGET_LEARN_H
#define TARGET_LEARN_H

#include "target/learned.h"

struct err;
struct target;
struct target_options;

/* Makes all probes; the file system is empty afterwards. What it declares is taken for granted,
 * except the trait that a probe is about. */
int learn_probe(struct target *t, struct learned_list *ret, struct err *err);
/* As target_open(). One that nothing describes is probed and has the traits and fields that were
 * learned, unless the options give them. */
int learn_open(struct target **ret, const char *spec, const struct target_options *options,
	       struct err *err);

#endif
