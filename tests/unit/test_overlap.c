/* test_overlap.c -- histories of calls that overlap: some have an order that explains them, some
 * have none, some are no histories at all. */
#include <string.h>

#include "tests/harness/traces.h"
#include "trace/script.h"

#define PEOPLE \
	"[2] create_process(0, 0) = 0\n" \
	"[3] create_process(0, 0) = 0\n" \
	"[4] create_process(0, 0) = 0\n"

/* The call in `line` cannot be explained; calls overlap since the one in `window`. */
static void rejects(const char *text, unsigned line, unsigned window)
{
	struct mismatch m = { 0 };

	assert_int_equal(judge(PLATFORM_LINUX, text, &m), VERDICT_BAD);
	assert_int_equal(m.line, line);
	assert_int_equal(m.window, window);
}

#define EXCL "open(\"f\", O_CREAT|O_EXCL|O_WRONLY, 0644)\n"

static void one_of_two_makes_a_file(void **state)
{
	accepts(PEOPLE "[2] " EXCL "[3] " EXCL "[3] = 3\n[2] = EEXIST\n");
	rejects(PEOPLE "[2] " EXCL "[3] " EXCL "[3] = 3\n[2] = 3\n", 4, 4);
	rejects(PEOPLE "[2] " EXCL "[3] " EXCL "[3] = EEXIST\n[2] = EEXIST\n", 5, 4);
}

#define OPENED \
	PEOPLE "[2] open(\"f\", O_CREAT|O_RDWR|O_APPEND, 0644) = 3\n" \
	       "[3] open(\"f\", O_CREAT|O_RDWR|O_APPEND, 0644) = 3\n"

static void no_append_is_lost(void **state)
{
	accepts(OPENED "[2] write(3, \"aa\", 2)\n[3] write(3, \"b\", 1)\n[2] = 2\n[3] = 1\n"
		       "[4] stat(\"f\") = {type=file mode=0644 size=3}\n");
	rejects(OPENED "[2] write(3, \"aa\", 2)\n[3] write(3, \"b\", 1)\n[2] = 2\n[3] = 1\n"
		       "[4] stat(\"f\") = {type=file mode=0644 size=2}\n",
		10, 10);
	/* Either of them is seen alone, and then both. */
	accepts(OPENED "[2] write(3, \"aa\", 2)\n[3] write(3, \"b\", 1)\n"
		       "[4] stat(\"f\") = {type=file mode=0644 size=1}\n[4] stat(\"f\") = "
		       "{type=file mode=0644 size=3}\n[3] = 1\n[2] = 2\n");
}

/* What was seen as new is not old again. */
static void time_does_not_run_backwards(void **state)
{
	accepts(OPENED "[2] pwrite(3, \"x\", 1, 0) = 1\n[2] ftruncate(3, 0)\n"
		       "[3] pread(3, 1, 0) = \"x\"\n[3] pread(3, 1, 0) = \"\"\n[2] = 0\n");
	rejects(OPENED "[2] pwrite(3, \"x\", 1, 0) = 1\n[2] ftruncate(3, 0)\n"
		       "[3] pread(3, 1, 0) = \"\"\n[3] pread(3, 1, 0) = \"x\"\n[2] = 0\n",
		9, 7);
}

#define DIR "= {type=dir mode=0755}\n"

