/* test_read_memo.c -- results that are known from what was read: only of disks that are equal
 * there. */
#include <string.h>

#include "crash/read_memo.h"
#include "tests/harness/unit.h"

enum { PAGES = 16, DISK_BYTES = PAGES * PAGE_DISK_PAGE };

static char image[DISK_BYTES];

struct fixture {
	struct page_store store;
	struct read_memo memo;
};

static int setup(void **state)
{
	static struct fixture f;

	f = (struct fixture){ 0 };
	memset(image, 7, sizeof(image));
	page_store_init(&f.store, image, DISK_BYTES);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	read_memo_free(&f->memo);
	page_store_free(&f->store);
	return 0;
}

/* The result of a disk with one byte written, at each of the places. */
static uint64_t known(struct fixture *f, const uint64_t *places, size_t count)
{
	struct page_disk d = { 0 };
	uint64_t value;

	for (size_t i = 0; i < count; i++)
		page_disk_write(&f->store, &d, places[i], "x", 1);
	value = read_memo_get(&f->memo, &f->store, &d);
	page_disk_free(&d);
	return value;
}

static void put(struct fixture *f, const uint64_t *places, size_t count,
		const unsigned char *sectors, uint64_t value)
{
	struct page_disk d = { 0 };

	for (size_t i = 0; i < count; i++)
		page_disk_write(&f->store, &d, places[i], "x", 1);
	read_memo_put(&f->memo, &f->store, &d, sectors, PAGES, value);
	page_disk_free(&d);
}

static void only_sectors_that_were_read_count(void **state)
{
	struct fixture *f = *state;
	unsigned char sectors[PAGES] = { [0] = 0x01, [3] = 0xff };
	const uint64_t read[] = { 10 }, unread[] = { 10, 600, 2 * PAGE_DISK_PAGE };
	const uint64_t other[] = { 11 }, also[] = { 10, 3 * PAGE_DISK_PAGE + 4000 };

	assert_int_equal(known(f, read, 1), 0);
	put(f, read, 1, sectors, 5);
	assert_int_equal(known(f, read, 1), 5);
	assert_int_equal(known(f, unread, 3), 5);
	assert_int_equal(known(f, other, 1), 0);
	assert_int_equal(known(f, also, 2), 0);
	assert_int_equal(known(f, NULL, 0), 0);
}

static void sets_of_sectors_are_told_apart(void **state)
{
	struct fixture *f = *state;
	unsigned char first[PAGES] = { [0] = 0x01 }, second[PAGES] = { [1] = 0x01 };
	const uint64_t in_first[] = { 10 }, in_second[] = { PAGE_DISK_PAGE };

	put(f, in_first, 1, first, 1);
	put(f, in_second, 1, second, 2);
	assert_int_equal(known(f, in_first, 1), 1);
	assert_int_equal(known(f, in_second, 1), 2);
	assert_int_equal(known(f, NULL, 0), 0);
}

static void more_sets_than_fit_replace_the_oldest(void **state)
{
	struct fixture *f = *state;
	const uint64_t place[] = { 15 * PAGE_DISK_PAGE };

	for (unsigned i = 1; i <= READ_SETS_MAX + 10; i++) {
		unsigned char sectors[PAGES] = { [0] = (unsigned char)i, [15] = 0xff };

		put(f, place, 1, sectors, i);
	}
	assert_int_equal(f->memo.count, READ_SETS_MAX);
	assert_int_not_equal(known(f, place, 1), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(only_sectors_that_were_read_count),
		TEST(sets_of_sectors_are_told_apart),
		TEST(more_sets_than_fit_replace_the_oldest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
