/* test_gave_up.c -- the judge and file systems that give up after a failure: what they lose may be
 * meant, but not what was synced, and not while they go on as if nothing had happened. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "finding/finding.h"
#include "tests/harness/unit.h"
#include "trace/script.h"

/* Gives up at the first failure, and has then lost a name. */
struct fake {
	struct model model;
	struct state state;
	bool failing, given_up;
	bool lives_on;    /* it does not give up at all */
	bool shut_down;   /* having given up, it does not even show its root */
	bool unmountable; /* having given up */
	int refuses;      /* once mounted anew, all changes, with this error */
	bool remounted;
	bool unobserved;   /* the tree is compared at the end only */
	const char *loses; /* NULL: nothing */
	const char *shows; /* NULL, or one byte that the file f has when the caches are dropped */
};

static int fake_reset(struct target *t, struct err *err)
{
	struct state_options options = {
		.fields = t->fields,
		.hashed = true,
		.root_mode = 0755,
	};
	struct fake *f = t->own;

	state_free(&f->state);
	state_init(&f->state, &options);
	f->failing = f->given_up = f->remounted = false;
	return 0;
}

static void lose(struct fake *f)
{
	const struct inode *root = tree_inode(&f->state.tree, TREE_ROOT);

	if (f->loses && root && tree_find(&f->state.tree, TREE_ROOT, f->loses, strlen(f->loses)))
		tree_unlink(&f->state.tree, TREE_ROOT, f->loses, strlen(f->loses));
	tree_settle(&f->state.tree);
}

static int fake_call(struct target *t, const struct call *c, struct outcome *ret,
		     enum target_fate *ret_fate, struct err *err)
{
	struct fake *f = t->own;
	bool changes = op_table[c->op].traits & (TRAIT_NAMES | TRAIT_DATA | TRAIT_ATTR);

	*ret_fate = FATE_FINE;
	*ret = (struct outcome){ .result = RESULT_NONE };
	if (c->op == OP_fail_write) {
		f->failing = true;
	} else if (c->op == OP_remount && f->given_up && f->unmountable) {
		ret->error = EUCLEAN;
	} else if (c->op == OP_remount) {
		f->given_up = false;
		f->remounted = true;
	} else if (f->remounted && f->refuses && changes) {
		ret->error = f->refuses;
	} else if (f->failing) {
		f->failing = false;
		f->given_up = !f->lives_on;
		ret->error = EIO;
		lose(f);
	} else if (f->given_up && changes) {
		ret->error = EROFS;
	} else {
		model_run(&f->model, &f->state, c, ret);
		if (c->op == OP_drop_caches && f->shows)
			tree_write(&f->state.tree, fact_inode(&f->state.tree, "/f"), 0, f->shows,
				   1);
		tree_settle(&f->state.tree);
	}
	return 0;
}

static int fake_observe(struct target *t, struct tree *ret, enum target_fate *ret_fate,
			struct err *err)
{
	struct fake *f = t->own;

	*ret_fate = f->given_up && f->shut_down ? FATE_DIED : FATE_FINE;
	if (*ret_fate == FATE_FINE)
		*ret = tree_copy(&f->state.tree);
	return 0;
}

/* One step; the tree is for the judge to look at. */
static int fake_follow(struct target *t, const struct plan_step *steps, size_t count,
		       struct plan_report *ret, struct err *err)
{
	ret->tree_differs = steps->observe;
	return fake_call(t, &steps->call, &ret->outcome, &ret->fate, err);
}

static const struct target_kind fake_kind = {
	.name = "fake",
	.call = fake_call,
	.follow = fake_follow,
	.observe = fake_observe,
	.reset = fake_reset,
};

/* 1 if there is a discrepancy. */
static int replay(struct fake *f, const char *text)
{
	struct target t = {
		.kind = &fake_kind,
		.name = (char[]){ "fake" },
		.caps = TARGET_FAULTS | TARGET_REMOUNT,
		.fields = TREE_FIELDS_DEFAULT,
		.kernel = KERNEL_CURRENT,
		.traits = traits_usual,
		.own = f,
	};
	struct state_options options = { .fields = t.fields, .hashed = true, .root_mode = 0755 };
	struct finding finding;
	struct script script = { 0 };
	struct call calls[16];
	struct replay_on on = { .target = &t, .model = &f->model, .unseen = f->unobserved };
	struct err err = { 0 };
	size_t count = 0;
	int status;

	target_model(&t, &f->model);
	state_init(&f->state, &options);
	assert_int_equal(script_parse(&script, "test", text, strlen(text), &err), 0);
	for (size_t i = 0; i < script.count; i++)
		if (script.items[i].type == ITEM_CALL)
			calls[count++] = script.items[i].call;
	status = judge_replay(&on, calls, count, NULL, &finding, &err);
	if (status < 0)
		fail_msg("%s", err.text);
	if (status)
		finding_free(&finding);
	script_free(&script);
	state_free(&f->state);
	return status;
}