static void a_rename_shows_one_name(void **state)
{
	const char *made = PEOPLE "mkdir(\"a\", 0755) = 0\n[2] rename(\"a\", \"b\")\n";
	static const struct {
		const char *seen;
		enum verdict verdict;
	} rows[] = {
		{ "[3] stat(\"a\") " DIR "[3] stat(\"b\") = ENOENT\n[2] = 0\n", VERDICT_OK },
		{ "[3] stat(\"a\") " DIR "[3] stat(\"b\") " DIR "[2] = 0\n", VERDICT_OK },
		{ "[3] stat(\"b\") " DIR "[3] stat(\"a\") " DIR "[2] = 0\n", VERDICT_BAD },
		{ "[3] stat(\"a\") = ENOENT\n[3] stat(\"b\") = ENOENT\n[2] = 0\n", VERDICT_BAD },
		{ "[3] stat(\"b\") " DIR "[2] = ENOENT\n", VERDICT_BAD },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct buf text = BUF_INIT;
		struct mismatch m;

		buf_adds(&text, made);
		buf_adds(&text, rows[i].seen);
		assert_int_equal(judge(PLATFORM_LINUX, text.data, &m), rows[i].verdict);
		buf_free(&text);
	}
}

/* A name is looked up in a directory that has moved meanwhile, and that was seen empty there. */
static void a_path_is_walked_name_by_name(void **state)
{
	accepts(PEOPLE "mkdir(\"d\", 0755) = 0\n[2] mkdir(\"d/x\", 0755)\n"
		       "[3] rename(\"d\", \"e\") = 0\n[3] rmdir(\"e/x\") = ENOENT\n[2] = 0\n"
		       "[3] rmdir(\"e/x\") = 0\n");
	/* Two names on the way. */
	accepts(PEOPLE "mkdir(\"d\", 0755) = 0\nmkdir(\"d/m\", 0755) = 0\n"
		       "[2] mkdir(\"d/m/x\", 0755)\n[3] rename(\"d\", \"e\") = 0\n"
		       "[3] rename(\"e/m\", \"n\") = 0\n[3] rmdir(\"n/x\") = ENOENT\n[2] = 0\n"
		       "[3] rmdir(\"n/x\") = 0\n");
	/* Its directory was removed, so nothing can be made there. */
	accepts(PEOPLE "mkdir(\"d\", 0755) = 0\n[2] mkdir(\"d/x\", 0755)\n"
		       "[3] rmdir(\"d\") = 0\n[3] mkdir(\"d\", 0755) = 0\n[2] = ENOENT\n"
		       "[3] rmdir(\"d\") = 0\n");
	/* The rename was over before the call began. */
	rejects(PEOPLE "mkdir(\"d\", 0755) = 0\n[3] rename(\"d\", \"e\") = 0\n"
		       "[2] mkdir(\"d/x\", 0755) = 0\n",
		6, 6);
	/* Its own working directory is where it was. */
	accepts(PEOPLE "mkdir(\"d\", 0755) = 0\nmkdir(\"d/x\", 0755) = 0\n[2] chdir(\"d\") = 0\n"
		       "[2] stat(\"x/y\")\n[3] rename(\"d/x\", \"z\") = 0\n[2] = ENOENT\n"
		       "[2] mkdir(\"q\", 0755) = 0\n[3] rmdir(\"d/q\") = 0\n");
}

/* The directory that rename is to put its file into was replaced behind its walk. */
static void a_rename_walks_before_it_renames(void **state)
{
	accepts(PEOPLE "mkdir(\"d\", 0755) = 0\nmkdir(\"e\", 0755) = 0\nmkdir(\"f\", 0755) = 0\n"
		       "[2] rename(\"f\", \"d/n\")\n[3] rename(\"e\", \"d\") = 0\n[2] = ENOENT\n");
	rejects(PEOPLE "mkdir(\"d\", 0755) = 0\nmkdir(\"e\", 0755) = 0\nmkdir(\"f\", 0755) = 0\n"
		       "[2] rename(\"f\", \"d/n\")\n[3] rename(\"e\", \"x\") = 0\n[2] = ENOENT\n",
		7, 7);
}

