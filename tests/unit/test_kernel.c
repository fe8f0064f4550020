/* test_kernel.c -- file systems of a kernel in a process: used, remounted, saved, hung.
 *
 * Where no kernel is built there is nothing to test. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/must.h"
#include "storage/image.h"
#include "storage/write_log.h"
#include "tests/harness/plans.h"
#include "tests/harness/written.h"

static const char *const targets[] = { "kernel:ext4",  "kernel:ext2", "kernel:xfs",
				       "kernel:btrfs", "kernel:jfs",  "kernel:tmpfs" };

static void save(struct pair *p, uint64_t key)
{
	struct err err = { 0 };

	if (p->target->kind->save(p->target, key, &err))
		fail_msg("%s: %s", p->target->name, err.text);
}

static void restore(struct pair *p, uint64_t key, struct state *to)
{
	struct err err = { 0 };

	if (p->target->kind->restore(p->target, key, &err))
		fail_msg("%s: %s", p->target->name, err.text);
	state_free(&p->state);
	p->state = state_copy(to);
}

static void use(struct pair *p)
{
	pair_do(p, "mkdir(\"a\", 0755)");
	pair_do(p, "write_file(\"a/f\", O_CREAT|O_WRONLY, data(7, 9000), 9000, 100)");
	pair_do(p, "link(\"a/f\", \"g\")");
	pair_do(p, "symlink(\"a/f\", \"s\")");
	pair_do(p, "setxattr(\"a\", \"user.x\", \"value\", 5, 0)");
	pair_do(p, "rename(\"a/f\", \"a/h\")");
	pair_do(p, "mkdir(\"a\", 0755)");
	pair_do(p, "advance_time(60000)");
	pair_do(p, "drop_caches()");
	if (p->target->caps & TARGET_REMOUNT)
		pair_do(p, "remount()");
}

/* Whole blocks, at a place in the middle, and behind the end. */
static void write_directly(struct pair *p)
{
	pair_do(p, "direct_write(\"g\", data(8, 4096), 4096, 4096)");
	pair_do(p, "direct_write(\"g\", data(9, 8192), 8192, 12288)");
	pair_do(p, "direct_write(\"missing\", data(9, 8192), 8192, 0)");
	pair_do(p, "open(\"g\", O_RDWR|O_DIRECT)");
	pair_do(p, "close(3)");
}

/* A state is expanded in two ways, and again in the first: with the same end, open files too. */
static void branch(struct pair *p)
{
	struct state before;
	struct hash first;

	pair_do(p, "open(\"g\", O_RDWR)");
	before = state_copy(&p->state);
	save(p, 1);
	pair_do(p, "unlink(\"g\")");
	pair_do(p, "write(3, \"abc\", 3)");
	first = pair_seen(p);
	save(p, 2);
	restore(p, 1, &before);
	pair_do(p, "pread(3, 10, 100)");
	pair_do(p, "truncate(\"g\", 5)");
	assert_false(hash_equal(pair_seen(p), first));
	restore(p, 1, &before);
	p->target->kind->drop(p->target, 1);
	pair_do(p, "unlink(\"g\")");
	pair_do(p, "write(3, \"abc\", 3)");
	assert_true(hash_equal(pair_seen(p), first));
	p->target->kind->drop(p->target, 2);
	assert_int_equal(p->target->kind->restore(p->target, 2, NULL), -ENOENT);
	state_free(&before);
}

static void exercise(struct pair *p)
{
	struct hash fresh = pair_seen(p);

	use(p);
	write_directly(p);
	branch(p);
	assert_int_equal(target_reset(p->target, NULL), 0);
	assert_true(hash_equal(pair_seen(p), fresh));
}

static void every_file_system_is_used_and_branched(void **state)
{
	pair_each(targets, ARRAY_LEN(targets), exercise);
}

/* The kernel has 64 MiB, and tmpfs keeps 15 of them: looking at the files takes none. */
static void fill_and_look(struct pair *p)
{
	static const char *const names[] = { "a", "b", "c", "d", "e" };
	struct buf text = BUF_INIT;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		buf_clear(&text);
		buf_addf(&text,
			 "write_file(\"%s\", O_CREAT|O_WRONLY, data(%zu, 3145728), 3145728, 0)",
			 names[i], i + 1);
		pair_do(p, buf_str(&text));
	}
	buf_free(&text);
	pair_seen(p);
}

static void full_file_system_can_be_observed(void **state)
{
	static const char *const in_memory[] = { "kernel:tmpfs" };

	pair_each(in_memory, 1, fill_and_look);
}

