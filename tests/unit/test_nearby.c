/* test_nearby.c -- values that follow from the state: where data and holes end, what exists, what
 * is open; the same whenever the state is the same. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "model/model.h"
#include "plan/nearby.h"
#include "tests/harness/unit.h"
#include "trace/script.h"

static const char profile[] = "[universe]\n"
			      "names = a b c\n"
			      "depth = 2\n"
			      "width = 1\n"
			      "size_max = 65536\n"
			      "[ops]\n"
			      "truncate = 1\n"
			      "pwrite = 1\n"
			      "setxattr = 1\n"
			      "removexattr = 1\n"
			      "mkdir = 1\n"
			      "[pick]\n"
			      "truncate.path = a\n"
			      "truncate.length = nearby\n"
			      "mkdir.path = nearby\n"
			      "fd = nearby\n"
			      "offset = nearby\n"
			      "pwrite.count = nearby\n"
			      "setxattr.path = a\n"
			      "setxattr.size = nearby\n"
			      "removexattr.path = a\n"
			      "xattr_name = nearby\n";

struct fixture {
	struct universe universe;
	struct model model;
	struct state state;
	struct arena arena;
};

static void make(struct fixture *f)
{
	struct state_options options = { .fields = TREE_FIELDS_DEFAULT, .hashed = true };
	struct buf text = BUF_INIT, path = BUF_INIT;
	const char *work = getenv("WORK");
	struct err err = { 0 };

	*f = (struct fixture){ .arena = ARENA_INIT };
	buf_adds(&text, profile);
	buf_addf(&path, "%s/nearby.ini", work ? work : "/tmp");
	if (buf_write_file(&text, buf_str(&path), &err) ||
	    universe_open(&f->universe, buf_str(&path), NULL, 0, &err))
		fail_msg("%s", err.text);
	buf_free(&path);
	buf_free(&text);
	model_init(&f->model, PLATFORM_LINUX, KERNEL_CURRENT);
	options.root_mode = 0755;
	state_init(&f->state, &options);
}

static void unmake(struct fixture *f)
{
	state_free(&f->state);
	universe_free(&f->universe);
	arena_free(&f->arena);
}

static void run(struct fixture *f, const char *text)
{
	struct script script = { 0 };
	struct err err = { 0 };
	struct outcome outcome;

	if (script_parse(&script, "test", text, strlen(text), &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < script.count; i++) {
		model_run(&f->model, &f->state, &script.items[i].call, &outcome);
		assert_int_equal(outcome.error, 0);
	}
	script_free(&script);
}

/* How many calls of the operation have the number, or the text, as argument `arg`. */
static unsigned count(struct fixture *f, enum op op, unsigned arg, int64_t num, const char *text)
{
	unsigned found = 0;
	struct call c, again;

	for (uint64_t n = 0; n < f->universe.calls; n++) {
		if (f->universe.ops[universe_op_of(&f->universe, n)].op != op ||
		    !nearby_call(&f->universe, n, &f->state, &f->arena, &c))
			continue;
		assert_true(nearby_call(&f->universe, n, &f->state, &f->arena, &again));
		assert_true(call_equal(&c, &again));
		found += text ? !strcmp(c.arg[arg].text, text) : c.arg[arg].num == num;
	}
	return found;
}

/* The end of the file, and beside it; within the block where it ends, two unaligned lengths. */
static void lengths_follow_from_the_file(void **state)
{
	struct fixture f;
	struct call c;
	unsigned inside = 0;

	make(&f);
	run(&f, "write_file(\"a\", O_WRONLY|O_CREAT, data(1, 700), 700, 0)\n");
	for (uint64_t n = 0; n < f.universe.calls; n++)
		if (nearby_call(&f.universe, n, &f.state, &f.arena, &c) && c.op == OP_truncate)
			inside += c.truncate.length.num > 512 && c.truncate.length.num < 1024 &&
				  c.truncate.length.num % 512;
	assert_true(inside >= 2);
	unmake(&f);
}

static void offsets_follow_from_holes(void **state)
{
	struct fixture f;

	make(&f);
	run(&f, "write_file(\"a\", O_WRONLY|O_CREAT, data(1, 4096), 4096, 8192)\n"
		"open(\"a\", O_RDWR, 0644)\n");
	/* More values than places: each place has one, whatever the others have. */
	assert_true(count(&f, OP_pwrite, 0, 3, NULL) > 0);
	assert_int_equal(count(&f, OP_pwrite, 0, 4, NULL), 0);
	run(&f, "close(3)\n");
	assert_int_equal(count(&f, OP_pwrite, 0, 3, NULL), 0);
	unmake(&f);
}

