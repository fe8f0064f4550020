/* test_confine.c -- what a confined reader can still do, and what not. */
#include "process/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/must.h"
#include "tests/harness/unit.h"

static char work[] = "/tmp/assay-confine.XXXXXX";

static bool has_landlock(void)
{
#ifdef CONFINE_NOTHING
	return false;
#endif
	return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) > 0;
}

static bool can_write(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Exit status of a program; -1 where it cannot be started. */
static int start_true(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(126);
	}
	must(pid > 0 && waitpid(pid, &status, 0) == pid);
	return WEXITSTATUS(status);
}

/* In a child, since it is for good: every line that is not so is a bit of the status. */
static int confined(const char *writable)
{
	char inside[64], outside[64], sub[64];
	int wrong = 0;

	snprintf(inside, sizeof(inside), "%s/in/file", work);
	snprintf(sub, sizeof(sub), "%s/in/sub", work);
	snprintf(outside, sizeof(outside), "%s/file", work);
	confine_reader(&writable, writable ? 1 : 0);
	wrong |= can_write(outside);
	wrong |= (can_write(inside) != !!writable) << 1;
	wrong |= (!mkdir(sub, 0700) != !!writable) << 2;
	wrong |= (start_true() != 126) << 3;
	wrong |= access("/etc/passwd", R_OK) ? 1 << 4 : 0;
	wrong |= (open("/etc/passwd", O_RDONLY | O_CLOEXEC) < 0) << 5;
	wrong |= (write(STDERR_FILENO, "", 0) < 0) << 6;
	return wrong;
}

static int confined_status(const char *writable)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(confined(writable));
	must(pid > 0 && waitpid(pid, &status, 0) == pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void readers_write_nowhere(void **state)
{
	if (!has_landlock())
		skip();
	assert_int_equal(confined_status(NULL), 0);
}

static void readers_write_to_one_directory(void **state)
{
	char inside[64];

	if (!has_landlock())
		skip();
	snprintf(inside, sizeof(inside), "%s/in/to/be/made", work);
	assert_int_equal(confined_status(inside), 0);
}

static bool can_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* In a child; a link out of the readable directory leads nowhere. */
static int confined_server(void)
{
	char in[64], inside[64], link[64];
	const char *readable[] = { in, "/etc/group" };
	int wrong = 0;

	snprintf(in, sizeof(in), "%s/in", work);
	snprintf(inside, sizeof(inside), "%s/in/readable", work);
	snprintf(link, sizeof(link), "%s/in/link", work);
	must(can_write(inside) && !symlink("/etc/passwd", link));
	wrong |= !confine_server(readable, ARRAY_LEN(readable));
	wrong |= !can_read(in) << 1;
	wrong |= !can_read(inside) << 2;
	wrong |= can_read(link) << 3;
	wrong |= can_read("/etc/passwd") << 4;
	wrong |= !can_read("/etc/group") << 5;
	wrong |= can_write(inside) << 6;
	wrong |= (start_true() != 126) << 7;
	return wrong;
}

static void servers_read_one_directory(void **state)
{
	pid_t pid;
	int status;

	if (!has_landlock())
		skip();
	pid = fork();
	if (!pid)
		_exit(confined_server());
	must(pid > 0 && waitpid(pid, &status, 0) == pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static int set_up(void **state)
{
	char inside[64];

	if (!mkdtemp(work))
		return -1;
	snprintf(inside, sizeof(inside), "%s/in", work);
	return mkdir(inside, 0700);
}

static int tear_down(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", work);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(readers_write_nowhere),
		cmocka_unit_test(readers_write_to_one_directory),
		cmocka_unit_test(servers_read_one_directory),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