/* Nobody will ever write into the pipe: known at once, as the time that passes is not real. */
static void a_call_that_never_returns_hangs(void **state)
{
	struct err why = { 0 };
	struct plan_step wait;
	struct pair p;

	if (!pair_open(&p, "kernel:ext4", 60, &why))
		skip();
	pair_do(&p, "mknod(\"p\", S_IFIFO|0600, 0)");
	save(&p, 1);
	wait = (struct plan_step){ .call = pair_call(&p, "open(\"p\", O_RDONLY)") };
	assert_int_equal(pair_follow(&p, &wait, 1).fate, FATE_HUNG);
	assert_int_equal(p.target->kind->restore(p.target, 1, &why), 0);
	pair_do(&p, "unlink(\"p\")");
	pair_close(&p);
}

static void null_pointers_give_efault(void **state)
{
	static const char *const calls[] = {
		"mkdir(NULL, 0755)",    "open(NULL, O_RDONLY)",
		"stat(NULL)",           "symlink(NULL, \"s\")",
		"symlink(\"s\", NULL)", "rename(NULL, \"s\")",
		"rename(\"s\", NULL)",  "chdir(NULL)",
		"unlink(NULL)",         "setxattr(\".\", NULL, \"value\", 5, 0)",
	};
	struct err why = { 0 };
	struct pair p;

	if (!pair_open(&p, "kernel:ext4", 60, &why))
		skip();
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		pair_do(&p, calls[i]);
	pair_close(&p);
}

static void two_kernels_live_side_by_side(void **state)
{
	struct err why = { 0 };
	struct pair a, b;

	if (!pair_open(&a, "kernel:ext4", 60, &why))
		skip();
	assert_true(pair_open(&b, "kernel:ext4", 60, &why));
	pair_do(&a, "mkdir(\"a\", 0755)");
	pair_do(&b, "mkdir(\"b\", 0755)");
	pair_do(&a, "rmdir(\"a\")");
	pair_close(&a);
	pair_do(&b, "rmdir(\"b\")");
	pair_close(&b);
}

/* ---- failures ---- */

/* The call with its n-th allocation failing, from the state saved as 1. */
static struct outcome fail_nth(struct pair *p, const char *text, unsigned n)
{
	struct call c = pair_call(p, text), fail = { .op = OP_fail_alloc, .pid = 1 };
	enum target_fate fate = FATE_DIED;
	struct outcome outcome;
	struct err err = { 0 };

	fail.fail_alloc.nth.num = n;
	assert_int_equal(p->target->kind->restore(p->target, 1, &err), 0);
	if (target_call(p->target, &fail, &outcome, &fate, &err) ||
	    target_call(p->target, &c, &outcome, &fate, &err))
		fail_msg("%s", err.text);
	assert_int_equal(fate, FATE_FINE);
	return outcome;
}

/* One after another: each either fails and changes nothing, or was not needed. The state in which
 * a failure waits can be saved, too. */
static void fail_each(struct pair *p)
{
	enum { MORE_THAN_IT_MAKES = 150 };
	struct hash before = pair_seen(p), after;
	struct outcome outcome;
	unsigned errors = 0;

	save(p, 1);
	outcome = fail_nth(p, "mkdir(\"a\", 0755)", UINT16_MAX);
	assert_int_equal(outcome.error, 0);
	after = pair_seen(p);
	for (unsigned n = 1; n <= MORE_THAN_IT_MAKES; n++) {
		outcome = fail_nth(p, "mkdir(\"a\", 0755)", n);
		/* JFS says EIO where it cannot have memory to read into. */
		if ((outcome.error && outcome.error != ENOMEM && outcome.error != EIO) ||
		    !hash_equal(pair_seen(p), outcome.error ? before : after))
			fail_msg("%s: allocation %u: %s", p->target->name, n,
				 errno_name(outcome.error));
		errors += outcome.error != 0;
	}
	assert_true(errors > 0);
	assert_int_equal(outcome.error, 0);
}

static void every_allocation_of_a_call_can_fail(void **state)
{
	static const char *const hardy[] = { "kernel:ext4", "kernel:xfs", "kernel:btrfs",
					     "kernel:jfs" };

	pair_each(hardy, ARRAY_LEN(hardy), fail_each);
}

/* ---- records ---- */

struct request_counts {
	unsigned writes, flushes, marks;
	size_t size;
	struct hash hash;
};

static struct request_counts recorded(struct pair *p, struct buf *out, int *ret_image_fd)
{
	struct request_counts counts = { 0 };
	struct disk_record r;
	struct err err = { 0 };

