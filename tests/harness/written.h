/* written.h -- for tests of records: what a disk is after some of what was written to it. */
#ifndef TESTS_WRITTEN_H
#define TESTS_WRITTEN_H

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "storage/write_log.h"
#include "tests/harness/unit.h"

struct written_counts {
	unsigned writes, zeroes, flushes, marks;
};

/* Makes the requests on the bytes of a disk, up to the given mark; 0: all of them. */
static inline struct written_counts written_apply(const struct buf *record, char *disk, size_t size,
						  unsigned marks)
{
	struct write_log log = { .data = record->data, .len = record->len, .disk_size = size };
	struct written_counts counts = { 0 };
	struct err err = { 0 };
	struct disk_record r;
	const char *data;

	while ((!marks || counts.marks < marks) && write_log_next(&log, &r, &data, &err) > 0) {
		counts.writes += (r.what & RECORD_WRITE) != 0;
		counts.zeroes += (r.what & RECORD_ZEROES) != 0;
		counts.flushes += (r.what & RECORD_FLUSH) != 0;
		counts.marks += r.what == RECORD_MARK;
		if (r.what & RECORD_WRITE)
			memcpy(disk + r.offset, data, r.size);
		else if (r.what & RECORD_ZEROES)
			memset(disk + r.offset, 0, r.size);
	}
	if (err.code)
		fail_msg("%s", err.text);
	return counts;
}

/* A file with the image and what was written to it, up to a mark, as a crash there leaves it. */
static inline int written_image(int image_fd, const struct buf *record, unsigned marks)
{
	int fd = memfd_create("crashed", MFD_CLOEXEC);
	off_t size = lseek(image_fd, 0, SEEK_END);
	char *disk;

	assert_true(fd >= 0 && !ftruncate(fd, size));
	disk = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(disk != MAP_FAILED);
	assert_int_equal(pread(image_fd, disk, (size_t)size, 0), size);
	written_apply(record, disk, (size_t)size, marks);
	munmap(disk, (size_t)size);
	return fd;
}

#endif
