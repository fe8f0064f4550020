/* page_writes.c -- what a disk is asked for when a program writes to it by way of the page cache.
 */
#include "crash/page_writes.h"

#include <string.h>

#include "base/buf.h"
#include "storage/write_log.h"

struct page_writer {
	struct page_store *s;
	struct page_disk now; /* as the program sees it */
	struct buf *out;
	size_t last; /* in `out`: a write that nothing came behind; `none` */
};
static const size_t none = SIZE_MAX;

/* The sectors of a write, as far as they lie on the disk. */
static struct disk_record record_widen(const struct disk_record *r, uint32_t sector, uint64_t size)
{
	uint64_t from = r->offset / sector * sector;
	uint64_t to = (r->offset + r->size + sector - 1) / sector * sector;

	return (struct disk_record){
		.offset = from,
		.size = (uint32_t)((to < size ? to : size) - from),
		.what = r->what,
	};
}

static bool writer_repeats(const struct page_writer *w, const struct disk_record *r)
{
	struct disk_record last;

	if (w->last == none || r->what != RECORD_WRITE)
		return false;
	memcpy(&last, w->out->data + w->last, sizeof(last));
	return last.what == RECORD_WRITE && last.offset == r->offset && last.size == r->size;
}

static void writer_add_write(struct page_writer *w, const struct disk_record *r)
{
	char *data;

	if (!writer_repeats(w, r)) {
		w->last = w->out->len;
		buf_add(w->out, r, sizeof(*r));
		buf_reserve(w->out, r->size);
		w->out->len += r->size;
		w->out->data[w->out->len] = '\0';
	}
	data = w->out->data + w->last + sizeof(*r);
	page_disk_read(w->s, &w->now, r->offset, data, r->size);
}

int page_writes(const struct buf *log, struct page_store *s, const struct page_disk *start,
		uint32_t sector, struct buf *out, struct err *err)
{
	struct write_log walk = { .data = buf_str(log), .len = log->len, .disk_size = s->size };
	struct page_writer w = { .s = s, .now = page_disk_copy(start), .out = out, .last = none };
	struct disk_record r;
	const char *data;
	int more;

	while ((more = write_log_next(&walk, &r, &data, err)) > 0) {
		if (r.what & RECORD_WRITE) {
			page_disk_write(s, &w.now, r.offset, data, r.size);
			r = record_widen(&r, sector, s->size);
			writer_add_write(&w, &r);
			continue;
		}
		if (r.what & (RECORD_ZEROES | RECORD_DISCARD))
			page_disk_fill(s, &w.now, r.offset, 0, r.size);
		buf_add(out, &r, sizeof(r));
		w.last = none;
	}
	page_disk_free(&w.now);
	return more;
}
