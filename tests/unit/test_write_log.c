/* test_write_log.c -- records of what a disk was asked for: walked, refused, converted. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "storage/dm_log_writes.h"
#include "storage/write_log.h"
#include "tests/harness/unit.h"

enum { SECTOR = 512, DISK = 64 * SECTOR, SECTORS_MAX = 8 };

static void add(struct buf *log, uint32_t what, uint64_t offset, uint32_t size, char fill)
{
	struct disk_record r = { .offset = offset, .size = size, .what = what };
	char data[SECTORS_MAX * SECTOR];

	memset(data, fill, sizeof(data));
	buf_add(log, &r, sizeof(r));
	if (what & RECORD_WRITE)
		buf_add(log, data, size);
}

/* One of each. */
static void add_all(struct buf *log)
{
	add(log, RECORD_WRITE, 0, SECTOR, 'a');
	add(log, RECORD_FLUSH, 0, 0, 0);
	add(log, RECORD_WRITE | RECORD_FLUSH | RECORD_FUA, 3 * SECTOR, 2 * SECTOR, 'b');
	add(log, RECORD_MARK, 0, 0, 0);
	add(log, RECORD_DISCARD, 8 * SECTOR, 4 * SECTOR, 0);
	add(log, RECORD_WRITE, DISK - SECTOR, SECTOR, 'c');
	add(log, RECORD_MARK, 0, 0, 0);
}

static int walk(const struct buf *log, size_t *ret_count, struct err *err)
{
	struct write_log walked = { .data = log->data, .len = log->len, .disk_size = DISK };
	struct disk_record r;
	const char *data;
	int more;

	for (*ret_count = 0; (more = write_log_next(&walked, &r, &data, err)) > 0; ++*ret_count)
		if (r.what & RECORD_WRITE && data[0] != data[r.size - 1])
			fail_msg("the data of record %zu are not where they should be", *ret_count);
	return more;
}

static void every_request_is_visited(void **state)
{
	struct buf log = BUF_INIT;
	size_t count;

	assert_int_equal(walk(&log, &count, NULL), 0);
	assert_int_equal(count, 0);
	add_all(&log);
	add(&log, RECORD_ZEROES | RECORD_DISCARD, 8 * SECTOR, 4 * SECTOR, 0);
	add(&log, RECORD_ZEROES | RECORD_FUA, 1, 1, 0);
	assert_int_equal(walk(&log, &count, NULL), 0);
	assert_int_equal(count, 9);
	buf_free(&log);
}

static void assert_refused(uint32_t what, uint64_t offset, uint32_t size)
{
	struct buf log = BUF_INIT;
	struct err err = { 0 };
	size_t count;

	add(&log, RECORD_FLUSH, 0, 0, 0);
	add(&log, what, offset, size, 'x');
	assert_int_equal(walk(&log, &count, &err), -EINVAL);
	assert_int_equal(count, 1);
	assert_true(err.text[0]);
	buf_free(&log);
}

static void malformed_logs_are_refused(void **state)
{
	assert_refused(0, 0, 0);
	assert_refused(RECORD_PROGRAM << 1, 0, SECTOR);
	assert_refused(RECORD_PROGRAM, 0, SECTOR);
	assert_refused(RECORD_ERASE | RECORD_FLUSH, 0, SECTOR);
	assert_refused(RECORD_MARK | RECORD_FLUSH, 0, 0);
	assert_refused(RECORD_MARK, 0, SECTOR);
	assert_refused(RECORD_FUA, 0, 0);
	assert_refused(RECORD_FLUSH, 0, SECTOR);
	assert_refused(RECORD_WRITE, 0, 0);
	assert_refused(RECORD_WRITE | RECORD_ZEROES, 0, SECTOR);
	assert_refused(RECORD_WRITE, DISK, SECTOR);
	assert_refused(RECORD_ZEROES, DISK - SECTOR, 2 * SECTOR);
	assert_refused(RECORD_DISCARD, UINT64_MAX - 1, SECTOR);
}

