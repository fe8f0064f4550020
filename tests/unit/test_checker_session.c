/* test_checker_session.c -- checkers run in both ways, and can do no harm; e2fsck as a copy does
 * what it does plainly. */
#include "tests/harness/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/must.h"
#include "base/rng.h"
#include "checker/checker_session.h"
#include "storage/image.h"
#include "storage/program.h"

enum { DISK = 64 << 10, AT = 4096, RIGHT = 1, CORRUPTIONS = 60 };

/* Linked to the C library as a shared one, or not: then it cannot be copied. */
static const char *const toys[] = { "toy", "toy-static" };

struct toy_session {
	struct checker_program program;
	struct image base;
	struct checker_session *session;
	struct checker_run run;
};

static void toy_command(struct buf *out, const char *toy, const char *behaviour)
{
	char self[512];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	assert_true(len > 0);
	self[len] = '\0';
	*strrchr(self, '/') = '\0'; /* build/release/tests/unit */
	*strrchr(self, '/') = '\0';
	buf_addf(out, "%s/checkers/%s %s {image}", self, toy, behaviour);
}

static void toy_open(struct toy_session *t, const char *toy, const char *behaviour)
{
	struct buf command = BUF_INIT;
	struct err err = { 0 };
	uint8_t right = RIGHT;

	*t = (struct toy_session){ 0 };
	toy_command(&command, toy, behaviour);
	t->program = (struct checker_program){
		.name = "toy",
		.modes = { { "repair", command.data } },
		.mode_count = 1,
		.seconds = 1,
		.memory = 64 << 20,
		.now = 1234567890,
	};
	assert_int_equal(image_make(&t->base, DISK, &err), 0);
	t->base.bytes[AT] = (char)right;
	t->session = checker_session_open(&t->program, &t->base, &err);
	assert_non_null(t->session);
}

static void toy_close(struct toy_session *t)
{
	checker_session_close(t->session);
	checker_run_free(&t->run);
	image_free(&t->base);
	free((char *)t->program.modes[0].command);
}

static void toy_corrupt(struct toy_session *t, uint8_t byte)
{
	checker_disk_restore(t->session);
	checker_disk_write(t->session, AT, &byte, 1);
}

static void toy_run(struct toy_session *t)
{
	struct err err = { 0 };

	if (checker_session_run(t->session, 0, &t->run, &err))
		fail_msg("%s", err.text);
}

static void expect_exit(struct toy_session *t, int code, bool wrote)
{
	toy_run(t);
	assert_int_equal(t->run.end, CHECKER_EXITED);
	assert_int_equal(t->run.status, code);
	assert_int_equal(t->run.wrote, wrote);
}

/* Corrupted, then right; the changes of the disk are known to the page. */
static void expect_repair(const char *toy, const char *behaviour)
{
	const uint64_t *changed;
	struct toy_session t;
	size_t count;

	toy_open(&t, toy, behaviour);
	for (int i = 0; i < 3; i++) {
		toy_corrupt(&t, (uint8_t)(7 + i));
		changed = checker_disk_changed(t.session, &count);
		assert_int_equal(count, 1);
		assert_int_equal(changed[0], AT / CHECKER_DISK_PAGE);
		expect_exit(&t, 1, true);
		assert_int_equal(checker_disk(t.session, NULL)[AT], RIGHT);
		expect_exit(&t, 0, false);
		checker_disk_changed(t.session, &count);
		assert_int_equal(count, 0);
	}
	toy_close(&t);
}

static void a_run_repairs(void **state)
{
	static const char *const behaviours[] = { "repair", "fork", "stream",  "map",  "threads",
						  "seek",   "raw",  "handler", "punch" };

	for (size_t i = 0; i < ARRAY_LEN(toys); i++)
		for (size_t k = 0; k < ARRAY_LEN(behaviours); k++)
			expect_repair(toys[i], behaviours[k]);
}

static void a_run_speaks(void **state)
{
	struct toy_session t;

	for (size_t i = 0; i < ARRAY_LEN(toys); i++) {
		toy_open(&t, toys[i], "handler");
		for (int k = 0; k < 3; k++) {
			toy_corrupt(&t, 5);
			toy_run(&t);
			assert_string_equal(buf_str(&t.run.output), "byte 5\nat exit\n");
		}
		assert_int_equal(checker_session_copies(t.session, 0), i == 0);
		toy_close(&t);
	}
}

