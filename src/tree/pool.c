/* pool.c -- memory for the many small objects of trees. */
#include "tree/pool.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define POOLED 0
#elif defined(__has_feature)
#define POOLED (!__has_feature(address_sanitizer))
#else
#define POOLED 1
#endif

enum {
	STEP = 8,
	CLASSES = 64, /* larger than STEP * CLASSES: malloc() */
	CHUNK = 64 * 1024,
};

struct unused {
	struct unused *next;
};

static _Thread_local struct {
	struct unused *unused[CLASSES + 1];
	char *next, *end; /* what is left of the newest chunk */
} pool;

static bool plain = !POOLED;
static _Atomic size_t bytes_taken, bytes_given; /* while plain */

void pool_plain(void)
{
	plain = true;
}

size_t pool_bytes(void)
{
	return bytes_taken - bytes_given;
}

size_t pool_bytes_given(void)
{
	return bytes_given;
}

static void *plain_alloc(size_t size)
{
	if (plain)
		atomic_fetch_add_explicit(&bytes_taken, size, memory_order_relaxed);
	return must_realloc(NULL, size);
}

static void pool_plain_free(void *memory, size_t size)
{
	if (plain)
		atomic_fetch_add_explicit(&bytes_given, size, memory_order_relaxed);
	free(memory);
}

static size_t pool_class(size_t size)
{
	return (size + STEP - 1) / STEP;
}

static void *pool_carve(size_t size)
{
	void *memory;

	if ((size_t)(pool.end - pool.next) < size) {
		pool.next = must_realloc(NULL, CHUNK);
		pool.end = pool.next + CHUNK;
	}
	memory = pool.next;
	pool.next += size;
	return memory;
}

void *pool_alloc(size_t size)
{
	size_t class = pool_class(size);
	struct unused *memory;

	if (plain || class > CLASSES)
		return plain_alloc(size);
	memory = pool.unused[class];
	if (!memory)
		return pool_carve(class * STEP);
	pool.unused[class] = memory->next;
	return memory;
}

void pool_free(void *memory, size_t size)
{
	size_t class = pool_class(size);
	struct unused *unused = memory;

	if (plain || class > CLASSES) {
		pool_plain_free(memory, size);
		return;
	}
	unused->next = pool.unused[class];
	pool.unused[class] = unused;
}

void *pool_resize(void *memory, size_t old_size, size_t size)
{
	void *resized;

	if (!plain && pool_class(old_size) == pool_class(size))
		return memory;
	resized = pool_alloc(size);
	memcpy(resized, memory, old_size < size ? old_size : size);
	pool_free(memory, old_size);
	return resized;
}
