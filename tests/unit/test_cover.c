/* test_cover.c -- what the readers of traces count, and what the metrics say. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/must.h"
#include "cover/metrics.h"
#include "cover/readers.h"
#include "tests/harness/unit.h"

static const char *const mounts[] = { "/m" };
static const struct read_options on_mount = { mounts, 1, "/home" };

static json_t *strace(const char *text)
{
	struct coverage c;
	json_t *o;

	coverage_init(&c, "strace");
	read_strace_text(&c, &on_mount, text, strlen(text));
	o = coverage_json(&c);
	coverage_free(&c);
	return o;
}

static json_t *read_with(int (*read)(struct coverage *, const struct read_options *, const char *,
				     struct err *),
			 const char *text)
{
	struct err err = { 0 };
	struct coverage c;
	char path[] = "/tmp/assay-cover.XXXXXX";
	int fd = mkstemp(path);
	json_t *o;

	assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	coverage_init(&c, "test");
	assert_int_equal(read(&c, &on_mount, path, &err), 0);
	unlink(path);
	o = coverage_json(&c);
	coverage_free(&c);
	return o;
}

/* The number at "a/b/c", 0 where there is none. */
static long long at(json_t *o, const char *path)
{
	char key[64];
	size_t len;

	for (; *path; path += len + (path[len] == '/')) {
		len = strcspn(path, "/");
		snprintf(key, sizeof(key), "%.*s", (int)len, path);
		o = json_object_get(o, key);
	}
	return json_integer_value(o);
}

static void test_descriptors(void **state)
{
	json_t *o = strace("openat(AT_FDCWD, \"/m/f\", O_RDWR|O_CREAT, 0640) = 3\n"
			   "write(3, \"abc, d) = 7\\\"\"..., 4096) = 4096\n"
			   "dup2(3, 9) = 9\n"
			   "close(3) = 0\n"
			   "write(9, \"\", 0) = 0\n"
			   "openat(AT_FDCWD, \"/etc/passwd\", O_RDONLY) = 3\n"
			   "read(3, \"root\", 4096) = 4\n"
			   "fcntl(9, F_DUPFD_CLOEXEC, 20) = 20\n"
			   "close_range(4, 19, 0) = 0\n"
			   "write(9, \"x\", 1) = -1 EBADF (Bad file descriptor)\n"
			   "fsync(20) = -1 EIO (Input/output error)\n"
			   "write(33, \"x\", 1) = 1\n");

	assert_int_equal(at(o, "calls"), 6); /* open, write, dup2, close, write, fsync */
	assert_int_equal(at(o, "unattributed"), 1);
	assert_int_equal(at(o, "input/write/count/2^12"), 1);
	assert_int_equal(at(o, "input/write/count/0"), 1);
	assert_int_equal(at(o, "returned/write/2^12"), 1);
	assert_int_equal(at(o, "input/open/flags/O_CREAT"), 1);
	assert_int_equal(at(o, "input/open/flags/O_RDONLY"), 0);
	assert_int_equal(at(o, "combinations/open/mode/0640"), 1);
	assert_int_equal(at(o, "output/fsync/EIO"), 1);
	json_decref(o);
}

static void test_processes(void **state)
{
	json_t *o =
		strace("1  chdir(\"/m/d\") = 0\n"
		       "1  clone(child_stack=NULL, flags=CLONE_FILES|SIGCHLD <unfinished ...>\n"
		       "2  mkdir(\"a\", 0700 <unfinished ...>\n"
		       "1  <... clone resumed>, child_tidptr=0x1) = 2\n"
		       "2  <... mkdir resumed>) = -1 EEXIST (File exists)\n"
		       "2  chdir(\"../..\") = 0\n"
		       "2  mkdir(\"b\", 0700) = 0\n"
		       "2  open(\"m/./x\", O_WRONLY|O_TRUNC) = 5\n"
		       "1  ftruncate(5, 100) = 0\n"
		       "1  rename(\"../../n/a\", \"q\") = -1 ENOENT (No such file or directory)\n"
		       "2  +++ exited with 0 +++\n"
		       "1  exit_group(0) = ?\n");

	assert_int_equal(at(o, "output/mkdir/EEXIST"), 1);
	assert_int_equal(at(o, "output/mkdir/success"), 0);
	assert_int_equal(at(o, "output/chdir/success"), 1);
	assert_int_equal(at(o, "input/open/flags/O_TRUNC"), 1);
	assert_int_equal(at(o, "input/truncate/length/2^6..2^7"), 1);
	assert_int_equal(at(o, "output/rename/ENOENT"), 1);
	assert_int_equal(at(o, "unattributed"), 0);
	json_decref(o);
}

