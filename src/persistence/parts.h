/* parts.h -- the parts of a tree that a crash can leave older than others: inside
 * persistence.
 *
 * A part is a name in a directory, the attributes of an object, the size of a file, or some of its
 * blocks. It has the steps that changed it. A choice says for each part as of which step it is
 * there; a tree is built from that. */
#ifndef PERSISTENCE_PARTS_H
#define PERSISTENCE_PARTS_H

#include "base/arena.h"
#include "base/map.h"
#include "persistence/window.h"

struct tree_part {
	enum part_kind kind;
	uint64_t ino; /* of the object; of a name, of its directory */
	const char *name;
	size_t len;
	uint64_t first, end; /* blocks of data; the end is not among them */
	uint32_t *steps;     /* that changed it, in order */
	size_t count, cap;
	size_t next; /* the next one of the object, + 1; 0: none */
};

struct parts {
	const struct persistence *p;
	struct tree_part *items;
	size_t count, cap;
	struct hash_map by_key;
	struct hash_map by_object; /* its first part, + 1 */
	struct arena arena;
};

void parts_make(struct parts *ret, const struct persistence *p);
void parts_free(struct parts *parts);

/* As of which step each part is there. */
struct part_choice {
	uint32_t *steps;
	/* This one has the newest value only up to a block, or this size in bytes. */
	size_t torn; /* the part, + 1; 0: none */
	uint64_t torn_at;
};

/* False where it would be no tree: a directory with two names. */
bool parts_build(const struct parts *parts, const struct crash_window *w,
		 const struct part_choice *c, struct tree *ret);

#endif
