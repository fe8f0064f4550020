// SPDX-License-Identifier: GPL-2.0
/* memory.c -- memory and the end of everything, as the agent has them (instead of must.c).
 *
 * The agent takes its memory from the host and not from the kernel it tests. What an observation
 * takes, the data of all files, must not be what the file system then lacks. Blocks are freed to
 * lists by size, four sizes from one power of two to the next, and stay mapped. No call here
 * sleeps, and so the kernel's threads need no lock. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "kernel/driver/assay.h"

enum {
	HEAP_CLASSES = 4 * 48,
	/* What smaller blocks are cut from; larger ones are mapped each. So large that states
	 * seldom map another one: memory is taken only where it is written. */
	HEAP_CHUNK = 16 << 20,
};

struct heap_block {
	unsigned long class;
	struct heap_block *next; /* while it is free */
};

static struct {
	struct heap_block *unused[HEAP_CLASSES];
	char *next, *end; /* what is left of the newest chunk */
} heap;

/* With the head. A multiple of 16. */
static unsigned long heap_class_size(unsigned long class)
{
	return (4 + class % 4) << (4 + class / 4);
}

static unsigned long heap_class_of(unsigned long size)
{
	unsigned long shift;

	if (size <= heap_class_size(0))
		return 0;
	shift = 61 - (unsigned long)__builtin_clzl(size - 1);
	return (shift - 4) * 4 + ((size - 1) >> shift) - 3;
}

static void *heap_map(unsigned long size)
{
	void *memory = assay_host_memory(size);

	if (!memory)
		assay_failed("out of memory");
	return memory;
}

static struct heap_block *heap_carve(unsigned long size)
{
	struct heap_block *block;

	if (size > HEAP_CHUNK / 4)
		return heap_map(size);
	if ((unsigned long)(heap.end - heap.next) < size) {
		heap.next = heap_map(HEAP_CHUNK);
		heap.end = heap.next + HEAP_CHUNK;
	}
	block = (struct heap_block *)(void *)heap.next;
	heap.next += size;
	return block;
}

/* What no block has used before is zero. */
static void *heap_alloc(unsigned long size, bool *ret_zero)
{
	unsigned long class = heap_class_of(size + sizeof(struct heap_block));
	struct heap_block *block;

	must(class < HEAP_CLASSES);
	block = heap.unused[class];
	*ret_zero = !block;
	if (block)
		heap.unused[class] = block->next;
	else
		block = heap_carve(heap_class_size(class));
	block->class = class;
	return block + 1;
}

void *malloc(size_t size)
{
	bool zero;

	return heap_alloc(size, &zero);
}

void free(void *memory)
{
	struct heap_block *block = (struct heap_block *)memory - 1;

	if (!memory)
		return;
	block->next = heap.unused[block->class];
	heap.unused[block->class] = block;
}

_Noreturn void must_failed(const char *condition, const char *file, int line)
{
	assay_failed(condition);
}

/* A page that is not written to here is one that a copy of the kernel does not have to have. */
void *must_alloc(unsigned long size)
{
	bool zero;
	void *memory = heap_alloc(size, &zero);

	return zero ? memory : memset(memory, 0, size);
}

void *must_map(unsigned long size)
{
	return must_alloc(size);
}

void must_unmap(void *memory, unsigned long size)
{
	free(memory);
}

void *must_realloc(void *old, unsigned long size)
{
	struct heap_block *block = (struct heap_block *)old - 1;
	unsigned long room;
	void *new;

	if (!old)
		return malloc(size);
	room = heap_class_size(block->class) - sizeof(*block);
	if (size <= room)
		return old;
	new = memcpy(malloc(size), old, room);
	free(old);
	return new;
}

char *must_strdup(const char *text)
{
	size_t size = strlen(text) + 1;

	return memcpy(must_alloc(size), text, size);
}