	buf_clear(out);
	if (p->target->kind->recorded(p->target, ret_image_fd, out, &err))
		fail_msg("%s", err.text);
	for (size_t at = 0; at < out->len;) {
		memcpy(&r, out->data + at, sizeof(r));
		counts.writes += (r.what & RECORD_WRITE) != 0;
		counts.flushes += (r.what & RECORD_FLUSH) != 0;
		counts.marks += r.what == RECORD_MARK;
		at += sizeof(r) + (r.what & RECORD_WRITE ? r.size : 0);
	}
	counts.size = out->len;
	counts.hash = hash128(out->data, out->len, 0);
	return counts;
}

static void write_into(struct pair *p)
{
	pair_do(p, "write_file(\"a/f\", O_CREAT|O_WRONLY, data(7, 9000), 9000, 100)");
	pair_do(p, "sync()");
	pair_do(p, "unlink(\"a/f\")");
}

static void write_synced(struct pair *p)
{
	pair_do(p, "mkdir(\"a\", 0755)");
	write_into(p);
}

static void begin_anew(struct pair *p)
{
	assert_int_equal(target_reset(p->target, NULL), 0);
	state_free(&p->state);
	assert_int_equal(target_initial_state(p->target, &p->state, NULL), 0);
}

static void assert_same_writes(const struct request_counts *a, const struct request_counts *b)
{
	assert_int_equal(a->size, b->size);
	assert_true(hash_equal(a->hash, b->hash));
}

/* From the beginning, and twice from a state that was saved in the middle. */
static void repeat_writes(struct pair *p, struct buf *record, int *ret_image_fd)
{
	struct request_counts first, again;
	struct state middle;

	write_synced(p);
	first = recorded(p, record, ret_image_fd);
	assert_true(first.writes > 0 && first.flushes > 0);
	assert_int_equal(first.marks, 4);
	begin_anew(p);
	pair_do(p, "mkdir(\"a\", 0755)");
	save(p, 1);
	middle = state_copy(&p->state);
	for (unsigned i = 0; i < 2; i++) {
		restore(p, 1, &middle);
		write_into(p);
		again = recorded(p, record, ret_image_fd);
		assert_same_writes(&first, &again);
	}
	state_free(&middle);
}

/* What a crash behind the last call leaves is, recovered, what was synced. */
static void recover(struct pair *p, const struct buf *record, int image_fd)
{
	int crashed = written_image(image_fd, record, 0), error;
	enum target_fate fate;
	struct hash synced;

	assert_int_equal(p->target->kind->load(p->target, crashed, &error, &fate, NULL), 0);
	assert_int_equal(fate, FATE_FINE);
	assert_int_equal(error, 0);
	synced = pair_seen(p);
	begin_anew(p);
	pair_do(p, "mkdir(\"a\", 0755)");
	pair_do(p, "write_file(\"a/f\", O_CREAT|O_WRONLY, data(7, 9000), 9000, 100)");
	assert_true(hash_equal(synced, pair_seen(p)));
	close(crashed);
}

static void crash(struct pair *p)
{
	struct target_options options = { .deadline_seconds = 60, .record = true };
	struct buf record = BUF_INIT;
	struct target *t;
	int image_fd;

	assert_int_equal(target_open(&t, p->target->name, &options, NULL), 0);
	target_close(p->target);
	p->target = t;
	repeat_writes(p, &record, &image_fd);
	recover(p, &record, image_fd);
	buf_free(&record);
}

/* JFS leaves recovering to its checker. */
static void what_is_written_repeats_and_recovers(void **state)
{
	static const char *const journalling[] = { "kernel:ext4", "kernel:xfs", "kernel:btrfs" };

	pair_each(journalling, ARRAY_LEN(journalling), crash);
}

static struct request_counts writes_of_a_run(void)
{
	struct target_options options = { .deadline_seconds = 60, .record = true };
	struct request_counts counts;
	struct buf record = BUF_INIT;
	struct err why = { 0 };
	struct pair p;
	int image_fd;

	if (!pair_open(&p, "kernel:ext4", 60, &why))
		skip();
	target_close(p.target);
	assert_int_equal(target_open(&p.target, "kernel:ext4", &options, NULL), 0);
	write_synced(&p);
	counts = recorded(&p, &record, &image_fd);
	buf_free(&record);
	pair_close(&p);
	return counts;
}

