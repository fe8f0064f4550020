/* arena.c -- memory that is freed all at once: a list of blocks, filled from the newest. */
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"

enum { ALIGNMENT = 16, BLOCK_SIZE = 64 * 1024 };

struct arena_block {
	struct arena_block *older;
	size_t size;
	_Alignas(ALIGNMENT) char data[];
};

static void use_block(struct arena *a, struct arena_block *block)
{
	a->block = block;
	a->next = block->data;
	a->end = block->data + block->size;
}

static void arena_grow(struct arena *a, size_t size)
{
	struct arena_block *block;

	if (size < BLOCK_SIZE)
		size = BLOCK_SIZE;
	block = must_realloc(NULL, sizeof(*block) + size);
	block->older = a->block;
	block->size = size;
	use_block(a, block);
}

/* Zeroed here and not by the block, since blocks are used again after a reset. */
void *arena_alloc(struct arena *a, size_t size)
{
	size_t rounded = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	char *memory;

	must(rounded >= size && rounded < SIZE_MAX - sizeof(struct arena_block));
	if (!a->block || (size_t)(a->end - a->next) < rounded)
		arena_grow(a, rounded);
	memory = a->next;
	a->next += rounded;
	return memset(memory, 0, rounded);
}

void *arena_copy(struct arena *a, const void *data, size_t size)
{
	char *copy = arena_alloc(a, size + 1);

	if (size)
		memcpy(copy, data, size);
	return copy;
}

char *arena_strdup(struct arena *a, const char *text)
{
	return arena_copy(a, text, strlen(text));
}

static void free_blocks(struct arena_block *block)
{
	struct arena_block *older;

	for (; block; block = older) {
		older = block->older;
		free(block);
	}
}

void arena_reset(struct arena *a)
{
	if (!a->block)
		return;
	free_blocks(a->block->older);
	a->block->older = NULL;
	use_block(a, a->block);
}

void arena_free(struct arena *a)
{
	free_blocks(a->block);
	*a = (struct arena)ARENA_INIT;
}
