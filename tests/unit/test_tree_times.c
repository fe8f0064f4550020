/* test_tree_times.c -- times of two scans beside what a call was to set. */
#include <string.h>

#include "tests/harness/unit.h"
#include "tree/times.h"

static struct tree tree;
static struct times_watch watch;
static uint64_t file;
static struct times_expected expected;
static struct time_mismatch mismatch;

static void set_times(uint64_t ino, int64_t access, int64_t modify, int64_t change)
{
	tree_edit(&tree, ino)->times = (struct inode_times){ access, modify, change, 5 };
	tree_settle(&tree);
}

/* A root and a file, all of the same time, and a scan of them. */
static int begin(void **state)
{
	tree_init(&tree, TREE_FIELDS_DEFAULT, true, 0755, 0, 0);
	file = tree_new(&tree, S_IFREG | 0644, 0, 0, 5);
	tree_link(&tree, TREE_ROOT, "f", 1, file);
	set_times(TREE_ROOT, 5, 5, 5);
	set_times(file, 5, 5, 5);
	times_record(&watch, &tree);
	expected = (struct times_expected){ .known = true, .unit_ns = 1 };
	return 0;
}

static int begin_shared(void **state)
{
	watch.shares = true;
	return begin(state);
}

static int end(void **state)
{
	times_watch_free(&watch);
	tree_free(&tree);
	return 0;
}

static void expect(uint64_t ino, unsigned must, unsigned may)
{
	expected.changes[expected.count++] = (struct time_change){
		.place = tree_inode(&tree, ino)->places.lo,
		.must = (uint8_t)must,
		.may = (uint8_t)may,
	};
}

static bool check(void)
{
	times_call(&watch);
	return times_check(&watch, &tree, &expected, &mismatch);
}

static void assert_wrong(enum time_wrong wrong, enum time_field field)
{
	assert_false(check());
	assert_int_equal(mismatch.wrong, wrong);
	assert_int_equal(mismatch.field, field);
}

static void test_nothing_changes(void **state)
{
	assert_true(check());
}

static void test_changed_without_cause(void **state)
{
	set_times(file, 5, 6, 5);
	assert_wrong(TIME_CHANGED, TIME_MODIFY);
	assert_int_equal(mismatch.place, tree_inode(&tree, file)->places.lo);
	assert_int_equal(mismatch.before_ns, 5);
	assert_int_equal(mismatch.after_ns, 6);
}

static void test_gone_back(void **state)
{
	set_times(file, 5, 4, 5);
	assert_wrong(TIME_GONE_BACK, TIME_MODIFY);
}

static void test_set_as_expected(void **state)
{
	expect(file, TIME_BIT_MODIFY | TIME_BIT_CHANGE, 0);
	set_times(file, 5, 9, 9);
	assert_true(check());
}

/* The clock may stand still: an equal time is no lost update. */
static void test_clock_stands_still(void **state)
{
	expect(file, TIME_BIT_CHANGE, 0);
	assert_true(check());
}

static void test_lost_update_after_pass(void **state)
{
	expect(file, TIME_BIT_CHANGE, 0);
	times_let_pass(&watch);
	assert_wrong(TIME_NOT_SET, TIME_CHANGE);
}

static void expect_read(void)
{
	expect(file, 0, TIME_BIT_ACCESS);
	expected.changes[0].is_read = true;
	times_let_pass(&watch);
}

static void test_read_sets_access(void **state)
{
	expect_read();
	set_times(file, 9, 5, 5);
	assert_true(check());
}

static void test_read_leaves_old_access(void **state)
{
	expect_read();
	assert_wrong(TIME_NOT_SET, TIME_ACCESS);
}

static void test_read_leaves_later_access(void **state)
{
	set_times(file, 5, 4, 4);
	times_record(&watch, &tree);
	expect_read();
	assert_true(check());
}

/* Another object has a later change time by now. */
static void test_lost_update_beside_others(void **state)
{
	expect(TREE_ROOT, TIME_BIT_CHANGE, 0);
	set_times(TREE_ROOT, 5, 5, 9);
	assert_true(check());
	expected.count = 0;
	expect(file, TIME_BIT_CHANGE, 0);
	assert_wrong(TIME_NOT_SET, TIME_CHANGE);
	assert_int_equal(mismatch.bound_ns, 9);
}

/* Objects of one call are set in any order. */
static void test_one_call_has_no_order(void **state)
{
	expect(file, TIME_BIT_CHANGE, 0);
	expect(TREE_ROOT, TIME_BIT_CHANGE, 0);
	set_times(TREE_ROOT, 5, 5, 9);
	set_times(file, 5, 5, 8);
	assert_true(check());
}