static void test_forms(void **state)
{
	json_t *o = strace(
		"[pid    7] 12:00:01.5 pwrite64(4</m/a, b>, \"\"..., 512, 1024) = 512\n"
		"8 1700000000.123456 openat(5</m/d>, \"x\\303\\274\", 0x42, 0600) = 6</m/d/x>\n"
		"writev(3</m/f>, [{iov_base=\"ab\", iov_len=2}, {iov_base=\"c\", iov_len=6}], 2) = "
		"8\n"
		"writev(3</m/f>, [...], 2) = 8\n"
		"openat2(AT_FDCWD</m>, \"f\", {flags=O_RDONLY, resolve=RESOLVE_BENEATH}, 24) = "
		"4</m/f>\n"
		"ioctl(3</m/f>, FS_IOC_SETFLAGS, [FS_APPEND_FL]) = 0\n"
		"ioctl(3</m/f>, TCGETS, 0x7ffe) = -1 ENOTTY (Inappropriate ioctl for device)\n"
		"read(0</dev/pts/1<char 136:1>>, \"\", 1) = 0\n"
		"read(3</m/f>, 0x7ff, 1) = ? ERESTARTSYS (To be restarted)\n"
		"utimensat(3</m/f>, NULL, NULL, 0) = 0\n"
		"strange line\n");

	assert_int_equal(at(o, "syscalls/pwrite64"), 1);
	assert_int_equal(at(o, "input/write/offset/2^10"), 1);
	assert_int_equal(at(o, "input/write/count/2^3"), 1);
	assert_int_equal(at(o, "syscalls/writev"), 2);
	assert_int_equal(at(o, "combinations/open/mode/0600"), 1);
	assert_int_equal(at(o, "input/open/resolve/RESOLVE_BENEATH"), 1);
	assert_int_equal(at(o, "input/set_inode_flags/flags/FS_APPEND_FL"), 1);
	assert_int_equal(at(o, "output/read/EINTR"), 1);
	assert_int_equal(at(o, "output/read/success"), 0);
	assert_int_equal(at(o, "output/utimensat/success"), 1);
	assert_int_equal(at(o, "unknown"), 2);
	json_decref(o);
}

static void test_ftrace(void **state)
{
	json_t *o = read_with(
		read_ftrace,
		"# tracer: nop\n"
		"  sh-12  [001] .....  1.5: sys_openat(dfd: ffffff9c, filename: 7ffe, flags: 0, "
		"mode: 0)\n"
		"  sh-12  [001] .....  1.6: sys_openat -> 0x3\n"
		"CPU:1 [LOST 17 EVENTS]\n"
		"a b 14 [000] 2.5: syscalls:sys_enter_openat: dfd: 0xffffff9c, filename: 0x7f "
		"\"/m/f\", "
		"flags: 0x00000242, mode: 0x000001a0\n"
		"a b 14 [000] 2.6: syscalls:sys_exit_openat: 0x4\n"
		"a b 14 [000] 2.7: syscalls:sys_enter_write: fd: 0x4, buf: 0x7f, count: 0x10\n"
		"a b 14 [000] 2.8: syscalls:sys_exit_write: 0xffffffffffffffe4\n"
		"a b 14 [000] 2.9: syscalls:sys_enter_write: fd: 0x4, buf");

	assert_int_equal(at(o, "unattributed"), 1);
	assert_int_equal(at(o, "lost"), 17);
	assert_int_equal(at(o, "input/write/count/2^4"), 1);
	assert_int_equal(at(o, "output/write/ENOSPC"), 1);
	assert_int_equal(at(o, "combinations/open/mode/0640"), 1);
	assert_int_equal(at(o, "input/open/flags/O_TRUNC"), 1);
	assert_true(json_is_true(json_object_get(o, "cut")));
	json_decref(o);
}

