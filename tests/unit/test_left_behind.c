/* test_left_behind.c -- a process with a target is killed in the middle: nothing stays. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/must.h"
#include "tests/harness/plans.h"

enum { PATIENCE_S = 120, LOOK_US = 20000 };

static char place[] = "/tmp/assay-left-XXXXXX";

/* In the child: calls until it is killed, and a byte when the first are made. */
static _Noreturn void work(const char *spec, const struct target_options *options, int ready_fd)
{
	struct err err = { 0 };
	struct target *t;
	struct arena arena = ARENA_INIT;
	struct plan_step steps[2] = { 0 };
	struct plan_report end;
	char answer = 'r';

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (target_open(&t, spec, options, &err))
		answer = err.code == -ENOTSUP ? 's' : 'f';
	if (answer != 'r') {
		must(write(ready_fd, &answer, 1) == 1);
		_exit(1);
	}
	must(!call_parse(&steps[0].call, "mkdir(\"a\", 0755)", &arena, &err));
	must(!call_parse(&steps[1].call, "rmdir(\"a\")", &arena, &err));
	for (unsigned long i = 0;; i++) {
		must(!target_follow(t, &steps[i % 2], 1, &end, &err));
		if (i == 3)
			must(write(ready_fd, &answer, 1) == 1);
	}
}

/* Whether a loop device stands on an image of that process. */
static bool has_loop(pid_t pid)
{
	DIR *dir = opendir("/sys/block");
	struct buf path = BUF_INIT, text = BUF_INIT;
	struct dirent *entry;
	bool found = false;
	char name[32];

	snprintf(name, sizeof(name), "assay-image-%d ", (int)pid);
	while (dir && !found && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, "loop", 4))
			continue;
		buf_clear(&path);
		buf_clear(&text);
		buf_addf(&path, "/sys/block/%s/loop/backing_file", entry->d_name);
		if (!access(path.data, R_OK) && !buf_read_file(&text, path.data, 4096, NULL))
			found = strstr(buf_str(&text), name);
	}
	if (dir)
		closedir(dir);
	buf_free(&path);
	buf_free(&text);
	return found;
}

/* Orphans become our children: when there are none any more, all are gone. */
static void await_descendants(void)
{
	alarm(PATIENCE_S);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	assert_int_equal(errno, ECHILD);
	alarm(0);
}

/* The kernel takes its time to let go of a device. */
static void await_no_loop(pid_t pid)
{
	for (long waited_us = 0; has_loop(pid); waited_us += LOOK_US) {
		assert_true(waited_us < PATIENCE_S * 1000000L);
		usleep(LOOK_US);
	}
}

static char kill_in_the_middle(const char *spec, const struct target_options *options)
{
	int ends[2];
	char answer = 'f';
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		close(ends[0]);
		work(spec, options, ends[1]);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &answer, 1), 1);
	close(ends[0]);
	kill(pid, SIGKILL);
	await_descendants();
	await_no_loop(pid);
	return answer;
}

static void nothing_is_left_with(const char *spec, const struct target_options *options)
{
	struct buf mounts = BUF_INIT;
	char answer = kill_in_the_middle(spec, options);

	assert_int_not_equal(answer, 'f');
	assert_int_equal(rmdir(place), 0); /* it is empty */
	assert_int_equal(mkdir(place, 0700), 0);
	assert_int_equal(buf_read_file(&mounts, "/proc/self/mountinfo", 1 << 20, NULL), 0);
	assert_null(strstr(mounts.data, place));
	buf_free(&mounts);
	if (answer == 's')
		skip();
}

static void nothing_is_left_of(const char *spec)
{
	nothing_is_left_with(spec, NULL);
}

static void nothing_is_left_in_a_directory(void **state)
{
	struct buf spec = BUF_INIT;

	buf_addf(&spec, "dir:%s", place);
	nothing_is_left_of(spec.data);
	buf_free(&spec);
}

static void nothing_is_left_of_a_disk(void **state)
{
	nothing_is_left_of("ext4");
}

static void nothing_is_left_of_recorded_disks(void **state)
{
	static const char *const specs[] = { "ext4", "xfs", "btrfs" };
	static const enum recorder_means means[] = { RECORDER_FUSE, RECORDER_BPF };

	for (size_t k = 0; k < ARRAY_LEN(means) * ARRAY_LEN(specs); k++) {
		struct target_options options = { .record = true,
						  .record_by = means[k % ARRAY_LEN(means)] };

		nothing_is_left_with(specs[k / ARRAY_LEN(means)], &options);
	}
}

static void nothing_is_left_of_tmpfs(void **state)
{
	nothing_is_left_of("tmpfs");
}

static void nothing_is_left_of_an_overlay(void **state)
{
	nothing_is_left_of("overlay");
}

static void nothing_is_left_of_a_daemon(void **state)
{
	struct buf spec = BUF_INIT;

	buf_addf(&spec, "fuse:bindfs %s", place);
	nothing_is_left_of(spec.data);
	buf_free(&spec);
}

static int make_place(void **state)
{
	return !mkdtemp(place) || prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static int remove_place(void **state)
{
	return rmdir(place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_left_in_a_directory),
		cmocka_unit_test(nothing_is_left_of_a_disk),
		cmocka_unit_test(nothing_is_left_of_recorded_disks),
		cmocka_unit_test(nothing_is_left_of_tmpfs),
		cmocka_unit_test(nothing_is_left_of_an_overlay),
		cmocka_unit_test(nothing_is_left_of_a_daemon),
	};

	return cmocka_run_group_tests(tests, make_place, remove_place);
}
