/* path_tree.c -- which decisions of the checker are known, by the conditions before them. */
#include "symbolic/path_tree.h"

void path_tree_free(struct path_tree *t)
{
	hash_map_free(&t->edges);
	hash_map_free(&t->values);
}

struct hash path_tree_node(struct hash from, uint64_t expr_hash, uint32_t kind)
{
	const uint64_t key[4] = { from.lo, from.hi, expr_hash, kind };

	return hash128(key, sizeof(key), 1);
}

struct hash path_tree_edge(struct hash node, uint64_t value)
{
	const uint64_t key[3] = { node.lo, node.hi, value };

	return hash128(key, sizeof(key), 2);
}

enum edge_state path_tree_state(const struct path_tree *t, struct hash edge)
{
	const uint64_t *state = hash_map_get(&t->edges, edge);

	return state ? (enum edge_state) * state : EDGE_NEW;
}

void path_tree_set(struct path_tree *t, struct hash edge, enum edge_state state)
{
	*hash_map_put(&t->edges, edge, NULL) = state;
}

uint64_t *path_tree_counter(struct path_tree *t, struct hash node)
{
	return hash_map_put(&t->values, node, NULL);
}
