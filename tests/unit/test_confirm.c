/* test_confirm.c -- the verdict on the console of a guest; kernels recorded in a finding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/must.h"
#include "confirm/archive.h"
#include "confirm/boot.h"
#include "confirm/verdict.h"
#include "finding/folder.h"

#define KERNEL "\nassay-guest: kernel 6.1.0-9-amd64 #1 SMP Debian 6.1.27-1 (2023-05-08)\n"
#define BEGINS KERNEL "\nassay-guest: begins\n"
#define ENDED(n) "\nassay-guest: ended with " n "\n"

static const struct {
	const char *console;
	bool timed_out;
	enum problem problem;
	enum confirm_end end;
	bool shows;
	const char *why;
} rows[] = {
	{ BEGINS "wrong: size\nthe bug shows\n" ENDED("1"), false, PROBLEM_TREE, CONFIRM_SHOWN,
	  true, "wrong: size" },
	{ BEGINS "something else: /a is there\n" ENDED("0"), false, PROBLEM_LOST, CONFIRM_ABSENT,
	  false, "something else: /a is there" },
	{ BEGINS "\nassay-guest: lacks jfs\n", false, PROBLEM_LOST, CONFIRM_LACKING, false,
	  "the kernel has no jfs" },
	{ BEGINS ENDED("0"), false, PROBLEM_TREE, CONFIRM_ABSENT, false,
	  "the reproducer exits with 0" },
	{ BEGINS "WARNING: CPU: 0 PID: 1 at fs/a.c:1 f+0x1/0x2\n" ENDED("0"), false, PROBLEM_TREE,
	  CONFIRM_ABSENT, false,
	  "the kernel complains (warning): fs/a.c:1; the reproducer exits with 0" },
	{ BEGINS "cannot tell: x\n" ENDED("2"), false, PROBLEM_TREE, CONFIRM_UNKNOWN, false,
	  "the reproducer exits with 2: cannot tell: x" },
	{ BEGINS "kernel BUG at fs/a.c:1!\n" ENDED("0"), false, PROBLEM_TREE, CONFIRM_OOPS, false,
	  "the kernel complains (BUG): fs/a.c:1" },
	{ BEGINS "kernel BUG at fs/a.c:1!\n" ENDED("0"), false, PROBLEM_KERNEL, CONFIRM_OOPS, true,
	  "the kernel complains (BUG): fs/a.c:1" },
	{ BEGINS "Kernel panic - not syncing: x\n", false, PROBLEM_DEATH, CONFIRM_PANIC, true,
	  "Kernel panic - not syncing: x" },
	/* What happened before the reproducer began is not its doing. */
	{ "\nkernel BUG at fs/a.c:1!\n" BEGINS ENDED("0"), false, PROBLEM_KERNEL, CONFIRM_ABSENT,
	  false, "the reproducer exits with 0" },
	{ BEGINS, true, PROBLEM_HANG, CONFIRM_HANG, true, "the reproducer does not end" },
	{ BEGINS, true, PROBLEM_TREE, CONFIRM_HANG, false, "the reproducer does not end" },
	{ BEGINS, false, PROBLEM_HANG, CONFIRM_UNKNOWN, false,
	  "the guest ends before the reproducer" },
	{ KERNEL "\nassay-guest: lacks ntfs3\n", false, PROBLEM_TREE, CONFIRM_LACKING, false,
	  "the kernel has no ntfs3" },
	{ "Kernel panic - not syncing: no init\n", false, PROBLEM_DEATH, CONFIRM_UNKNOWN, false,
	  "Kernel panic - not syncing: no init" },
	{ "", true, PROBLEM_HANG, CONFIRM_UNKNOWN, false, "the guest does not start in time" },
};

static void test_verdict(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct boot_report boot = { .timed_out = rows[i].timed_out };
		struct confirm_verdict v;

		buf_adds(&boot.console, rows[i].console);
		verdict_read(&boot, rows[i].problem, &v);
		assert_string_equal(buf_str(&v.why), rows[i].why);
		assert_int_equal(v.end, rows[i].end);
		assert_int_equal(v.shows, rows[i].shows);
		assert_string_equal(buf_str(&v.kernel),
				    strstr(rows[i].console, KERNEL)
					    ? "Linux 6.1.0-9-amd64 (Debian 6.1.27-1)"
					    : "");
		verdict_free(&v);
		boot_report_free(&boot);
	}
}

/* Only the end of a long console is kept, in whole lines. */
static void test_last_lines(void **state)
{
	struct boot_report boot = { 0 };
	struct confirm_verdict v;

	for (int i = 0; i < 100; i++)
		buf_addf(&boot.console, "line %d\n", i);
	verdict_read(&boot, PROBLEM_TREE, &v);
	assert_ptr_equal(strstr(buf_str(&v.last), "line 70\n"), v.last.data);
	assert_non_null(strstr(buf_str(&v.last), "line 99\n"));
	verdict_free(&v);
	boot_report_free(&boot);
}

static void test_archive(void **state)
{
	static const char first[] = "070701"
				    "00000001"
				    "000081A4"
				    "00000000"
				    "00000000"
				    "00000001"
				    "00000000"
				    "00000005"
				    "00000000"
				    "00000000"
				    "00000000"
				    "00000000"
				    "00000004"
				    "00000000"
				    "abc\0"
				    "\0\0"
				    "hello\0\0\0"
				    "070701";
	struct archive a = { 0 };

	archive_add_file(&a, "abc", 0644, "hello", 5);
	archive_end(&a);
	assert_true(a.bytes.len > sizeof(first) - 1 && a.bytes.len % 4 == 0);
	assert_memory_equal(a.bytes.data, first, sizeof(first) - 1);
	archive_free(&a);
}

static void record(const char *before, const char *kernel, const char *after)
{
	char path[] = "/tmp/assay-test-confirm.XXXXXX";
	struct buf text = BUF_INIT;
	struct err err = { 0 };

	close(mkstemp(path));
	buf_adds(&text, before);
	assert_int_equal(buf_write_file(&text, path, &err), 0);
	assert_int_equal(folder_record_kernel(path, kernel, &err), 0);
	buf_clear(&text);
	assert_int_equal(buf_read_file(&text, path, 1 << 16, &err), 0);
	assert_string_equal(buf_str(&text), after);
	buf_free(&text);
	unlink(path);
}

static void test_record(void **state)
{
	record("sync()\n", "Linux 1", "# seen on: Linux 1\nsync()\n");
	record("# target: a\nsync()\n", "Linux 1", "# target: a\n# seen on: Linux 1\nsync()\n");
	record("# target: a\n# signature: b\nsync()\n", "Linux 1",
	       "# target: a\n# signature: b\n# seen on: Linux 1\nsync()\n");
	record("# seen on: Linux 1\nsync()\n", "Linux 2", "# seen on: Linux 1; Linux 2\nsync()\n");
	record("# seen on: Linux 2; Linux 1\n", "Linux 1", "# seen on: Linux 2; Linux 1\n");
	record("# seen on: Linux 12\n", "Linux 1", "# seen on: Linux 12; Linux 1\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdict),
		cmocka_unit_test(test_last_lines),
		cmocka_unit_test(test_archive),
		cmocka_unit_test(test_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
