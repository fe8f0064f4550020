/* test_checker.c -- the program that checks a file system: its verdict, its report, its complaint.
 */
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "target/checker.h"
#include "target/description.h"
#include "tests/harness/unit.h"

/* The verdict of a checker that is this command. */
static enum verdict verdict_of(const char *command, struct buf *report)
{
	struct target_description d = {
		.fsck = (char *)command,
		.fsck_clean = (char *)"0",
		.fsck_bad = (char *)"4 12",
	};
	enum verdict verdict = VERDICT_UNKNOWN;
	struct checker checker;
	struct image image;
	struct err err = { 0 };

	assert_int_equal(image_make(&image, 8192, &err), 0);
	memcpy(image.bytes + 4096, "xyz\n", 4);
	if (checker_start(&checker, &d, &image, &err) ||
	    checker_finish(&checker, &verdict, report, NULL, &err))
		fail_msg("%s", err.text);
	return verdict;
}

static void the_exit_status_is_the_verdict(void **state)
{
	struct buf report = BUF_INIT;

	assert_int_equal(verdict_of("true", &report), VERDICT_OK);
	assert_int_equal(report.len, 0);
	assert_int_equal(verdict_of("sh -c 'exit 12'", &report), VERDICT_BAD);
	assert_int_equal(verdict_of("sh -c 'exit 8'", &report), VERDICT_UNKNOWN);
	assert_int_equal(verdict_of("sh -c 'kill -9 $$'", &report), VERDICT_UNKNOWN);
	buf_free(&report);
}

static void it_sees_the_image_and_is_heard(void **state)
{
	struct buf report = BUF_INIT;

	assert_int_equal(verdict_of("sh -c 'tail -c 4096 $0; echo said >&2; exit 4' {image}",
				    &report),
			 VERDICT_BAD);
	assert_non_null(strstr(report.data, "xyz"));
	assert_non_null(memmem(report.data, report.len, "said", 4));
	buf_free(&report);
}

static void is_complaint(const char *report, const char *complaint)
{
	static const char fresh[] =
		"e2fsck 1.47.0 (5-Feb-2023)\n"
		"Pass 1: Checking inodes, blocks, and sizes\n"
		"/proc/self/fd/3: 11/32 files (0.0% non-contiguous), 60/256 blocks\n"
		"[FSCK] SIT valid block bitmap checking  [Ok..]\n";
	struct buf out = BUF_INIT;

	checker_complaint(report, fresh, &out);
	assert_string_equal(buf_str(&out), complaint);
	buf_free(&out);
}

/* Behind what is there already, and only the first. */
static void a_complaint_is_added(void **state)
{
	struct buf out = BUF_INIT;

	buf_adds(&out, "before: ");
	checker_complaint("Inode 13 is wrong.\nInode 14 is missing.\n", "", &out);
	assert_string_equal(buf_str(&out), "before: Inode N is wrong.");
	buf_free(&out);
}

/* The same whatever the calls were that led to it. */
static void a_complaint_has_no_names_and_numbers(void **state)
{
	is_complaint("e2fsck 1.47.0 (5-Feb-2023)\nPass 1: Checking inodes, blocks, and sizes\n"
		     "Inode 13, i_blocks is 4, should be 2.  Fix? no\n\n"
		     "/proc/self/fd/3: 14/32 files (7.1% non-contiguous), 77/256 blocks\n",
		     "Inode N, i_blocks is N, should be N.");
	is_complaint("Entry 'b' in /root/a (12) has deleted/unused inode 13.  Clear? no\n",
		     "Entry NAME in PATH (N) has deleted/unused inode N.");
	is_complaint("Zone nr < FIRSTZONE in file `/dir/single'.Remove block (y/n)? ",
		     "Zone nr < FIRSTZONE in file NAME.Remove block (y/n)");
	is_complaint("bad magic number 0xdeadBEEF in block 12.\n",
		     "bad magic number N in block N.");
	is_complaint("/ROOT/A\n  File size is 0 bytes, cluster chain length is > 0 bytes.\n",
		     "File size is N bytes, cluster chain length is > N bytes.");
	is_complaint("[FSCK] SIT valid block bitmap checking  [Fail]\n",
		     "[FSCK] SIT valid block bitmap checking [Fail]");
	is_complaint("Block bitmap differences:  -29 -(31--35) +40\nFix? no\n",
		     "Block bitmap differences: N");
	is_complaint("Pass 1: Checking inodes, blocks, and sizes\n", "");
	is_complaint("", "");
	is_complaint("what's that 'unfinished\n", "what's that 'unfinished");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_exit_status_is_the_verdict),
		cmocka_unit_test(it_sees_the_image_and_is_heard),
		cmocka_unit_test(a_complaint_is_added),
		cmocka_unit_test(a_complaint_has_no_names_and_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
