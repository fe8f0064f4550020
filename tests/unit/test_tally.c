/* test_tally.c -- weights of calls that came to new code: raised for a while, then as before. */
#include "base/err.h"
#include "explore/tally.h"
#include "tests/harness/unit.h"

static void open_tiny(struct universe *u, struct tally *t)
{
	struct err err = { 0 };

	if (universe_open(u, "tiny", NULL, 0, &err))
		fail_msg("%s", err.text);
	tally_init(t, u, NULL);
	/* Everything was seen often: no other weight moves. */
	for (uint64_t n = 0; n < u->calls; n++) {
		struct call call;

		universe_call(u, n, &call);
		for (int i = 0; i < 1000; i++)
			tally_count(t, (uint32_t)n, &call, 0);
	}
	tally_adapt(t);
}

static void close_tiny(struct universe *u, struct tally *t)
{
	tally_free(t);
	universe_free(u);
}

static size_t number_of(const struct universe *u, enum op op)
{
	for (size_t i = 0; i < u->op_count; i++)
		if (u->ops[i].op == op)
			return i;
	fail_msg("it is not in the universe");
	return 0;
}

/* The share of one value in the pool, in parts of the smallest. */
static uint64_t weight_of(const struct pool *pool, size_t value)
{
	uint64_t least = UINT64_MAX, weight, ret = 0;

	for (size_t i = 0; i < pool->count; i++) {
		weight = pool->sums[i] - (i ? pool->sums[i - 1] : 0);
		if (weight < least)
			least = weight;
		if (i == value)
			ret = weight;
	}
	return ret / least;
}

static void calls_with_news_are_drawn_more_often_for_a_while(void **state)
{
	struct universe u;
	struct tally t;
	struct universe_op *chmod;
	unsigned before;
	uint64_t all;

	open_tiny(&u, &t);
	chmod = &u.ops[number_of(&u, OP_chmod)];
	before = chmod->weight;
	all = u.weight;
	/* The last call has the last value of every argument. */
	tally_new_coverage(&t, chmod->first + chmod->calls - 1, 5);
	tally_adapt(&t);
	assert_true(chmod->weight > before);
	assert_int_equal(u.weight - all, chmod->weight - before);
	assert_true(weight_of(&chmod->pools[1], chmod->pools[1].count - 1) > 1);
	assert_int_equal(weight_of(&chmod->pools[1], 0), 1);
	for (int i = 0; i < 8; i++)
		tally_adapt(&t);
	assert_int_equal(chmod->weight, before);
	assert_int_equal(u.weight, all);
	assert_int_equal(weight_of(&chmod->pools[1], chmod->pools[1].count - 1), 1);
	close_tiny(&u, &t);
}

static void more_news_are_worth_more(void **state)
{
	struct universe u;
	struct tally t;
	struct universe_op *mkdir, *link;

	open_tiny(&u, &t);
	mkdir = &u.ops[number_of(&u, OP_mkdir)];
	link = &u.ops[number_of(&u, OP_link)];
	assert_int_equal(mkdir->weight, link->weight);
	tally_new_coverage(&t, mkdir->first, 100);
	tally_new_coverage(&t, link->first, 10);
	tally_adapt(&t);
	assert_true(mkdir->weight > link->weight);
	assert_true(link->weight > u.ops[number_of(&u, OP_rename)].weight);
	close_tiny(&u, &t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_with_news_are_drawn_more_often_for_a_while),
		cmocka_unit_test(more_news_are_worth_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