/* Wherever it is cut: either that is between two records, or it is noticed. */
static void logs_that_are_cut_are_refused(void **state)
{
	struct buf log = BUF_INIT;
	size_t whole = 0, count;

	add_all(&log);
	for (size_t len = log.len; len--;) {
		struct buf cut = { .data = log.data, .len = len };
		struct err err = { 0 };

		if (!walk(&cut, &count, &err))
			whole++;
		else
			assert_int_equal(err.code, -EINVAL);
	}
	assert_int_equal(whole, 7);
	buf_free(&log);
}

/* ---- dm-log-writes ---- */

static void logs_of_dm_log_writes_come_back(void **state)
{
	struct buf log = BUF_INIT, theirs = BUF_INIT, ours = BUF_INIT;

	add_all(&log);
	assert_int_equal(dm_log_writes_write(log.data, log.len, DISK, &theirs, NULL), 0);
	assert_true(dm_log_writes_is(theirs.data, theirs.len));
	/* A sector each for the superblock and the entries, and the data. */
	assert_int_equal(theirs.len, (1 + 7 + 1 + 2 + 1) * SECTOR);
	assert_int_equal(dm_log_writes_read(theirs.data, theirs.len, DISK, &ours, NULL, NULL), 0);
	assert_int_equal(ours.len, log.len);
	assert_memory_equal(ours.data, log.data, log.len);
	buf_free(&log);
	buf_free(&theirs);
	buf_free(&ours);
}

/* A name of a user may be anything, and may lack its end. */
static void marks_have_names(void **state)
{
	struct buf log = BUF_INIT, theirs = BUF_INIT, ours = BUF_INIT, marks = BUF_INIT;
	static const uint64_t long_name = UINT64_MAX;

	for (int i = 0; i < 3; i++)
		add(&log, RECORD_MARK, 0, 0, 0);
	assert_int_equal(dm_log_writes_write(log.data, log.len, DISK, &theirs, NULL), 0);
	memcpy(theirs.data + SECTOR + 32, "a\n\x80 ", 4);
	memset(theirs.data + 2 * SECTOR + 24, 0, 8);
	memcpy(theirs.data + 3 * SECTOR + 24, &long_name, sizeof(long_name));
	assert_int_equal(dm_log_writes_read(theirs.data, theirs.len, DISK, &ours, &marks, NULL), 0);
	assert_string_equal(marks.data, "a___-1\n-\ncall-3\n");
	buf_free(&log);
	buf_free(&theirs);
	buf_free(&ours);
	buf_free(&marks);
}

static uint64_t number_at(const struct buf *b, size_t at)
{
	uint64_t n;

	memcpy(&n, b->data + at, sizeof(n));
	return le64toh(n);
}

/* As drivers/md/dm-log-writes.c has it. */
static void the_format_is_the_kernels(void **state)
{
	struct buf log = BUF_INIT, out = BUF_INIT;

	add(&log, RECORD_WRITE | RECORD_FLUSH | RECORD_FUA, 3 * SECTOR, 2 * SECTOR, 'b');
	add(&log, RECORD_DISCARD | RECORD_ZEROES, 8 * SECTOR, 4 * SECTOR, 0);
	add(&log, RECORD_MARK, 0, 0, 0);
	assert_int_equal(dm_log_writes_write(log.data, log.len, DISK, &out, NULL), 0);
	assert_int_equal(number_at(&out, 0), 0x6a736677736872);
	assert_int_equal(number_at(&out, 8), 1);
	assert_int_equal(number_at(&out, 16), 3);
	assert_int_equal(number_at(&out, 24), SECTOR);
	assert_int_equal(number_at(&out, SECTOR), 3);
	assert_int_equal(number_at(&out, SECTOR + 8), 2);
	assert_int_equal(number_at(&out, SECTOR + 16), 1 | 2);
	assert_int_equal(number_at(&out, SECTOR + 24), 0);
	assert_int_equal(out.data[2 * SECTOR], 'b');
	assert_int_equal(number_at(&out, 4 * SECTOR), 8);
	assert_int_equal(number_at(&out, 4 * SECTOR + 16), 4);
	assert_int_equal(number_at(&out, 5 * SECTOR + 16), 8);
	assert_int_equal(number_at(&out, 5 * SECTOR + 24), strlen("call-1"));
	assert_memory_equal(out.data + 5 * SECTOR + 32, "call-1", 7);
	assert_int_equal(out.len, 6 * SECTOR);
	buf_free(&log);
	buf_free(&out);
}

