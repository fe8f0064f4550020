/* learn.h -- what a file system without a description lacks, found out by short probes.
 *
 * A probe (learn.def) is a few calls on an empty file system. What is seen is judged by two models:
 * one with the trait, one without. The trait is learned only if the first accepts everything, the
 * second does not, and a second try shows the same. So a bug is not taken for a missing feature.
 * What is learned hides something: whoever judges by it has to list it. */
#ifndef TARGET_LEARN_H
#define TARGET_LEARN_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct err;
struct target;
struct target_description;
struct traits;

enum { LEARN_VALUE_MAX = 24, LEARNED_MAX = 64 };

struct learned {
	const char *what;            /* "extended attributes" */
	const char *trait;           /* NULL: only fields mean nothing, or only a note */
	char value[LEARN_VALUE_MAX]; /* of the trait */
	const char *fields;          /* of the tree that mean nothing; NULL: none */
	const char *reason;          /* what was seen */
	const char *hides;           /* what is not judged because of it */
	/* The file system has the feature, but its description says that it lacks it: nothing is
	 * changed. */
	bool contradicted;
};

struct learned_list {
	struct learned items[LEARNED_MAX];
	size_t count;
	unsigned fields_off; /* enum tree_field: of all of them */
	bool cut_short;      /* the file system hung or died too often: probes are left out */
};

/* Makes all probes; the file system is empty afterwards. What it declares is taken for granted,
 * except the trait that a probe is about. */
int learn_probe(struct target *t, struct learned_list *ret, struct err *err);
/* A model judges by it from now on. */
void learn_adopt(const struct learned_list *l, struct traits *traits);

/* A description to paste: a section for the target with what was learned and why. */
void learn_describe(const struct learned_list *l, const struct target_description *d,
		    struct buf *out);

#endif
