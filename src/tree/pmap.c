/* pmap.c -- a persistent map from 64-bit keys to reference-counted objects.
 *
 * A node has a slot for every value of the four bits it branches on that occurs below it, and
 * no more. A slot holds an object beside its full key, at whatever depth that key is alone, or
 * a node for the keys that still agree. A node below the root therefore never holds a single
 * object and nothing else; removal keeps it so.
 *
 * A node or object whose count is above one is shared and never written. Making a node one's
 * own copies its slots and counts what they hold once more, which makes that shared in turn:
 * one rule, applied on the way down, keeps all other maps untouched. */
#include "tree/pmap.h"

#include <string.h>

#include "tree/pool.h"

enum { DEPTH_MAX = 64 / PMAP_BITS };

static unsigned bit_of(uint64_t key, unsigned shift)
{
	return 1u << (key >> shift & PMAP_MASK);
}

static size_t node_size(unsigned slots)
{
	return sizeof(struct pmap_node) + slots * sizeof(struct pmap_slot);
}

static void node_free(struct pmap_node *node)
{
	pool_free(node, node_size(pmap_bits_set(node->used)));
}

static struct pmap_node *node_of_one(uint64_t key, unsigned shift, struct ref *object)
{
	struct pmap_node *node = pool_alloc(node_size(1));

	node->count = 1;
	node->used = node->objects = bit_of(key, shift);
	node->slots[0].key = key;
	node->slots[0].object = object;
	return node;
}

/* The node itself if it is not shared, else a copy; takes over the caller's count of it. */
static struct pmap_node *node_own(struct pmap_node *node)
{
	struct pmap_node *copy;
	unsigned slots, i = 0;

	if (node->count == 1)
		return node;
	slots = pmap_bits_set(node->used);
	copy = pool_alloc(node_size(slots));
	memcpy(copy, node, node_size(slots));
	copy->count = 1;
	node->count--;
	for (unsigned left = copy->used; left; left &= left - 1, i++) {
		if (copy->objects & left & -left)
			copy->slots[i].object->count++;
		else
			copy->slots[i].node->count++;
	}
	return copy;
}

static void object_drop(const struct pmap_type *type, struct ref *object)
{
	if (--object->count == 0)
		type->free(object);
}

static void node_drop(struct pmap_node *node, const struct pmap_type *type)
{
	unsigned i = 0;

	if (--node->count)
		return;
	for (unsigned left = node->used; left; left &= left - 1, i++) {
		if (node->objects & left & -left)
			object_drop(type, node->slots[i].object);
		else
			node_drop(node->slots[i].node, type);
	}
	node_free(node);
}

struct pmap pmap_share(const struct pmap *m)
{
	if (m->root)
		m->root->count++;
	return *m;
}

void pmap_drop(struct pmap *m, const struct pmap_type *type)
{
	if (m->root)
		node_drop(m->root, type);
	*m = (struct pmap)PMAP_INIT;
}

/* Adds a slot to a node that is one's own; the node may move. */
static struct pmap_node *node_add(struct pmap_node *node, unsigned bit, uint64_t key,
				  struct ref *object)
{
	unsigned slots = pmap_bits_set(node->used), i = pmap_index_of(node, bit);

	node = pool_resize(node, node_size(slots), node_size(slots + 1));
	memmove(&node->slots[i + 1], &node->slots[i], (slots - i) * sizeof(struct pmap_slot));
	node->slots[i].key = key;
	node->slots[i].object = object;
	node->used |= bit;
	node->objects |= bit;
	return node;
}

void pmap_put(struct pmap *m, const struct pmap_type *type, uint64_t key, struct ref *object)
{
	struct pmap_node **at = &m->root;

	if (!m->root) {
		m->root = node_of_one(key, 0, object);
		m->count = 1;
		return;
	}
	for (unsigned shift = 0;; shift += PMAP_BITS) {
		struct pmap_node *node = *at = node_own(*at);
		unsigned bit = bit_of(key, shift);
		struct pmap_slot *slot;

		if (!(node->used & bit)) {
			*at = node_add(node, bit, key, object);
			m->count++;
			return;
		}
		slot = &node->slots[pmap_index_of(node, bit)];
		if (node->objects & bit) {
			if (slot->key == key) {
				object_drop(type, slot->object);
				slot->object = object;
				return;
			}
			slot->node = node_of_one(slot->key, shift + PMAP_BITS, slot->object);
			node->objects &= ~bit;
		}
		at = &slot->node;
	}
}

