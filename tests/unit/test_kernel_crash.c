/* test_kernel_crash.c -- disks of crashes in a kernel in a process: what was written to them and
 * read from them, and what mounting does with any of them.
 *
 * Where no kernel is built there is nothing to test. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/must.h"
#include "base/rng.h"
#include "channel/message.h"
#include "storage/image.h"
#include "storage/write_log.h"
#include "target/target.h"
#include "tests/harness/unit.h"
#include "trace/script.h"

enum { SECTOR = 512 };

/* A target that records, and a disk of its own size to crash. */
struct crash_test {
	struct target *target;
	size_t size;
	char *fresh, *disk;
	struct page_change *pages;
	size_t page_count;
	struct buf record;
};

static bool crash_test_open(struct crash_test *c, const char *spec)
{
	struct target_options options = { .deadline_seconds = 10, .record = true };
	struct err why = { 0 };
	struct image image;

	*c = (struct crash_test){ .record = BUF_INIT };
	if (target_open(&c->target, spec, &options, &why)) {
		if (why.code != -ENOTSUP)
			fail_msg("%s", why.text);
		print_message("# %s\n", why.text);
		return false;
	}
	assert_int_equal(c->target->kind->fresh_disk(c->target, &image, &why), 0);
	c->size = image.size;
	c->fresh = must_alloc(c->size);
	c->disk = must_alloc(c->size);
	memcpy(c->fresh, image.bytes, c->size);
	c->pages = must_alloc(c->size / DISK_PAGE_BYTES * sizeof(*c->pages));
	image_free(&image);
	return true;
}

/* All kernels were children of this process. */
static void crash_test_close(struct crash_test *c)
{
	target_close(c->target);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	free(c->fresh);
	free(c->disk);
	free(c->pages);
	buf_free(&c->record);
}

static void crash_test_each(const char *const *specs, size_t count,
			    void (*test)(struct crash_test *))
{
	size_t lacking = 0;

	for (size_t i = 0; i < count; i++) {
		struct crash_test c;

		if (!crash_test_open(&c, specs[i])) {
			lacking++;
			continue;
		}
		test(&c);
		crash_test_close(&c);
	}
	if (lacking == count)
		skip();
}

static void make_call(struct crash_test *t, const char *text)
{
	struct arena arena = ARENA_INIT;
	enum target_fate fate = FATE_DIED;
	struct err err = { 0 };
	struct outcome outcome;
	struct call c;

	if (call_parse(&c, text, &arena, &err) || target_call(t->target, &c, &outcome, &fate, &err))
		fail_msg("%s: %s", text, err.text);
	assert_int_equal(fate, FATE_FINE);
	assert_int_equal(outcome.error, 0);
	arena_free(&arena);
}

static struct hash tree_seen(struct crash_test *t)
{
	enum target_fate fate = FATE_DIED;
	struct err err = { 0 };
	struct hash hash;
	struct tree tree;

	if (target_observe(t->target, &tree, &fate, &err))
		fail_msg("%s", err.text);
	assert_int_equal(fate, FATE_FINE);
	hash = tree_hash(&tree);
	tree_free(&tree);
	return hash;
}

/* ---- the record ---- */

static void take_record(struct crash_test *t)
{
	struct err err = { 0 };
	int image_fd;

	buf_clear(&t->record);
	if (t->target->kind->recorded(t->target, &image_fd, &t->record, &err))
		fail_msg("%s", err.text);
}

/* Behind the record at `at`. */
static size_t record_next(const struct buf *record, size_t at, struct disk_record *ret)
{
	memcpy(ret, record->data + at, sizeof(*ret));
	return at + sizeof(*ret) + (ret->what & RECORD_WRITE ? ret->size : 0);
}

static unsigned count_records(const struct crash_test *t, unsigned what)
{
	struct disk_record r;
	unsigned count = 0;

	for (size_t at = 0; at < t->record.len;) {
		at = record_next(&t->record, at, &r);
		count += (r.what & what) != 0;
	}
	return count;
}

/* Bits are only cleared. */
static void assert_programs(const char *before, const char *after, size_t size)
{
	for (size_t i = 0; i < size; i++)
		assert_int_equal(after[i] & ~before[i], 0);
}

