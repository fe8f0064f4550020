/* arena.h -- memory that is freed all at once. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena_block;
struct arena {
	struct arena_block *block;
	char *next, *end;
};

#define ARENA_INIT \
	{ \
		NULL, NULL, NULL \
	}

void *arena_alloc(struct arena *a, size_t size); /* 16-byte aligned, zeroed, never NULL */
void *arena_copy(struct arena *a, const void *data, size_t size); /* NUL behind it */
char *arena_strdup(struct arena *a, const char *text);
void arena_reset(struct arena *a); /* keeps one block for reuse */
void arena_free(struct arena *a);

#endif
