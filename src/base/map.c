/* map.c -- open addressing with linear probing, at most 3/4 full; capacities are powers of two.
 *
 * A slot of a hash_map whose key is {0,0} is empty; the key {0,0} itself lives in one more slot
 * behind the table, whose key is {1,0} once it is there. */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/must.h"

enum { CAP_MIN = 16 };

struct hash_map_slot {
	struct hash key;
	uint64_t value;
};

static bool map_key_is_zero(struct hash key)
{
	return !(key.lo | key.hi);
}

/* Keys are mostly hashes already, but sums and counters must spread too. */
static size_t map_home_slot(struct hash key, size_t cap)
{
	uint64_t mixed = (key.lo ^ (key.hi << 1)) * 0x9e3779b97f4a7c15;

	return (mixed ^ mixed >> 32) & (cap - 1);
}

/* The slot of a key that is not zero, or the empty slot where it belongs. */
static struct hash_map_slot *map_find_slot(const struct hash_map *m, struct hash key)
{
	size_t i = map_home_slot(key, m->cap);

	while (!map_key_is_zero(m->slots[i].key) && !hash_equal(m->slots[i].key, key))
		i = (i + 1) & (m->cap - 1);
	return &m->slots[i];
}

uint64_t *hash_map_get(const struct hash_map *m, struct hash key)
{
	struct hash_map_slot *slot;

	if (!m->cap)
		return NULL;
	slot = map_key_is_zero(key) ? &m->slots[m->cap] : map_find_slot(m, key);
	return map_key_is_zero(slot->key) ? NULL : &slot->value;
}

static void hash_map_grow(struct hash_map *m)
{
	struct hash_map old = *m;

	m->cap = old.cap ? old.cap * 2 : CAP_MIN;
	m->slots = must_alloc((m->cap + 1) * sizeof(*m->slots));
	for (size_t i = 0; i < old.cap; i++)
		if (!map_key_is_zero(old.slots[i].key))
			*map_find_slot(m, old.slots[i].key) = old.slots[i];
	if (old.cap)
		m->slots[m->cap] = old.slots[old.cap];
	free(old.slots);
}

uint64_t *hash_map_put(struct hash_map *m, struct hash key, bool *ret_new)
{
	struct hash_map_slot *slot;
	bool is_new;

	if (m->count >= m->cap / 4 * 3)
		hash_map_grow(m);
	slot = map_key_is_zero(key) ? &m->slots[m->cap] : map_find_slot(m, key);
	is_new = map_key_is_zero(slot->key);
	if (is_new) {
		slot->key = map_key_is_zero(key) ? (struct hash){ .lo = 1 } : key;
		m->count++;
	}
	if (ret_new)
		*ret_new = is_new;
	return &slot->value;
}

void hash_map_free(struct hash_map *m)
{
	free(m->slots);
	*m = (struct hash_map)HASH_MAP_INIT;
}

/* A slot holds the entry's index plus one; 0 is empty. Returns the slot of the key, or the
 * empty slot where it belongs. */
static uint32_t *str_find(const struct str_map *m, const char *key)
{
	size_t i = hash64(key, strlen(key), 0) & (m->cap - 1);

	while (m->slots[i] && strcmp(m->entries[m->slots[i] - 1].key, key))
		i = (i + 1) & (m->cap - 1);
	return &m->slots[i];
}

uint64_t *str_map_get(const struct str_map *m, const char *key)
{
	uint32_t index = m->cap ? *str_find(m, key) : 0;

	return index ? &m->entries[index - 1].value : NULL;
}

static void str_map_grow(struct str_map *m)
{
	m->cap = m->cap ? m->cap * 2 : CAP_MIN;
	must(m->cap <= UINT32_MAX);
	free(m->slots);
	m->slots = must_alloc(m->cap * sizeof(*m->slots));
	m->entries = must_realloc(m->entries, m->cap / 4 * 3 * sizeof(*m->entries));
	for (size_t i = 0; i < m->count; i++)
		*str_find(m, m->entries[i].key) = (uint32_t)(i + 1);
}

uint64_t *str_map_put(struct str_map *m, const char *key, bool *ret_new)
{
	uint32_t *slot;
	bool is_new;

	if (m->count >= m->cap / 4 * 3)
		str_map_grow(m);
	slot = str_find(m, key);
	is_new = !*slot;
	if (is_new) {
		m->entries[m->count] = (struct str_map_entry){ .key = must_strdup(key) };
		*slot = (uint32_t)++m->count;
	}
	if (ret_new)
		*ret_new = is_new;
	return &m->entries[*slot - 1].value;
}

void str_map_free(struct str_map *m)
{
	for (size_t i = 0; i < m->count; i++)
		free(m->entries[i].key);
	free(m->entries);
	free(m->slots);
	*m = (struct str_map)STR_MAP_INIT;
}
