/* test_guard.c -- what a script cannot reach: devices, system calls that no operation makes, and
 * more of a disk than it may take. */
#include "sandbox/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "channel/limits.h"
#include "tests/harness/unit.h"
#include "trace/script.h"

static char root[] = "/tmp/assay-guard-XXXXXX";
static int root_fd = -1;
static struct arena arena;

static int set_up(void **state)
{
	if (!mkdtemp(root))
		return -1;
	root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return root_fd < 0;
}

static int tear_down(void **state)
{
	close(root_fd);
	arena_free(&arena);
	return rmdir(root);
}

static void devices_cannot_be_opened(void **state)
{
	int mount_fd, fd, error;

	if (geteuid())
		skip();
	assert_int_equal(guard_root(root_fd, &mount_fd, &fd), 0);
	assert_int_equal(mknodat(fd, "null", S_IFCHR | 0600, makedev(1, 3)), 0);
	assert_int_equal(openat(fd, "null", O_RDWR), -1);
	error = errno;
	assert_int_equal(error, EACCES);
	assert_int_equal(unlinkat(fd, "null", 0), 0);
	close(fd);
	close(mount_fd);
}

/* In a child: what is refused, as a bit each. */
static int refusals(void)
{
	static const char *const none[] = { NULL };
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	int refused = 0;

	guard_capabilities(false);
	guard_calls();
	refused |= (mount("none", root, "tmpfs", 0, NULL) && errno == EPERM) << 0;
	refused |= (socket(AF_UNIX, SOCK_STREAM, 0) < 0 && errno == EPERM) << 1;
	refused |= (execve("/bin/true", (char **)none, (char **)none) && errno == EPERM) << 2;
	refused |= (chroot(root) && errno == EPERM) << 3;
	refused |= (syscall(SYS_bpf, 0, NULL, 0) && errno == EPERM) << 4;
	refused |=
		(!syscall(SYS_capget, &header, data) && !(data[0].permitted & 1U << CAP_SYS_MODULE))
		<< 5;
	/* An operation is not. */
	refused |= (mkdirat(root_fd, "d", 0700) == 0 && !unlinkat(root_fd, "d", AT_REMOVEDIR)) << 6;
	return refused;
}

static void calls_that_no_operation_makes_are_refused(void **state)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(refusals());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 127);
}

/* In a child: whether opening a handle gets as far as its bytes. */
static int opens_handles(void (*guard)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		guard();
		_exit(syscall(SYS_open_by_handle_at, -1, NULL, O_RDONLY) < 0 && errno != EPERM);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WEXITSTATUS(status);
}

static void handles_are_opened_where_that_is_said(void **state)
{
	if (geteuid())
		skip();
	assert_false(opens_handles(guard_calls));
	assert_true(opens_handles(guard_calls_but_handles));
}

static int check(struct limits *l, const char *text)
{
	struct err err = { 0 };
	struct call c;

	if (call_parse(&c, text, &arena, &err))
		fail_msg("%s", err.text);
	return limits_check(l, &c, &err);
}

static void a_call_that_takes_too_much_is_not_made(void **state)
{
	struct limits l;

	limits_init(&l, root_fd, 0);
	assert_true(l.space_bytes <= 1 << 30);
	l.space_bytes = 1 << 20;
	assert_int_equal(check(&l, "fallocate(3, 0, 0, 1048577)"), -LIMITS_NOT_MADE);
	assert_int_equal(check(&l, "fallocate_file(\"f\", 0, 4096, 75161927680)"),
			 -LIMITS_NOT_MADE);
	assert_int_equal(check(&l, "pwrite(3, data(1, 2097152), 2097152, 0)"), -LIMITS_NOT_MADE);
	/* Holes take nothing, and giving back takes nothing either. */
	assert_int_equal(check(&l, "truncate(\"f\", 75161927680)"), 0);
	assert_int_equal(check(&l, "pwrite(3, data(1, 10), 10, 75161927680)"), 0);
	assert_int_equal(
		check(&l, "fallocate(3, FALLOC_FL_PUNCH_HOLE|FALLOC_FL_KEEP_SIZE, 0, 75161927680)"),
		0);
	l.dense = true;
	assert_int_equal(check(&l, "truncate(\"f\", 75161927680)"), -LIMITS_NOT_MADE);
	/* What no file can be is refused before anything is taken. */
	l.file_size_max = 1 << 30;
	assert_int_equal(check(&l, "truncate(\"f\", 75161927680)"), 0);
}

static void what_lies_there_counts(void **state)
{
	static char half[512 << 10];
	struct limits l;
	int fd;

	limits_init(&l, root_fd, 0);
	l.space_bytes = 1 << 20;
	/* Asked for three times, and nothing of it was kept. */
	for (int i = 0; i < 3; i++)
		assert_int_equal(check(&l, "fallocate(3, 0, 0, 524288)"), 0);
	fd = openat(root_fd, "f", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	memset(half, 1, sizeof(half));
	assert_int_equal(write(fd, half, sizeof(half)), sizeof(half));
	assert_int_equal(fsync(fd), 0);
	close(fd);
	l.asked = 0;
	assert_int_equal(check(&l, "fallocate(3, 0, 0, 524288)"), 0);
	assert_int_equal(check(&l, "fallocate(3, 0, 0, 400000)"), 0);
	assert_int_equal(check(&l, "fallocate(3, 0, 0, 600000)"), -LIMITS_NOT_MADE);
	assert_int_equal(unlinkat(root_fd, "f", 0), 0);
	assert_int_equal(check(&l, "fallocate(3, 0, 0, 600000)"), 0);
}

static void only_harmless_devices_are_made(void **state)
{
	struct limits l;

	limits_init(&l, root_fd, 0);
	assert_int_equal(check(&l, "mknod(\"b\", S_IFBLK|0600, 1792)"), 0);
	l.no_devices = true;
	assert_int_equal(check(&l, "mknod(\"b\", S_IFBLK|0600, 1792)"), -LIMITS_NOT_MADE);
	assert_int_equal(check(&l, "mknodat(AT_FDCWD, \"b\", S_IFCHR|0600, 257)"),
			 -LIMITS_NOT_MADE);
	assert_int_equal(check(&l, "mknod(\"null\", S_IFCHR|0600, 259)"), 0);
	assert_int_equal(check(&l, "mknod(\"whiteout\", S_IFCHR|0600, 0)"), 0);
	assert_int_equal(check(&l, "mknod(\"p\", S_IFIFO|0600, 0)"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_cannot_be_opened),
		cmocka_unit_test(calls_that_no_operation_makes_are_refused),
		cmocka_unit_test(handles_are_opened_where_that_is_said),
		cmocka_unit_test(a_call_that_takes_too_much_is_not_made),
		cmocka_unit_test(what_lies_there_counts),
		cmocka_unit_test(only_harmless_devices_are_made),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
