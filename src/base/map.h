/* map.h -- open-addressing hash tables: from 128-bit hashes, and from strings, to 64-bit values. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

/* 24 bytes a slot, at most 3/4 full. The hash {0,0} is an ordinary key. */
struct hash_map_slot;
struct hash_map {
	struct hash_map_slot *slots;
	size_t count, cap;
};

#define HASH_MAP_INIT \
	{ \
		NULL, 0, 0 \
	}

/* The value's place, or NULL; valid until the next put. */
uint64_t *hash_map_get(const struct hash_map *m, struct hash key);
/* The same, made with value 0 where absent; *ret_new says which. ret_new may be NULL. */
uint64_t *hash_map_put(struct hash_map *m, struct hash key, bool *ret_new);
void hash_map_free(struct hash_map *m);

/* Keys are copied. Iteration is in order of insertion, so that output is stable. */
struct str_map_entry {
	char *key;
	uint64_t value;
};
struct str_map {
	struct str_map_entry *entries; /* in order of insertion */
	uint32_t *slots;
	size_t count, cap;
};

#define STR_MAP_INIT \
	{ \
		NULL, NULL, 0, 0 \
	}

uint64_t *str_map_get(const struct str_map *m, const char *key);
uint64_t *str_map_put(struct str_map *m, const char *key, bool *ret_new);
void str_map_free(struct str_map *m);

#endif