/* On an image that is made anew, in a kernel that is booted anew. */
static void the_next_run_writes_the_same(void **state)
{
	struct request_counts first = writes_of_a_run(), second = writes_of_a_run();

	assert_true(first.writes > 0);
	assert_same_writes(&first, &second);
}

/* ---- leaks ---- */

/* A kernel that keeps something is in tests/soak/kernel-seeded. */
static void seek_leaks(struct pair *p)
{
	struct hash before;

	use(p);
	pair_do(p, "open(\"g\", O_RDWR)");
	before = pair_seen(p);
	pair_do(p, "seek_leaks()");
	assert_true(hash_equal(pair_seen(p), before));
	pair_do(p, "write(3, \"abc\", 3)");
}

static void nothing_is_left_behind(void **state)
{
	pair_each(targets, ARRAY_LEN(targets), seek_leaks);
}

/* ---- the checker and free space ---- */

/* Open and removed files stay as they are: it is a copy that is unmounted. */
static void examine(struct pair *p)
{
	struct hash before;

	use(p);
	pair_do(p, "open(\"g\", O_RDWR)");
	pair_do(p, "unlink(\"g\")");
	before = pair_seen(p);
	if (p->target->caps & TARGET_FSCK)
		pair_do(p, "fsck()");
	if (p->target->caps & TARGET_SPACE)
		pair_do(p, "seek_space()");
	assert_true(hash_equal(pair_seen(p), before));
	pair_do(p, "write(3, \"abc\", 3)");
}

static void what_is_healthy_has_a_clean_disk(void **state)
{
	pair_each(targets, ARRAY_LEN(targets), examine);
}

/* What the copy writes when it is unmounted is there, and not in the image of mkfs. */
static void the_disk_is_as_it_was_written(void **state)
{
	static const char name[] = "a-name-on-the-disk";
	enum target_fate fate = FATE_FINE;
	struct err err = { 0 };
	struct image image;
	struct pair p;
	int error;

	if (!pair_open(&p, "kernel:ext2", 60, &err))
		skip();
	assert_int_equal(p.target->kind->fresh_disk(p.target, &image, &err), 0);
	assert_null(memmem(image.bytes, image.size, name, strlen(name)));
	image_free(&image);
	pair_do(&p, "mkdir(\"a-name-on-the-disk\", 0755)");
	assert_int_equal(p.target->kind->unmounted_disk(p.target, &image, &error, &fate, &err), 0);
	assert_int_equal(error, 0);
	assert_int_equal(fate, FATE_FINE);
	assert_non_null(memmem(image.bytes, image.size, name, strlen(name)));
	image_free(&image);
	pair_close(&p);
}

/* ---- processes ---- */

static void processes_have_users_and_files_of_their_own(void **state)
{
	static const char *const calls[] = {
		"[2] create_process(1000, 1000)",
		"[3] create_process(1001, 1001)",
		"mkdir(\"a\", 0770)",
		"chown(\"a\", 1000, 5)",
		"[2] open(\"a/f\", O_CREAT|O_RDWR, 0640)",
		"[3] open(\"a/f\", O_RDONLY)",
		"add_user_to_group(1001, 5)",
		"[3] mkdir(\"a/g\", 0700)",
		"[2] write(3, \"abc\", 3)",
		"write(3, \"abc\", 3)",
		"[2] unlink(\"a/f\")",
		"[2] pread(3, 10, 0)",
		"[2] umask(077)",
		"[2] chdir(\"a\")",
		"[2] destroy_process()",
		"[3] chdir(\"a\")",
		"remount()",
		"[3] mkdir(\"a/h\", 0777)",
		"[3] chown(\"a\", 1001, -1)",
	};
	struct err why = { 0 };
	struct pair p;

	if (!pair_open(&p, "kernel:ext4", 60, &why))
		skip();
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		pair_do(&p, calls[i]);
	pair_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_file_system_is_used_and_branched),
		cmocka_unit_test(full_file_system_can_be_observed),
		cmocka_unit_test(a_call_that_never_returns_hangs),
		cmocka_unit_test(null_pointers_give_efault),
		cmocka_unit_test(two_kernels_live_side_by_side),
		cmocka_unit_test(every_allocation_of_a_call_can_fail),
		cmocka_unit_test(what_is_written_repeats_and_recovers),
		cmocka_unit_test(the_next_run_writes_the_same),
		cmocka_unit_test(nothing_is_left_behind),
		cmocka_unit_test(what_is_healthy_has_a_clean_disk),
		cmocka_unit_test(the_disk_is_as_it_was_written),
		cmocka_unit_test(processes_have_users_and_files_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