static void apply_one(struct crash_test *t, const struct disk_record *r, const char *data)
{
	if (r->what & (RECORD_WRITE | RECORD_ZEROES | RECORD_ERASE))
		assert_true(r->offset + r->size <= t->size);
	if (r->what & RECORD_PROGRAM)
		assert_programs(t->disk + r->offset, data, r->size);
	if (r->what & RECORD_WRITE)
		memcpy(t->disk + r->offset, data, r->size);
	else if (r->what & RECORD_ZEROES)
		memset(t->disk + r->offset, 0, r->size);
	else if (r->what & RECORD_ERASE)
		memset(t->disk + r->offset, 0xff, r->size);
	if (r->what & RECORD_ERASE)
		assert_int_equal((r->offset | r->size) % t->target->medium.erase_bytes, 0);
}

/* What the first `end` bytes of the record write, to the disk as it is now. */
static void apply_record(struct crash_test *t, size_t end)
{
	struct disk_record r;

	for (size_t at = 0; at < end;) {
		const char *data = t->record.data + at + sizeof(r);

		at = record_next(&t->record, at, &r);
		apply_one(t, &r, data);
	}
}

static void find_changes(struct crash_test *t)
{
	t->page_count = 0;
	for (size_t at = 0; at < t->size; at += DISK_PAGE_BYTES)
		if (memcmp(t->disk + at, t->fresh + at, DISK_PAGE_BYTES) != 0)
			t->pages[t->page_count++] =
				(struct page_change){ at / DISK_PAGE_BYTES, t->disk + at };
}

static void load(struct crash_test *t, int *ret_error, enum target_fate *ret_fate)
{
	struct err err = { 0 };

	find_changes(t);
	if (t->target->kind->load_pages(t->target, t->pages, t->page_count, ret_error, ret_fate,
					&err))
		fail_msg("%s: %s", t->target->name, err.text);
}

/* The disk as it is now is mounted. */
static struct hash recover(struct crash_test *t)
{
	enum target_fate fate;
	int error;

	load(t, &error, &fate);
	assert_int_equal(fate, FATE_FINE);
	assert_int_equal(error, 0);
	return tree_seen(t);
}

static void take_unmounted(struct crash_test *t)
{
	const struct disk_page *pages;
	enum target_fate fate = FATE_FINE;
	struct err err = { 0 };
	size_t count;
	int error;

	if (t->target->kind->unmounted_pages(t->target, &pages, &count, &error, &fate, &err))
		fail_msg("%s", err.text);
	assert_int_equal(fate, FATE_FINE);
	assert_int_equal(error, 0);
	memcpy(t->disk, t->fresh, t->size);
	for (size_t i = 0; i < count; i++)
		memcpy(t->disk + pages[i].page * DISK_PAGE_BYTES, pages[i].bytes, DISK_PAGE_BYTES);
}

static void make_history(struct crash_test *t)
{
	make_call(t, "mkdir(\"a\", 0755)");
	make_call(t, "write_file(\"a/f\", O_CREAT|O_WRONLY, data(1, 9000), 9000, 0)");
	make_call(t, "sync()");
	make_call(t, "rename(\"a/f\", \"h\")");
	make_call(t, "write_file(\"g\", O_CREAT|O_WRONLY, data(2, 5000), 5000, 0)");
	make_call(t, "sync()");
}

/* The disk as a crash behind the history leaves it, with all that was written. */
static struct hash crash(struct crash_test *t)
{
	struct hash synced;

	assert_int_equal(target_reset(t->target, NULL), 0);
	make_history(t);
	synced = tree_seen(t);
	take_record(t);
	memcpy(t->disk, t->fresh, t->size);
	apply_record(t, t->record.len);
	return synced;
}

/* ---- tests ---- */

static const char *const journalling[] = { "kernel:ext4", "kernel:xfs",    "kernel:btrfs",
					   "kernel:f2fs", "kernel:nilfs2", "kernel:jffs2",
					   "kernel:ubifs" };
static const char *const flashes[] = { "kernel:jffs2", "kernel:ubifs" };

/* Unmounting writes the superblock of ext2 and nothing else, once everything is synced. */
static void compare_with_record(struct crash_test *t)
{
	char *by_record = must_alloc(t->size);

	crash(t);
	memcpy(by_record, t->disk, t->size);
	take_unmounted(t);
	assert_memory_equal(by_record + DISK_PAGE_BYTES, t->disk + DISK_PAGE_BYTES,
			    t->size - DISK_PAGE_BYTES);
	assert_true(memcmp(by_record, t->fresh, t->size) != 0);
	free(by_record);
}

static void image_with_the_record_is_the_disk(void **state)
{
	static const char *const plain[] = { "kernel:ext2" };

	crash_test_each(plain, ARRAY_LEN(plain), compare_with_record);
}

