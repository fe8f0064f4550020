/* test_views.c -- crash disks: pages that are shared, and the five views of what a crash leaves. */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/must.h"
#include "crash/views.h"
#include "storage/write_log.h"
#include "tests/harness/unit.h"

enum { SECTOR = 512, DISK_BYTES = 8 * PAGE_DISK_PAGE, DISKS_MAX = 256 };

static char image[DISK_BYTES];

static void add(struct buf *log, unsigned what, uint64_t offset, uint32_t size, char content)
{
	struct disk_record r = { offset, size, what };

	buf_add(log, &r, sizeof(r));
	for (uint32_t i = 0; what & RECORD_WRITE && i < size; i++)
		buf_addch(log, content);
}

static void add_mark(struct buf *log)
{
	add(log, RECORD_MARK, 0, 0, 0);
}

/* ---- disks ---- */

static void equal_disks_have_equal_hashes(void **state)
{
	struct page_disk a = { 0 }, b = { 0 }, copy;
	struct page_store s;
	char bytes[600];

	page_store_init(&s, image, DISK_BYTES);
	page_disk_write(&s, &a, 5000, "one", 3);
	page_disk_write(&s, &a, 100, "two", 3);
	page_disk_write(&s, &b, 100, "xwo", 3);
	page_disk_write(&s, &b, 5000, "one", 3);
	assert_false(hash_equal(a.hash, b.hash));
	page_disk_write(&s, &b, 100, "t", 1);
	assert_true(hash_equal(a.hash, b.hash));
	copy = page_disk_copy(&a);
	page_disk_fill(&s, &copy, 4090, 0, 1000);
	page_disk_read(&s, &copy, 4800, bytes, sizeof(bytes));
	assert_int_equal(bytes[200], 0);
	page_disk_read(&s, &a, 4800, bytes, sizeof(bytes));
	assert_memory_equal(bytes + 200, "one", 3);
	/* As the image again, it is the image. */
	page_disk_fill(&s, &copy, 100, 0, 3);
	assert_int_equal(copy.count, 0);
	assert_int_equal(copy.hash.lo | copy.hash.hi, 0);
	/* Beyond the end there is nothing. */
	page_disk_write(&s, &copy, DISK_BYTES - 1, "ab", 2);
	assert_int_equal(copy.count, 1);
	page_disk_free(&a);
	page_disk_free(&b);
	page_disk_free(&copy);
	page_store_free(&s);
}

/* ---- views ---- */

/* The first byte of each of the first sectors, as a text: what reached the disk. */
struct seen {
	char texts[DISKS_MAX][64];
	size_t count;
	struct page_store *store;
};

static bool note(void *to, const struct crash_point *p, const struct page_disk *d)
{
	struct seen *seen = to;
	char bytes[4 * SECTOR], *text = seen->texts[seen->count++];

	assert_true(seen->count < DISKS_MAX);
	page_disk_read(seen->store, d, 0, bytes, sizeof(bytes));
	for (unsigned i = 0; i < 4; i++)
		text[i] = bytes[i * SECTOR] ? bytes[i * SECTOR] : '.';
	snprintf(text + 4, sizeof(seen->texts[0]) - 4, " %s %zu-%zu", view_names[p->view], p->done,
		 p->begun);
	return true;
}

static void show(const struct buf *log, unsigned views, struct seen *ret)
{
	struct views_options o = { .views = views, .subsets = 64, .sector = SECTOR };
	const struct page_disk start = { 0 };
	struct page_store store;
	struct disk_events e;

	*ret = (struct seen){ .store = &store };
	page_store_init(&store, image, DISK_BYTES);
	assert_int_equal(disk_events_read(&e, log, DISK_BYTES, NULL), 0);
	views_each(&e, &store, &start, &o, note, ret);
	disk_events_free(&e);
	page_store_free(&store);
}

static bool has(const struct seen *seen, const char *text)
{
	for (size_t i = 0; i < seen->count; i++)
		if (!strcmp(seen->texts[i], text))
			return true;
	return false;
}

