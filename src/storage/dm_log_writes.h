/* dm_log_writes.h -- logs of the kernel's dm-log-writes, read and written.
 *
 * A superblock, then entries, each in a separate sector and followed by the data of a write. What
 * replays such logs (replay-log of xfstests) can be given ours, and we theirs. */
#ifndef STORAGE_DM_LOG_WRITES_H
#define STORAGE_DM_LOG_WRITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;

/* Whether the bytes begin as such a log does. */
bool dm_log_writes_is(const char *data, size_t len);
/* Adds the log as records (write_log.h) of a disk of that size; and the text of each mark as a line
 * to `marks`, unless that is NULL. Which writes are of metadata is lost. */
int dm_log_writes_read(const char *data, size_t len, uint64_t disk_size, struct buf *out,
		       struct buf *marks, struct err *err);
/* Adds the records as such a log. The n-th mark is called "call-n"; zeroes become writes, unless
 * they are a discard's. Fails where a request does not lie on sectors of 512 bytes. */
int dm_log_writes_write(const char *data, size_t len, uint64_t disk_size, struct buf *out,
			struct err *err);

#endif
