/* test_exec.c -- every operation for real: in this process, and by a worker.
 *
 * tests/unit/exec holds traces: calls with the outcomes that are right, each made in a fresh
 * directory of its own. Between them they show every operation succeed and fail. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "sandbox/crew.h"
#include "tests/harness/unit.h"
#include "trace/script.h"

static const char *const traces[] = {
	"attr", "data", "dir", "fd", "map", "meta", "names", "xattr"
};

static struct script scripts[ARRAY_LEN(traces)];
static char root[] = "/tmp/assay-exec-XXXXXX";

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static int make_root(void **state)
{
	strcpy(root + strlen(root) - 6, "XXXXXX");
	return mkdtemp(root) && !chmod(root, 0755) ? 0 : -1;
}

static int remove_root(void **state)
{
	return chdir("/") || nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static int open_root(void)
{
	int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static bool is_allowed(const struct item_return *ret, const struct outcome *seen)
{
	for (size_t i = 0; i < ret->count; i++)
		if (outcome_equal(&ret->outcomes[i], seen))
			return true;
	return ret->any_success && !seen->error;
}

static void check(const struct script *s, const struct call *c, const struct item_return *ret,
		  const struct outcome *seen)
{
	struct buf text = BUF_INIT;

	if (is_allowed(ret, seen))
		return;
	call_print(c, DIALECT_NATIVE, &text);
	buf_adds(&text, " = ");
	outcome_print(seen, c->op, DIALECT_NATIVE, &text);
	fail_msg("%s:%u: %s", s->name, c->line, text.data);
}

/* One way to make calls. */
typedef void make_call(void *with, const struct call *c, struct outcome *ret);

static void follow(const struct script *s, make_call *call, void *with)
{
	const struct call *c = NULL;
	struct outcome seen;

	for (size_t i = 0; i < s->count; i++) {
		if (s->items[i].type == ITEM_CALL) {
			c = &s->items[i].call;
			call(with, c, &seen);
		} else if (s->items[i].type == ITEM_RETURN) {
			check(s, c, &s->items[i].ret, &seen);
		}
	}
}

static void call_self(void *with, const struct call *c, struct outcome *ret)
{
	caller_call(with, c, ret);
}

static void call_crew(void *with, const struct call *c, struct outcome *ret)
{
	struct err err = { 0 };

	if (crew_call(with, c, ret, &err))
		fail_msg("line %u: %s", c->line, err.text);
}

static void by_this_process(void **state)
{
	int root_fd = open_root();
	struct caller *self = caller_new(root_fd);

	assert_non_null(self);
	follow(*state, call_self, self);
	caller_free(self);
	close(root_fd);
}

static void by_a_worker(void **state)
{
	int root_fd = open_root();
	struct crew *crew;
	struct err err = { 0 };

	if (crew_open(&crew, root_fd, &(struct crew_options){ 0 }, &err)) {
		print_message("# skipped: %s\n", err.text);
		skip();
	}
	follow(*state, call_crew, crew);
	crew_close(crew);
	close(root_fd);
}

