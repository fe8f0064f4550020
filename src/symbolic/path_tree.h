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
};

struct path_tree {
	struct hash_map edges;
	struct hash_map values; /* of nodes with more than two: how many are known */
};

#define PATH_TREE_INIT \
	{ \
		HASH_MAP_INIT, HASH_MAP_INIT \
	}

void path_tree_free(struct path_tree *t);
/* The node where this expression is decided, below the edge `from`; the root is {0, 0}. */
struct hash path_tree_node(struct hash from, uint64_t expr_hash, uint32_t kind);
struct hash path_tree_edge(struct hash node, uint64_t value);
enum edge_state path_tree_state(const struct path_tree *t, struct hash edge);
void path_tree_set(struct path_tree *t, struct hash edge, enum edge_state state);
/* A counter of a node, 0 at first. */
uint64_t *path_tree_counter(struct path_tree *t, struct hash node);

#endif