/* A count ends where something ends: from no offset beyond the bounds. */
static void counts_stay_within_bounds(void **state)
{
	struct fixture f;
	struct call c;
	unsigned made = 0;

	make(&f);
	run(&f, "write_file(\"a\", O_WRONLY|O_CREAT, data(1, 5000), 5000, 3000)\n"
		"open(\"a\", O_RDWR, 0644)\n");
	for (uint64_t n = 0; n < f.universe.calls; n++) {
		if (!nearby_call(&f.universe, n, &f.state, &f.arena, &c) || c.op != OP_pwrite)
			continue;
		made++;
		assert_true(c.pwrite.count.num > 0);
		assert_true(c.pwrite.offset.num + c.pwrite.count.num <= 65536);
		if (c.pwrite.data.generated)
			assert_int_equal(c.pwrite.data.len, c.pwrite.count.num);
	}
	assert_true(made > 20);
	unmake(&f);
}

static void paths_follow_from_names(void **state)
{
	struct fixture f;
	unsigned existing;

	make(&f);
	/* Nothing exists: all places that have a value name something free. */
	existing = count(&f, OP_mkdir, 0, 0, "a") + count(&f, OP_mkdir, 0, 0, "b") +
		   count(&f, OP_mkdir, 0, 0, "c");
	assert_true(existing > 0);
	assert_int_equal(count(&f, OP_mkdir, 0, 0, "a/b"), 0);
	run(&f, "mkdir(\"a\", 0755)\nmkdir(\"b\", 0755)\nmkdir(\"c\", 0755)\nmkdir(\"a/a\", "
		"0755)\nmkdir(\"a/b\", 0755)\n");
	/* One name is left. */
	assert_true(count(&f, OP_mkdir, 0, 0, "a/c") > 0);
	assert_true(count(&f, OP_mkdir, 0, 0, "a") + count(&f, OP_mkdir, 0, 0, "a/a") +
			    count(&f, OP_mkdir, 0, 0, "a/b") + count(&f, OP_mkdir, 0, 0, "b") +
			    count(&f, OP_mkdir, 0, 0, "c") >
		    0);
	unmake(&f);
}

static void attributes_follow_from_the_object(void **state)
{
	struct fixture f;

	make(&f);
	run(&f, "mkdir(\"a\", 0755)\n");
	assert_int_equal(count(&f, OP_removexattr, 1, 0, "user.x"), 0);
	run(&f, "setxattr(\"a\", \"user.x\", data(1, 30), 30, 0)\n");
	assert_true(count(&f, OP_removexattr, 1, 0, "user.x") > 0);
	assert_true(count(&f, OP_setxattr, 3, 30, NULL) > 0);
	assert_true(count(&f, OP_setxattr, 3, 31, NULL) > 0);
	unmake(&f);
}

/* How many of the draws are of this operation, all of which the state must have values for. */
static int drawn(struct fixture *f, enum op op)
{
	enum { DRAWS = 20000 };
	struct rng rng;
	struct call call;
	struct nearby_names names = { .known = false };
	uint64_t n;
	int count = 0;

	rng_seed(&rng, 1);
	for (int i = 0; i < DRAWS; i++) {
		assert_true(nearby_draw(&f->universe, &f->state, &names, &rng, &n));
		count += f->universe.ops[universe_op_of(&f->universe, n)].op == op;
		if (!nearby_call(&f->universe, n, &f->state, &f->arena, &call))
			assert_true(call.op != OP_pwrite && call.op != OP_mkdir);
	}
	return count;
}

static void only_what_is_open_is_drawn(void **state)
{
	struct fixture f;
	int one;

	make(&f);
	assert_int_equal(drawn(&f, OP_pwrite), 0);
	assert_true(drawn(&f, OP_truncate) > 0);
	assert_true(drawn(&f, OP_mkdir) > 0);
	run(&f, "open(\"a\", O_RDWR|O_CREAT, 0644)\n");
	one = drawn(&f, OP_pwrite);
	assert_true(one > 0);
	run(&f, "open(\"a\", O_RDWR, 0)\n");
	assert_true(drawn(&f, OP_pwrite) > one);
	unmake(&f);
}

/* All names of the universe but one, which is free. */
static void free_paths_are_drawn_as_long_as_there_are_any(void **state)
{
	struct fixture f;

	make(&f);
	run(&f, "mkdir(\"a\", 0755)\nmkdir(\"b\", 0755)\nmkdir(\"c\", 0755)\n"
		"mkdir(\"a/a\", 0755)\nmkdir(\"a/b\", 0755)\n");
	assert_true(count(&f, OP_mkdir, 0, 0, "a/c") > 0);
	assert_true(drawn(&f, OP_mkdir) > 0);
	run(&f, "mkdir(\"a/c\", 0755)\n");
	/* What exists is still drawn. */
	assert_true(drawn(&f, OP_mkdir) > 0);
	unmake(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lengths_follow_from_the_file),
		cmocka_unit_test(offsets_follow_from_holes),
		cmocka_unit_test(counts_stay_within_bounds),
		cmocka_unit_test(paths_follow_from_names),
		cmocka_unit_test(attributes_follow_from_the_object),
		cmocka_unit_test(only_what_is_open_is_drawn),
		cmocka_unit_test(free_paths_are_drawn_as_long_as_there_are_any),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
