/* test_campaign_file.c -- the file of a campaign: what it says, its mistakes, and the arms that it
 * means. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "campaign/arms.h"
#include "campaign/campaign_time.h"
#include "tests/harness/unit.h"

static void read_good(struct campaign_file *f, const char *text)
{
	struct err err = { 0 };

	if (campaign_file_read_text(f, "folder/test.ini", text, &err))
		fail_msg("%s", err.text);
}

static void defaults_and_values(void **state)
{
	struct campaign_file f;

	read_good(&f, "[arms.a]\ninstrument = explore\ntargets = reffs\n");
	assert_string_equal(f.name, "test");
	assert_true(f.seconds == 0 && f.slice_seconds == 60 && f.floor == 20 && f.jobs == 1);
	assert_int_equal(f.end, 0);
	assert_int_equal(f.section_count, 1);
	campaign_file_free(&f);
	read_good(&f, "[campaign]\nseconds = 3600\nslice = 5\nfloor = 10\njobs = 2\nspace = 1M\n"
		      "end = 2026-12-01 06:00\n"
		      "[arms.a]\ninstrument = races\ntargets = reffs\nparts = 7\nshare = 30\n"
		      "[arms.b]\ninstrument = fsck\ntargets = all\nslice = 9\nseconds = 100\n");
	assert_true(f.seconds == 3600 && f.slice_seconds == 5 && f.floor == 10);
	assert_int_equal(f.space, 1 << 20);
	assert_int_equal(f.end, 1796104800);
	assert_string_equal(instrument_table[f.sections[0].instrument].name, "races");
	assert_int_equal(f.sections[0].parts, 7);
	assert_true(f.sections[0].share == 30 && f.sections[1].slice_seconds == 9);
	campaign_file_free(&f);
}

/* Each with a word that its message has. */
static void mistakes_are_named(void **state)
{
	static const char good[] = "[arms.a]\ninstrument = explore\ntargets = reffs\n";
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "", "no section" },
		{ "[campaign]\nseconds = 5\n", "no section" },
		{ "[arms.a]\ninstrument = explore\n", "targets is missing" },
		{ "[arms.a]\ntargets = reffs\n", "instrument is missing" },
		{ "[arms.a]\ninstrument = telescope\ntargets = reffs\n", "test.ini:2: " },
		{ "[arms.]\ninstrument = explore\n", "[arms.NAME]" },
		{ "[nonsense]\nx = 1\n", "[nonsense]" },
		{ "[campaign]\nnonsense = 1\n", "nonsense" },
		{ "[campaign]\nfloor = 101\n", "floor" },
		{ "[campaign]\nslice = 0\n", "slice" },
		{ "[campaign]\njobs = 0\n", "jobs" },
		{ "[campaign]\njobs = 100000\n", "jobs" },
		{ "[campaign]\nend = soon\n[arms.a]\ninstrument = explore\ntargets = x\n", "soon" },
		{ "[arms.a]\ninstrument = explore\ntargets = reffs\noptions = --out x\n",
		  "sets --out" },
		{ "[arms.a]\ninstrument = explore\ntargets = reffs\noptions = --leaks "
		  "--seconds=5\n",
		  "sets --seconds" },
		{ "[arms.a]\ninstrument = explore\ntargets = a\nshare = 60\n"
		  "[arms.b]\ninstrument = explore\ntargets = b\nshare = 41\n",
		  "100 percent" },
	};
	struct campaign_file f;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err err = { 0 };

		assert_int_equal(campaign_file_read_text(&f, "test.ini", bad[i].text, &err),
				 -EINVAL);
		if (!strstr(err.text, bad[i].says))
			fail_msg("%s: %s", bad[i].text, err.text);
		assert_null(f.sections);
	}
	read_good(&f, good);
	campaign_file_free(&f);
}

