/* test_times.c -- times without a clock: whatever the clock is like, only their order counts. */
#include <string.h>

#include "base/err.h"
#include "conform/times.h"
#include "tests/harness/unit.h"

/* A file system that is the model, with a clock of the test's. */
static struct state served;
static struct model serving;
static int64_t (*clock_of)(int64_t tick);
static int64_t access_unit; /* that of times of access, which is the coarsest */

static int serve(struct target *t, const struct call *c, struct outcome *ret,
		 enum target_fate *ret_fate, struct err *err)
{
	const struct inode *inode;

	*ret_fate = FATE_FINE;
	model_run(&serving, &served, c, ret);
	if (ret->error || ret->result != RESULT_STAT)
		return 0;
	inode = tree_inode(&served.tree, (uint64_t)ret->stat.ino);
	ret->stat.atime = clock_of(inode->times.access) / access_unit * access_unit;
	ret->stat.mtime = clock_of(inode->times.modify);
	ret->stat.ctime = clock_of(inode->times.change);
	ret->stat.btime = clock_of(inode->times.birth);
	return 0;
}

static const struct target_kind kind = { .name = "test", .call = serve };

static int64_t exact(int64_t tick)
{
	return tick;
}

/* Calls that are near to each other have the same time. */
static int64_t coarse(int64_t tick)
{
	return tick / 1000000;
}

static int64_t stopped(int64_t tick)
{
	return 7;
}

static int64_t backwards(int64_t tick)
{
	return 1000000000 - tick;
}

/* Walks through a script; returns its fate, and what is said against it in `why`. */
static enum script_fate walk(int64_t (*clock)(int64_t), const char *text, struct buf *why)
{
	const struct state_options options = { .fields = TREE_FIELDS_DEFAULT,
					       .hashed = true,
					       .root_mode = 0777 };
	char name[] = "test";
	struct target target = { .kind = &kind, .name = name, .caps = TARGET_TIME };
	struct walker x = { .target = &target };
	struct deviation d = { 0 };
	struct call calls[32];
	struct script_walk w = { .calls = calls, .deviation = &d };
	struct script script = { 0 };
	struct err err = { 0 };

	if (script_parse(&script, "test", text, strlen(text), &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < script.count; i++)
		calls[w.count++] = script.items[i].call;
	clock_of = clock;
	model_init(&x.model, PLATFORM_LINUX, KERNEL_CURRENT);
	x.model.traits.time_unit = (uint64_t)access_unit;
	state_init(&x.state, &options);
	served = state_copy(&x.state);
	assert_int_equal(times_walk(&x, &w, &err), 0);
	buf_clear(why);
	buf_adds(why, buf_str(&d.seen));
	state_free(&served);
	state_free(&x.state);
	arena_free(&x.arena);
	deviation_free(&d);
	script_free(&script);
	return w.fate;
}

#define MADE "creat(\"f\", 0644)\nmkdir(\"d\", 0755)\n"
#define LOOK "stat(\"f\")\nstat(\"d\")\nstat(\".\")\n"
#define WAIT "advance_time(15)\n"

static struct buf why = BUF_INIT;

static int begin(void **state)
{
	model_init(&serving, PLATFORM_LINUX, KERNEL_CURRENT);
	access_unit = 1;
	return 0;
}

static int end(void **state)
{
	buf_free(&why);
	return 0;
}

static void any_clock_that_runs_is_right(void **state)
{
	static const char script[] =
		MADE LOOK WAIT "chmod(\"f\", 0600)\nmkdir(\"d/e\", 0755)\n" LOOK;

	assert_int_equal(walk(exact, script, &why), SCRIPT_ACCEPTED);
	assert_int_equal(walk(coarse, script, &why), SCRIPT_ACCEPTED);
}

static void a_clock_may_stand_still_for_a_moment(void **state)
{
	assert_int_equal(walk(stopped, MADE LOOK "chmod(\"f\", 0600)\n" LOOK, &why),
			 SCRIPT_ACCEPTED);
	assert_int_equal(walk(stopped, MADE LOOK WAIT "chmod(\"f\", 0600)\n" LOOK, &why),
			 SCRIPT_REJECTED);
	assert_string_equal(why.data, "the change time of a file has not changed");
}

static void it_does_not_run_backwards(void **state)
{
	assert_int_equal(walk(backwards, MADE LOOK, &why), SCRIPT_REJECTED);
	assert_int_equal(walk(backwards, MADE "stat(\"f\")\nchmod(\"f\", 0600)\nstat(\"f\")\n",
			      &why),
			 SCRIPT_REJECTED);
	assert_string_equal(why.data, "the change time of a file has not changed");
}

static void what_may_be_set_is_set_or_not(void **state)
{
	static const char script[] =
		MADE "open(\"f\", O_RDWR)\npwrite(4, \"abc\", 3, 0)\n" LOOK WAIT
		     "pread(4, 3, 0)\ntruncate(\"f\", 3)\n" LOOK;

	for (unsigned i = 0; i < 4; i++) {
		serving.traits.atime = i & 1;
		serving.traits.optional_times = i & 2;
		assert_int_equal(walk(exact, script, &why), SCRIPT_ACCEPTED);
	}
}

static void times_that_are_set_are_told(void **state)
{
	static const char script[] = MADE
		"utimensat(AT_FDCWD, \"f\", 1000000000000000000, 1000000000000000001, 0)\n" LOOK;

	assert_int_equal(walk(exact, script, &why), SCRIPT_ACCEPTED);
	assert_int_equal(walk(coarse, script, &why), SCRIPT_REJECTED);
	assert_string_equal(why.data, "the access time of a file is not the one that was set");
}

static void times_may_have_several_units(void **state)
{
	static const char made[] = MADE LOOK WAIT "creat(\"d/n\", 0600)\nstat(\"d/n\")\n" LOOK;
	static const char set[] = MADE
		"utimensat(AT_FDCWD, \"f\", 1000000000000000001, 1000000000000000001, 0)\n" LOOK;

	access_unit = 86400000000000;
	assert_int_equal(walk(exact, made, &why), SCRIPT_ACCEPTED);
	assert_int_equal(walk(exact, set, &why), SCRIPT_ACCEPTED);
	assert_int_equal(walk(backwards, made, &why), SCRIPT_REJECTED);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(any_clock_that_runs_is_right, begin),
		cmocka_unit_test_setup(a_clock_may_stand_still_for_a_moment, begin),
		cmocka_unit_test_setup(it_does_not_run_backwards, begin),
		cmocka_unit_test_setup(what_may_be_set_is_set_or_not, begin),
		cmocka_unit_test_setup(times_that_are_set_are_told, begin),
		cmocka_unit_test_setup(times_may_have_several_units, begin),
	};

	return cmocka_run_group_tests(tests, NULL, end);
}
