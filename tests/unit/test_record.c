/* test_record.c -- what file systems of the running kernel write to their disk: recorded by each
 * means, it makes the disk from the image of mkfs, and any part of it can be mounted. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/must.h"
#include "storage/recorder.h"
#include "target/sandbox_target.h"
#include "tests/harness/plans.h"
#include "tests/harness/written.h"

static const char *const targets[] = { "ext4", "xfs", "btrfs", "ext2" };
static const enum recorder_means means[] = { RECORDER_FUSE, RECORDER_BPF };

enum { SETTLE_MS = 20000, LOOK_US = 10000 };

/* Calls that leave data, metadata, holes and removed files on the disk. Each is marked. */
static const char *const calls[] = {
	"mkdir(\"a\", 0755)",
	"write_file(\"a/f\", O_CREAT|O_WRONLY, data(7, 9000), 9000, 100)",
	"link(\"a/f\", \"g\")",
	"sync()",
	"write_file(\"big\", O_CREAT|O_WRONLY, data(9, 1500000), 1500000, 0)",
	"setxattr(\"a\", \"user.x\", \"value\", 5, 0)",
	"rename(\"a/f\", \"a/h\")",
	"remount()",
	"truncate(\"big\", 5000)",
	"unlink(\"g\")",
	"mkdir(\"b\", 0700)",
	"sync()",
};
enum { SYNCED_CALLS = 4 };

/* ext2 orders nothing. */
static bool flushes(const struct pair *p)
{
	return strcmp(p->target->name, "ext2") != 0;
}

/* Behind a sync, btrfs has nothing to recover. */
static bool has_journal(const struct pair *p)
{
	return flushes(p) && strcmp(p->target->name, "btrfs") != 0;
}

static const struct sandbox_target *own(const struct pair *p)
{
	return p->target->own;
}

static int recorded(struct pair *p, struct buf *out)
{
	struct err err = { 0 };
	int image_fd;

	buf_clear(out);
	if (p->target->kind->recorded(p->target, &image_fd, out, &err))
		fail_msg("%s: %s", p->target->name, err.text);
	return image_fd;
}

static bool is_the_disk(const struct pair *p, int image_fd, const struct buf *record,
			struct written_counts *ret_counts)
{
	const struct image *image = &own(p)->disk.image;
	char *disk = malloc(image->size);
	bool equal;

	assert_true(disk && pread(image_fd, disk, image->size, 0) == (ssize_t)image->size);
	*ret_counts = written_apply(record, disk, image->size, 0);
	equal = !memcmp(disk, image->bytes, image->size);
	free(disk);
	return equal;
}

/* File systems write when they like: it is looked until what is recorded is what is there. */
static struct written_counts assert_record_makes_the_disk(struct pair *p, struct buf *record)
{
	int64_t until_ms = clock_ms() + SETTLE_MS;
	struct written_counts counts;
	int image_fd = recorded(p, record);

	while (!is_the_disk(p, image_fd, record, &counts)) {
		if (clock_ms() > until_ms)
			fail_msg("%s: image and record are not the disk", p->target->name);
		usleep(LOOK_US);
		recorded(p, record);
	}
	return counts;
}

static void do_calls(struct pair *p, size_t count)
{
	for (size_t i = 0; i < count; i++)
		pair_do(p, calls[i]);
}

static void begin_anew(struct pair *p)
{
	struct err err = { 0 };

	if (target_reset(p->target, &err))
		fail_msg("%s: %s", p->target->name, err.text);
	state_free(&p->state);
	assert_int_equal(target_initial_state(p->target, &p->state, NULL), 0);
}

/* Also after a reset, which begins the record anew. */
static void make_the_disk(struct pair *p)
{
	struct buf record = BUF_INIT;
	struct written_counts counts;

	for (unsigned i = 0; i < 2; i++) {
		do_calls(p, ARRAY_LEN(calls));
		counts = assert_record_makes_the_disk(p, &record);
		assert_true(counts.writes > 0 && (counts.flushes || !flushes(p)));
		assert_int_equal(counts.marks, ARRAY_LEN(calls));
		begin_anew(p);
	}
	buf_free(&record);
}