static void shipped_ones_are_read(void **state)
{
	static const char *const names[] = { "all", "reffs", "survey" };
	struct err err = { 0 };
	struct campaign_file f;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		assert_int_equal(campaign_file_read(&f, names[i], &err), 0);
		assert_string_equal(f.name, names[i]);
		campaign_file_free(&f);
	}
	assert_int_equal(campaign_file_read(&f, "no-such-campaign", &err), -ENOENT);
}

/* ---- arms ---- */

static bool has_arm(const struct campaign_arms *a, const char *name)
{
	for (size_t i = 0; i < a->count; i++)
		if (!strcmp(a->list[i].name, name))
			return true;
	return false;
}

static void list_arms(struct campaign_file *f, struct campaign_arms *a, const char *text)
{
	struct err err = { 0 };

	read_good(f, text);
	if (campaign_arms_list(a, f, &err))
		fail_msg("%s", err.text);
}

static void patterns_choose_targets(void **state)
{
	struct campaign_file f;
	struct campaign_arms a;

	list_arms(&f, &a,
		  "[arms.a]\ninstrument = explore\ntargets = kernel:ext? reffs!mkdir_umask "
		  "-kernel:ext3\nprofiles = default crash\noptions = --leaks --set ops.mkdir=5\n"
		  "[arms.b]\ninstrument = fsck\ntargets = e2fsck*\n"
		  "[arms.c]\ninstrument = crash\ntargets = all journalfs\n"
		  "[arms.d]\ninstrument = fsck\ntargets = e2fsck-ext2\n");
	assert_true(has_arm(&a, "explore reffs!mkdir_umask --profile crash --leaks --set "
				"ops.mkdir=5"));
	assert_false(has_arm(&a, "explore kernel:ext3 --profile crash --leaks --set ops.mkdir=5"));
	assert_true(has_arm(&a, "fsck e2fsck-ext2"));
	assert_false(has_arm(&a, "fsck xfs_repair"));
	assert_true(has_arm(&a, "crash journalfs"));
	assert_false(has_arm(&a, "crash overlay")); /* it has no disk */
	for (size_t i = 0; i < a.count; i++) {
		assert_true(a.list[i].section != &f.sections[3]); /* it is the second's */
		assert_int_equal(a.bandit.arms[i].out, a.list[i].state != ARM_ACTIVE);
		if (a.list[i].state == ARM_LACKING)
			assert_string_not_equal(a.list[i].reason, "");
	}
	campaign_arms_free(&a);
	campaign_file_free(&f);
}

static void a_pattern_without_targets_is_a_mistake(void **state)
{
	struct campaign_file f;
	struct campaign_arms a;
	struct err err = { 0 };

	read_good(&f, "[arms.a]\ninstrument = schedules\ntargets = tmpf*\n");
	assert_int_equal(campaign_arms_list(&a, &f, &err), -EINVAL);
	assert_non_null(strstr(err.text, "[arms.a]"));
	campaign_file_free(&f);
}

/* ---- moments ---- */

static void moments_are_read_and_printed(void **state)
{
	static const char *const bad[] = { "", "2026", "2026-11-31x", "11/30/2026", "2026-13-01" };
	char text[CAMPAIGN_TIME_TEXT];
	struct err err = { 0 };
	int64_t at;

	assert_int_equal(campaign_time_parse("1970-01-02", &at, &err), 0);
	assert_int_equal(at, 86400);
	assert_int_equal(campaign_time_parse("2026-11-17T16:30:05", &at, &err), 0);
	campaign_time_print(at, text);
	assert_string_equal(text, "2026-11-17 16:30:05");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		err = (struct err){ 0 };
		assert_int_equal(campaign_time_parse(bad[i], &at, &err), -EINVAL);
	}
	campaign_time_print(INT64_MAX, text);
	assert_string_equal(text, "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_and_values),
		cmocka_unit_test(mistakes_are_named),
		cmocka_unit_test(shipped_ones_are_read),
		cmocka_unit_test(patterns_choose_targets),
		cmocka_unit_test(a_pattern_without_targets_is_a_mistake),
		cmocka_unit_test(moments_are_read_and_printed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