/* One record more each time. */
static void mount_prefixes(struct crash_test *t)
{
	struct hash synced = crash(t), seen = { 0 };
	struct disk_record r;
	unsigned mounted = 0;

	for (size_t end = 0; end < t->record.len;) {
		end = record_next(&t->record, end, &r);
		if (!(r.what & (RECORD_WRITE | RECORD_ZEROES | RECORD_ERASE)))
			continue;
		memcpy(t->disk, t->fresh, t->size);
		apply_record(t, end);
		seen = recover(t);
		mounted++;
	}
	assert_true(mounted > 10);
	assert_true(hash_equal(seen, synced));
}

static void every_prefix_of_the_record_mounts(void **state)
{
	crash_test_each(journalling, 1, mount_prefixes);
	crash_test_each(flashes, ARRAY_LEN(flashes), mount_prefixes);
}

static void recover_synced(struct crash_test *t)
{
	struct hash synced = crash(t);

	for (unsigned i = 0; i < 3; i++)
		assert_true(hash_equal(recover(t), synced));
}

static void what_was_synced_is_recovered(void **state)
{
	crash_test_each(journalling, ARRAY_LEN(journalling), recover_synced);
}

/* What mounting writes is all that the record has, and leads to the same tree wherever it ends. */
static void crash_again(struct crash_test *t)
{
	struct hash synced = crash(t);
	char *crashed = must_alloc(t->size);

	memcpy(crashed, t->disk, t->size);
	recover(t);
	take_record(t);
	assert_true(count_records(t, RECORD_WRITE) > 0);
	assert_int_equal(count_records(t, RECORD_MARK), 0);
	apply_record(t, t->record.len);
	assert_true(memcmp(crashed, t->disk, t->size) != 0);
	assert_true(hash_equal(recover(t), synced));
	free(crashed);
}

static void writes_of_recovery_are_recorded(void **state)
{
	crash_test_each(journalling, 2, crash_again);
}

static void unmount_recovered(struct crash_test *t)
{
	struct hash synced = crash(t);
	enum target_fate fate = FATE_FINE;
	struct err err = { 0 };
	size_t crashed_pages;
	struct tree tree;

	recover(t);
	crashed_pages = t->page_count;
	take_unmounted(t);
	assert_int_equal(target_observe(t->target, &tree, &fate, &err), 0);
	assert_int_equal(fate, FATE_DIED);
	find_changes(t);
	assert_true(t->page_count > 0 &&
		    t->page_count < crashed_pages + t->size / DISK_PAGE_BYTES / 2);
	assert_true(hash_equal(recover(t), synced));
}

static void recovered_disk_can_be_unmounted(void **state)
{
	crash_test_each(journalling, ARRAY_LEN(journalling), unmount_recovered);
}

/* Another one in between. */
static void save_recovered(struct crash_test *t)
{
	struct hash synced = crash(t), fresh;
	struct err err = { 0 };

	recover(t);
	assert_int_equal(t->target->kind->save(t->target, 1, &err), 0);
	memcpy(t->disk, t->fresh, t->size);
	fresh = recover(t);
	assert_false(hash_equal(fresh, synced));
	assert_int_equal(t->target->kind->restore(t->target, 1, &err), 0);
	assert_true(hash_equal(tree_seen(t), synced));
	make_call(t, "mkdir(\"more\", 0755)");
	memcpy(t->disk, t->fresh, t->size);
	assert_true(hash_equal(recover(t), fresh));
	assert_int_equal(t->target->kind->restore(t->target, 1, &err), 0);
	assert_true(hash_equal(tree_seen(t), synced));
}

static void recovered_state_can_be_saved(void **state)
{
	crash_test_each(journalling, 2, save_recovered);
}

/* ---- reads ---- */

static bool was_read(const struct buf *sectors, uint64_t sector)
{
	assert_true(sector / 8 < sectors->len);
	return sectors->data[sector / 8] >> sector % 8 & 1;
}

static void take_reads(struct crash_test *t, struct buf *out)
{
	struct err err = { 0 };

	buf_clear(out);
	if (t->target->kind->disk_read(t->target, out, &err))
		fail_msg("%s", err.text);
	assert_int_equal(out->len, t->size / SECTOR / 8);
}

