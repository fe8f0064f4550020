/* test_kernel.c -- file systems of a kernel in a process: used, remounted, saved, hung.
 *
 * Where no kernel is built there is nothing to test. */
#include <errno.h>
#include <string.h>

#include "base/must.h"
#include "tests/harness/plans.h"

static const char *const targets[] = { "kernel:ext4", "kernel:ext2", "kernel:xfs", "kernel:btrfs",
				       "kernel:tmpfs" };

static struct hash seen_hash(struct pair *p)
{
	enum target_fate fate = FATE_DIED;
	struct hash hash;
	struct tree tree;

	assert_int_equal(target_observe(p->target, &tree, &fate, NULL), 0);
	assert_int_equal(fate, FATE_FINE);
	hash = tree_hash(&tree);
	tree_free(&tree);
	return hash;
}

static void save(struct pair *p, uint64_t key)
{
	struct err err = { 0 };

	if (p->target->kind->save(p->target, key, &err))
		fail_msg("%s: %s", p->target->name, err.text);
}

static void restore(struct pair *p, uint64_t key, struct state *to)
{
	struct err err = { 0 };

	if (p->target->kind->restore(p->target, key, &err))
		fail_msg("%s: %s", p->target->name, err.text);
	state_free(&p->state);
	p->state = state_copy(to);
}

static void use(struct pair *p)
{
	pair_do(p, "mkdir(\"a\", 0755)");
	pair_do(p, "write_file(\"a/f\", O_CREAT|O_WRONLY, data(7, 9000), 9000, 100)");
	pair_do(p, "link(\"a/f\", \"g\")");
	pair_do(p, "symlink(\"a/f\", \"s\")");
	pair_do(p, "setxattr(\"a\", \"user.x\", \"value\", 5, 0)");
	pair_do(p, "rename(\"a/f\", \"a/h\")");
	pair_do(p, "mkdir(\"a\", 0755)");
	pair_do(p, "advance_time(60000)");
	pair_do(p, "drop_caches()");
	if (p->target->caps & TARGET_REMOUNT)
		pair_do(p, "remount()");
}

/* A state is expanded in two ways, and again in the first: with the same end, open files too. */
static void branch(struct pair *p)
{
	struct state before;
	struct hash first;

	pair_do(p, "open(\"g\", O_RDWR)");
	before = state_copy(&p->state);
	save(p, 1);
	pair_do(p, "unlink(\"g\")");
	pair_do(p, "write(3, \"abc\", 3)");
	first = seen_hash(p);
	save(p, 2);
	restore(p, 1, &before);
	pair_do(p, "pread(3, 10, 100)");
	pair_do(p, "truncate(\"g\", 5)");
	assert_false(hash_equal(seen_hash(p), first));
	restore(p, 1, &before);
	p->target->kind->drop(p->target, 1);
	pair_do(p, "unlink(\"g\")");
	pair_do(p, "write(3, \"abc\", 3)");
	assert_true(hash_equal(seen_hash(p), first));
	p->target->kind->drop(p->target, 2);
	assert_int_equal(p->target->kind->restore(p->target, 2, NULL), -ENOENT);
	state_free(&before);
}

static void exercise(struct pair *p)
{
	struct hash fresh = seen_hash(p);

	use(p);
	branch(p);
	assert_int_equal(target_reset(p->target, NULL), 0);
	assert_true(hash_equal(seen_hash(p), fresh));
}

static void every_file_system_is_used_and_branched(void **state)
{
	size_t lacking = 0;

	for (size_t i = 0; i < ARRAY_LEN(targets); i++) {
		struct err why = { 0 };
		struct pair p;

		if (!pair_open(&p, targets[i], 60, &why)) {
			if (why.code != -ENOTSUP)
				fail_msg("%s", why.text);
			print_message("# %s\n", why.text);
			lacking++;
			continue;
		}
		exercise(&p);
		pair_close(&p);
	}
	if (lacking == ARRAY_LEN(targets))
		skip();
}

/* Nobody will ever write into the pipe: known at once, as the time that passes is not real. */
static void a_call_that_never_returns_hangs(void **state)
{
	struct err why = { 0 };
	struct plan_step wait;
	struct pair p;

	if (!pair_open(&p, "kernel:ext4", 60, &why))
		skip();
	pair_do(&p, "mknod(\"p\", S_IFIFO|0600, 0)");
	save(&p, 1);
	wait = (struct plan_step){ .call = pair_call(&p, "open(\"p\", O_RDONLY)") };
	assert_int_equal(pair_follow(&p, &wait, 1).fate, FATE_HUNG);
	assert_int_equal(p.target->kind->restore(p.target, 1, &why), 0);
	pair_do(&p, "unlink(\"p\")");
	pair_close(&p);
}

static void two_kernels_live_side_by_side(void **state)
{
	struct err why = { 0 };
	struct pair a, b;

	if (!pair_open(&a, "kernel:ext4", 60, &why))
		skip();
	assert_true(pair_open(&b, "kernel:ext4", 60, &why));
	pair_do(&a, "mkdir(\"a\", 0755)");
	pair_do(&b, "mkdir(\"b\", 0755)");
	pair_do(&a, "rmdir(\"a\")");
	pair_close(&a);
	pair_do(&b, "rmdir(\"b\")");
	pair_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_file_system_is_used_and_branched),
		cmocka_unit_test(a_call_that_never_returns_hangs),
		cmocka_unit_test(two_kernels_live_side_by_side),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
