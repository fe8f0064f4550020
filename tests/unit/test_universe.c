/* test_universe.c -- profiles become pools and numbered calls; mistakes are named with a line. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "tests/harness/unit.h"
#include "trace/script.h"
#include "universe/universe.h"

/* A profile from its text, as a file beside the test. */
static int open_text(struct universe *u, const char *text, struct err *err)
{
	char path[] = "/tmp/universe.XXXXXX";
	int fd = mkstemp(path), ret;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	ret = universe_open(u, path, NULL, 0, err);
	unlink(path);
	return ret;
}

static void assert_call(const struct universe *u, uint64_t n, const char *expected)
{
	struct buf out = BUF_INIT;
	struct call c;

	universe_call(u, n, &c);
	call_print(&c, DIALECT_NATIVE, &out);
	assert_string_equal(out.data, expected);
	buf_free(&out);
}

static void calls_are_the_product_of_the_pools(void **state)
{
	struct universe u;
	struct err err = { 0 };

	assert_int_equal(open_text(&u,
				   "[universe]\nnames = a b\ndepth = 2\nwidth = 1\n"
				   "[ops]\nrmdir = 1\nmkdir = 2\nsync = 1\nlink = 0\n"
				   "[pick]\nmode = 0755 0700*3\n",
				   &err),
			 0);
	assert_int_equal(u.op_count, 3);
	assert_int_equal(u.weight, 4);
	assert_int_equal(u.calls, 4 * 2 + 4 + 1);
	assert_call(&u, 0, "mkdir(\"a\", 0755)");
	assert_call(&u, 1, "mkdir(\"a\", 0700)");
	assert_call(&u, 2, "mkdir(\"b\", 0755)");
	assert_call(&u, 7, "mkdir(\"a/b\", 0700)");
	assert_call(&u, 8, "rmdir(\"a\")");
	assert_call(&u, 12, "sync()");
	assert_int_equal(universe_op_of(&u, 7), 0);
	assert_int_equal(universe_op_of(&u, 8), 1);
	assert_int_equal(universe_op_of(&u, 12), 2);
	universe_free(&u);
}

static void names_have_ranges_and_lengths(void **state)
{
	struct universe u;
	struct err err = { 0 };

	assert_int_equal(open_text(&u,
				   "[universe]\nnames = f{8..10}\ndepth = 1\nlong_names = 5\n"
				   "[ops]\nunlink = 1\n",
				   &err),
			 0);
	assert_int_equal(u.calls, 4);
	assert_call(&u, 0, "unlink(\"f8\")");
	assert_call(&u, 2, "unlink(\"f10\")");
	assert_call(&u, 3, "unlink(\"nnnnn\")");
	universe_free(&u);
}

static void long_names_can_be_several(void **state)
{
	struct universe u;
	struct err err = { 0 };

	assert_int_equal(open_text(&u,
				   "[universe]\nnames = a\ndepth = 1\nlong_names = 12*12\n"
				   "[ops]\nrmdir = 1\n",
				   &err),
			 0);
	assert_int_equal(u.calls, 13);
	assert_call(&u, 1, "rmdir(\"nnnnnnnnnnnn\")");
	assert_call(&u, 2, "rmdir(\"nnnnnnnnnnn1\")");
	assert_call(&u, 12, "rmdir(\"nnnnnnnnnn11\")");
	universe_free(&u);
}

static void data_is_as_long_as_its_count(void **state)
{
	struct universe u;
	struct err err = { 0 };

	assert_int_equal(open_text(&u,
				   "[universe]\nnames = a\ndepth = 1\n[ops]\nwrite_file = 1\n"
				   "[pick]\nopen_flags = O_WRONLY\ndata = 7 \"a b\"\ncount = 3\n"
				   "offset = 0\n",
				   &err),
			 0);
	assert_int_equal(u.calls, 2);
	assert_call(&u, 0, "write_file(\"a\", O_WRONLY, data(7, 3), 3, 0)");
	assert_call(&u, 1, "write_file(\"a\", O_WRONLY, \"a b\", 3, 0)");
	universe_free(&u);
}

static void boundary_values_of_counts_end_at_the_largest_file(void **state)
{
	struct universe u;
	struct err err = { 0 };

	assert_int_equal(open_text(&u,
				   "[universe]\nsize_max = 4\n[ops]\nread = 1\n"
				   "[pick]\nfd = 3\ncount = boundary\n",
				   &err),
			 0);
	assert_int_equal(u.calls, 4); /* 0 1 2 4 */
	assert_call(&u, 3, "read(3, 4)");
	universe_free(&u);
	assert_int_equal(open_text(&u,
				   "[universe]\nsize_max = 4\n[ops]\nread = 1\n"
				   "[pick]\nfd = 3\ncount = near-boundary*2\n",
				   &err),
			 0);
	assert_int_equal(u.calls, 5); /* 0 1 2 3 4 */
	universe_free(&u);
}

