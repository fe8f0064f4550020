/* disk_events.c -- from a log of disk requests to events. */
#include "crash/disk_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/must.h"
#include "storage/write_log.h"

static struct disk_event *events_append(struct disk_events *e)
{
	if (e->count == e->cap) {
		e->cap = e->cap ? 2 * e->cap : 64;
		e->events = must_realloc(e->events, e->cap * sizeof(*e->events));
	}
	return &e->events[e->count++];
}

int disk_events_read(struct disk_events *e, const struct buf *log, struct err *err)
{
	struct disk_record r;
	size_t at = 0;

	*e = (struct disk_events){ 0 };
	while (at < log->len) {
		size_t data;

		if (log->len - at < sizeof(r))
			return err_set(err, EBADMSG, "the log of disk requests ends in a record");
		memcpy(&r, log->data + at, sizeof(r));
		at += sizeof(r);
		data = r.what & RECORD_WRITE ? r.size : 0;
		if (data > log->len - at)
			return err_set(err, EBADMSG, "the log of disk requests ends in the data of "
						     "a write");
		if (r.what == RECORD_MARK)
			e->calls++;
		else
			*events_append(e) = (struct disk_event){
				.what = r.what,
				.offset = r.offset,
				.size = r.size,
				.data = log->data + at,
				.calls = e->calls,
			};
		at += data;
	}
	return 0;
}

void disk_events_free(struct disk_events *e)
{
	free(e->events);
	*e = (struct disk_events){ 0 };
}

bool disk_event_writes(const struct disk_event *e)
{
	return e->what & (RECORD_WRITE | RECORD_ZEROES);
}

void disk_event_apply(const struct disk_event *e, struct page_store *s, struct page_disk *d)
{
	if (disk_event_writes(e))
		page_disk_write(s, d, e->offset, e->what & RECORD_WRITE ? e->data : NULL, e->size);
}

void disk_event_apply_part(const struct disk_event *e, uint32_t from, uint32_t to,
			   struct page_store *s, struct page_disk *d)
{
	if (disk_event_writes(e))
		page_disk_write(s, d, e->offset + from,
				e->what & RECORD_WRITE ? e->data + from : NULL, to - from);
}