/* The superblock is read; changing all that was not read changes nothing. */
static void change_unread(struct crash_test *t)
{
	struct hash synced = crash(t);
	struct buf sectors = BUF_INIT, again = BUF_INIT;
	size_t unread = 0;

	recover(t);
	take_reads(t, &sectors);
	assert_true(was_read(&sectors, 1024 / SECTOR));
	for (uint64_t sector = 0; sector < t->size / SECTOR; sector++)
		if (!was_read(&sectors, sector)) {
			memset(t->disk + sector * SECTOR, (int)(sector % 255) + 1, SECTOR);
			unread++;
		}
	assert_true(unread > 0 && unread < t->size / SECTOR);
	assert_true(hash_equal(recover(t), synced));
	take_reads(t, &again);
	assert_memory_equal(sectors.data, again.data, sectors.len);
	buf_free(&sectors);
	buf_free(&again);
}

static void recovery_depends_on_what_it_reads(void **state)
{
	crash_test_each(journalling, 1, change_unread);
}

/* All that a recovery of the disk does to it, and all that it depends on. */
static struct hash recovery_hash(struct crash_test *t)
{
	struct hash tree = recover(t);
	struct buf all = BUF_INIT, sectors = BUF_INIT;
	struct hash hash;

	take_reads(t, &sectors);
	take_record(t);
	buf_add(&all, (const char *)&tree, sizeof(tree));
	buf_add(&all, sectors.data, sectors.len);
	buf_add(&all, t->record.data, t->record.len);
	hash = hash128(all.data, all.len, 0);
	buf_free(&sectors);
	buf_free(&all);
	return hash;
}

/* In the copy of the kernel that has recovered another disk before, and in a new one; after calls,
 * too. */
static void recover_repeatedly(struct crash_test *t)
{
	char *crashed = must_alloc(t->size);
	struct hash in_new, again;

	crash(t);
	memcpy(crashed, t->disk, t->size);
	in_new = recovery_hash(t);
	for (unsigned i = 0; i < 6; i++) {
		if (i) {
			memcpy(t->disk, t->fresh, t->size);
			recover(t);
		}
		if (i > 2)
			make_history(t);
		if (i == 5)
			assert_int_equal(target_reset(t->target, NULL), 0);
		memcpy(t->disk, crashed, t->size);
		again = recovery_hash(t);
		assert_true(hash_equal(in_new, again));
	}
	free(crashed);
}

static void recovery_repeats_whatever_was_before(void **state)
{
	crash_test_each(journalling, ARRAY_LEN(journalling), recover_repeatedly);
}

/* Where the record has these bytes. */
static uint64_t find_written(const struct crash_test *t, const char *bytes, size_t len)
{
	struct disk_record r;

	for (size_t at = 0; at < t->record.len;) {
		const char *data = t->record.data + at + sizeof(r);

		at = record_next(&t->record, at, &r);
		if (r.what & RECORD_WRITE && r.size >= len && !memcmp(data, bytes, len))
			return r.offset;
	}
	fail_msg("these bytes were not written");
	return 0;
}

static void read_back(struct crash_test *t)
{
	static const char text[] = "written before it is read";
	struct buf sectors = BUF_INIT;
	uint64_t sector;

	crash(t);
	recover(t);
	make_call(t, "write_file(\"w\", O_CREAT|O_WRONLY, \"written before it is read\", 25, 0)");
	make_call(t, "sync()");
	make_call(t, "drop_caches()");
	tree_seen(t);
	take_record(t);
	sector = find_written(t, text, sizeof(text) - 1) / SECTOR;
	take_reads(t, &sectors);
	assert_false(was_read(&sectors, sector));
	take_unmounted(t);
	recover(t);
	take_reads(t, &sectors);
	assert_true(was_read(&sectors, sector));
	buf_free(&sectors);
}

static void what_was_written_before_does_not_count_as_read(void **state)
{
	crash_test_each(journalling, 1, read_back);
}

/* ---- images ---- */

static void load_image(struct crash_test *t)
{
	struct hash synced = crash(t);
	int fd = memfd_create("crashed", MFD_CLOEXEC), error;
	enum target_fate fate;
	struct err err = { 0 };

	assert_int_equal(write(fd, t->disk, t->size), t->size);
	assert_int_equal(t->target->kind->load(t->target, fd, &error, &fate, &err), 0);
	assert_int_equal(fate, FATE_FINE);
	assert_int_equal(error, 0);
	assert_true(hash_equal(tree_seen(t), synced));
	assert_int_equal(ftruncate(fd, (off_t)t->size / 2), 0);
	assert_int_equal(t->target->kind->load(t->target, fd, &error, &fate, &err), -EINVAL);
	close(fd);
}

static void an_image_can_be_loaded(void **state)
{
	crash_test_each(journalling, 1, load_image);
}

