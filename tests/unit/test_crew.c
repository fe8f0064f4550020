/* test_crew.c -- worker processes: users, confinement, deadlines, deaths, and nothing left. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/must.h"
#include "sandbox/crew.h"
#include "tests/harness/unit.h"
#include "trace/script.h"

enum { NOBODY = 65534, PATIENCE_MS = 20000 };

static char root[] = "/tmp/assay-crew-XXXXXX";
static int root_fd = -1;
static struct crew *crew;
static struct arena arena;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static int set_up(void **state)
{
	strcpy(root + strlen(root) - 6, "XXXXXX");
	if (!mkdtemp(root) || chmod(root, 0777))
		return -1;
	root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return root_fd < 0;
}

/* After every test: the crew is gone, and so are all processes. */
static int tear_down(void **state)
{
	crew_close(crew);
	crew = NULL;
	close(root_fd);
	arena_reset(&arena);
	return waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD ||
	       nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void open_with(struct crew_options options)
{
	struct err err = { 0 };

	if (crew_open(&crew, root_fd, &options, &err)) {
		print_message("# skipped: %s\n", err.text);
		skip();
	}
}

static void open_as_root(void)
{
	if (geteuid()) {
		print_message("# skipped: other users need root\n");
		skip();
	}
	open_with((struct crew_options){ 0 });
}

static struct call parse(const char *text)
{
	struct err err = { 0 };
	struct call c;

	if (call_parse(&c, text, &arena, &err))
		fail_msg("%s", err.text);
	return c;
}

static struct outcome outcome_of(const char *text)
{
	struct call c = parse(text);
	struct err err = { 0 };
	struct outcome outcome;

	if (crew_call(crew, &c, &outcome, &err))
		fail_msg("%s: %s", text, err.text);
	return outcome;
}

static void expect_error(const char *text, int error)
{
	struct outcome outcome = outcome_of(text);

	if (outcome.error != error)
		fail_msg("%s = %s, expected %s", text, errno_name(outcome.error),
			 errno_name(error));
}

static void expect(const char *text, int64_t num)
{
	struct outcome outcome = outcome_of(text);

	if (outcome.error || outcome.num != num)
		fail_msg("%s = %s, %lld, expected %lld", text, errno_name(outcome.error),
			 (long long)outcome.num, (long long)num);
}

/* Our own failures, with a word that the reason must have. */
static void expect_failure(const char *text, int error, const char *word)
{
	struct call c = parse(text);
	struct err err = { 0 };
	struct outcome outcome;

	assert_int_equal(crew_call(crew, &c, &outcome, &err), -error);
	if (!strstr(err.text, word))
		fail_msg("%s: \"%s\" does not say \"%s\"", text, err.text, word);
}

static void users_are_kept_apart(void **state)
{
	open_as_root();
	expect("[2] create_process(1, 1)", 0);
	expect("[3] create_process(2, 2)", 0);
	expect("creat(\"/roots\", 0600)", 3);
	expect_error("[2] open(\"/roots\", O_RDONLY)", EACCES);
	expect("[2] open(\"/own\", O_RDWR|O_CREAT, 0640)", 3);
	expect_error("[3] open(\"/own\", O_RDONLY)", EACCES);
	expect_error("[3] access(\"/own\", R_OK)", EACCES);
	expect("[2] access(\"/own\", R_OK)", 0);
	expect_error("[2] chown(\"/own\", 2, -1)", EPERM);
	expect_error("[2] mknod(\"/device\", S_IFCHR|0600, 259)", EPERM);
	assert_int_equal(outcome_of("stat(\"/own\")").stat.uid, 1);
	assert_int_equal(outcome_of("stat(\"/own\")").stat.gid, 1);
	expect("open(\"/own\", O_RDONLY)", 4);
}

static void groups_reach_running_processes(void **state)
{
	open_as_root();
	expect("[2] create_process(1, 1)", 0);
	expect("creat(\"/f\", 0640)", 3);
	expect("chown(\"/f\", 0, 7)", 0);
	expect_error("[2] open(\"/f\", O_RDONLY)", EACCES);
	expect("add_user_to_group(1, 7)", 0);
	expect("add_user_to_group(1, 7)", 0);
	expect("[2] open(\"/f\", O_RDONLY)", 3);
	expect_error("[2] open(\"/f\", O_WRONLY)", EACCES);
	expect("[3] create_process(1, 1)", 0);
	expect("[3] open(\"/f\", O_RDONLY)", 3);
	expect("[4] create_process(2, 1)", 0);
	expect_error("[4] open(\"/f\", O_RDONLY)", EACCES);
	expect_error("add_user_to_group(1, -1)", EINVAL);
	assert_int_equal(crew_reset(crew, &(struct err){ 0 }), 0);
	expect("[2] create_process(1, 1)", 0);
	expect_error("[2] open(\"/f\", O_RDONLY)", EACCES);
}

static void processes_come_and_go(void **state)
{
	open_as_root();
	expect_failure("[2] mkdir(\"d\", 0755)", ESRCH, "process 2");
	expect_failure("[65] mkdir(\"d\", 0755)", EINVAL, "process 65");
	expect_error("[2] destroy_process()", ESRCH);
	expect("[2] create_process(0, 0)", 0);
	expect_error("[2] create_process(0, 0)", EEXIST);
	expect_error("[3] create_process(-1, 0)", EINVAL);
	expect("[2] mkdir(\"d\", 0755)", 0);
	expect("[2] chdir(\"d\")", 0);
	expect("[2] umask(0)", 022);
	expect("[2] creat(\"f\", 0666)", 3);
	expect("umask(022)", 022);
	expect_error("stat(\"f\")", ENOENT);
	expect_error("close(3)", EBADF);
	expect("[2] destroy_process()", 0);
	expect_failure("[2] umask(0)", ESRCH, "process 2");
	expect("[2] create_process(0, 0)", 0);
	expect_error("[2] close(3)", EBADF);
}

/* Processes are the same to those who make calls in them, but only those have workers. */
static void late_workers_come_with_their_first_call(void **state)
{
	if (geteuid())
		skip();
	open_with((struct crew_options){ .is_late = true });
	expect("[2] create_process(1, 1)", 0);
	expect_error("[2] create_process(1, 1)", EEXIST);
	expect("[3] create_process(2, 2)", 0);
	expect("[4] create_process(2, 2)", 0);
	assert_true(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
	expect("[4] destroy_process()", 0);
	expect_failure("[4] umask(0)", ESRCH, "process 4");
	expect("add_user_to_group(1, 7)", 0);
	expect("creat(\"/f\", 0640)", 3);
	expect("chown(\"/f\", 0, 7)", 0);
	expect("[2] open(\"/f\", O_RDONLY)", 3);
	expect_error("[3] open(\"/f\", O_RDONLY)", EACCES);
	expect("[3] umask(0)", 022);
	assert_int_equal(crew_reset(crew, &(struct err){ 0 }), 0);
	expect("[2] create_process(1, 1)", 0);
	expect_error("[2] open(\"/f\", O_RDONLY)", EACCES);
}

static void reset_is_as_after_open(void **state)
{
	open_as_root();
	for (int round = 0; round < 3; round++) {
		expect("[2] create_process(1, 1)", 0);
		expect("[64] create_process(2, 2)", 0);
		expect_error("mkdir(\"d\", 0755)", round ? EEXIST : 0);
		expect("chdir(\"d\")", 0);
		expect("open(\".\", O_RDONLY)", 3);
		expect("opendir(\".\")", 1);
		expect("umask(0)", 022);
		assert_int_equal(crew_reset(crew, &(struct err){ 0 }), 0);
	}
	expect("destroy_process()", 0);
	assert_int_equal(crew_reset(crew, &(struct err){ 0 }), 0);
	expect("open(\"d\", O_RDONLY)", 3);
}

static void the_root_cannot_be_left(void **state)
{
	open_with((struct crew_options){ 0 });
	expect("mkdir(\"/here\", 0755)", 0);
	expect("symlink(\"/here\", \"to_here\")", 0);
	expect("symlink(\"/../../../../etc\", \"out\")", 0);
	expect("chdir(\"/to_here\")", 0);
	expect_error("stat(\"/out/passwd\")", ENOENT);
	expect_error("stat(\"../../../etc/passwd\")", ENOENT);
	expect("chdir(\"/../../..\")", 0);
	expect("open(\"here\", O_RDONLY|O_DIRECTORY)", 3);
}

static void unconfined_paths_start_at_the_root(void **state)
{
	char path[64];

	open_with((struct crew_options){ .no_chroot = true });
	expect("mkdir(\"/d\", 0755)", 0);
	expect("chdir(\"/d\")", 0);
	expect("write_file(\"/d/f\", O_WRONLY|O_CREAT, \"x\", 1, 0)", 1);
	expect("truncate(\"/d/f\", 5)", 0);
	expect("rename(\"f\", \"/g\")", 0);
	snprintf(path, sizeof(path), "%s/g", root);
	assert_int_equal(access(path, F_OK), 0);
}

static void process_1_can_be_a_user(void **state)
{
	open_as_root();
	crew_close(crew);
	open_with((struct crew_options){ .uid = 1, .gid = 2 });
	expect("creat(\"f\", 0600)", 3);
	assert_int_equal(outcome_of("fstat(3)").stat.uid, 1);
	assert_int_equal(outcome_of("fstat(3)").stat.gid, 2);
	expect_error("chown(\"f\", 0, 0)", EPERM);
	assert_int_equal(crew_reset(crew, &(struct err){ 0 }), 0);
	expect_error("chown(\"f\", 0, 0)", EPERM);
}

static void a_hung_call_is_given_up(void **state)
{
	open_with((struct crew_options){ .deadline_seconds = 2 });
	expect("mknod(\"fifo\", S_IFIFO|0600, 0)", 0);
	expect_failure("open(\"fifo\", O_RDONLY)", ETIME, "did not return");
	expect_failure("open(\"fifo\", O_RDONLY)", ESRCH, "process 1");
	assert_int_equal(crew_reset(crew, &(struct err){ 0 }), 0);
	expect("open(\"fifo\", O_RDWR)", 3);
}

/* The one child of this process. */
static pid_t only_child(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	char path[300], line[512];
	int parent, child = 0, pid;

	while ((entry = readdir(dir))) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		f = fopen(path, "r");
		if (f && fgets(line, sizeof(line), f) && strrchr(line, ')') &&
		    sscanf(line, "%d", &pid) == 1 &&
		    sscanf(strrchr(line, ')'), ") %*c %d", &parent) == 1 && parent == getpid())
			child = pid;
		if (f)
			fclose(f);
	}
	closedir(dir);
	return child;
}

static void a_killed_worker_is_told(void **state)
{
	open_with((struct crew_options){ 0 });
	kill(only_child(), SIGKILL);
	expect_failure("mkdir(\"d\", 0755)", ECHILD, "killed by signal 9");
	expect_failure("mkdir(\"d\", 0755)", ESRCH, "process 1");
	assert_int_equal(crew_reset(crew, &(struct err){ 0 }), 0);
	expect_error("stat(\"d\")", ENOENT);
	kill(only_child(), SIGKILL);
	assert_int_equal(crew_reset(crew, &(struct err){ 0 }), 0);
	expect("mkdir(\"d\", 0755)", 0);
}

static void a_worker_dies_with_its_crew(void **state)
{
	int report[2], pidfd;
	struct pollfd end;
	pid_t owner, worker;

	assert_int_equal(pipe2(report, O_CLOEXEC), 0);
	owner = fork();
	if (!owner) {
		struct crew *own;
		int opened =
			crew_open(&own, root_fd, &(struct crew_options){ 0 }, &(struct err){ 0 });

		worker = opened ? 0 : only_child();
		if (write(report[1], &worker, sizeof(worker)) == sizeof(worker))
			pause();
		_exit(1);
	}
	assert_int_equal(read(report[0], &worker, sizeof(worker)), sizeof(worker));
	pidfd = worker ? (int)syscall(SYS_pidfd_open, worker, 0) : -1;
	kill(owner, SIGKILL);
	waitpid(owner, NULL, 0);
	close(report[0]);
	close(report[1]);
	if (!worker)
		skip();
	end = (struct pollfd){ .fd = pidfd, .events = POLLIN };
	assert_int_equal(poll(&end, 1, PATIENCE_MS), 1);
	close(pidfd);
}

/* However it goes, one of two makes the file, and nobody returns before he called. */
static void calls_race(void **state)
{
	enum { RACES = 100 };
	struct call calls[] = {
		parse("[2] open(\"/f\", O_CREAT|O_EXCL|O_WRONLY, 0600)"),
		parse("[3] open(\"/f\", O_CREAT|O_EXCL|O_WRONLY, 0600)"),
		parse("[3] fstat(7)"),
	};
	struct race_outcome raced[3];
	struct err err = { 0 };

	open_as_root();
	expect("[2] create_process(0, 0)", 0);
	expect("[3] create_process(0, 0)", 0);
	for (unsigned i = 0; i < RACES; i++) {
		unsigned winner;

		assert_int_equal(crew_race(crew, calls, 3, i, raced, &err), 0);
		winner = raced[0].outcome.error ? 1 : 0;
		assert_int_equal(raced[winner].outcome.num, 3);
		assert_int_equal(raced[!winner].outcome.error, EEXIST);
		assert_int_equal(raced[2].outcome.error, EBADF);
		for (unsigned k = 0; k < 3; k++)
			assert_true(raced[k].called_ns <= raced[k].returned_ns);
		assert_true(raced[1].returned_ns <= raced[2].called_ns);
		expect(winner ? "[3] close(3)" : "[2] close(3)", 0);
		expect("unlink(\"/f\")", 0);
	}
	calls[1].pid = 9;
	assert_int_equal(crew_race(crew, calls, 3, 0, raced, &err), -ESRCH);
}

static void large_data_goes_both_ways(void **state)
{
	enum { SIZE = 5 << 20 };
	struct call c = parse("pwrite(3, \"\", 0, 0)");
	char *data = must_alloc(SIZE + 1);
	struct err err = { 0 };
	struct outcome outcome;

	data_fill(3, 0, data, SIZE);
	open_with((struct crew_options){ 0 });
	expect("open(\"f\", O_RDWR|O_CREAT, 0600)", 3);
	c.pwrite.data = (struct arg){ .text = data, .len = SIZE };
	c.pwrite.count.num = SIZE;
	assert_int_equal(crew_call(crew, &c, &outcome, &err), 0);
	assert_int_equal(outcome.num, SIZE);
	outcome = outcome_of("pread_all(3, 10000000, 0)");
	assert_int_equal(outcome.len, SIZE);
	assert_memory_equal(outcome.bytes, data, SIZE);
	c.pwrite.data.len = SYSCALL_DATA_MAX + (2 << 20);
	assert_int_equal(crew_call(crew, &c, &outcome, &err), -E2BIG);
	expect("close(3)", 0);
	free(data);
}

static void calls_go_in_batches(void **state)
{
	struct call calls[5] = {
		parse("mkdir(\"d\", 0755)"),
		parse("write_file(\"f\", O_CREAT|O_WRONLY, data(1, 3000000), 3000000, 0)"),
		parse("open(\"f\", O_RDONLY)"),
		parse("read_all(3, 3000000)"),
		parse("pread_all(3, 3000000, 0)"),
	};
	struct outcome outcomes[5];
	struct err err = { 0 };
	char *data = must_alloc(3000000);
	size_t done;

	data_fill(1, 0, data, 3000000);
	open_with((struct crew_options){ 0 });
	assert_int_equal(crew_batch(crew, calls, 5, outcomes, &done, &err), 0);
	assert_int_equal(done, 5);
	assert_int_equal(outcomes[2].num, 3);
	for (int i = 3; i < 5; i++) {
		assert_int_equal(outcomes[i].len, 3000000);
		assert_memory_equal(outcomes[i].bytes, data, 3000000);
	}
	/* What comes back of two calls is more than fits behind the third. */
	for (int i = 0; i < 5; i++)
		calls[i] = calls[4];
	assert_int_equal(crew_batch(crew, calls, 5, outcomes, &done, &err), 0);
	assert_in_range(done, 1, 4);
	assert_memory_equal(outcomes[done - 1].bytes, data, 3000000);
	free(data);
}

static void a_batch_ends_where_it_hangs(void **state)
{
	struct call calls[4] = {
		parse("readlink(\"link\")"),
		parse("stat(\"none\")"),
		parse("open(\"fifo\", O_RDONLY)"),
		parse("mkdir(\"d\", 0755)"),
	};
	struct outcome outcomes[4];
	struct err err = { 0 };
	size_t done;

	assert_int_equal(mknodat(root_fd, "fifo", S_IFIFO | 0600, 0), 0);
	assert_int_equal(symlinkat("target", root_fd, "link"), 0);
	open_with((struct crew_options){ .deadline_seconds = 2 });
	assert_int_equal(crew_batch(crew, calls, 4, outcomes, &done, &err), -ETIME);
	assert_int_equal(done, 2);
	assert_string_equal(outcomes[0].bytes, "target");
	assert_int_equal(outcomes[1].error, ENOENT);
	err.code = 0;
	assert_int_equal(crew_batch(crew, calls, 4, outcomes, &done, &err), -ESRCH);
	assert_int_equal(done, 0);
	assert_int_equal(crew_reset(crew, &err), 0);
	expect_error("stat(\"d\")", ENOENT);
}

/* In a process of its own that has no privilege: as root in a user namespace, or not at all. */
static int without_privilege(void)
{
	struct crew *own;
	struct err err = { 0 };
	struct outcome outcome;
	struct call make = parse("mkdir(\"/d\", 0755)"), look = parse("stat(\"/d\")");
	struct call other = parse("[2] create_process(1, 1)"),
		    join = parse("add_user_to_group(1, 1)");

	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		return 77;
	prctl(PR_SET_DUMPABLE, 1); /* as a process that was never root */
	if (crew_open(&own, root_fd, &(struct crew_options){ 0 }, &err))
		return strstr(err.text, "user namespace") ? 77 : 1;
	if (crew_call(own, &make, &outcome, &err) || outcome.error)
		return 2;
	if (crew_call(own, &look, &outcome, &err) || outcome.stat.uid)
		return 3;
	if (crew_call(own, &other, &outcome, &err) != -EPERM || !strstr(err.text, "root"))
		return 4;
	if (crew_call(own, &join, &outcome, &err) != -EPERM)
		return 5;
	crew_close(own);
	return waitpid(-1, NULL, WNOHANG) == -1 ? 0 : 6;
}

static void no_privilege_is_enough_for_one_user(void **state)
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit(without_privilege());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77) {
		print_message("# skipped: no user namespaces, or not root\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

#define ROW(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROW(users_are_kept_apart),
		ROW(groups_reach_running_processes),
		ROW(processes_come_and_go),
		ROW(late_workers_come_with_their_first_call),
		ROW(reset_is_as_after_open),
		ROW(the_root_cannot_be_left),
		ROW(unconfined_paths_start_at_the_root),
		ROW(process_1_can_be_a_user),
		ROW(a_hung_call_is_given_up),
		ROW(a_killed_worker_is_told),
		ROW(a_worker_dies_with_its_crew),
		ROW(calls_race),
		ROW(large_data_goes_both_ways),
		ROW(calls_go_in_batches),
		ROW(a_batch_ends_where_it_hangs),
		ROW(no_privilege_is_enough_for_one_user),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
