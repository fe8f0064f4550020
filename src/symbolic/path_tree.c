/* path_tree.c -- which decisions of the checker are known, by the conditions before them. */
#include "symbolic/path_tree.h"

#include <stdlib.h>

#include "base/must.h"

void path_tree_free(struct path_tree *t)
{
	hash_map_free(&t->edges);
	hash_map_free(&t->nodes);
	for (size_t i = 0; i < t->value_count; i++)
		free(t->values[i].values);
	free(t->values);
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

struct path_values *path_tree_values(struct path_tree *t, struct hash node)
{
	bool new;
	uint64_t *index = hash_map_put(&t->nodes, node, &new);

	if (new) {
		if (t->value_count == t->value_cap) {
			t->value_cap = t->value_cap ? 2 * t->value_cap : 64;
			t->values = must_realloc(t->values, t->value_cap * sizeof(*t->values));
		}
		*index = t->value_count;
		t->values[t->value_count++] = (struct path_values){ 0 };
	}
	return &t->values[*index];
}

void path_values_add(struct path_values *v, uint64_t value)
{
	for (uint32_t i = 0; i < v->count; i++) {
		if (v->values[i] == value)
			return;
	}
	if (v->count == PATH_VALUES_MAX)
		return;
	if (v->count == v->cap) {
		v->cap = v->cap ? 2 * v->cap : 8;
		v->values = must_realloc(v->values, v->cap * sizeof(*v->values));
	}
	v->values[v->count++] = value;
}