#define BEFORE "mkdir(\"synced\", 0755)\nsync()\nmkdir(\"new\", 0755)\n"
#define FAILS "fail_write(1)\nchmod(\"/\", 0700)\n"

static void what_was_not_synced_may_be_lost(void **state)
{
	assert_int_equal(replay(&(struct fake){ .loses = "new" }, BEFORE FAILS), 0);
	assert_int_equal(replay(&(struct fake){ .loses = "new" }, BEFORE FAILS "remount()\n"), 0);
	assert_int_equal(replay(&(struct fake){ 0 }, BEFORE FAILS "mkdir(\"x\", 0755)\nremount()\n"
								  "mkdir(\"x\", 0755)\n"),
			 0);
}

static void what_was_synced_may_not(void **state)
{
	assert_int_equal(replay(&(struct fake){ .loses = "synced" }, BEFORE FAILS), 1);
	assert_int_equal(replay(&(struct fake){ .loses = "synced" }, BEFORE FAILS "remount()\n"),
			 1);
}

static void one_that_goes_on_loses_nothing(void **state)
{
	struct fake f = { .loses = "new", .lives_on = true };

	assert_int_equal(replay(&f, BEFORE FAILS), 1);
	assert_int_equal(replay(&(struct fake){ .lives_on = true }, BEFORE FAILS), 0);
}

static void one_that_is_shut_down_need_not_show_anything(void **state)
{
	struct fake f = { .shut_down = true };

	assert_int_equal(replay(&f, BEFORE FAILS), 0);
	assert_int_equal(replay(&f, BEFORE), 0);
}

static void it_need_not_be_mounted_again(void **state)
{
	assert_int_equal(replay(&(struct fake){ .unmountable = true }, BEFORE FAILS "remount()\n"),
			 0);
}

static void mounted_again_it_answers_by_what_it_has(void **state)
{
	const char *text = BEFORE FAILS "remount()\nmkdir(\"x\", 0755)\n";
	struct fake lossy = { .loses = "new", .unobserved = true };

	assert_int_equal(replay(&(struct fake){ .refuses = EINVAL }, text), 1);
	assert_int_equal(replay(&lossy, BEFORE FAILS "remount()\nrmdir(\"new\")\n"), 0);
	lossy.refuses = EINVAL;
	assert_int_equal(replay(&lossy, BEFORE FAILS "remount()\nrmdir(\"new\")\n"), 1);
}

#define WRITES "write_file(\"f\", O_WRONLY|O_CREAT, \"x\", 1, 0)\n"
#define WRITES_AGAIN "write_file(\"f\", O_WRONLY, \"y\", 1, 0)\n"
#define DROPS FAILS "drop_caches()\n"

static void data_that_could_not_be_written_may_be_dropped(void **state)
{
	struct fake zeros = { .lives_on = true, .shows = "" };
	struct fake old = { .lives_on = true, .shows = "x" };
	struct fake foreign = { .lives_on = true, .shows = "z" };

	assert_int_equal(replay(&zeros, WRITES DROPS), 0);
	assert_int_equal(replay(&old, WRITES "sync()\n" WRITES_AGAIN DROPS), 0);
	assert_int_equal(replay(&foreign, WRITES DROPS), 1);
	assert_int_equal(replay(&zeros, WRITES "sync()\n" DROPS), 1);
	assert_int_equal(replay(&zeros, WRITES "drop_caches()\n"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_not_synced_may_be_lost),
		cmocka_unit_test(what_was_synced_may_not),
		cmocka_unit_test(one_that_goes_on_loses_nothing),
		cmocka_unit_test(one_that_is_shut_down_need_not_show_anything),
		cmocka_unit_test(it_need_not_be_mounted_again),
		cmocka_unit_test(mounted_again_it_answers_by_what_it_has),
		cmocka_unit_test(data_that_could_not_be_written_may_be_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
