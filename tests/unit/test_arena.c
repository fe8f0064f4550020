/* test_arena.c -- aligned, zeroed, apart from each other, and used again after a reset. */
#include <string.h>

#include "base/arena.h"
#include "tests/harness/unit.h"

static void memory_is_aligned_and_zeroed(void **state)
{
	struct arena a = ARENA_INIT;

	for (size_t size = 0; size < 5000; size += 7) {
		char *memory = arena_alloc(&a, size);

		assert_int_equal((uintptr_t)memory % 16, 0);
		for (size_t i = 0; i < size; i++)
			assert_int_equal(memory[i], 0);
		memset(memory, 0xff, size);
	}
	arena_free(&a);
	assert_null(a.block);
}

static void pieces_do_not_overlap(void **state)
{
	struct arena a = ARENA_INIT;
	char *pieces[300];

	for (size_t i = 0; i < 300; i++)
		memset(pieces[i] = arena_alloc(&a, 1000), (int)i, 1000);
	for (size_t i = 0; i < 300; i++)
		for (size_t j = 0; j < 1000; j++)
			assert_int_equal((unsigned char)pieces[i][j], i % 256);
	arena_free(&a);
}

static void larger_than_a_block(void **state)
{
	struct arena a = ARENA_INIT;
	char *large = arena_alloc(&a, 10 << 20);

	large[(10 << 20) - 1] = 1;
	assert_non_null(arena_alloc(&a, 1));
	arena_free(&a);
}

static void a_reset_keeps_a_block_and_zeroes_again(void **state)
{
	struct arena a = ARENA_INIT;
	struct arena_block *kept;
	char *memory;

	arena_reset(&a);
	for (int i = 0; i < 100; i++)
		memset(arena_alloc(&a, 4000), 0xff, 4000);
	kept = a.block;
	arena_reset(&a);
	memory = arena_alloc(&a, 4000);
	assert_ptr_equal(a.block, kept);
	for (int i = 0; i < 4000; i++)
		assert_int_equal(memory[i], 0);
	arena_free(&a);
}

static void copies_end_with_a_nul(void **state)
{
	struct arena a = ARENA_INIT;

	assert_string_equal(arena_strdup(&a, "text"), "text");
	assert_string_equal(arena_strdup(&a, ""), "");
	assert_memory_equal(arena_copy(&a, "a\0b", 3), "a\0b", 4);
	assert_string_equal(arena_copy(&a, NULL, 0), "");
	arena_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_aligned_and_zeroed),
		cmocka_unit_test(pieces_do_not_overlap),
		cmocka_unit_test(larger_than_a_block),
		cmocka_unit_test(a_reset_keeps_a_block_and_zeroes_again),
		cmocka_unit_test(copies_end_with_a_nul),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
