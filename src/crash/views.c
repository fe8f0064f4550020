/* views.c -- the disks that a crash can leave, view by view.
 *
 * A set of writes that may be lost is judged at the last moment at which it still may be: just
 * before the next flush, when most has been promised. Earlier moments would only allow more. */
#include "crash/views.h"

#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "base/rng.h"
#include "storage/write_log.h"

/* Writes of one group that are tried in all combinations; 2 to the power of that. */
enum { SUBSET_BITS = 5 };
/* Events that are printed of what has no calls. */
enum { EVENTS_SHOWN = 100 };

const char *const view_names[VIEWS] = { "order", "lost-one", "only-one", "subset", "torn" };

enum view view_find(const char *name)
{
	enum view v = 0;

	while (v < VIEWS && strcmp(name, view_names[v]) != 0)
		v++;
	return v;
}

const char *const view_sentences[VIEWS] = {
	[VIEW_ORDER] = "every write up to the crash reached the disk, in order",
	[VIEW_LOST_ONE] = "one write since the last flush did not reach the disk",
	[VIEW_ONLY_ONE] = "one write since the last flush reached the disk, the others did not",
	[VIEW_SUBSET] = "some writes since the last flush did not reach the disk",
	[VIEW_TORN] = "the last write reached the disk in part",
};

struct views {
	const struct disk_events *e;
	struct page_store *s;
	const struct page_disk *start;
	const struct views_options *o;
	views_visit *visit;
	void *to;
	bool *lost;
	struct page_disk durable; /* the disk at the beginning of the present group */
	size_t group;             /* its first event */
	size_t *pending;          /* events of the group that may be lost */
	size_t pending_count;
	bool ended;
};

static bool views_wanted(const struct views *v, enum view view)
{
	return v->o->views & 1u << view && !v->ended;
}

struct page_disk views_disk(const struct disk_events *e, struct page_store *s,
			    const struct page_disk *start, const struct crash_point *p)
{
	size_t whole = p->view == VIEW_TORN ? p->at - 1 : p->at;
	struct page_disk d = page_disk_copy(start);

	for (size_t i = 0; i < whole; i++)
		if (!p->lost || !p->lost[i])
			disk_event_apply(&e->events[i], s, &d);
	if (p->view == VIEW_TORN)
		disk_event_apply_part(&e->events[whole], p->torn_from, p->torn_to, s, &d);
	return d;
}

static void views_show(struct views *v, const struct crash_point *p, const struct page_disk *d)
{
	if (p->done >= v->o->from_calls && !v->ended && !v->visit(v->to, p, d))
		v->ended = true;
}

/* Behind so many events, while the call after those that are done was under way. */
static struct crash_point point_at(const struct views *v, enum view view, size_t at, size_t done)
{
	return (struct crash_point){
		.view = view,
		.at = at,
		.done = done,
		.begun = done < v->e->calls ? done + 1 : done,
	};
}

static struct crash_point point_behind(const struct views *v, enum view view, size_t at)
{
	return point_at(v, view, at, v->e->events[at - 1].calls);
}

/* After each write; and after each call has returned, which promises more of the same disk. */
static void views_in_order(struct views *v)
{
	struct page_disk d = page_disk_copy(v->start);
	size_t done = 0;

	for (size_t at = 0; at <= v->e->count && !v->ended; at++) {
		size_t calls = at < v->e->count ? v->e->events[at].calls : v->e->calls;
		struct crash_point p = { .view = VIEW_ORDER, .at = at };

		while (done < calls) {
			p.done = p.begun = ++done;
			views_show(v, &p, &d);
		}
		if (at == v->e->count || !disk_event_writes(&v->e->events[at]))
			continue;
		disk_event_apply(&v->e->events[at], v->s, &d);
		p = point_behind(v, VIEW_ORDER, at + 1);
		views_show(v, &p, &d);
	}
	page_disk_free(&d);
}

/* The next event flushes, or there is none: then all calls have returned. */
static struct crash_point group_point(const struct views *v, enum view view, size_t end)
{
	size_t done = end < v->e->count ? v->e->events[end].calls : v->e->calls;
	struct crash_point p = point_at(v, view, end, done);

	p.lost = v->lost;
	return p;
}

static void group_show(struct views *v, enum view view, size_t end)
{
	struct crash_point p = group_point(v, view, end);
	struct page_disk d = page_disk_copy(&v->durable);

	for (size_t i = v->group; i < end; i++)
		if (!v->lost[i])
			disk_event_apply(&v->e->events[i], v->s, &d);
	views_show(v, &p, &d);
	page_disk_free(&d);
}

static void group_set(struct views *v, bool lost)
{
	for (size_t i = 0; i < v->pending_count; i++)
		v->lost[v->pending[i]] = lost;
}

static void group_single(struct views *v, enum view view, size_t end)
{
	bool others = view == VIEW_ONLY_ONE;

	if (v->pending_count < 2 && others)
		return; /* all or nothing: in order */
	for (size_t i = 0; i < v->pending_count && !v->ended; i++) {
		group_set(v, others);
		v->lost[v->pending[i]] = !others;
		group_show(v, view, end);
	}
	group_set(v, false);
}

static void group_subsets(struct views *v, size_t end)
{
	bool all = v->pending_count <= SUBSET_BITS;
	uint64_t count = all ? UINT64_C(1) << v->pending_count : v->o->subsets;
	struct rng rng;

	rng_seed(&rng, v->o->seed ^ end);
	if (v->pending_count < 3)
		return; /* shown by the views before */
	for (uint64_t n = 0; n < count && n < v->o->subsets && !v->ended; n++) {
		for (size_t i = 0; i < v->pending_count; i++)
			v->lost[v->pending[i]] = all ? n >> i & 1 : rng_u64(&rng) & 1;
		group_show(v, VIEW_SUBSET, end);
	}
	group_set(v, false);
}

