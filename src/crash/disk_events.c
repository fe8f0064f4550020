/* disk_events.c -- from a log of disk requests to events. */
#include "crash/disk_events.h"

#include <stdlib.h>

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

int disk_events_read(struct disk_events *e, const struct buf *log, uint64_t disk_size,
		     struct err *err)
{
	struct write_log walk = { .data = buf_str(log), .len = log->len, .disk_size = disk_size };
	struct disk_record r;
	const char *data;
	int more;

	*e = (struct disk_events){ 0 };
	while ((more = write_log_next(&walk, &r, &data, err)) > 0) {
		if (r.what == RECORD_MARK)
			e->calls++;
		else
			*events_append(e) = (struct disk_event){
				.what = r.what,
				.offset = r.offset,
				.size = r.size,
				.data = data,
				.calls = e->calls,
			};
	}
	return more;
}

void disk_events_free(struct disk_events *e)
{
	free(e->events);
	*e = (struct disk_events){ 0 };
}

bool disk_event_writes(const struct disk_event *e)
{
	return e->what & (RECORD_WRITE | RECORD_ZEROES | RECORD_ERASE);
}

bool disk_event_is_durable(const struct disk_event *e)
{
	return e->what & (RECORD_FUA | RECORD_ERASE | RECORD_PROGRAM);
}

void disk_event_apply(const struct disk_event *e, struct page_store *s, struct page_disk *d)
{
	disk_event_apply_part(e, 0, e->size, s, d);
}

void disk_event_apply_part(const struct disk_event *e, uint32_t from, uint32_t to,
			   struct page_store *s, struct page_disk *d)
{
	static const char erased = (char)0xff;

	if (e->what & RECORD_WRITE)
		page_disk_write(s, d, e->offset + from, e->data + from, to - from);
	else if (disk_event_writes(e))
		page_disk_fill(s, d, e->offset + from, e->what & RECORD_ERASE ? erased : 0,
			       to - from);
}
