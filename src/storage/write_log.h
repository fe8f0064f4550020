/* write_log.h -- the record of what a file system asked of its disk. */
#ifndef STORAGE_WRITE_LOG_H
#define STORAGE_WRITE_LOG_H

#include <stddef.h>
#include <stdint.h>

struct err;

/* A record of what the disk was asked for is these, in order, each followed by its data if it
 * is a write. Nothing else was: a mark is where a call had returned. A discard that is
 * RECORD_ZEROES, too, is one of a disk that reads zeroes there afterwards. */
enum disk_request {
	RECORD_WRITE = 1 << 0,
	RECORD_ZEROES = 1 << 1,
	RECORD_DISCARD = 1 << 2,
	RECORD_FLUSH = 1 << 3, /* what came before is on the disk; before whatever else it is */
	RECORD_FUA = 1 << 4,   /* is on the disk itself when it has ended */
	RECORD_MARK = 1 << 5,
	/* Flash memory, which has no cache: what is recorded is on it. An erase sets all bits of
	 * whole erase blocks; a write that is a program clears bits, and its data are the bytes as
	 * they are then. */
	RECORD_ERASE = 1 << 6,
	RECORD_PROGRAM = 1 << 7, /* with RECORD_WRITE */
};
struct disk_record {
	uint64_t offset;
	uint32_t size, what;
};

/* A walk through a log; it begins with the first three set. */
struct write_log {
	const char *data;
	size_t len;
	uint64_t disk_size; /* that all requests must lie in */
	size_t at;          /* of the next record */
};

/* The next record, and its data if it is a write, which lies in the log. 1; 0 at the end; -EINVAL
 * where the log is malformed. */
int write_log_next(struct write_log *log, struct disk_record *ret, const char **ret_data,
		   struct err *err);

/* What a record is about. */
struct medium {
	uint64_t bytes;
	uint32_t write_bytes; /* that are written as a whole */
	uint32_t erase_bytes; /* of an erase block of flash memory; 0: it is a disk */
};

#endif