static void load(struct pair *p, int image_fd)
{
	enum target_fate fate = FATE_DIED;
	struct err err = { 0 };
	int error = -1;

	if (p->target->kind->load(p->target, image_fd, &error, &fate, &err))
		fail_msg("%s: %s", p->target->name, err.text);
	if (fate || error)
		fail_msg("%s: fate %d, %s", p->target->name, fate, errno_name(error));
}

/* The same disk as the pages that differ. */
static void load_pages(struct pair *p, int fresh_fd, int image_fd)
{
	size_t size = own(p)->disk.image.size, count = 0;
	char *fresh = mmap(NULL, size, PROT_READ, MAP_SHARED, fresh_fd, 0);
	char *bytes = mmap(NULL, size, PROT_READ, MAP_SHARED, image_fd, 0);
	struct page_change *pages = calloc(size / DISK_PAGE_BYTES, sizeof(*pages));
	struct page_change beyond = { size / DISK_PAGE_BYTES, bytes };
	enum target_fate fate = FATE_DIED;
	int error = -1;

	assert_true(fresh != MAP_FAILED && bytes != MAP_FAILED && pages);
	for (size_t at = 0; at < size; at += DISK_PAGE_BYTES)
		if (memcmp(fresh + at, bytes + at, DISK_PAGE_BYTES))
			pages[count++] = (struct page_change){ at / DISK_PAGE_BYTES, bytes + at };
	assert_int_equal(p->target->kind->load_pages(p->target, pages, count, &error, &fate, NULL),
			 0);
	assert_int_equal(fate, FATE_FINE);
	assert_int_equal(error, 0);
	assert_int_equal(p->target->kind->load_pages(p->target, &beyond, 1, &error, &fate, NULL),
			 -EINVAL);
	munmap(fresh, size);
	munmap(bytes, size);
	free(pages);
}

/* A crash right behind the sync leaves what was synced; and recovery is recorded, too. */
static void load_a_prefix(struct pair *p)
{
	struct buf record = BUF_INIT, recovery = BUF_INIT;
	struct written_counts counts;
	struct hash synced;
	char *disk;
	int image_fd, crashed;

	do_calls(p, SYNCED_CALLS);
	synced = pair_seen(p);
	for (size_t i = SYNCED_CALLS; i < ARRAY_LEN(calls); i++)
		pair_do(p, calls[i]);
	image_fd = recorded(p, &record);
	crashed = written_image(image_fd, &record, SYNCED_CALLS);
	for (unsigned i = 0; i < 3; i++) {
		load(p, crashed);
		assert_true(hash_equal(synced, pair_seen(p)));
	}
	load_pages(p, image_fd, crashed);
	assert_true(hash_equal(synced, pair_seen(p)));
	disk = malloc(own(p)->disk.image.size);
	recorded(p, &recovery);
	counts = written_apply(&recovery, disk, own(p)->disk.image.size, 0);
	assert_int_equal(counts.marks, 0);
	assert_true(counts.writes > 0 || !has_journal(p));
	free(disk);
	begin_anew(p);
	do_calls(p, ARRAY_LEN(calls));
	assert_record_makes_the_disk(p, &record);
	close(crashed);
	buf_free(&record);
	buf_free(&recovery);
}

/* An image without a file system is answered by an errno; and the next one is mounted. */
static void load_nothing(struct pair *p)
{
	int empty = memfd_create("empty", MFD_CLOEXEC), fresh, error = 0;
	enum target_fate fate = FATE_DIED;
	struct buf record = BUF_INIT;
	struct tree tree;

	assert_int_equal(ftruncate(empty, (off_t)own(p)->disk.image.size), 0);
	assert_int_equal(p->target->kind->load(p->target, empty, &error, &fate, NULL), 0);
	assert_int_equal(fate, FATE_FINE);
	assert_int_not_equal(error, 0);
	assert_int_equal(target_observe(p->target, &tree, &fate, NULL), 0);
	assert_int_equal(fate, FATE_DIED);
	fresh = recorded(p, &record);
	load(p, fresh);
	pair_do(p, "mkdir(\"a\", 0755)");
	assert_int_equal(ftruncate(empty, 4096), 0);
	assert_int_equal(p->target->kind->load(p->target, empty, &error, &fate, NULL), -EINVAL);
	begin_anew(p);
	pair_do(p, "mkdir(\"a\", 0755)");
	close(empty);
	buf_free(&record);
}

