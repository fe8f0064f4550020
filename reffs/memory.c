/* memory.c -- memory of the daemon goes back to the system when files and states go. */
#include "reffs/memory.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>

#include "tree/pool.h"

/* Giving back walks all that is free, so it is worth it when much is: so many bytes, and a part of
 * what is in use, were freed since. */
enum { GIVEN_MIN = 4 << 20, PART = 4 };

static _Atomic size_t given_before;

void memory_init(void)
{
	pool_plain();
	/* Trees are worked on with one lock held anyway. In one arena, what one thread frees is
	 * there for the others. */
	mallopt(M_ARENA_MAX, 1);
}

void memory_settle(void)
{
	size_t before = given_before, given = pool_bytes_given();

	if (given - before < GIVEN_MIN || given - before < pool_bytes() / PART)
		return;
	if (atomic_compare_exchange_strong(&given_before, &before, given))
		malloc_trim(0);
}