/* A directory takes no more names while it can still be found. */
static void a_directory_is_dead_before_its_name_goes(void **state)
{
	accepts(PEOPLE
		"mkdir(\"d\", 0755) = 0\n[2] rmdir(\"d\")\n[3] mkdir(\"d/x\", 0755) = ENOENT\n"
		"[3] rename(\"d\", \"d\") = 0\n[2] = 0\n[3] rename(\"d\", \"d\") = ENOENT\n");
	/* It is removed nowhere. */
	rejects(PEOPLE
		"mkdir(\"d\", 0755) = 0\n[2] rmdir(\"e\")\n[3] mkdir(\"d/x\", 0755) = ENOENT\n"
		"[2] = ENOENT\n",
		6, 5);
}

/* The file that was found has lost its last name to one that took its place. */
static void a_link_misses_its_file(void **state)
{
	const char *made = PEOPLE "creat(\"f\", 0644) = 3\ncreat(\"g\", 0644) = 4\n";
	struct buf text = BUF_INIT;
	struct mismatch m;

	buf_addf(&text, "%s[2] link(\"f\", \"k\")\n[3] rename(\"g\", \"f\") = 0\n[2] = ENOENT\n",
		 made);
	accepts(text.data);
	buf_clear(&text);
	buf_addf(&text, "%s[3] rename(\"g\", \"f\") = 0\n[2] link(\"f\", \"k\") = ENOENT\n", made);
	assert_int_equal(judge(PLATFORM_LINUX, text.data, &m), VERDICT_BAD);
	buf_free(&text);
}

static void many_calls_at_once(void **state)
{
	struct buf text = BUF_INIT;
	struct mismatch m;

	for (unsigned pid = 2; pid < 13; pid++)
		buf_addf(&text, "[%u] create_process(0, 0) = 0\n", pid);
	for (unsigned pid = 2; pid < 13; pid++)
		buf_addf(&text, "[%u] mkdir(\"d%u\", 0755)\n", pid, pid);
	for (unsigned pid = 12; pid > 1; pid--)
		buf_addf(&text, "[%u] = 0\n", pid);
	accepts(text.data);
	buf_adds(&text, "rmdir(\"d13\") = 0\n");
	assert_int_equal(judge(PLATFORM_LINUX, text.data, &m), VERDICT_BAD);
	buf_free(&text);
}

static void broken_histories(void **state)
{
	struct mismatch m;

	/* A return of nothing. */
	assert_int_equal(judge(PLATFORM_LINUX, PEOPLE "[2] mkdir(\"a\", 0755) = 0\n[2] = 0\n", &m),
			 VERDICT_UNKNOWN);
	/* A second call of a process that is in one: nothing follows from there on. */
	assert_int_equal(judge(PLATFORM_LINUX,
			       PEOPLE "[2] mkdir(\"a\", 0755)\n[2] mkdir(\"b\", 0755)\n[2] = 0\n"
				      "[3] rmdir(\"c\") = 0\n",
			       &m),
			 VERDICT_UNKNOWN);
	/* A process that is not there. */
	assert_int_equal(judge(PLATFORM_LINUX, "[7] mkdir(\"a\", 0755) = 0\n", &m),
			 VERDICT_UNKNOWN);
	/* A call that has not returned when the trace ends. */
	accepts(PEOPLE "[2] mkdir(\"a\", 0755)\n[3] rmdir(\"a\") = ENOENT\n");
}

static int clean_up(void **state)
{
	trace_checker_free(&checker);
	script_free(&trace);
	return 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_of_two_makes_a_file),
		cmocka_unit_test(no_append_is_lost),
		cmocka_unit_test(time_does_not_run_backwards),
		cmocka_unit_test(a_rename_shows_one_name),
		cmocka_unit_test(a_path_is_walked_name_by_name),
		cmocka_unit_test(a_rename_walks_before_it_renames),
		cmocka_unit_test(a_directory_is_dead_before_its_name_goes),
		cmocka_unit_test(a_link_misses_its_file),
		cmocka_unit_test(many_calls_at_once),
		cmocka_unit_test(broken_histories),
	};

	return cmocka_run_group_tests(tests, NULL, clean_up);
}
