/* call_path.h -- the calls that lead to a state: a tree, in which paths share their beginnings.
 *
 * A path is its last call and the path before that, 32 bytes; it lives as long as something refers
 * to it. The path to the start is NULL. */
#ifndef GRAPH_CALL_PATH_H
#define GRAPH_CALL_PATH_H

#include <stddef.h>
#include <stdint.h>

struct call_path {
	struct call_path *from; /* NULL: the first call */
	uint32_t call;          /* number in the universe */
	uint32_t node;  /* where it led; NODE_NONE where only bits are kept of visited states */
	uint32_t depth; /* calls of the path */
	uint32_t refs;
	uint32_t number; /* in a checkpoint that is being written; else 0 */
};

/* How many there are, for the memory they take. */
struct call_paths {
	size_t count;
};

/* One call further than `from`, which stays the caller's; with one reference. */
struct call_path *call_path_new(struct call_paths *paths, struct call_path *from, uint32_t call,
				uint32_t node);
struct call_path *call_path_share(struct call_path *p); /* NULL stays NULL */
void call_path_drop(struct call_paths *paths, struct call_path *p);
static inline uint32_t call_path_depth(const struct call_path *p)
{
	return p ? p->depth : 0;
}

#endif