/* Where a write is torn: at the end of a sector of the disk, near its middle. 0: it cannot be. */
static uint32_t torn_at(const struct views *v, const struct disk_event *e)
{
	uint32_t sector = v->o->sector ? v->o->sector : PAGE_DISK_PAGE;
	uint64_t middle = (e->offset + e->size / 2 + sector / 2) / sector * sector;

	return middle > e->offset && middle < e->offset + e->size ? (uint32_t)(middle - e->offset)
								  : 0;
}

/* Each write is the last, and reaches the disk in part: its beginning, or its end; not its end on
 * flash memory, which is programmed and erased in order. FUA protects it only when it has ended. */
static void views_torn(struct views *v)
{
	struct page_disk before = page_disk_copy(v->start);

	for (size_t at = 1; at <= v->e->count && !v->ended; at++) {
		const struct disk_event *e = &v->e->events[at - 1];
		struct crash_point p = point_behind(v, VIEW_TORN, at);
		uint32_t middle = disk_event_writes(e) ? torn_at(v, e) : 0;
		unsigned halves = e->what & (RECORD_PROGRAM | RECORD_ERASE) ? 1 : 2;

		if (p.done < v->o->from_calls)
			middle = 0;
		for (unsigned half = 0; half < halves && middle; half++) {
			struct page_disk d = page_disk_copy(&before);

			p.torn_from = half ? middle : 0;
			p.torn_to = half ? e->size : middle;
			disk_event_apply_part(e, p.torn_from, p.torn_to, v->s, &d);
			views_show(v, &p, &d);
			page_disk_free(&d);
		}
		disk_event_apply(e, v->s, &before);
	}
	page_disk_free(&before);
}

static void views_of_group(struct views *v, enum view view, size_t end)
{
	if (group_point(v, view, end).done < v->o->from_calls || !v->pending_count)
		return;
	if (view == VIEW_SUBSET)
		group_subsets(v, end);
	else
		group_single(v, view, end);
}

/* A group ends with a flush: from then on it is durable. */
static void group_end(struct views *v, size_t end)
{
	for (; v->group < end; v->group++)
		disk_event_apply(&v->e->events[v->group], v->s, &v->durable);
	v->pending_count = 0;
}

static void views_by_groups(struct views *v, enum view view)
{
	v->durable = page_disk_copy(v->start);
	v->group = v->pending_count = 0;
	for (size_t at = 0; at <= v->e->count && !v->ended; at++) {
		const struct disk_event *event = at < v->e->count ? &v->e->events[at] : NULL;

		if (!event || event->what & RECORD_FLUSH) {
			views_of_group(v, view, at);
			group_end(v, at);
		}
		if (event && disk_event_writes(event) && !disk_event_is_durable(event))
			v->pending[v->pending_count++] = at;
	}
	page_disk_free(&v->durable);
}

void views_each(const struct disk_events *e, struct page_store *s, const struct page_disk *start,
		const struct views_options *o, views_visit *visit, void *to)
{
	struct views v = {
		.e = e,
		.s = s,
		.start = start,
		.o = o,
		.visit = visit,
		.to = to,
	};

	v.lost = must_alloc((e->count + 1) * sizeof(*v.lost));
	v.pending = must_alloc((e->count + 1) * sizeof(*v.pending));
	if (views_wanted(&v, VIEW_ORDER))
		views_in_order(&v);
	for (enum view view = VIEW_LOST_ONE; view <= VIEW_SUBSET; view++)
		if (views_wanted(&v, view))
			views_by_groups(&v, view);
	if (views_wanted(&v, VIEW_TORN))
		views_torn(&v);
	free(v.lost);
	free(v.pending);
}

/* ---- for people ---- */

void view_print_event(const struct disk_events *events, const struct crash_point *p, size_t i,
		      struct buf *out)
{
	const struct disk_event *e = &events->events[i];
	bool torn = p->view == VIEW_TORN && i == p->at - 1;

	if (e->what & RECORD_FLUSH)
		buf_adds(out, "====      flush: all writes above are durable\n");
	if (!(e->what & (RECORD_WRITE | RECORD_ZEROES | RECORD_DISCARD | RECORD_ERASE)))
		return;
	buf_addf(out, "%8zu  %-7s %8u bytes at %12llu%s", i + 1,
		 e->what & RECORD_PROGRAM  ? "program"
		 : e->what & RECORD_ERASE  ? "erase"
		 : e->what & RECORD_WRITE  ? "write"
		 : e->what & RECORD_ZEROES ? "zeroes"
					   : "discard",
		 e->size, (unsigned long long)e->offset, e->what & RECORD_FUA ? "  FUA" : "");
	if (torn)
		buf_addf(out, "  TORN: only its bytes %u to %u reached the disk", p->torn_from,
			 p->torn_to - 1);
	else if (p->lost && p->lost[i])
		buf_adds(out, "  LOST");
	buf_addch(out, '\n');
}

void view_print_events(const struct disk_events *events, const struct crash_point *p,
		       struct buf *out)
{
	size_t i = p->at > EVENTS_SHOWN ? p->at - EVENTS_SHOWN : 0;

	if (i)
		buf_addf(out, "(%zu before these)\n", i);
	for (; i < p->at; i++)
		view_print_event(events, p, i, out);
	buf_adds(out, "**** crash\n");
}
