/* learned.h -- what a file system was found to lack: as traits, and as a description to paste.
 *
 * What is learned hides something: a command that judges by it has to list it. */
#ifndef TARGET_LEARNED_H
#define TARGET_LEARNED_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
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

/* A model judges by it from now on. */
void learned_adopt(const struct learned_list *l, struct traits *traits);
/* A description to paste: a section for the target with what was learned and why. */
void learned_describe(const struct learned_list *l, const struct target_description *d,
		      struct buf *out);

#endif
