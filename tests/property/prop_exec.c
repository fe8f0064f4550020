/* prop_exec.c -- whatever is called, with whatever arguments, no worker dies of it, and what it
 * answers is an answer: an errno the system has, or a value of the operation's kind.
 *
 * On a small file system of its own where device nodes mean nothing, since root may make any.
 * Calls that wait for another process (a FIFO's other end, a lock) are given up, which is fine. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "base/rng.h"
#include "op/kind.h"
#include "sandbox/crew.h"
#include "tests/harness/unit.h"
#include "trace/script.h"

enum { CALLS = 20000, FIFO_ODDS = 50 };

static char root[] = "/tmp/assay-prop-XXXXXX";
static int root_fd = -1;

static const char *const texts[] = {
	"a", "b", "/a",  "a/b",    "/a/../b", "b/c/",      ".",         "..",
	"/", "",  "a/.", "user.a", "user.b",  "trusted.a", "none.such", NULL,
};

/* No larger lengths: reading a sparse file takes as much memory as it is long. */
static const int64_t numbers[] = {
	0,
	1,
	2,
	3,
	4,
	5,
	7,
	8,
	16,
	64,
	511,
	512,
	4095,
	4096,
	65536,
	1 << 20,
	1 << 23,
	-1,
	-4096,
	INT64_MIN,
	AT_FDCWD,
	MODE_ABSENT,
	0644,
	01777,
	S_IFIFO | 0600,
	S_IFCHR | 0600,
};

static int64_t some_number(struct rng *rng, enum kind kind)
{
	const struct kind_name *names = kind_names(kind);
	int64_t bits = 0;
	size_t count = 0;

	if (!names || rng_chance(rng, 1, 4))
		return numbers[rng_below(rng, ARRAY_LEN(numbers))];
	while (names[count].name)
		count++;
	for (uint64_t n = rng_below(rng, 3) + 1; n; n--)
		bits |= names[rng_below(rng, count)].value;
	return bits;
}

static struct arg some_arg(struct rng *rng, enum kind kind)
{
	static const char bytes[] = "some bytes";
	struct arg arg = { 0 };

	switch (kind_table[kind]->form) {
	case FORM_TEXT:
		arg.text = texts[rng_below(rng, ARRAY_LEN(texts))];
		arg.len = arg.text ? (uint32_t)strlen(arg.text) : 0;
		return arg;
	case FORM_DATA:
		if (rng_chance(rng, 1, 2))
			return (struct arg){ .seed = rng_u64(rng), .len = 5000, .generated = true };
		return (struct arg){ .text = bytes, .len = sizeof(bytes) - 1 };
	default:
		arg.num = some_number(rng, kind);
		return arg;
	}
}

static struct call some_call(struct rng *rng)
{
	struct call c = { .op = (uint16_t)rng_below(rng, OP_COUNT), .pid = 1 };

	for (unsigned i = 0; i < op_table[c.op].args; i++)
		c.arg[i] = some_arg(rng, op_table[c.op].arg[i].kind);
	c.pid = (uint16_t)(1 + rng_below(rng, 2));
	return c;
}

/* Would wait for a process that never comes, and each wait lasts until the deadline. */
static bool may_wait(const struct call *c)
{
	return c->op == OP_flock ||
	       ((c->op == OP_mknod || c->op == OP_mknodat) &&
		S_ISFIFO(op_table[c->op].args == 3 ? c->mknod.mode.num : c->mknodat.mode.num));
}

static void check(const struct call *c, const struct outcome *o, uint64_t seed, int n)
{
	struct buf text = BUF_INIT;
	bool fine;

	if (o->error)
		fine = o->error > 0 && o->error < 200;
	else
		fine = o->result == op_table[c->op].result && o->len <= SYSCALL_DATA_MAX &&
		       o->bytes;
	if (fine)
		return;
	call_print(c, DIALECT_NATIVE, &text);
	fail_msg("seed %llu, call %d: %s: error %d, length %zu", (unsigned long long)seed, n,
		 text.data, o->error, o->len);
}

static void no_call_ends_a_worker(void **state)
{
	const uint64_t seed = 20240501;
	struct crew_options options = { .deadline_seconds = 1 };
	struct crew *crew;
	struct outcome outcome;
	struct err err = { 0 };
	struct rng rng;
	struct call c;
	int error;

	if (root_fd < 0) {
		print_message("# skipped: a file system of its own needs root\n");
		skip();
	}
	rng_seed(&rng, seed);
	assert_int_equal(crew_open(&crew, root_fd, &options, &err), 0);
	for (int n = 0; n < CALLS; n++) {
		c = some_call(&rng);
		if (may_wait(&c) && !rng_chance(&rng, 1, FIFO_ODDS))
			continue;
		err.code = 0;
		error = crew_call(crew, &c, &outcome, &err);
		if (!error)
			check(&c, &outcome, seed, n);
		else if (error != -ETIME && error != -ESRCH)
			fail_msg("seed %llu, call %d (%s): %s", (unsigned long long)seed, n,
				 op_table[c.op].name, err.text);
		if (error == -ETIME || n % 1000 == 999)
			assert_int_equal(crew_reset(crew, &err), 0);
	}
	crew_close(crew);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static int make_root(void **state)
{
	if (geteuid() || unshare(CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return 0;
	if (!mkdtemp(root) || mount("none", root, "tmpfs", MS_NODEV | MS_NOSUID, "size=4m"))
		return -1;
	root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return root_fd < 0;
}

static int remove_root(void **state)
{
	if (root_fd < 0)
		return 0;
	close(root_fd);
	return umount2(root, MNT_DETACH) || rmdir(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(no_call_ends_a_worker) };

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