/* A saved disk that is put back was not written. */
static void restore_a_disk(struct pair *p)
{
	struct buf record = BUF_INIT;
	struct err err = { 0 };
	int image_fd;

	assert_int_equal(p->target->kind->save(p->target, 1, NULL), 0);
	assert_int_equal(p->target->kind->restore(p->target, 1, NULL), 0);
	assert_int_equal(p->target->kind->recorded(p->target, &image_fd, &record, &err), -ENODATA);
	begin_anew(p);
	do_calls(p, ARRAY_LEN(calls));
	assert_record_makes_the_disk(p, &record);
	buf_free(&record);
}

/* False where this machine lacks something for it. */
static bool exercise_with(const char *spec, enum recorder_means by,
			  void (*exercise)(struct pair *p))
{
	struct target_options options = {
		.deadline_seconds = 60,
		.record = true,
		.record_by = by,
	};
	struct err why = { 0 };
	struct pair p;

	if (!pair_open_with(&p, spec, &options, &why)) {
		if (why.code != -ENOTSUP)
			fail_msg("%s", why.text);
		print_message("# %s\n", why.text);
		return false;
	}
	exercise(&p);
	pair_close(&p);
	return true;
}

/* Every file system with every means that this machine has. */
static void each(void (*exercise)(struct pair *p))
{
	size_t done = 0;

	for (size_t i = 0; i < ARRAY_LEN(targets); i++)
		for (size_t k = 0; k < ARRAY_LEN(means); k++)
			done += exercise_with(targets[i], means[k], exercise);
	if (!done)
		skip();
}

static void image_and_record_are_the_disk(void **state)
{
	each(make_the_disk);
}

static void a_prefix_can_be_mounted(void **state)
{
	each(load_a_prefix);
}

static void what_is_no_file_system_gives_an_errno(void **state)
{
	each(load_nothing);
}

static void a_restored_disk_has_no_record(void **state)
{
	each(restore_a_disk);
}

/* By BPF where that works; otherwise by FUSE, and it is known why. */
static void say_by_what(struct pair *p)
{
	const char *by = buf_str(&p->target->recorder);

	assert_true(!strcmp(by, "BPF") || strstr(by, "FUSE, not BPF: ") == by);
	make_the_disk(p);
}

static void the_best_means_is_chosen(void **state)
{
	if (!exercise_with("ext4", RECORDER_BEST, say_by_what))
		skip();
}

/* The process that serves the disk is killed: that is no answer of the file system. */
static void kill_what_serves(struct pair *p)
{
	struct plan_step sync = { .call = pair_call(p, "sync()") };
	struct plan_report end;
	struct err err = { 0 };
	pid_t server = recorder_server(own(p)->recorder);

	pair_do(p, "mkdir(\"a\", 0755)");
	kill(server, SIGKILL);
	waitid(P_PID, (id_t)server, &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
	assert_int_equal(target_follow(p->target, &sync, 1, &end, &err), -ECHILD);
	assert_non_null(strstr(err.text, "killed"));
	begin_anew(p);
	do_calls(p, ARRAY_LEN(calls));
}

static void a_killed_server_is_our_failure(void **state)
{
	static const char *const specs[] = { "ext4", "xfs", "fuse2fs" };
	size_t done = 0;

	for (size_t i = 0; i < ARRAY_LEN(specs); i++)
		done += exercise_with(specs[i], RECORDER_FUSE, kill_what_serves);
	if (!done)
		skip();
}

/* Daemons that have the disk as a file. */
static void daemons_are_recorded(void **state)
{
	static const char *const daemons[] = { "fuse2fs", "ntfs-3g" };
	size_t done = 0;

	for (size_t i = 0; i < ARRAY_LEN(daemons); i++)
		done += exercise_with(daemons[i], RECORDER_BEST, make_the_disk) &&
			exercise_with(daemons[i], RECORDER_BEST, load_nothing);
	if (!done)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(image_and_record_are_the_disk),
		cmocka_unit_test(a_prefix_can_be_mounted),
		cmocka_unit_test(what_is_no_file_system_gives_an_errno),
		cmocka_unit_test(a_restored_disk_has_no_record),
		cmocka_unit_test(the_best_means_is_chosen),
		cmocka_unit_test(a_killed_server_is_our_failure),
		cmocka_unit_test(daemons_are_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
