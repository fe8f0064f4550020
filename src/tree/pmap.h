/* pmap.h -- a persistent map from 64-bit keys to reference-counted objects.
 *
 * One structure serves inodes by number, directory entries by hash of their name, file blocks
 * by index, extended attributes by hash, processes and open files. A trie of 16-way nodes that
 * hold only the children they have, lowest four bits of the key first, so that ten inodes are
 * one node of about a hundred bytes.
 *
 * Copying a map is one count; a change copies the nodes on its path that are shared and
 * nothing else, and works in place where nothing is shared. Counts are not atomic: a state
 * belongs to one thread at a time. */
#ifndef TREE_PMAP_H
#define TREE_PMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* First member of every object in a map. A new object has count 1. */
struct ref {
	uint32_t count;
};

/* What a map holds: how to copy an object (giving a new one with count 1, its own members
 * referenced as needed) and how to free one whose count fell to 0. */
struct pmap_type {
	struct ref *(*copy)(const struct ref *object);
	void (*free)(struct ref *object);
};

struct pmap_node;
struct pmap {
	struct pmap_node *root;
	uint32_t count;
};

/* What only pmap.c knows of, but for looking up, which is done more than anything else. */
struct pmap_slot {
	uint64_t key; /* of the object; unused beside a node */
	union {
		struct ref *object;
		struct pmap_node *node;
	};
};

struct pmap_node {
	uint32_t count;
	uint16_t used;    /* values that have a slot */
	uint16_t objects; /* those of them whose slot holds an object */
	struct pmap_slot slots[];
};

enum { PMAP_BITS = 4, PMAP_MASK = (1 << PMAP_BITS) - 1 };

#define PMAP_INIT \
	{ \
		NULL, 0 \
	}

/* The number of set bits of 16. Where the processor may lack an instruction for it (a kernel in a
 * process is compiled for any), by hand: the compiler would call its library. */
static inline unsigned pmap_bits_set(unsigned x)
{
#ifdef __POPCNT__
	return (unsigned)__builtin_popcount(x);
#else
	x -= x >> 1 & 0x5555;
	x = (x & 0x3333) + (x >> 2 & 0x3333);
	x = (x + (x >> 4)) & 0x0f0f;
	return (x + (x >> 8)) & 0x1f;
#endif
}

static inline unsigned pmap_index_of(const struct pmap_node *node, unsigned bit)
{
	return pmap_bits_set(node->used & (bit - 1));
}

/* The object of a key at or below a node; `rest` is what of the key was not branched on yet. */
static inline struct ref *pmap_node_get(const struct pmap_node *node, uint64_t rest, uint64_t key)
{
	for (; node; rest >>= PMAP_BITS) {
		unsigned bit = 1u << (rest & PMAP_MASK);
		const struct pmap_slot *slot = &node->slots[pmap_index_of(node, bit)];

		if (node->objects & bit)
			return slot->key == key ? slot->object : NULL;
		if (!(node->used & bit))
			return NULL;
		node = slot->node;
	}
	return NULL;
}

/* Another reference to the same contents. */
struct pmap pmap_share(const struct pmap *m);
void pmap_drop(struct pmap *m, const struct pmap_type *type);

static inline struct ref *pmap_get(const struct pmap *m, uint64_t key)
{
	return pmap_node_get(m->root, key, key);
}
/* Puts the object (taking over the caller's count), replacing what was there. */
void pmap_put(struct pmap *m, const struct pmap_type *type, uint64_t key, struct ref *object);
/* The object, unshared: it and the nodes on its way belong to this map alone. NULL if absent. */
struct ref *pmap_edit(struct pmap *m, const struct pmap_type *type, uint64_t key);
bool pmap_remove(struct pmap *m, const struct pmap_type *type, uint64_t key);

/* Iteration in the order of the trie, stable under changes elsewhere: the first object whose
 * key comes after *key in that order (before the first where `first`), its key in *key.
 * pmap_order(key) gives a number that sorts like the trie (for directory cookies). */
struct ref *pmap_next(const struct pmap *m, bool first, uint64_t *key);
uint64_t pmap_order(uint64_t key);
uint64_t pmap_unorder(uint64_t order);

/* All objects in the same order, faster, as long as the map stays as it is: pmap_walk() begins, and
 * the first object is what the first pmap_walk_next() gives. */
struct pmap_walk {
	struct {
		const struct pmap_node *node;
		unsigned left; /* of its slots, by bits */
	} at[64 / PMAP_BITS];
	unsigned depth; /* nodes that the walk is in */
};

static inline void pmap_walk_enter(struct pmap_walk *w, const struct pmap_node *node)
{
	w->at[w->depth].node = node;
	w->at[w->depth++].left = node->used;
}

static inline void pmap_walk(struct pmap_walk *w, const struct pmap *m)
{
	w->depth = 0;
	if (m->root)
		pmap_walk_enter(w, m->root);
}

static inline struct ref *pmap_walk_next(struct pmap_walk *w, uint64_t *key)
{
	while (w->depth) {
		const struct pmap_node *node = w->at[w->depth - 1].node;
		unsigned left = w->at[w->depth - 1].left, bit = left & -left;
		const struct pmap_slot *slot = &node->slots[pmap_index_of(node, bit)];

		if (!left) {
			w->depth--;
			continue;
		}
		w->at[w->depth - 1].left = left & (left - 1);
		if (!(node->objects & bit)) {
			pmap_walk_enter(w, slot->node);
			continue;
		}
		*key = slot->key;
		return slot->object;
	}
	return NULL;
}

/* Visits every key whose objects in the two maps are not the same one (NULL: absent). The cost
 * follows what differs, not what is there: parts the maps share are passed over. */
void pmap_diff(const struct pmap *a, const struct pmap *b,
	       void (*visit)(void *to, uint64_t key, const struct ref *in_a,
			     const struct ref *in_b),
	       void *to);

/* Bytes held by the nodes of this map that no other map shares, and by their objects that
 * nothing else shares, as the function says (NULL: objects do not count). */
size_t pmap_bytes(const struct pmap *m, size_t (*object_bytes)(const struct ref *object));

static inline bool pmap_same(const struct pmap *a, const struct pmap *b)
{
	return a->root == b->root;
}

#endif