static void a_shared_one_is_copied_unless_it_writes_unseen(void **state)
{
	struct toy_session t;

	toy_open(&t, "toy", "raw");
	toy_corrupt(&t, 5);
	assert_true(checker_session_copies(t.session, 0));
	expect_exit(&t, 1, true);
	assert_false(checker_session_copies(t.session, 0));
	toy_close(&t);
	toy_open(&t, "toy", "early");
	expect_exit(&t, 16, false);
	expect_exit(&t, 16, false);
	toy_close(&t);
}

/* Our stores to it change the time of the file, as writes of a program do that are not seen. */
static void a_hole_in_the_disk_is_no_write_of_the_next_run(void **state)
{
	struct buf check = BUF_INIT;
	struct err err = { 0 };
	struct toy_session t;

	toy_open(&t, "toy", "raw-punch");
	checker_session_close(t.session);
	toy_command(&check, "toy", "check");
	t.program.check = (struct checker_mode){ "check", check.data };
	t.session = checker_session_open(&t.program, &t.base, &err);
	assert_non_null(t.session);
	for (int i = 0; i < 3; i++) {
		toy_corrupt(&t, 5);
		assert_int_equal(checker_session_run(t.session, CHECKER_CHECK, &t.run, &err), 0);
		assert_int_equal(t.run.status, 4);
		assert_false(t.run.wrote);
		expect_exit(&t, 1, true);
	}
	assert_true(checker_session_copies(t.session, CHECKER_CHECK));
	toy_close(&t);
	buf_free(&check);
}

static void a_run_that_writes_what_was_there_changes_nothing(void **state)
{
	struct toy_session t;

	toy_open(&t, "toy", "back");
	expect_exit(&t, 0, false);
	assert_int_equal(t.run.writes, 2);
	toy_close(&t);
}

static void the_disk_grows_and_shrinks(void **state)
{
	struct toy_session t;
	uint64_t size;
	size_t count;

	for (size_t i = 0; i < ARRAY_LEN(toys); i++) {
		toy_open(&t, toys[i], "shrink");
		expect_exit(&t, 1, true);
		checker_disk(t.session, &size);
		assert_int_equal(size, AT);
		expect_exit(&t, 1, false);
		checker_disk_restore(t.session);
		checker_disk(t.session, &size);
		assert_int_equal(size, DISK);
		assert_int_equal(checker_disk(t.session, NULL)[AT], RIGHT);
		checker_disk_changed(t.session, &count);
		assert_int_equal(count, 0);
		toy_close(&t);
	}
	toy_open(&t, "toy", "grow");
	expect_exit(&t, 0, true);
	checker_disk(t.session, &size);
	assert_int_equal(size, 2 * DISK + 1);
	expect_exit(&t, 0, false);
	checker_disk_restore(t.session);
	expect_exit(&t, 0, true);
	toy_close(&t);
}

static void a_run_that_only_reads_cannot_write(void **state)
{
	struct toy_session t;

	toy_open(&t, "toy", "check");
	expect_exit(&t, 0, false);
	toy_corrupt(&t, 5);
	expect_exit(&t, 4, false);
	toy_close(&t);
}

/* Every run, of this session or another, sees the same time, numbers and addresses. */
static void runs_are_repeatable(void **state)
{
	struct buf first = BUF_INIT;
	struct toy_session t;

	for (int session = 0; session < 2; session++) {
		toy_open(&t, "toy", "vary");
		for (int i = 0; i < 3; i++) {
			expect_exit(&t, 0, false);
			if (!first.len)
				buf_adds(&first, buf_str(&t.run.output));
			assert_string_equal(buf_str(&t.run.output), first.data);
		}
		toy_close(&t);
	}
	assert_non_null(strstr(first.data, "1234567890 "));
	buf_free(&first);
}

static void a_run_without_end_is_hung(void **state)
{
	static const char *const behaviours[] = { "spin", "sleep" };
	struct toy_session t;

	for (size_t i = 0; i < ARRAY_LEN(toys); i++)
		for (size_t k = 0; k < ARRAY_LEN(behaviours); k++) {
			toy_open(&t, toys[i], behaviours[k]);
			toy_run(&t);
			assert_int_equal(t.run.end, CHECKER_HUNG);
			toy_close(&t);
		}
	/* What it has done until then counts. */
	toy_open(&t, "toy", "sleep");
	toy_corrupt(&t, 5);
	toy_run(&t);
	assert_int_equal(t.run.end, CHECKER_HUNG);
	assert_true(t.run.wrote);
	toy_close(&t);
}