static void test_native(void **state)
{
	json_t *o = read_with(read_native, "# a comment\n"
					   "mkdir(\"a\", 0755) = 0\n"
					   "[2] mkdir(\"a\", 0700) = EEXIST\n"
					   "no call at all\n"
					   "write(3, data(7, 64), 64) = 64\n");

	assert_int_equal(at(o, "calls"), 3);
	assert_int_equal(at(o, "unknown"), 1);
	assert_int_equal(at(o, "output/mkdir/EEXIST"), 1);
	assert_int_equal(at(o, "input/write/count/2^6"), 1);
	json_decref(o);
}

/* unlinkat that removes a directory is rmdir, whoever tells of it. */
static void test_rmdir(void **state)
{
	json_t *all[] = {
		strace("unlinkat(3</m/d>, \"a\", AT_REMOVEDIR) = -1 ENOTEMPTY (Directory not "
		       "empty)\n"
		       "unlinkat(3</m/d>, \"b\", 0x200) = -1 ENOTEMPTY (Directory not empty)\n"
		       "unlinkat(3</m/d>, \"c\", 0) = 0\n"),
		read_with(read_ftrace, "a 14 [0] 2.1: sys_enter_unlinkat: dfd: 0x3, pathname: 0x7f "
				       "\"/m/a\", flag: 0x200\n"
				       "a 14 [0] 2.2: sys_exit_unlinkat: 0xffffffffffffffd9\n"
				       "a 14 [0] 2.3: sys_enter_unlinkat: dfd: 0x3, pathname: 0x7f "
				       "\"/m/a\", flag: 0x200\n"
				       "a 14 [0] 2.4: sys_exit_unlinkat: 0xffffffffffffffd9\n"
				       "a 14 [0] 2.5: sys_enter_unlinkat: dfd: 0x3, pathname: 0x7f "
				       "\"/m/a\", flag: 0x0\n"
				       "a 14 [0] 2.6: sys_exit_unlinkat: 0x0\n"),
		read_with(read_native, "unlinkat(3, \"a\", AT_REMOVEDIR) = ENOTEMPTY\n"
				       "unlinkat(AT_FDCWD, \"b\", AT_REMOVEDIR) = ENOTEMPTY\n"
				       "unlinkat(3, \"c\", 0) = 0\n"),
	};

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		assert_int_equal(at(all[i], "calls"), 3);
		assert_int_equal(at(all[i], "output/rmdir/ENOTEMPTY"), 2);
		assert_int_equal(at(all[i], "output/unlink/ENOTEMPTY"), 0);
		assert_int_equal(at(all[i], "output/unlink/success"), 1);
		assert_int_equal(at(all[i], "input/unlink/flags/AT_REMOVEDIR"), 2);
		json_decref(all[i]);
	}
}

static void test_metrics(void **state)
{
	json_t *even = json_pack("{s:i, s:i, s:i}", "a", 100, "b", 100, "unknown", 7);
	json_t *half = json_pack("{s:i, s:i}", "a", 10000, "b", 0);
	struct metric m = metric_of(even, 0);

	assert_int_equal(m.partitions, 2);
	assert_int_equal(m.covered, 2);
	assert_true(m.deviation == 0);
	m = metric_of(half, 100);
	assert_int_equal(m.covered, 1);
	assert_true(m.deviation > 1.999 && m.deviation < 2.001);
	metrics_merge(half, even);
	assert_int_equal(at(half, "a"), 10100);
	assert_int_equal(at(half, "unknown"), 7);
	json_decref(even);
	json_decref(half);
}

static bool has(json_t *array, const char *text)
{
	json_t *line;
	size_t i;

	json_array_foreach(array, i, line) if (!strcmp(json_string_value(line), text)) return true;
	return false;
}

static void test_untested(void **state)
{
	json_t *o = strace("openat(AT_FDCWD, \"/m/f\", O_RDWR) = 3\n"
			   "write(3, \"\", 4096) = 4096\n");
	json_t *untested = json_object_get(o, "untested");

	assert_true(has(untested, "open flags O_TMPFILE never"));
	assert_false(has(untested, "open flags O_RDWR never"));
	assert_true(has(untested, "write count 2^0 ... 2^11..2^12 never"));
	assert_true(has(untested, "ENOSPC from write never"));
	assert_true(has(untested, "mkdir never"));
	json_decref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_descriptors), cmocka_unit_test(test_processes),
		cmocka_unit_test(test_forms),       cmocka_unit_test(test_ftrace),
		cmocka_unit_test(test_native),      cmocka_unit_test(test_rmdir),
		cmocka_unit_test(test_metrics),     cmocka_unit_test(test_untested),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