static void load_outside(struct crash_test *t)
{
	struct page_change beyond = { t->size / DISK_PAGE_BYTES, t->fresh };
	enum target_fate fate;
	struct err err = { 0 };
	int error;

	assert_int_equal(t->target->kind->load_pages(t->target, &beyond, 1, &error, &fate, &err),
			 -ERANGE);
	memcpy(t->disk, t->fresh, t->size);
	recover(t);
}

static void a_page_beyond_the_disk_is_refused(void **state)
{
	crash_test_each(journalling, 1, load_outside);
}

/* ---- garbage ---- */

enum { GARBAGE_LOADS = 60 };

/* Over a few of these sectors: a bit, a byte or all of one. */
static void spoil(struct crash_test *t, const struct buf *sectors, struct rng *rng)
{
	for (uint64_t places = 1 + rng_below(rng, 8); places;) {
		uint64_t sector = rng_below(rng, t->size / SECTOR);
		char *at = t->disk + sector * SECTOR;

		if (!was_read(sectors, sector))
			continue;
		places--;
		switch (rng_below(rng, 4)) {
		case 0:
			at[rng_below(rng, SECTOR)] ^= (char)(1 << rng_below(rng, 8));
			break;
		case 1:
			for (unsigned i = 0; i < SECTOR; i++)
				at[i] = (char)rng_u64(rng);
			break;
		default:
			at[rng_below(rng, SECTOR)] = (char)rng_u64(rng);
		}
	}
}

/* Whatever comes of it is an answer or a fate. */
static void mount_garbage(struct crash_test *t)
{
	enum target_fate fate;
	struct err err = { 0 };
	struct tree tree;
	int error;

	load(t, &error, &fate);
	if (!fate_answers(fate) || error)
		return;
	if (target_observe(t->target, &tree, &fate, &err))
		fail_msg("%s: %s", t->target->name, err.text);
	if (fate == FATE_FINE)
		tree_free(&tree);
}

/* What is spoilt is what recovery reads; JFS leaves recovering to its checker. */
static void mount_much_garbage(struct crash_test *t)
{
	struct hash synced = crash(t);
	struct buf sectors = BUF_INIT;
	char *disk;

	take_unmounted(t);
	recover(t);
	take_reads(t, &sectors);
	disk = must_alloc(t->size);
	memcpy(disk, t->disk, t->size);
	for (uint64_t seed = 1; seed <= GARBAGE_LOADS; seed++) {
		struct rng rng;

		rng_seed(&rng, seed);
		memcpy(t->disk, disk, t->size);
		spoil(t, &sectors, &rng);
		mount_garbage(t);
	}
	memcpy(t->disk, disk, t->size);
	assert_true(hash_equal(recover(t), synced));
	buf_free(&sectors);
	free(disk);
}

/* Its entry: the length of the name, the type, the name. */
static void find_directory(struct crash_test *t)
{
	static const char entry[] = { 4, 2, 'r', 'o', 'o', 't' };

	assert_non_null(memmem(t->fresh, t->size, entry, sizeof(entry)));
}

/* What a crash could leave of making it is not what calls have lost. */
static void without_a_journal_the_directory_of_the_test_is_on_the_disk(void **state)
{
	static const char *const ext2 = "kernel:ext2";

	crash_test_each(&ext2, 1, find_directory);
}

static void garbage_is_never_our_failure(void **state)
{
	static const char *const all[] = { "kernel:ext4",  "kernel:xfs",      "kernel:btrfs",
					   "kernel:f2fs",  "kernel:jfs",      "kernel:nilfs2",
					   "kernel:jffs2", "kernel:reiserfs", "kernel:ubifs" };

	crash_test_each(all, ARRAY_LEN(all), mount_much_garbage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(image_with_the_record_is_the_disk),
		cmocka_unit_test(every_prefix_of_the_record_mounts),
		cmocka_unit_test(what_was_synced_is_recovered),
		cmocka_unit_test(writes_of_recovery_are_recorded),
		cmocka_unit_test(recovered_disk_can_be_unmounted),
		cmocka_unit_test(recovered_state_can_be_saved),
		cmocka_unit_test(recovery_depends_on_what_it_reads),
		cmocka_unit_test(recovery_repeats_whatever_was_before),
		cmocka_unit_test(what_was_written_before_does_not_count_as_read),
		cmocka_unit_test(an_image_can_be_loaded),
		cmocka_unit_test(a_page_beyond_the_disk_is_refused),
		cmocka_unit_test(without_a_journal_the_directory_of_the_test_is_on_the_disk),
		cmocka_unit_test(garbage_is_never_our_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