static void a_crash_is_a_signal(void **state)
{
	struct toy_session t;

	for (size_t i = 0; i < ARRAY_LEN(toys); i++) {
		toy_open(&t, toys[i], "crash");
		for (int k = 0; k < 2; k++) {
			toy_run(&t);
			assert_int_equal(t.run.end, CHECKER_SIGNALED);
			assert_int_equal(t.run.status, SIGSEGV);
		}
		toy_close(&t);
	}
}

static void a_crash_that_is_caught_is_one(void **state)
{
	struct toy_session t;

	toy_open(&t, "toy", "catch");
	for (int k = 0; k < 3; k++) {
		toy_run(&t);
		assert_int_equal(t.run.end, CHECKER_EXITED);
		assert_int_equal(t.run.status, 8);
		assert_int_equal(t.run.caught, SIGSEGV);
		assert_string_equal(buf_str(&t.run.output), "signal 11\n");
	}
	toy_close(&t);
}

static void a_run_is_bounded(void **state)
{
	struct toy_session t;

	for (size_t i = 0; i < ARRAY_LEN(toys); i++) {
		toy_open(&t, toys[i], "eat");
		expect_exit(&t, 8, false);
		assert_true(t.run.max_rss_kb < 128 << 10);
		toy_close(&t);
		toy_open(&t, toys[i], "print");
		expect_exit(&t, 0, false);
		assert_true(t.run.output.len > 1000 && t.run.output.len <= 1 << 20);
		toy_close(&t);
		toy_open(&t, toys[i], "ask");
		expect_exit(&t, 4, false);
		toy_close(&t);
	}
	toy_open(&t, "toy", "bomb");
	expect_exit(&t, 0, false);
	expect_exit(&t, 0, false);
	toy_close(&t);
}

/* Root has no such limit before Linux 6.14. */
static bool processes_are_limited(void)
{
	int major = 0, minor = 0;
	struct utsname name;

	return geteuid() || (!uname(&name) && sscanf(name.release, "%d.%d", &major, &minor) == 2 &&
			     (major > 6 || (major == 6 && minor >= 14)));
}

static void processes_are_bounded_however_they_are_started(void **state)
{
	struct toy_session t;

	if (!processes_are_limited())
		skip();
	for (size_t i = 0; i < ARRAY_LEN(toys); i++) {
		toy_open(&t, toys[i], "raw-bomb");
		expect_exit(&t, 0, false);
		toy_close(&t);
	}
}

static void nothing_else_can_be_written_to(void **state)
{
	char path[] = "/tmp/assay-checker-XXXXXX", beside[64];
	int fd = mkstemp(path);
	struct toy_session t;
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "kept", 4), 4);
	snprintf(beside, sizeof(beside), "%s.toy", path);
	for (size_t i = 0; i < ARRAY_LEN(toys); i++) {
		toy_open(&t, toys[i], path);
		expect_exit(&t, 0, false);
		toy_close(&t);
	}
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, 4);
	assert_int_equal(st.st_nlink, 1);
	assert_int_equal(access(beside, F_OK), -1);
	unlink(path);
	close(fd);
}

/* ---- e2fsck ---- */

struct plain_run {
	int status;
	struct buf output;
};

static void make_disk(const struct checker_program *p, struct image *ret)
{
	struct program_value value = { "image", PROGRAM_FD_PATH };
	struct buf command = BUF_INIT, output = BUF_INIT;
	struct err err = { 0 };
	int status;

	assert_int_equal(image_make(ret, p->disk_size, &err), 0);
	program_fill(&command, p->mkfs, &value, 1);
	assert_int_equal(program_run(command.data, ret->fd, 30, &status, &output, &err), 0);
	assert_int_equal(status, 0);
	buf_free(&command);
	buf_free(&output);
}

static void run_plainly(const struct checker_program *p, const struct image *disk,
			struct plain_run *ret)
{
	struct program_value value = { "image", PROGRAM_FD_PATH };
	struct buf command = BUF_INIT;
	struct err err = { 0 };