struct ref *pmap_edit(struct pmap *m, const struct pmap_type *type, uint64_t key)
{
	struct pmap_node **at = &m->root;

	for (unsigned shift = 0; *at; shift += PMAP_BITS) {
		struct pmap_node *node = *at = node_own(*at);
		unsigned bit = bit_of(key, shift);
		struct pmap_slot *slot;

		if (!(node->used & bit))
			return NULL;
		slot = &node->slots[pmap_index_of(node, bit)];
		if (node->objects & bit) {
			if (slot->key != key)
				return NULL;
			if (slot->object->count > 1) {
				struct ref *copy = type->copy(slot->object);

				slot->object->count--;
				slot->object = copy;
			}
			return slot->object;
		}
		at = &slot->node;
	}
	return NULL;
}

/* Takes a slot out of a node that is one's own; the node may move. */
static struct pmap_node *node_cut(struct pmap_node *node, unsigned bit)
{
	unsigned slots = pmap_bits_set(node->used), i = pmap_index_of(node, bit);

	memmove(&node->slots[i], &node->slots[i + 1], (slots - i - 1) * sizeof(struct pmap_slot));
	node->used &= ~bit;
	node->objects &= ~bit;
	return pool_resize(node, node_size(slots), node_size(slots - 1));
}

bool pmap_remove(struct pmap *m, const struct pmap_type *type, uint64_t key)
{
	struct pmap_node **path[DEPTH_MAX], **at = &m->root, *node;
	unsigned depth = 0, bit;

	if (!pmap_get(m, key))
		return false;
	for (;; at = &node->slots[pmap_index_of(node, bit)].node) {
		node = *at = node_own(*at);
		path[depth] = at;
		bit = bit_of(key, depth * PMAP_BITS);
		if (node->objects & bit)
			break;
		depth++;
	}
	object_drop(type, node->slots[pmap_index_of(node, bit)].object);
	node = *at = node_cut(node, bit);
	m->count--;

	/* An object left alone in its node goes up to the slot of that node. */
	while (depth > 0 && pmap_bits_set(node->used) == 1 && node->objects) {
		struct pmap_node *parent = *path[--depth];

		bit = bit_of(key, depth * PMAP_BITS);
		parent->slots[pmap_index_of(parent, bit)] = node->slots[0];
		parent->objects |= bit;
		node_free(node);
		node = parent;
	}
	if (!m->count) {
		node_free(m->root);
		m->root = NULL;
	}
	return true;
}

/* Four bits at a time, back to front: the lowest of the key decide first in the trie. */
uint64_t pmap_order(uint64_t key)
{
	key = (key & 0x0f0f0f0f0f0f0f0f) << 4 | (key >> 4 & 0x0f0f0f0f0f0f0f0f);
	return __builtin_bswap64(key);
}

uint64_t pmap_unorder(uint64_t order)
{
	return pmap_order(order);
}

static struct ref *node_first(const struct pmap_node *node, uint64_t *key)
{
	while (!(node->objects & node->used & -node->used))
		node = node->slots[0].node;
	*key = node->slots[0].key;
	return node->slots[0].object;
}

/* The first object below node whose key comes after *key. */
static struct ref *node_after(const struct pmap_node *node, unsigned shift, uint64_t *key)
{
	unsigned bit = bit_of(*key, shift), i = pmap_index_of(node, bit),
		 slots = pmap_bits_set(node->used);

	if (node->used & bit) {
		const struct pmap_slot *slot = &node->slots[i++];

		if (!(node->objects & bit)) {
			struct ref *object = node_after(slot->node, shift + PMAP_BITS, key);

			if (object)
				return object;
		} else if (pmap_order(slot->key) > pmap_order(*key)) {
			*key = slot->key;
			return slot->object;
		}
	}
	if (i == slots)
		return NULL;
	bit = node->used & -(bit << 1);
	if (!(node->objects & bit & -bit))
		return node_first(node->slots[i].node, key);
	*key = node->slots[i].key;
	return node->slots[i].object;
}

struct ref *pmap_next(const struct pmap *m, bool first, uint64_t *key)
{
	if (!m->root)
		return NULL;
	return first ? node_first(m->root, key) : node_after(m->root, 0, key);
}

