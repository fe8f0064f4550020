/* test_call_history.c -- the calls since the file system was fresh: what they take of memory. */
#include <stdlib.h>
#include <sys/mman.h>

#include "base/must.h"
#include "explore/call_history.h"
#include "tests/harness/unit.h"

enum { CALLS = 100000, PAGE = 4096 };

/* Pages of the calls that have memory. */
static size_t history_pages(const struct call_history *h)
{
	size_t pages = CALLS * sizeof(struct history_call) / PAGE, count = 0;
	unsigned char *in_memory = must_alloc(pages);

	assert_int_equal(mincore(h->calls, pages * PAGE, in_memory), 0);
	for (size_t i = 0; i < pages; i++)
		count += in_memory[i] & 1;
	free(in_memory);
	return count;
}

static void a_history_at_rest_takes_no_memory(void **state)
{
	struct call_history h;

	history_init(&h);
	for (unsigned round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < CALLS; i++)
			history_add(&h, i, i + 1);
		assert_int_equal(h.calls[CALLS - 1].to, CALLS);
		assert_true(history_pages(&h) > CALLS * sizeof(struct history_call) / PAGE / 2);
		history_rest(&h);
		assert_int_equal(h.count, 0);
		assert_int_equal(history_pages(&h), 0);
	}
	history_free(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_history_at_rest_takes_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
