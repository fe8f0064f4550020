/* contents.h -- what is on a disk: the content of every file, whatever its names are.
 *
 * Taken from a tree that a kernel has mounted, or from lines that a program prints of a disk which
 * no kernel mounts. Directories count by what is in them. */
#ifndef FSCK_CONTENTS_H
#define FSCK_CONTENTS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/hash.h"

struct tree;

struct content {
	struct hash hash;
	const char *names_nul; /* each with a NUL behind it; an empty one ends them */
};

struct contents {
	struct content *items;
	size_t count, cap;
	struct arena arena; /* of the names */
};

void contents_add_tree(struct contents *c, const struct tree *t);
/* A line "NAME<tab>CONTENT" for each file. Without a tab the line is both. */
void contents_add_lines(struct contents *c, const char *text);
/* Whether it has this content. */
bool contents_have(const struct contents *c, struct hash content);
/* Whether it has this content under one of these names. */
bool contents_have_named(const struct contents *c, const struct content *x);
/* Those of c that the other has, too, each as often as it has it; the names stay with c. */
void contents_common(struct contents *ret, const struct contents *c, const struct contents *other);
/* The same, where the other has it under one of its names. */
void contents_unmoved(struct contents *ret, const struct contents *c, const struct contents *other);
void contents_free(struct contents *c);

#endif