/* What a slot holds: a node, an object beside its key, or neither where there is no slot. */
struct part {
	const struct pmap_node *node;
	const struct ref *object;
	uint64_t key;
};

static struct part part_at(const struct pmap_node *node, unsigned bit)
{
	const struct pmap_slot *slot = &node->slots[pmap_index_of(node, bit)];

	if (!(node->used & bit))
		return (struct part){ NULL, NULL, 0 };
	if (node->objects & bit)
		return (struct part){ NULL, slot->object, slot->key };
	return (struct part){ slot->node, NULL, 0 };
}

static const struct ref *part_get(struct part part, unsigned shift, uint64_t key)
{
	if (part.node)
		return pmap_node_get(part.node, key >> shift, key);
	return part.key == key ? part.object : NULL;
}

struct pmap_differ {
	void (*visit)(void *to, uint64_t key, const struct ref *in_a, const struct ref *in_b);
	void *to;
};

/* Every object of one part that the other has not at all; at `shift` both parts begin. */
static void diff_missing(const struct pmap_differ *d, struct part has, struct part other,
			 unsigned shift, bool has_is_a)
{
	if (has.node) {
		for (unsigned left = has.node->used; left; left &= left - 1)
			diff_missing(d, part_at(has.node, left & -left), other, shift, has_is_a);
	} else if (has.object && !part_get(other, shift, has.key)) {
		d->visit(d->to, has.key, has_is_a ? has.object : NULL,
			 has_is_a ? NULL : has.object);
	}
}

static void diff_parts(const struct pmap_differ *d, struct part a, struct part b, unsigned shift);

/* Slots that hold the same are most of them. */
static void diff_nodes(const struct pmap_differ *d, const struct pmap_node *a,
		       const struct pmap_node *b, unsigned shift)
{
	const struct pmap_slot *in_a = a->slots, *in_b = b->slots;

	for (unsigned left = a->used | b->used; left; left &= left - 1) {
		unsigned bit = left & -left;
		bool same = a->used & b->used & bit && in_a->object == in_b->object;

		if (!same)
			diff_parts(d, part_at(a, bit), part_at(b, bit), shift);
		in_a += (a->used & bit) != 0;
		in_b += (b->used & bit) != 0;
	}
}

static void diff_parts(const struct pmap_differ *d, struct part a, struct part b, unsigned shift)
{
	if (a.node && b.node) {
		if (a.node != b.node)
			diff_nodes(d, a.node, b.node, shift + PMAP_BITS);
		return;
	}
	if (a.object && b.object && a.key == b.key) {
		if (a.object != b.object)
			d->visit(d->to, a.key, a.object, b.object);
		return;
	}
	/* One of the two is at most a single object. */
	diff_missing(d, a, b, shift, true);
	diff_missing(d, b, a, shift, false);
	if (a.object || b.object) {
		uint64_t key = a.object ? a.key : b.key;
		const struct ref *in_a = part_get(a, shift, key), *in_b = part_get(b, shift, key);

		if (in_a && in_b && in_a != in_b)
			d->visit(d->to, key, in_a, in_b);
	}
}

void pmap_diff(const struct pmap *a, const struct pmap *b,
	       void (*visit)(void *to, uint64_t key, const struct ref *in_a,
			     const struct ref *in_b),
	       void *to)
{
	struct pmap_differ d = { visit, to };

	diff_parts(&d, (struct part){ a->root, NULL, 0 }, (struct part){ b->root, NULL, 0 }, 0);
}

static size_t node_bytes(const struct pmap_node *node, size_t (*object_bytes)(const struct ref *))
{
	size_t bytes;
	unsigned i = 0;

	if (node->count > 1)
		return 0;
	bytes = node_size(pmap_bits_set(node->used));
	for (unsigned left = node->used; left; left &= left - 1, i++) {
		const struct pmap_slot *slot = &node->slots[i];

		if (!(node->objects & left & -left))
			bytes += node_bytes(slot->node, object_bytes);
		else if (object_bytes && slot->object->count == 1)
			bytes += object_bytes(slot->object);
	}
	return bytes;
}

size_t pmap_bytes(const struct pmap *m, size_t (*object_bytes)(const struct ref *))
{
	return m->root ? node_bytes(m->root, object_bytes) : 0;
}