/* Two calls: the first writes a and b, the second flushes, writes c with FUA, then d. */
static void two_calls(struct buf *log)
{
	add(log, RECORD_WRITE, 0, 512, 'a');
	add(log, RECORD_WRITE, 512, 512, 'b');
	add_mark(log);
	add(log, RECORD_WRITE | RECORD_FLUSH | RECORD_FUA, 1024, 512, 'c');
	add(log, RECORD_WRITE, 1536, 512, 'd');
	add_mark(log);
}

static void in_order_every_write_and_every_return_is_a_crash(void **state)
{
	static const char *const expected[] = {
		"a... order 0-1", "ab.. order 0-1", "ab.. order 1-1",
		"abc. order 1-2", "abcd order 1-2", "abcd order 2-2",
	};
	struct buf log = BUF_INIT;
	struct seen seen;

	two_calls(&log);
	show(&log, 1u << VIEW_ORDER, &seen);
	assert_int_equal(seen.count, ARRAY_LEN(expected));
	for (size_t i = 0; i < seen.count; i++)
		assert_string_equal(seen.texts[i], expected[i]);
	buf_free(&log);
}

static void only_what_no_flush_protects_is_lost(void **state)
{
	struct buf log = BUF_INIT;
	struct seen seen;

	two_calls(&log);
	show(&log, ~0u & ~(1u << VIEW_ORDER), &seen);
	/* Judged when the first call has returned: it flushed nothing. */
	assert_true(has(&seen, ".b.. lost-one 1-2"));
	assert_true(has(&seen, "a... lost-one 1-2"));
	assert_true(has(&seen, "abc. lost-one 2-2"));
	for (size_t i = 0; i < seen.count; i++)
		if (seen.texts[i][3] == 'd' || seen.texts[i][2] == 'c')
			assert_memory_equal(seen.texts[i], "abc", 3);
	buf_free(&log);
}

static void all_subsets_of_few_writes_are_tried(void **state)
{
	struct buf log = BUF_INIT;
	unsigned different = 0;
	struct seen seen;

	for (unsigned i = 0; i < 4; i++)
		add(&log, RECORD_WRITE, i * 512, 512, (char)('a' + i));
	add_mark(&log);
	show(&log, 1u << VIEW_SUBSET, &seen);
	for (size_t i = 0; i < seen.count; i++) {
		bool again = false;

		for (size_t k = 0; k < i; k++)
			again |= !strcmp(seen.texts[i], seen.texts[k]);
		different += !again;
	}
	assert_int_equal(different, 16);
	buf_free(&log);
}

static void writes_are_torn_between_sectors(void **state)
{
	struct buf log = BUF_INIT;
	struct seen seen;

	add(&log, RECORD_WRITE, 0, 2048, 'a');
	add_mark(&log);
	show(&log, 1u << VIEW_TORN, &seen);
	assert_int_equal(seen.count, 2);
	assert_true(has(&seen, "aa.. torn 0-1") && has(&seen, "..aa torn 0-1"));
	buf_free(&log);
}

static void a_log_that_ends_early_is_refused(void **state)
{
	struct buf log = BUF_INIT;
	struct disk_events e;
	struct err err = { 0 };

	add(&log, RECORD_WRITE, 0, 512, 'a');
	for (size_t cut = 1; cut < log.len; cut++) {
		struct buf part = { log.data, log.len - cut, log.len };

		err = (struct err){ 0 };
		assert_true(disk_events_read(&e, &part, DISK_BYTES, &err) < 0);
		disk_events_free(&e);
	}
	buf_free(&log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_disks_have_equal_hashes),
		cmocka_unit_test(in_order_every_write_and_every_return_is_a_crash),
		cmocka_unit_test(only_what_no_flush_protects_is_lost),
		cmocka_unit_test(all_subsets_of_few_writes_are_tried),
		cmocka_unit_test(writes_are_torn_between_sectors),
		cmocka_unit_test(a_log_that_ends_early_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