/* What the kernel writes for a disk with sectors of 4096 bytes, and of metadata. */
static void larger_sectors_and_metadata_are_read(void **state)
{
	struct {
		uint64_t magic, version, entries;
		uint32_t sector_size;
		char rest[4096 - 28];
		uint64_t sector, sectors, flags, data_len;
		char rest_of_entry[4096 - 32];
		char data[4096];
	} __attribute__((packed)) log = {
		htole64(0x6a736677736872),
		htole64(1),
		htole64(1),
		htole32(4096),
		"",
		htole64(2),
		htole64(1),
		htole64(16),
		0,
		"",
		"data",
	};
	struct disk_record r;
	struct buf out = BUF_INIT;

	assert_int_equal(dm_log_writes_read((char *)&log, sizeof(log), DISK, &out, NULL, NULL), 0);
	assert_int_equal(out.len, sizeof(r) + 4096);
	memcpy(&r, out.data, sizeof(r));
	assert_int_equal(r.offset, 8192);
	assert_int_equal(r.what, RECORD_WRITE);
	assert_string_equal(out.data + sizeof(r), "data");
	buf_free(&out);
}

static void zeroes_become_writes_of_them(void **state)
{
	struct buf log = BUF_INIT, theirs = BUF_INIT, ours = BUF_INIT;
	struct disk_record r;

	add(&log, RECORD_ZEROES, SECTOR, 2 * SECTOR, 0);
	assert_int_equal(dm_log_writes_write(log.data, log.len, DISK, &theirs, NULL), 0);
	assert_int_equal(dm_log_writes_read(theirs.data, theirs.len, DISK, &ours, NULL, NULL), 0);
	memcpy(&r, ours.data, sizeof(r));
	assert_int_equal(r.what, RECORD_WRITE);
	assert_int_equal(r.size, 2 * SECTOR);
	assert_int_equal(ours.len, sizeof(r) + 2 * SECTOR);
	buf_free(&log);
	buf_free(&theirs);
	buf_free(&ours);
}

static void parts_of_sectors_cannot_be_written(void **state)
{
	struct buf log = BUF_INIT, out = BUF_INIT;
	struct err err = { 0 };

	add(&log, RECORD_WRITE, 1, SECTOR, 'x');
	assert_int_equal(dm_log_writes_write(log.data, log.len, DISK, &out, &err), -EINVAL);
	assert_true(err.text[0]);
	buf_free(&log);
	buf_free(&out);
}

static void assert_unreadable(const struct buf *log, size_t len, uint64_t disk_size)
{
	struct buf out = BUF_INIT;
	struct err err = { 0 };

	assert_int_equal(dm_log_writes_read(log->data, len, disk_size, &out, NULL, &err), -EINVAL);
	assert_true(err.text[0]);
	buf_free(&out);
}

static void malformed_logs_of_dm_log_writes_are_refused(void **state)
{
	struct buf log = BUF_INIT, theirs = BUF_INIT;

	add_all(&log);
	assert_int_equal(dm_log_writes_write(log.data, log.len, DISK, &theirs, NULL), 0);
	for (size_t len = 0; len < theirs.len; len += SECTOR / 4)
		assert_unreadable(&theirs, len, DISK);
	assert_unreadable(&theirs, theirs.len, DISK - SECTOR);
	theirs.data[24] = 3; /* no power of two */
	assert_unreadable(&theirs, theirs.len, DISK);
	theirs.data[8] = 2;
	assert_unreadable(&theirs, theirs.len, DISK);
	buf_free(&log);
	buf_free(&theirs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_request_is_visited),
		cmocka_unit_test(malformed_logs_are_refused),
		cmocka_unit_test(logs_that_are_cut_are_refused),
		cmocka_unit_test(logs_of_dm_log_writes_come_back),
		cmocka_unit_test(marks_have_names),
		cmocka_unit_test(the_format_is_the_kernels),
		cmocka_unit_test(larger_sectors_and_metadata_are_read),
		cmocka_unit_test(zeroes_become_writes_of_them),
		cmocka_unit_test(parts_of_sectors_cannot_be_written),
		cmocka_unit_test(malformed_logs_of_dm_log_writes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