static void draws_follow_the_weights(void **state)
{
	enum { DRAWS = 100000 };
	size_t seen[2] = { 0 };
	struct universe u;
	struct err err = { 0 };
	struct rng rng;
	struct call c;

	assert_int_equal(open_text(&u,
				   "[universe]\nnames = a\ndepth = 1\n[ops]\nmkdir = 1\n"
				   "[pick]\nmode = 0755 0700*3\n",
				   &err),
			 0);
	rng_seed(&rng, 1);
	for (int i = 0; i < DRAWS; i++) {
		universe_call(&u, universe_draw(&u, &rng), &c);
		seen[c.mkdir.mode.num == 0700]++;
	}
	assert_in_range(seen[1], DRAWS * 74 / 100, DRAWS * 76 / 100);
	universe_free(&u);
}

/* Each place by its share, those with no weight and with nearly all of it among them. */
static void aliases_follow_the_weights(void **state)
{
	enum { DRAWS = 400000, PLACES = 7 };
	static const uint64_t weights[PLACES] = { 5, 0, 1, 1000, 40, 0, 300 };
	struct alias table[PLACES];
	uint64_t sums[PLACES], seen[PLACES] = { 0 }, sum = 0;
	struct rng rng;

	for (int i = 0; i < PLACES; i++)
		sums[i] = sum += weights[i];
	alias_fill(table, sums, PLACES);
	rng_seed(&rng, 1);
	for (int i = 0; i < DRAWS; i++)
		seen[alias_draw(table, PLACES, &rng)]++;
	for (int i = 0; i < PLACES; i++) {
		uint64_t expected = weights[i] * DRAWS / sum;

		assert_in_range(seen[i], expected - expected / 5, expected + expected / 5);
	}
}

/* The guide leads to the same operation as a look at all of them. */
static void calls_are_of_their_operations(void **state)
{
	struct universe u;
	struct err err = { 0 };

	assert_int_equal(universe_open(&u, "default", NULL, 0, &err), 0);
	for (size_t op = 0; op < u.op_count; op++) {
		assert_int_equal(universe_op_of(&u, u.ops[op].first), op);
		assert_int_equal(universe_op_of(&u, u.ops[op].first + u.ops[op].calls - 1), op);
	}
	universe_free(&u);
}

static uint64_t weight_at(const struct pool *pool, size_t i)
{
	return pool->sums[i] - (i ? pool->sums[i - 1] : 0);
}

static void distributions_shape_the_weights(void **state)
{
	struct universe u;
	struct err err = { 0 };
	const struct pool *pool;

	assert_int_equal(open_text(&u,
				   "[ops]\nmkdir = 1\nchmod = 1\n[pick]\nmode = 0*2 1 2\n"
				   "distribution.mkdir.mode = rank-size\n"
				   "distribution.mode = inverse-decaying\n",
				   &err),
			 0);
	pool = &u.ops[0].pools[1];
	assert_int_equal(weight_at(pool, 0), 2000000);
	assert_int_equal(weight_at(pool, 1), 500000);
	assert_int_equal(weight_at(pool, 2), 333333);
	pool = &u.ops[1].pools[1];
	assert_int_equal(weight_at(pool, 0), 2 * 810000);
	assert_int_equal(weight_at(pool, 1), 900000);
	assert_int_equal(weight_at(pool, 2), 1000000);
	universe_free(&u);
}

static void overrides_come_last(void **state)
{
	const char *const overrides[] = { "universe.names=x", "universe.depth=1", "ops.link=0",
					  "pick.mkdir.mode=01 02" };
	struct universe u;
	struct err err = { 0 };

	assert_int_equal(universe_open(&u, "tiny", overrides, 4, &err), 0);
	for (size_t i = 0; i < u.op_count; i++) {
		assert_int_not_equal(u.ops[i].op, OP_link);
		if (u.ops[i].op == OP_mkdir) {
			assert_int_equal(u.ops[i].calls, 2);
			assert_call(&u, u.ops[i].first + 1, "mkdir(\"x\", 0002)");
		}
	}
	universe_free(&u);
}

