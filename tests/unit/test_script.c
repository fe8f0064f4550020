/* test_script.c -- reading scripts and traces: what is accepted, and where mistakes are. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "tests/harness/unit.h"
#include "trace/script.h"

static struct script s;

static void parse(const char *text)
{
	struct err err = { 0 };

	if (script_parse(&s, "t", text, strlen(text), &err))
		fail_msg("%s in\n%s", err.text, text);
}

static void assert_prints(const char *text, enum dialect dialect, const char *expected)
{
	struct buf out = BUF_INIT;

	parse(text);
	script_print(&s, dialect, &out);
	assert_string_equal(buf_str(&out), expected);
	buf_free(&out);
}

static void assert_fails(const char *text, const char *message)
{
	struct err err = { 0 };

	assert_int_equal(script_parse(&s, "t", text, strlen(text), &err), -EINVAL);
	assert_string_equal(err.text, message);
}

#define SCRIPT "@type script\n"
#define TRACE "@type trace\n"

static void published_numbers_and_permissions(void **state)
{
	assert_prints(SCRIPT "mkdir \"a\" 0755\n", DIALECT_PUBLISHED,
		      SCRIPT "mkdir \"a\" 0o1363\n");
	assert_prints(SCRIPT "mkdir \"a\" <rwxr-x__x>\n", DIALECT_PUBLISHED,
		      SCRIPT "mkdir \"a\" 0o751\n");
	assert_prints(SCRIPT "mkdir \"a\" <rwsr-SrwT>\n", DIALECT_PUBLISHED,
		      SCRIPT "mkdir \"a\" 0o7746\n");
	assert_prints(SCRIPT "chmod /a <--------->", DIALECT_PUBLISHED,
		      SCRIPT "chmod \"/a\" 0o000\n");
	assert_prints(SCRIPT "chmod /a <-wx------>", DIALECT_NATIVE, "chmod(\"/a\", 0300)\n");
}

static void published_paths(void **state)
{
	assert_prints(SCRIPT "rename /a/b\t\"c d\"\n", DIALECT_NATIVE,
		      "rename(\"/a/b\", \"c d\")\n");
	assert_prints(SCRIPT "rename null \"\"\n", DIALECT_NATIVE, "rename(NULL, \"\")\n");
	assert_prints("rename(NULL, \"x\")", DIALECT_PUBLISHED, SCRIPT "rename null \"x\"\n");
	assert_prints(SCRIPT "stat \"\\065\\x42\\n\\\\\\\"\\200\"", DIALECT_NATIVE,
		      "stat(\"AB\\n\\\\\\\"\\200\")\n");
	assert_prints(SCRIPT "dump\ndump /a\n3: dump \"b\"\n", DIALECT_PUBLISHED,
		      SCRIPT "dump \"/\"\ndump \"/a\"\ndump \"b\"\n");
}

static void published_operations(void **state)
{
	assert_prints(SCRIPT "write! (FD 3) \"ab\" 2\nread (FD 3) 10 \npread! FD 3 1 -2\n",
		      DIALECT_NATIVE,
		      "write_all(3, \"ab\", 2)\nread(3, 10)\npread_all(3, 1, -2)\n");
	assert_prints(SCRIPT "Pid 2 -> create\nPid 2 -> create User_id 1 (Group_id 2)\n"
			     "Pid 1 -> destroy\n",
		      DIALECT_PUBLISHED,
		      SCRIPT "Pid 2 -> create (User_id 0) (Group_id 0)\n"
			     "Pid 2 -> create (User_id 1) (Group_id 2)\nPid 1 -> destroy\n");
	assert_prints(SCRIPT "open \"f\" []\nopen \"f\" [O_RDONLY; O_CREAT] 0o644\n"
			     "open_close \"f\" [O_RDWR;O_WRONLY;O_SEARCH]\n",
		      DIALECT_NATIVE,
		      "open(\"f\", 0)\nopen(\"f\", O_RDONLY|O_CREAT, 0644)\n"
		      "open_close(\"f\", O_ACCMODE|O_SEARCH)\n");
	assert_prints("open(\"f\", O_ACCMODE)", DIALECT_PUBLISHED,
		      SCRIPT "open \"f\" [O_WRONLY;O_RDWR]\n");
	assert_prints(SCRIPT "lseek (FD 3) -1 SEEK_END\nlseek (FD 3) 0 99\n", DIALECT_NATIVE,
		      "lseek(3, -1, SEEK_END)\nlseek(3, 0, 99)\n");
}

static void published_traces(void **state)
{
	static const char text[] = TRACE
		"# executed\n"
		"          12: Pid 2 -> readdir (DH 1)\n"
		"              Tau\n"
		"          12: Pid 2 <- {RV_bytes(\"a\");RV_bytes(\"\")}\n"
		"umask <-wx------>\nTau\nRV_file_perm(0o022)\n"
		"stat \"d\"\n"
		"RV_stat { st_ino=2; st_dev=1; st_kind=S_IFDIR; st_perm=<rwxr-xr-x>; st_nlink=3;"
		" st_uid=4; st_gid=5; st_size=7; st_rdev=6; }\n"
		"mkdir \"x\" 0o777\n{EEXIST;EUNKNOWNERR(999);-}\n"
		"opendir \"x\"\n-\nlink \"a\" \"b\"\nRV_none\n"
		"open \"a\" [O_RDWR]\nRV_num(3)\n[\"a\";\"b c\"]\n"
		"dump-result \"/\"\n  \"/\"|D|1\n\n\"/f\"|F|2|0|\"da39\"\n end dump-result\n";
	static const char expected[] =
		"# executed\n[2] readdir(1) = \"a\" or end\numask(0300) = 0022\n"
		"stat(\"d\") = {type=dir mode=0755 nlink=3 uid=4 gid=5 size=7 ino=2 dev=1 rdev=6}\n"
		"mkdir(\"x\", 0777) = EEXIST or E999 or -\nopendir(\"x\") = -\n"
		"link(\"a\", \"b\") = 0\nopen(\"a\", O_RDWR) = 3\n[1] = [\"a\", \"b c\"]\n"
		"dump-result \"/\"\n\"/\"|D|1\n\"/f\"|F|2|0|\"da39\"\nend dump-result\n";

	assert_prints(text, DIALECT_NATIVE, expected);
	assert_true(s.is_trace);
	assert_prints(expected, DIALECT_NATIVE, expected);
	parse(text);
	assert_int_equal(s.items[1].line, 3);
	assert_int_equal(s.items[1].call.line, 3);
	assert_int_equal(s.items[1].pid, 2);
	assert_true(s.items[1].has_pid);
	assert_int_equal(s.items[2].type, ITEM_TAU);
	assert_int_equal(s.items[3].ret.count, 2);
	assert_true(s.items[3].ret.outcomes[1].end);
}

static void internal_steps_come_with_returns(void **state)
{
	assert_prints("sync() = 0\n", DIALECT_PUBLISHED, TRACE "sync\nTau\nRV_none\n");
	assert_prints(TRACE "sync\nRV_none\n", DIALECT_PUBLISHED, TRACE "sync\nRV_none\n");
}

static void native_lines(void **state)
{
	assert_prints("  mkdir ( \"a\" , 0755 )=0 \n", DIALECT_NATIVE, "mkdir(\"a\", 0755) = 0\n");
	assert_prints("[2] fsync(3)\nsync()\n[2] = EIO\n", DIALECT_NATIVE,
		      "[2] fsync(3)\nsync()\n[2] = EIO\n");
	assert_prints("fsync(3)\n= EIO\n", DIALECT_NATIVE, "fsync(3) = EIO\n");
	assert_prints("open(\"f\", O_RDWR|0x40000000|O_CREAT, 0x1ff)", DIALECT_NATIVE,
		      "open(\"f\", O_RDWR|O_CREAT|0x40000000, 0777)\n");
	assert_prints("get_inode_flags(3) = FS_IMMUTABLE_FL|0x80000000 or 16 or 0", DIALECT_NATIVE,
		      "get_inode_flags(3) = FS_IMMUTABLE_FL|0x80000000 or FS_IMMUTABLE_FL or 0\n");
	assert_prints("utimensat(AT_FDCWD, \"f\", UTIME_NOW, -5, AT_SYMLINK_NOFOLLOW)",
		      DIALECT_NATIVE,
		      "utimensat(AT_FDCWD, \"f\", UTIME_NOW, -5, AT_SYMLINK_NOFOLLOW)\n");
	assert_prints("statfs(\"f\") = {bsize=4096 namelen=255}", DIALECT_NATIVE,
		      "statfs(\"f\") = {bsize=4096 namelen=255}\n");
	assert_prints("stat(\"f\") = {type=0150000 mode=07777}", DIALECT_NATIVE,
		      "stat(\"f\") = {type=0150000 mode=07777}\n");
}

static void fillers_and_line_ends(void **state)
{
	assert_prints("", DIALECT_NATIVE, "");
	assert_prints("\n\n", DIALECT_NATIVE, "\n\n");
	assert_prints("# one\r\n\r\nsync()\r\n  # two \r\nsync()", DIALECT_NATIVE,
		      "# one\n\nsync()\n# two\nsync()\n");
	assert_prints("# one\r\n@type script\r\nmkdir /a 0o700\r\n\r\ndump", DIALECT_PUBLISHED,
		      SCRIPT "# one\nmkdir \"/a\" 0o700\n\ndump \"/\"\n");
	parse(SCRIPT "\n# x\nsync\n");
	assert_int_equal(s.count, 3);
	assert_int_equal(s.items[2].line, 4);
}

static void long_lines_are_no_trouble(void **state)
{
	enum { LEN = 1 << 20 };
	struct buf text = BUF_INIT, out = BUF_INIT;
	struct err err = { 0 };

	buf_adds(&text, "write(3, \"");
	for (int i = 0; i < LEN; i++)
		buf_addch(&text, "ab\\n"[i % 4]);
	buf_adds(&text, "\", 5)\n");
	assert_int_equal(script_parse(&s, "t", text.data, text.len, &err), 0);
	assert_int_equal(s.items[0].call.write.data.len, LEN / 4 * 3);
	script_print(&s, DIALECT_NATIVE, &out);
	assert_string_equal(text.data, out.data);
	buf_free(&text);
	buf_free(&out);
}

static void native_mistakes_have_a_place(void **state)
{
	assert_fails("mkdri(\"a\", 0755)",
		     "t:1:1: expected an operation, found \"mkdri(\\\"a\\\",\"");
	assert_fails("sync()\nmkdir(\"a\")", "t:2:10: expected ',', found \")\"");
	assert_fails("mkdir(a, 0755)", "t:1:7: expected a string, found \"a,\"");
	assert_fails("mkdir(\"a", "t:1:9: expected closing quote, found end of file");
	assert_fails("mkdir(\"a\n", "t:1:9: expected closing quote, found end of line");
	assert_fails("mkdir(\"a\\q\"", "t:1:9: expected an escape sequence, found \"\\\\q\\\"\"");
	assert_fails("mkdir(\"a\\256\"",
		     "t:1:9: expected an escape sequence, found \"\\\\256\\\"\"");
	assert_fails("mkdir(\"a\", 0788)", "t:1:12: expected a number, found \"0788)\"");
	assert_fails("read(3, 9223372036854775808)",
		     "t:1:9: expected a number of 64 bits, found \"9223372036854775808)\"");
	assert_fails("open(\"a\", O_CRAT)", "t:1:11: expected open_flags, found \"O_CRAT)\"");
	assert_fails("write(3, data(1, -1), 2)",
		     "t:1:18: expected a number from 0 to 4294967295, found \"-1),\"");
	assert_fails("[0] sync()", "t:1:2: expected a number from 1 to 1023, found \"0]\"");
	assert_fails("sync() = EWHAT", "t:1:10: expected an outcome, found \"EWHAT\"");
	assert_fails("sync() = 0 0", "t:1:12: expected end of line, found \"0\"");
	assert_fails("sync() =", "t:1:9: expected an outcome, found end of file");
	assert_fails("dump-result \"/\"\n", "t:2:1: expected end dump-result, found end of file");
	assert_fails("dump \"a\\000\"", "t:1:6: expected a string without NUL, found \"\\\"a\"");
	assert_fails("stat(\"a\") = {type=dir colour=3}",
		     "t:1:23: expected a field, found \"colour=3}\"");
}

static void published_mistakes_have_a_place(void **state)
{
	assert_fails(SCRIPT "mkdir \"x\" \n", "t:2:11: expected a number, found end of line");
	assert_fails("@typo script\n", "t:1:2: expected type, found \"typo\"");
	assert_fails("@type scripts\n", "t:1:7: expected script or trace, found \"scripts\"");
	assert_fails(SCRIPT "create\n", "t:2:1: expected Pid, found \"create\"");
	assert_fails(SCRIPT "RV_none\n", "t:2:1: expected a call, found \"RV_none\"");
	assert_fails(SCRIPT "Tau\n", "t:2:1: expected a call, found \"Tau\"");
	assert_fails(SCRIPT "Pid 2 <- RV_none\n", "t:2:7: expected ->, found \"<-\"");
	assert_fails(SCRIPT "12 mkdir\n", "t:2:1: expected a call, found \"12\"");
	assert_fails(SCRIPT "close (FD 3\n", "t:2:12: expected ')', found end of line");
	assert_fails(SCRIPT "mkdir \"a\" <rwxrwxrw>\n",
		     "t:2:11: expected permissions like <rwxr-xr-x>, found \"<rwxrwxrw>\"");
	assert_fails(SCRIPT "open \"a\" [O_RDWR,O_CREAT]\n",
		     "t:2:17: expected ']', found \",O_CREAT]\"");
	assert_fails(SCRIPT "dump-result \"/\"\n", "t:2:6: expected a path, found \"result\"");
	assert_fails(TRACE "RV_stat { st_dev=1; }\n", "t:2:21: expected a field, found \"}\"");
	assert_fails(TRACE "{EEXIST;}\n", "t:2:9: expected a returned value, found \"}\"");
}

static void nul_bytes_are_refused(void **state)
{
	static const char text[] = "sync()\n# a\0b\n";
	struct err err = { 0 };

	assert_int_equal(script_parse(&s, "t", text, sizeof(text) - 1, &err), -EINVAL);
	assert_string_equal(err.text, "t:2:4: expected text, found a NUL byte");
}

static void equality_looks_at_calls_returns_and_dumps(void **state)
{
	static const char *const different[] = {
		"mkdir(\"a\", 0755) = 0\n",
		"mkdir(\"a\", 0755) = EEXIST\n",
		"mkdir(\"a\", 0755) = EEXIST or ENOENT\n",
		"mkdir(\"a\", 0755) = -\n",
		"mkdir(\"a\", 0755)\n",
		"mkdir(\"a\", 0756)\n",
		"mkdir(\"b\", 0755)\n",
		"mkdir(NULL, 0755)\n",
		"[2] mkdir(\"a\", 0755)\n",
		"dump \"a\"\n",
		"dump-result \"a\"\nend dump-result\n",
		"dump-result \"a\"\nx\nend dump-result\n",
		"write(3, \"\", 0)\n",
		"write(3, data(0, 0), 0)\n",
		"write(3, data(1, 0), 0)\n",
		"",
	};
	struct script a = { 0 };
	struct err err = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(different); i++) {
		assert_int_equal(script_parse(&a, "a", different[i], strlen(different[i]), &err),
				 0);
		for (size_t j = 0; j < ARRAY_LEN(different); j++) {
			parse(different[j]);
			assert_int_equal(script_equal(&a, &s), i == j);
		}
	}
	script_free(&a);
	assert_int_equal(script_parse(&a, "a", "\n# x\nsync()", 11, &err), 0);
	parse("sync()\n\n");
	assert_true(script_equal(&a, &s));
	script_free(&a);
}

static void outcomes_are_equal_where_they_say_the_same(void **state)
{
	struct outcome a = { .result = RESULT_STAT }, b;

	a.stat = (struct stat_result){ .mode = S_IFREG | 0644, .ino = 1, .dev = 2, .size = 3 };
	b = a;
	b.stat.ino = 7;
	b.stat.dev = 8;
	assert_true(outcome_equal(&a, &b));
	b.stat.size = 4;
	assert_false(outcome_equal(&a, &b));
	b.stat.size = STAT_UNKNOWN;
	assert_true(outcome_equal(&a, &b));
	b.stat.mode = S_IFREG | 0600;
	assert_false(outcome_equal(&a, &b));
	a = (struct outcome){ .error = ENOENT };
	assert_false(outcome_equal(&a, &b));
}

static void copies_live_on_their_own(void **state)
{
	struct arena arena = ARENA_INIT;
	struct outcome outcome;
	struct call call;

	parse("write(3, \"abc\", 3)\nread(3, 4) = \"defg\"\n");
	call = call_copy(&s.items[0].call, &arena);
	outcome = outcome_copy(&s.items[2].ret.outcomes[0], &arena);
	script_free(&s);
	assert_string_equal(call.write.data.text, "abc");
	assert_int_equal(outcome.len, 4);
	assert_string_equal(outcome.bytes, "defg");
	arena_free(&arena);
}

static int tear_down(void **state)
{
	script_free(&s);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_numbers_and_permissions),
		cmocka_unit_test(published_paths),
		cmocka_unit_test(published_operations),
		cmocka_unit_test(published_traces),
		cmocka_unit_test(internal_steps_come_with_returns),
		cmocka_unit_test(native_lines),
		cmocka_unit_test(fillers_and_line_ends),
		cmocka_unit_test(long_lines_are_no_trouble),
		cmocka_unit_test(native_mistakes_have_a_place),
		cmocka_unit_test(published_mistakes_have_a_place),
		cmocka_unit_test(nul_bytes_are_refused),
		cmocka_unit_test(equality_looks_at_calls_returns_and_dumps),
		cmocka_unit_test(outcomes_are_equal_where_they_say_the_same),
		cmocka_unit_test(copies_live_on_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, tear_down);
}
