/* views.h -- the disks that a crash can leave.
 *
 * A disk with a volatile cache may lose any write since the last flush, and tear a write between
 * two of its sectors, which are mostly of 4096 bytes. A flush makes what was written before
 * durable, FUA the write itself. Five views of that, from the easiest to explain to the hardest. */
#ifndef CRASH_VIEWS_H
#define CRASH_VIEWS_H

#include "crash/disk_events.h"

enum view {
	VIEW_ORDER,    /* every write up to some moment */
	VIEW_LOST_ONE, /* all but one of those that no flush has made durable */
	VIEW_ONLY_ONE, /* only one of those */
	VIEW_SUBSET,   /* some of those */
	VIEW_TORN,     /* in order, the last write in part */
	VIEWS
};
extern const char *const view_names[VIEWS];
/* VIEWS: none has this name. */
enum view view_find(const char *name);
extern const char *const view_sentences[VIEWS];

/* A crash: which writes of the events before `at` did not reach the disk. */
struct crash_point {
	enum view view;
	size_t at;
	size_t done, begun; /* calls that had returned; and that, or the next one, had begun */
	const bool *lost;   /* for each of these events; NULL: none is */
	uint32_t torn_from, torn_to; /* VIEW_TORN: bytes of event at - 1 that reached the disk */
};

struct views_options {
	unsigned views;    /* bits of enum view */
	size_t from_calls; /* no crash before so many calls have returned */
	unsigned subsets;  /* bound of VIEW_SUBSET for each group of writes without a flush */
	uint32_t sector;   /* bytes that are written as a whole; 0: 4096 */
	uint64_t seed;
};

/* Visits every crash disk of these views, in the order of the views; a disk may come several
 * times. Before the first event it was as `start`. The visitor may not keep the disk. It returns
 * false to end. */
typedef bool views_visit(void *to, const struct crash_point *p, const struct page_disk *d);
void views_each(const struct disk_events *e, struct page_store *s, const struct page_disk *start,
		const struct views_options *o, views_visit *visit, void *to);
/* The disk of one point, built again. */
struct page_disk views_disk(const struct disk_events *e, struct page_store *s,
			    const struct page_disk *start, const struct crash_point *p);

/* A line for the event, unless it asks for nothing: what it was, and whether it was lost. */
void view_print_event(const struct disk_events *events, const struct crash_point *p, size_t i,
		      struct buf *out);
/* The last events before the crash. */
void view_print_events(const struct disk_events *events, const struct crash_point *p,
		       struct buf *out);

#endif