static void mistakes_are_named(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{ "[ops]\nmkdri = 1\n", ":2: ops.mkdri: no such operation" },
		{ "[ops]\nmkdir = many\n", ":2: ops.mkdir: a weight is a number" },
		{ "[ops]\n", "no operation has a weight" },
		{ "[pick]\nflags = 1\n", ":2: pick.flags: neither a kind nor" },
		{ "[pick]\nopen.colour = 1\n", ":2: pick.open.colour: neither a kind nor" },
		{ "[pick]\ndistribution.count = even\n", "no such distribution" },
		{ "[ops]\nmkdir = 1\n[pick]\nmode = rw\n", ":4: pick.mode: mode:1:1: expected" },
		{ "[ops]\nmkdir = 1\n[pick]\nmode =\n", ":4: pick.mode: no value" },
		{ "[ops]\nmkdir = 1\n[pick]\nmode = 1*x\n", ":4: pick.mode: 1*x: a weight is" },
		{ "[ops]\nmkdir = 1\n[pick]\npath = boundary\n", "path has no boundary values" },
		{ "[ops]\nwrite = 1\n[pick]\ndata = x\n", "neither a seed nor a string" },
		{ "[universe]\ndepth = 0\n", ":2: universe.depth: " },
		{ "[universe]\ncolour = red\n", ":2: universe.colour: " },
		{ "[universe]\nnames =\n[ops]\nmkdir = 1\n", "universe: no name" },
		{ "[universe]\nnames = a/b\n[ops]\nmkdir = 1\n", "a/b: a name holds no slash" },
		{ "[universe]\nnames = n{1..9}\ndepth = 9\n[ops]\nmkdir = 1\n", "paths; less" },
		{ "[universe]\nlong_names = x\n[ops]\nmkdir = 1\n", "x: a length is a number" },
		{ "[universe]\nlong_names = 5*9\n[ops]\nmkdir = 1\n", "5*9: not so many names" },
		{ "[other]\nx = 1\n", "the sections are universe, ops and pick" },
	};
	struct universe u;
	struct err err;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		err = (struct err){ 0 };
		assert_true(open_text(&u, cases[i].text, &err) < 0);
		if (!strstr(err.text, cases[i].message))
			fail_msg("\"%s\" is not in \"%s\"", cases[i].message, err.text);
		assert_null(u.ops);
	}
	err = (struct err){ 0 };
	assert_int_equal(universe_open(&u, "/nonexistent", NULL, 0, &err), -ENOENT);
	assert_non_null(strstr(err.text, "no such profile"));
	err = (struct err){ 0 };
	assert_int_equal(universe_open(&u, "tiny", (const char *[]){ "mkdir" }, 1, &err), -EINVAL);
	assert_string_equal(err.text, "mkdir: not section.key=value");
}

/* Every call of the small profiles, many drawn ones of all: they print, parse and stay equal. */
static void shipped_profiles_open(void **state)
{
	struct arena arena = ARENA_INIT;
	struct buf out = BUF_INIT;
	struct universe u;
	struct err err = { 0 };
	struct call c, back;
	struct rng rng;

	rng_seed(&rng, 1);
	for (size_t i = 0; universe_profiles[i]; i++) {
		if (universe_open(&u, universe_profiles[i], NULL, 0, &err))
			fail_msg("%s", err.text);
		for (uint64_t n = 0; n < 2000; n++) {
			universe_call(&u, n < u.calls ? n : universe_draw(&u, &rng), &c);
			buf_clear(&out);
			call_print(&c, DIALECT_NATIVE, &out);
			assert_int_equal(call_parse(&back, out.data, &arena, &err), 0);
			assert_true(call_equal(&c, &back));
		}
		arena_reset(&arena);
		universe_free(&u);
	}
	arena_free(&arena);
	buf_free(&out);
}

/* An override may be as long as it likes. */
static void overrides_have_no_length(void **state)
{
	struct buf override = BUF_INIT;
	const char *items[1];
	struct err err = { 0 };
	struct universe u;

	buf_adds(&override, "universe.names = ");
	for (int i = 0; i < 300; i++)
		buf_addf(&override, "name-%d ", i);
	items[0] = override.data;
	if (universe_open(&u, "tiny", items, 1, &err))
		fail_msg("%s", err.text);
	universe_free(&u);
	items[0] = "pick.nothing=1";
	assert_true(universe_open(&u, "tiny", items, 1, &err) < 0);
	assert_string_equal(err.text, "pick.nothing: neither a kind nor an operation's argument");
	buf_free(&override);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_the_product_of_the_pools),
		cmocka_unit_test(names_have_ranges_and_lengths),
		cmocka_unit_test(long_names_can_be_several),
		cmocka_unit_test(data_is_as_long_as_its_count),
		cmocka_unit_test(boundary_values_of_counts_end_at_the_largest_file),
		cmocka_unit_test(draws_follow_the_weights),
		cmocka_unit_test(aliases_follow_the_weights),
		cmocka_unit_test(calls_are_of_their_operations),
		cmocka_unit_test(distributions_shape_the_weights),
		cmocka_unit_test(overrides_come_last),
		cmocka_unit_test(mistakes_are_named),
		cmocka_unit_test(shipped_profiles_open),
		cmocka_unit_test(overrides_have_no_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
