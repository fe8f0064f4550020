/* name_table.h -- a few hundred fixed names and their numbers, found fast. */
#ifndef COVER_NAME_TABLE_H
#define COVER_NAME_TABLE_H

#include <stddef.h>
#include <string.h>

enum { NAME_TABLE_SLOTS = 512 };

/* Open addressing; names are the caller's. */
struct name_table {
	struct name_slot {
		const char *name; /* NULL: free */
		size_t len;
		int number;
	} slots[NAME_TABLE_SLOTS];
};

/* Length and three bytes distinguish most names. */
static inline unsigned name_table_hash(const char *name, size_t len)
{
	unsigned hash = (unsigned)len;

	if (!len)
		return 0;
	hash = hash * 33 + (unsigned char)name[0];
	hash = hash * 33 + (unsigned char)name[len / 2];
	hash = hash * 33 + (unsigned char)name[len - 1];
	return (hash ^ hash >> 9) % NAME_TABLE_SLOTS;
}

static inline void name_table_add(struct name_table *t, const char *name, int number)
{
	size_t len = strlen(name);
	unsigned slot = name_table_hash(name, len);

	while (t->slots[slot].name)
		slot = (slot + 1) % NAME_TABLE_SLOTS;
	t->slots[slot] = (struct name_slot){ name, len, number };
}

/* Its number, or -1. */
static inline int name_table_find(const struct name_table *t, const char *name, size_t len)
{
	const struct name_slot *s;

	for (unsigned slot = name_table_hash(name, len);; slot = (slot + 1) % NAME_TABLE_SLOTS) {
		s = &t->slots[slot];
		if (!s->name)
			return -1;
		if (s->len == len && !memcmp(s->name, name, len))
			return s->number;
	}
}

#endif
