/* disk_events.h -- what the disk was asked for during a workload, call by call. */
#ifndef CRASH_DISK_EVENTS_H
#define CRASH_DISK_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "storage/page_disk.h"

struct err;

struct disk_event {
	unsigned what; /* enum disk_request; a mark is no event */
	uint64_t offset;
	uint32_t size;
	const char *data; /* of a write; belongs to the log */
	size_t calls;     /* that had returned before */
};

struct disk_events {
	struct disk_event *events;
	size_t count, cap;
	size_t calls; /* that returned in all */
};

/* From a log (storage/write_log.h), which must outlive them, of a disk of that
 * size. */
int disk_events_read(struct disk_events *e, const struct buf *log, uint64_t disk_size,
		     struct err *err);
void disk_events_free(struct disk_events *e);
/* Whether it changes the disk. */
bool disk_event_writes(const struct disk_event *e);
/* Whether it cannot be lost when it has ended: FUA, or flash memory, which has no cache. */
bool disk_event_is_durable(const struct disk_event *e);
/* The event reaches the disk: all of it, or the bytes [from, to) of it. */
void disk_event_apply(const struct disk_event *e, struct page_store *s, struct page_disk *d);
void disk_event_apply_part(const struct disk_event *e, uint32_t from, uint32_t to,
			   struct page_store *s, struct page_disk *d);

#endif