static void test_optional(void **state)
{
	expect(file, 0, TIME_BIT_ACCESS);
	assert_true(check());
	set_times(file, 9, 5, 5);
	assert_true(check());
}

/* Scans read links after they have looked at their times, and not every scan looks at every link:
 * an access time may turn up that is older than those that calls have set since. */
static void test_access_by_a_scan(void **state)
{
	uint64_t link = tree_new(&tree, S_IFLNK | 0777, 0, 0, 5);

	tree_link(&tree, TREE_ROOT, "l", 1, link);
	set_times(link, 5, 5, 5);
	times_record(&watch, &tree);
	expect(file, TIME_BIT_ACCESS, 0);
	set_times(file, 20, 5, 5);
	assert_true(check());
	expected.count = 0;
	set_times(link, 15, 5, 5);
	assert_true(check());
	set_times(link, 14, 5, 5);
	assert_wrong(TIME_GONE_BACK, TIME_ACCESS);
}

/* A daemon may read what it has made, by a finer clock than that of what it makes next. */
static void test_access_by_a_daemon(void **state)
{
	for (int cached = 0; cached < 2; cached++) {
		expected.is_cached = cached;
		expected.count = 0;
		expect(TREE_ROOT, TIME_BIT_ACCESS, 0);
		set_times(TREE_ROOT, 20, 5, 5);
		assert_true(check());
		expected.count = 0;
		expect(file, TIME_BIT_ACCESS, 0);
		set_times(file, 15, 5, 5);
		if (cached)
			assert_true(check());
		else
			assert_wrong(TIME_NOT_SET, TIME_ACCESS);
	}
}

static void test_units(void **state)
{
	expected.unit_ns = 10;
	expect(TREE_ROOT, TIME_BIT_CHANGE, 0);
	set_times(TREE_ROOT, 5, 5, 19);
	assert_true(check());
	expected.count = 0;
	expect(file, TIME_BIT_CHANGE, 0);
	set_times(file, 5, 5, 10);
	assert_true(check());
}

static void test_given(void **state)
{
	expected.unit_ns = 10;
	expected.given_ns[TIME_ACCESS] = 107;
	expect(file, TIME_BIT_CHANGE, 0);
	expected.changes[0].given = TIME_BIT_ACCESS;
	set_times(file, 100, 5, 9);
	assert_true(check());
	set_times(file, 110, 5, 9);
	assert_wrong(TIME_NOT_AS_GIVEN, TIME_ACCESS);
}

/* What is read from the disk again is exact in units only. */
static void test_read_anew(void **state)
{
	expected.unit_ns = 10;
	expected.is_read_anew = true;
	set_times(file, 0, 0, 0);
	assert_true(check());
	set_times(file, 0, 0, 20);
	assert_wrong(TIME_CHANGED, TIME_CHANGE);
}

static void test_new_object(void **state)
{
	expect(file, TIME_BITS_ALL, 0);
	expected.changes[0].is_new = true;
	set_times(file, 9, 9, 9);
	assert_true(check());
}

/* More than one call since the last scan, or a step that is not known: nothing is judged. */
static void test_not_judged(void **state)
{
	set_times(file, 7, 7, 7);
	times_call(&watch);
	assert_true(check());
	set_times(file, 8, 8, 8);
	expected.known = false;
	assert_true(check());
	expected.known = true;
	times_forget_objects(&watch);
	set_times(file, 9, 9, 9);
	assert_true(check());
}

static void test_negative_units(void **state)
{
	assert_int_equal(time_in_units(-1, 10), -1);
	assert_int_equal(time_in_units(-10, 10), -1);
	assert_int_equal(time_in_units(9, 10), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
#define TEST_SHARED(name) cmocka_unit_test_setup_teardown(name, begin_shared, end)

/* Each on trees that were scanned, and on states of one tree, which share what did not change. */
#define TESTS(T) \
	T(test_nothing_changes), \
	T(test_changed_without_cause), \
	T(test_gone_back), \
	T(test_set_as_expected), \
	T(test_clock_stands_still), \
	T(test_lost_update_after_pass), \
	T(test_lost_update_beside_others), \
	T(test_read_sets_access), \
	T(test_read_leaves_old_access), \
	T(test_read_leaves_later_access), \
	T(test_one_call_has_no_order), \
	T(test_optional), \
	T(test_access_by_a_scan), \
	T(test_access_by_a_daemon), \
	T(test_units), \
	T(test_given), \
	T(test_read_anew), \
	T(test_new_object), \
	T(test_not_judged), \
	T(test_negative_units)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TESTS(TEST),
		TESTS(TEST_SHARED),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
