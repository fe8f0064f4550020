/* test_remove_tree.c -- emptying a directory of whatever scripts leave. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/err.h"
#include "storage/remove_tree.h"
#include "tests/harness/unit.h"

static char root[] = "/tmp/assay-clean-XXXXXX";
static int root_fd;

static int set_up(void **state)
{
	strcpy(root + strlen(root) - 6, "XXXXXX");
	root_fd = mkdtemp(root) ? open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	return root_fd < 0;
}

/* Only an empty directory can be removed. */
static int tear_down(void **state)
{
	close(root_fd);
	return rmdir(root);
}

static void clean(void)
{
	struct err err = { 0 };

	if (remove_tree_below(root_fd, &err))
		fail_msg("%s", err.text);
}

static int make_file(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	return fd;
}

static void everything_goes(void **state)
{
	char name[32];

	clean();
	assert_int_equal(mkdirat(root_fd, "d", 0700), 0);
	assert_int_equal(mkdirat(root_fd, "d/e", 0700), 0);
	assert_int_equal(mkdirat(root_fd, "empty", 0), 0);
	assert_int_equal(symlinkat("/", root_fd, "d/e/to_root"), 0);
	assert_int_equal(mknodat(root_fd, "d/e/fifo", S_IFIFO | 0600, 0), 0);
	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "d/file-%d", i);
		close(make_file(root_fd, name));
	}
	clean();
}

static void closed_directories_go(void **state)
{
	assert_int_equal(mkdirat(root_fd, "closed", 0700), 0);
	close(make_file(root_fd, "closed/f"));
	assert_int_equal(fchmodat(root_fd, "closed", 0, 0), 0);
	clean();
}

static void attributes_of_the_root_go(void **state)
{
	if (fsetxattr(root_fd, "user.a", "x", 1, 0)) {
		print_message("# skipped: no extended attributes in /tmp\n");
		skip();
	}
	clean();
	assert_int_equal(fgetxattr(root_fd, "user.a", NULL, 0), -1);
}

static bool set_immutable(int fd)
{
	int flags = FS_IMMUTABLE_FL;

	return !ioctl(fd, FS_IOC_SETFLAGS, &flags);
}

static void immutable_objects_go(void **state)
{
	int fd = make_file(root_fd, "f"), dir;
	bool able = set_immutable(fd);

	close(fd);
	if (able) {
		assert_int_equal(mkdirat(root_fd, "d", 0700), 0);
		dir = openat(root_fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(make_file(dir, "g"));
		set_immutable(dir);
		close(dir);
		assert_int_equal(unlinkat(root_fd, "f", 0), -1);
		set_immutable(root_fd);
	}
	clean();
	if (!able) {
		print_message("# skipped: files cannot be made immutable here\n");
		skip();
	}
}

static void what_is_mounted_below_stays(void **state)
{
	struct err err = { 0 };
	char path[64];
	int dir;

	assert_int_equal(mkdirat(root_fd, "m", 0700), 0);
	snprintf(path, sizeof(path), "%s/m", root);
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", path, "tmpfs", 0, "size=64k")) {
		clean();
		print_message("# skipped: mounting needs root\n");
		skip();
	}
	close(root_fd); /* which knows only the old mounts */
	root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = openat(root_fd, "m", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	close(make_file(dir, "f"));
	assert_int_equal(remove_tree_below(root_fd, &err), -EXDEV);
	assert_int_equal(faccessat(dir, "f", F_OK, 0), 0);
	close(dir);
	assert_int_equal(umount(path), 0);
	clean();
}

#define ROW(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROW(everything_goes),
		ROW(closed_directories_go),
		ROW(attributes_of_the_root_go),
		ROW(immutable_objects_go),
		ROW(what_is_mounted_below_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