	buf_addf(&command, "env TZ=UTC0 E2FSCK_TIME=%llu ", (unsigned long long)p->now);
	program_fill(&command, p->modes[0].command, &value, 1);
	buf_clear(&ret->output);
	assert_int_equal(program_run(command.data, disk->fd, 60, &ret->status, &ret->output, &err),
			 0);
	buf_free(&command);
}

static void corrupt_disk(struct checker_session *s, struct image *plain, struct rng *rng)
{
	for (uint64_t i = 0, n = 1 + rng_below(rng, 3); i < n; i++) {
		uint64_t at = 1024 + rng_below(rng, rng_chance(rng, 1, 2) ? 2048 : 64 << 10);
		uint8_t byte = (uint8_t)(rng_chance(rng, 1, 2) ? rng_below(rng, 256)
							       : (unsigned)plain->bytes[at] ^ 1);

		checker_disk_write(s, at, &byte, 1);
		plain->bytes[at] = (char)byte;
	}
}

static void expect_same(struct checker_session *s, const struct checker_run *run,
			const struct plain_run *plain, const struct image *disk, int number)
{
	struct stat st;
	uint64_t size;

	must(!fstat(disk->fd, &st));
	if (run->status != plain->status || strcmp(buf_str(&run->output), buf_str(&plain->output)))
		fail_msg("corruption %d: exit code %d, plainly %d:\n%s\n%s", number, run->status,
			 plain->status, buf_str(&run->output), buf_str(&plain->output));
	checker_disk(s, &size);
	assert_int_equal(size, st.st_size);
	if (memcmp(checker_disk(s, NULL), disk->bytes, disk->size) != 0)
		fail_msg("corruption %d: the disk is not as plainly:\n%s", number,
			 buf_str(&run->output));
}

/* The plain disk, which may have grown, is the base again. */
static void restore_plain(struct image *disk, const struct image *base)
{
	must(!ftruncate(disk->fd, (off_t)base->size));
	memcpy(disk->bytes, base->bytes, base->size);
}

static void e2fsck_does_what_it_does_plainly(void **state)
{
	const char *wanted = getenv("ASSAY_CORRUPTIONS");
	int count = wanted ? atoi(wanted) : CORRUPTIONS;
	struct plain_run plain = { 0 };
	struct checker_program p;
	struct checker_session *s;
	struct checker_run run = { 0 };
	struct image base, disk;
	struct err err = { 0 };
	struct rng rng;

	rng_seed(&rng, 19);
	assert_int_equal(checker_program_find(&p, "e2fsck-nojournal", NULL, &err), 0);
	if (!program_exists("e2fsck"))
		skip();
	make_disk(&p, &base);
	assert_int_equal(image_make(&disk, p.disk_size, &err), 0);
	s = checker_session_open(&p, &base, &err);
	assert_non_null(s);
	for (int i = 0; i < count; i++) {
		checker_disk_restore(s);
		restore_plain(&disk, &base);
		corrupt_disk(s, &disk, &rng);
		for (int k = 0; k < 2; k++) {
			run_plainly(&p, &disk, &plain);
			if (checker_session_run(s, 0, &run, &err))
				fail_msg("%s", err.text);
			expect_same(s, &run, &plain, &disk, i);
		}
	}
	assert_true(checker_session_copies(s, 0));
	checker_session_close(s);
	checker_run_free(&run);
	buf_free(&plain.output);
	image_free(&base);
	image_free(&disk);
	checker_program_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_repairs),
		cmocka_unit_test(a_run_speaks),
		cmocka_unit_test(a_shared_one_is_copied_unless_it_writes_unseen),
		cmocka_unit_test(a_hole_in_the_disk_is_no_write_of_the_next_run),
		cmocka_unit_test(a_run_that_writes_what_was_there_changes_nothing),
		cmocka_unit_test(the_disk_grows_and_shrinks),
		cmocka_unit_test(a_run_that_only_reads_cannot_write),
		cmocka_unit_test(runs_are_repeatable),
		cmocka_unit_test(a_run_without_end_is_hung),
		cmocka_unit_test(a_crash_is_a_signal),
		cmocka_unit_test(a_crash_that_is_caught_is_one),
		cmocka_unit_test(a_run_is_bounded),
		cmocka_unit_test(processes_are_bounded_however_they_are_started),
		cmocka_unit_test(nothing_else_can_be_written_to),
		cmocka_unit_test(e2fsck_does_what_it_does_plainly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