static size_t count_open(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t count = 0;

	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static struct outcome one_call(struct caller *self, const char *text)
{
	struct arena arena = ARENA_INIT;
	struct outcome outcome;
	struct err err = { 0 };
	struct call c;

	if (call_parse(&c, text, &arena, &err))
		fail_msg("%s", err.text);
	caller_call(self, &c, &outcome);
	arena_free(&arena);
	return outcome;
}

static void reset_begins_anew(void **state)
{
	int root_fd = open_root();
	size_t open_before = count_open();
	struct caller *self = caller_new(root_fd);

	for (int round = 0; round < 3; round++) {
		assert_int_equal(one_call(self, "mkdir(\"d\", 0755)").error, round ? EEXIST : 0);
		assert_int_equal(one_call(self, "chdir(\"d\")").error, 0);
		assert_int_equal(one_call(self, "open(\"f\", O_RDWR|O_CREAT, 0666)").num, 3);
		assert_int_equal(one_call(self, "pread(3, 20000000, 0)").len, 0);
		assert_int_equal(one_call(self, "readdir(1)").error, EBADF);
		assert_int_equal(one_call(self, "opendir(\".\")").num, 1);
		assert_int_equal(one_call(self, "readdir(1)").error, 0); /* more are read ahead */
		assert_int_equal(one_call(self, "close(1)").error, 0);
		assert_int_equal(one_call(self, "umask(0)").num, 022);
		assert_int_equal(one_call(self, "stat(\"f\")").stat.mode, S_IFREG | 0644);
		caller_reset(self);
	}
	caller_free(self);
	assert_int_equal(count_open(), open_before);
	close(root_fd);
}

/* Of the calling process and its children: sync(2) kills it. */
static void forbid_sync(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sync, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { ARRAY_LEN(filter), filter };

	must(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	must(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

/* What is stuck elsewhere on the machine is no hang of the file system under test. */
static void a_sync_waits_for_no_other_file_system(void **state)
{
	int root_fd = open_root(), status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		forbid_sync();
		_exit(one_call(caller_new(root_fd), "sync()").error);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(root_fd);
}

static void a_full_table_creates_nothing(void **state)
{
	int root_fd = open_root();
	struct caller *self = caller_new(root_fd);

	for (int fd = 3; fd < SYSCALL_FDS_MAX; fd++)
		assert_int_equal(one_call(self, "open(\".\", O_RDONLY)").num, fd);
	assert_int_equal(one_call(self, "creat(\"f\", 0644)").error, EMFILE);
	assert_int_equal(one_call(self, "openat2(AT_FDCWD, \"f\", O_CREAT, 0644, 0)").error,
			 EMFILE);
	assert_int_equal(one_call(self, "dup(3)").error, EMFILE);
	assert_int_equal(one_call(self, "stat(\"f\")").error, ENOENT);
	assert_int_equal(one_call(self, "close(100)").error, 0);
	assert_int_equal(one_call(self, "creat(\"f\", 0644)").num, 100);
	caller_free(self);
	close(root_fd);
}

static void streams_have_a_limit(void **state)
{
	int root_fd = open_root();
	struct caller *self = caller_new(root_fd);
	int streams = 0;

	while (!one_call(self, "opendir(\"/\")").error && streams < 1000)
		streams++;
	assert_in_range(streams, 8, 999);
	assert_int_equal(one_call(self, "opendir(\"/\")").error, EMFILE);
	assert_int_equal(one_call(self, "closedir(5)").error, 0);
	assert_int_equal(one_call(self, "opendir(\"/\")").num, 5);
	caller_free(self);
	close(root_fd);
}

static void a_size_is_told_without_bytes(void **state)
{
	int root_fd = open_root();
	struct caller *self = caller_new(root_fd);
	struct outcome outcome;

	one_call(self, "creat(\"f\", 0644)");
	if (one_call(self, "setxattr(\"f\", \"user.a\", \"value\", 5, 0)").error) {
		print_message("# skipped: no extended attributes in /tmp\n");
		skip();
	}
	outcome = one_call(self, "getxattr(\"f\", \"user.a\", 0)");
	assert_int_equal(outcome.num, 5);
	assert_int_equal(outcome.len, 0);
	caller_free(self);
	close(root_fd);
}

/* What the file system cannot hold is a fault of the mapping, not of this process. */
static void a_fault_of_a_mapping_is_an_outcome(void **state)
{
	struct caller *self;
	int root_fd;

	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", root, "tmpfs", 0, "size=64k")) {
		print_message("# skipped: mounting needs root\n");
		skip();
	}
	root_fd = open_root();
	self = caller_new(root_fd);
	assert_int_equal(one_call(self, "open(\"f\", O_RDWR|O_CREAT, 0644)").num, 3);
	assert_int_equal(one_call(self, "mmap_write(3, \"x\", 1, 1000000)").num, 1);
	assert_int_equal(one_call(self, "mmap_write(3, data(1, 999999), 999999, 0)").error,
			 ERROR_SIGBUS);
	caller_free(self);
	close(root_fd);
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(umount(root), 0);
}

/* Operations that cannot fail, and those that are not system calls. */
static bool may_lack_an_error(enum op op)
{
	return op == OP_sync || op == OP_umask;
}

static void traces_show_every_operation(void **state)
{
	bool succeeds[OP_COUNT] = { 0 }, fails[OP_COUNT] = { 0 };

	for (size_t t = 0; t < ARRAY_LEN(traces); t++) {
		enum op op = OP_COUNT;

		for (size_t i = 0; i < scripts[t].count; i++) {
			const struct item *item = &scripts[t].items[i];

			if (item->type == ITEM_CALL)
				op = item->call.op;
			if (item->type != ITEM_RETURN)
				continue;
			succeeds[op] |= item->ret.any_success;
			for (size_t r = 0; r < item->ret.count; r++)
				*(item->ret.outcomes[r].error ? &fails[op] : &succeeds[op]) = true;
		}
	}
	for (enum op op = 0; op < OP_COUNT; op++) {
		if (op_table[op].traits & (TRAIT_PROC | TRAIT_ENV))
			continue;
		if (!succeeds[op] || !(fails[op] || may_lack_an_error(op)))
			fail_msg("%s is not shown to %s", op_table[op].name,
				 succeeds[op] ? "fail" : "succeed");
	}
}

#define IN_ROOT(test) cmocka_unit_test_setup_teardown(test, make_root, remove_root)

int main(void)
{
	struct CMUnitTest tests[2 * ARRAY_LEN(traces) + 7] = {
		cmocka_unit_test(traces_show_every_operation),
		IN_ROOT(reset_begins_anew),
		IN_ROOT(a_sync_waits_for_no_other_file_system),
		IN_ROOT(a_full_table_creates_nothing),
		IN_ROOT(streams_have_a_limit),
		IN_ROOT(a_size_is_told_without_bytes),
		IN_ROOT(a_fault_of_a_mapping_is_an_outcome),
	};
	struct CMUnitTest *test = tests + 7;
	static char names[ARRAY_LEN(tests)][64];
	struct err err = { 0 };
	char path[64];

	for (size_t t = 0; t < ARRAY_LEN(traces); t++) {
		snprintf(path, sizeof(path), "tests/unit/exec/%s.trace", traces[t]);
		if (script_read(&scripts[t], path, &err)) {
			fprintf(stderr, "%s\n", err.text);
			return 1;
		}
		for (int worker = 0; worker < 2; worker++, test++) {
			snprintf(names[test - tests], sizeof(names[0]), "%s_by_%s", traces[t],
				 worker ? "a_worker" : "this_process");
			*test = (struct CMUnitTest)IN_ROOT(worker ? by_a_worker : by_this_process);
			test->name = names[test - tests];
			test->initial_state = &scripts[t];
		}
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
