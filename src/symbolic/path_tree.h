/* path_tree.h -- which decisions of the checker are known, by the conditions before them.
 *
 * A node is known by the hash of the decisions that lead to it and of the expression that is
 * decided there; an edge by a value. So runs that got there by other inputs meet at the same node.
 */
#ifndef SYMBOLIC_PATH_TREE_H
#define SYMBOLIC_PATH_TREE_H

#include "base/hash.h"
#include "base/map.h"

enum edge_state {
	EDGE_NEW,
	EDGE_TAKEN,      /* a run took it, or one that should is waiting */
	EDGE_IMPOSSIBLE, /* no input takes it */
	EDGE_UNSOLVED,   /* whether one does was too hard to say */
	EDGE_WAITING,    /* to be asked for when an input is looked at again */
};

enum { PATH_VALUES_MAX = 1024 };

/* Of a node that has more than two. */
struct path_values {
	uint64_t *values;
	uint32_t count, cap;
	bool all;     /* there are no others, or none that the solver finds */
	bool waiting; /* others are asked for when an input is looked at again */
};

struct path_tree {
	struct hash_map edges;
	struct hash_map nodes; /* with more than two values: an index of `values` */
	struct path_values *values;
	size_t value_count, value_cap;
};

void path_tree_free(struct path_tree *t);
/* The node where this expression is decided, below the edge `from`; the root is {0, 0}. */
struct hash path_tree_node(struct hash from, uint64_t expr_hash, uint32_t kind);
struct hash path_tree_edge(struct hash node, uint64_t value);
enum edge_state path_tree_state(const struct path_tree *t, struct hash edge);
void path_tree_set(struct path_tree *t, struct hash edge, enum edge_state state);
/* The known values of a node; valid until the next call. */
struct path_values *path_tree_values(struct path_tree *t, struct hash node);
/* Unless it is there, or there are PATH_VALUES_MAX. */
void path_values_add(struct path_values *v, uint64_t value);

#endif
