/* page_writes.h -- what a disk is asked for when a program writes to it by way of the page cache.
 *
 * A program writes bytes; the disk gets sectors that are whole. Of writes to the same sectors that
 * follow each other, nothing between them, it gets the last: a superblock that is written in pieces
 * of some bytes reaches it as one. */
#ifndef CRASH_PAGE_WRITES_H
#define CRASH_PAGE_WRITES_H

#include <stdint.h>

#include "storage/page_disk.h"

struct buf;
struct err;

/* Adds to `out` the log (storage/write_log.h) of the disk, from that of the program. */
int page_writes(const struct buf *log, struct page_store *s, const struct page_disk *start,
		uint32_t sector, struct buf *out, struct err *err);

#endif
