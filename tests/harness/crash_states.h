/* crash_states.h -- for tests of recorded disks: the images that a crash can leave.
 *
 * A small set of them: after every request, and in the middle of it, what was flushed and, of what
 * was not, everything, nothing, all but one, and each alone. A sector is 512 bytes, and is never
 * torn. */
#ifndef TESTS_CRASH_STATES_H
#define TESTS_CRASH_STATES_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/must.h"
#include "storage/write_log.h"
#include "tests/harness/unit.h"

enum { CRASH_PENDING_MAX = 512, CRASH_SECTOR = 512 };

struct crash_write {
	uint64_t offset;
	uint32_t size;
	const char *bytes;
};

/* in_order: nothing is left out, and nothing torn. */
typedef void crash_visitor(void *to, size_t marks, bool in_order);

struct crash_states {
	char *durable; /* the disk as far as it is flushed */
	char *crashed;
	size_t size;
	struct crash_write pending[CRASH_PENDING_MAX];
	size_t pending_count;
	size_t marks; /* calls that have returned */
	crash_visitor *visit;
	void *to;
};

static inline void crash_write_to(char *image, const struct crash_write *w)
{
	memcpy(image + w->offset, w->bytes, w->size);
}

/* The durable image with pending writes: those for which (i == which) != others. */
static inline void crash_visit(struct crash_states *c, size_t which, bool others,
			       const struct crash_write *torn)
{
	memcpy(c->crashed, c->durable, c->size);
	for (size_t i = 0; i < c->pending_count; i++)
		if ((i == which) != others)
			crash_write_to(c->crashed, &c->pending[i]);
	if (torn)
		crash_write_to(c->crashed, torn);
	c->visit(c->to, c->marks, others && which == c->pending_count && !torn);
}

static inline void crash_visit_subsets(struct crash_states *c)
{
	crash_visit(c, c->pending_count, true, NULL);
	for (size_t i = 0; i <= c->pending_count; i++)
		crash_visit(c, i, false, NULL);
	for (size_t i = 0; i < c->pending_count; i++)
		crash_visit(c, i, true, NULL);
}

/* A write of which one sector arrives, with all that is pending, and without. */
static inline void crash_visit_torn(struct crash_states *c, const struct crash_write *w)
{
	for (uint32_t at = 0; at < w->size; at += CRASH_SECTOR) {
		struct crash_write sector = { w->offset + at, CRASH_SECTOR, w->bytes + at };

		crash_visit(c, c->pending_count, true, &sector);
		crash_visit(c, c->pending_count, false, &sector);
	}
}

static inline void crash_flush(struct crash_states *c)
{
	for (size_t i = 0; i < c->pending_count; i++)
		crash_write_to(c->durable, &c->pending[i]);
	c->pending_count = 0;
}

static inline void crash_request(struct crash_states *c, const struct disk_record *r,
				 const char *bytes)
{
	const struct crash_write w = { r->offset, r->size, bytes };

	if (r->what & RECORD_FLUSH)
		crash_flush(c);
	if (r->what & RECORD_WRITE) {
		must(r->offset + r->size <= c->size && c->pending_count < CRASH_PENDING_MAX);
		crash_visit_torn(c, &w);
		/* One that is on the disk when it ends is not pending, nor older ones below it. */
		if (r->what & RECORD_FUA) {
			for (size_t i = 0; i < c->pending_count; i++)
				if (c->pending[i].offset == w.offset)
					c->pending[i] = w;
			crash_write_to(c->durable, &w);
		} else {
			c->pending[c->pending_count++] = w;
		}
	}
	c->marks += r->what == RECORD_MARK;
	crash_visit_subsets(c);
}

/* All of them for a record that begins with this image; each is put into `crashed`, which may be
 * the same memory. */
static inline void crash_each(const char *image, size_t size, const struct buf *record,
			      char *crashed, crash_visitor *visit, void *to)
{
	struct crash_states *c = must_alloc(sizeof(*c));
	struct disk_record r;

	c->durable = must_alloc(size);
	c->crashed = crashed;
	c->size = size;
	c->visit = visit;
	c->to = to;
	memcpy(c->durable, image, size);
	for (size_t at = 0; at < record->len;) {
		memcpy(&r, record->data + at, sizeof(r));
		at += sizeof(r);
		crash_request(c, &r, record->data + at);
		at += r.what & RECORD_WRITE ? r.size : 0;
	}
	free(c->durable);
	free(c);
}

#endif
