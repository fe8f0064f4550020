/* search.c -- all schedules of a few tasks with few switches, as far as they can differ. */
#include "schedule/search.h"

#include <stdlib.h>
#include <string.h>

#include "base/must.h"

/* What a run has reported, kept while others are made. */
struct schedule_copy {
	struct schedule_point *point;
	struct schedule_use *use;
	uint32_t points, uses, points_max, uses_max;
	uint32_t uses_before[SCHEDULE_SWITCHES_MAX];
	bool ended;
};

/* A set of words, and whether they were written: 1 read, 2 written. */
struct word_set {
	uint64_t *words;
	uint8_t *how;
	size_t size; /* a power of two */
};

/* No point. */
enum { NOWHERE = -1 };

static void copy_board(struct schedule_copy *c, const struct schedule_board *b)
{
	if (b->points > c->points_max) {
		c->points_max = b->points * 2;
		c->point = must_realloc(c->point, c->points_max * sizeof(*c->point));
	}
	if (b->uses > c->uses_max) {
		c->uses_max = b->uses * 2;
		c->use = must_realloc(c->use, c->uses_max * sizeof(*c->use));
	}
	c->points = b->points;
	c->uses = b->uses;
	if (b->points)
		memcpy(c->point, b->point, b->points * sizeof(*c->point));
	if (b->uses)
		memcpy(c->use, b->use, b->uses * sizeof(*c->use));
	memcpy(c->uses_before, b->uses_before, sizeof(c->uses_before));
}

static size_t word_set_slot(const struct word_set *set, uint64_t word)
{
	size_t i = (size_t)((word * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (set->size - 1);

	while (set->words[i] && set->words[i] != word)
		i = (i + 1) & (set->size - 1);
	return i;
}

static void word_set_fill(struct word_set *set, const struct schedule_use *uses, uint32_t count)
{
	set->size = 16;
	while (set->size < 2 * (size_t)count)
		set->size *= 2;
	set->words = must_alloc(set->size * sizeof(*set->words));
	set->how = must_alloc(set->size);
	for (uint32_t i = 0; i < count; i++) {
		size_t slot = word_set_slot(set, uses[i].word);

		set->words[slot] = uses[i].word;
		set->how[slot] |= uses[i].write ? 2 : 1;
	}
}

static void word_set_free(struct word_set *set)
{
	free(set->words);
	free(set->how);
}

static bool word_set_conflicts(const struct word_set *set, const struct schedule_use *mine)
{
	uint8_t how = set->how[word_set_slot(set, mine->word)];

	return mine->write ? how != 0 : how & 2;
}

/* The first access from that one on of a task, or of any other one. */
static uint32_t next_use(const struct schedule_copy *c, uint32_t from, uint8_t task, bool of_task)
{
	while (from < c->uses && (c->use[from].task == task) != of_task)
		from++;
	return from;
}

/* The last point from `at` down to `from` at which that task could continue. */
static int64_t last_enabled(const struct schedule_copy *c, int64_t at, int64_t from, uint8_t task)
{
	while (at >= from && !(c->point[at].others >> task & 1))
		at--;
	return at >= from ? at : NOWHERE;
}

/* A task is stopped, and others do what is in `other` from that access on, until it continues: the
 * last point before `at`, from `from` on, that comes before an access of the task in conflict with
 * that. */
static int64_t last_in_conflict(const struct schedule_copy *c, const struct schedule_copy *other,
				uint32_t use, int64_t at, int64_t from)
{
	uint8_t task = c->point[from].task;
	int64_t found = NOWHERE;
	struct word_set did;

	word_set_fill(&did, other->use + use, next_use(other, use, task, true) - use);
	for (uint32_t i = c->uses; i-- > 0 && found < 0;) {
		const struct schedule_use *u = &c->use[i];

		if (u->task == task && u->point < at && u->point >= from &&
		    word_set_conflicts(&did, u))
			found = u->point;
	}
	word_set_free(&did);
	return found;
}

/* The first point to switch at to that task, of a stretch, [from, to]. Where the task continues
 * behind the stretch anyway, that is as if the switch were there. */
static int64_t stretch_last(const struct schedule_copy *c, uint32_t from, uint32_t to, uint8_t task)
{
	uint32_t use = 0;

	while (use < c->uses && c->use[use].point < to)
		use++;
	use = next_use(c, use, c->point[to].task, false);
	return use < c->uses && c->use[use].task != task
		     ? (int64_t)to
		     : last_in_conflict(c, c, use, (int64_t)to + 1, from);
}

/* The next one, before `at`. `other` is the run with the switch at that point, the last one of
 * `depth` before. */
static int64_t stretch_before(const struct schedule_copy *c, const struct schedule_copy *other,
			      unsigned depth, int64_t at, int64_t from)
{
	uint32_t use = other->uses_before[depth];

	if (!other->ended)
		return at - 1;
	if (use >= other->uses || other->use[use].task == c->point[at].task)
		return NOWHERE;
	return last_in_conflict(c, other, use, at, from);
}

/* The first point behind an access, of those from `use` to `end`, in conflict with these. */
static int64_t first_in_conflict(const struct schedule_copy *c, uint32_t use, uint32_t end,
				 const struct schedule_use *with, uint32_t count)
{
	int64_t found = NOWHERE;
	struct word_set set;

	word_set_fill(&set, with, count);
	for (; use < end && found < 0; use++)
		if (word_set_conflicts(&set, &c->use[use]))
			found = (int64_t)c->use[use].point + 1;
	word_set_free(&set);
	return found;
}

/* From where on it matters that the last switch was not made at the next point instead: what the
 * stopped task does up to there (in the run without that switch) is in conflict then. */
static int64_t first_that_waits(const struct schedule_copy *without, const struct schedule_copy *c,
				const struct schedule *schedule)
{
	unsigned last = schedule->count - 1;
	uint32_t use = c->uses_before[last], end = use, next = schedule->at[last] + 1;
	uint8_t stopped = c->point[schedule->at[last]].task;

	while (next < without->points && without->point[next].task == stopped &&
	       !(without->point[next].others >> schedule->to[last] & 1))
		next++;
	while (end < without->uses && without->use[end].task == stopped &&
	       without->use[end].point < next)
		end++;
	return first_in_conflict(c, use, next_use(c, use, stopped, true), without->use + use,
				 end - use);
}

/* Whether the task that the last switch has stopped ran since the one before, which had stopped the
 * task that continues now, or since the start. */
static bool came_between(const struct schedule_copy *c, const struct schedule *schedule)
{
	unsigned last = schedule->count - 1;
	uint32_t at = schedule->at[last];
	uint32_t from = last ? schedule->at[last - 1] + 1 : 0;
	uint32_t use = last ? c->uses_before[last - 1] : 0;
	uint8_t stopped = c->point[at].task;

	if (last ? c->point[from - 1].task != schedule->to[last]
		 : schedule->to[last] == SCHEDULE_THREADS)
		return false;
	while (from < at && c->point[from].task == stopped)
		from++;
	return from == at && next_use(c, use, stopped, false) >= c->uses_before[last];
}

/* From where on switching back to the task that was stopped last is not the same as if the present
 * one had come before all that it did since the switch before: one with fewer switches. */
static int64_t first_to_return(const struct schedule_copy *c, const struct schedule *schedule)
{
	unsigned last = schedule->count - 1;
	uint32_t before = last ? c->uses_before[last - 1] : 0, use = c->uses_before[last];
	uint32_t end = schedule->at[last] + 1;
	int64_t found;

	if (!came_between(c, schedule))
		return 0;
	found = first_in_conflict(c, use, next_use(c, use, schedule->to[last], false),
				  c->use + before, use - before);
	while (end < c->points && c->point[end].task == schedule->to[last])
		end++;
	return found < 0 ? end : found;
}

static bool search_is_over(struct schedule_search *s)
{
	return (s->limit && s->schedules >= s->limit) || (s->stop && *s->stop);
}

static int search_below(struct schedule_search *s, struct schedule *schedule, unsigned switches,
			struct err *err);

/* How many switches to that task there could be from `at` down to `from`. */
static uint64_t count_enabled(const struct schedule_copy *c, int64_t at, int64_t from, uint8_t task)
{
	uint64_t count = 0;

	for (; at >= from; at--)
		count += c->point[at].others >> task & 1;
	return count;
}

/* Switches of one stretch, [from, to], to one task, from its end on. */
static int search_stretch(struct schedule_search *s, struct schedule *schedule, unsigned switches,
			  uint32_t from, uint32_t to, uint8_t task, struct err *err)
{
	unsigned depth = schedule->count;
	const struct schedule_copy *c = &s->copies[depth];
	int64_t at = s->whole ? to : stretch_last(c, from, to, task);
	int r = 0;

	at = at < 0 ? NOWHERE : last_enabled(c, at, from, task);
	while (at >= 0 && !r) {
		if (search_is_over(s)) {
			if (s->limit && s->schedules >= s->limit)
				s->left += count_enabled(c, at, from, task);
			return 0;
		}
		schedule->at[depth] = (uint32_t)at;
		schedule->to[depth] = task;
		schedule->count = depth + 1;
		r = search_below(s, schedule, switches, err);
		schedule->count = depth;
		if (r)
			break;
		at = s->whole ? at - 1 : stretch_before(c, &s->copies[depth + 1], depth, at, from);
		at = at < 0 ? NOWHERE : last_enabled(c, at, from, task);
	}
	return r;
}

/* A further switch, from that point on, and from another one on if it leads to the task that was
 * stopped last. */
static int search_from(struct schedule_search *s, struct schedule *schedule, unsigned switches,
		       uint32_t from, uint32_t return_from, struct err *err)
{
	unsigned depth = schedule->count;
	const struct schedule_copy *c = &s->copies[depth];
	uint8_t stopped = depth ? c->point[schedule->at[depth - 1]].task : SCHEDULE_TASKS;
	uint32_t to, begin;
	int r = 0;

	for (; from < c->points && !r; from = to) {
		for (to = from; to < c->points && c->point[to].task == c->point[from].task; to++)
			;
		for (uint8_t task = 0; task < SCHEDULE_TASKS && !r; task++) {
			begin = task == stopped && return_from > from ? return_from : from;
			if (begin < to)
				r = search_stretch(s, schedule, switches, begin, to - 1, task, err);
		}
	}
	return r;
}

static int search_below(struct schedule_search *s, struct schedule *schedule, unsigned switches,
			struct err *err)
{
	unsigned depth = schedule->count;
	struct schedule_copy *c = &s->copies[depth];
	uint32_t from = depth ? schedule->at[depth - 1] + 1 : 0, return_from = from;
	int r = s->run(s->own, schedule, &c->ended, err);
	int64_t waits;

	if (r)
		return r;
	if (depth == switches || (switches == 1 && !depth))
		s->schedules++;
	copy_board(c, s->board);
	if (depth == switches || !c->ended)
		return 0;
	for (uint32_t i = from; i < c->points; i++)
		s->points += (unsigned)__builtin_popcount(c->point[i].others);
	if (depth && !s->whole) {
		waits = first_that_waits(&s->copies[depth - 1], c, schedule);
		if (waits < 0)
			return 0;
		from = waits > from ? (uint32_t)waits : from;
		return_from = (uint32_t)first_to_return(c, schedule);
	}
	return search_from(s, schedule, switches, from, return_from, err);
}

int schedule_search(struct schedule_search *s, unsigned switches, struct err *err)
{
	int r = 0;

	must(switches && switches <= SCHEDULE_SWITCHES_MAX);
	must(s->processes && s->processes <= SCHEDULE_PROCESSES_MAX);
	if (!s->copies)
		s->copies = must_alloc((SCHEDULE_SWITCHES_MAX + 1) * sizeof(*s->copies));
	for (uint32_t first = 0; first < s->processes && !r; first++) {
		struct schedule schedule = { .first = first };

		r = search_below(s, &schedule, switches, err);
	}
	return r;
}

void schedule_search_free(struct schedule_search *s)
{
	for (unsigned i = 0; s->copies && i <= SCHEDULE_SWITCHES_MAX; i++) {
		free(s->copies[i].point);
		free(s->copies[i].use);
	}
	free(s->copies);
	s->copies = NULL;
}

uint64_t schedule_conflicts(const struct schedule_board *b)
{
	uint64_t count = 0;

	for (size_t i = 0; i < SCHEDULE_WORDS_MAX; i++) {
		unsigned users = 0;

		for (unsigned task = 0; task < SCHEDULE_TASKS; task++)
			users += (b->word_use[i] >> 2 * task & 3) != 0;
		count += users > 1 && b->word_use[i] & 0xaa;
	}
	return count;
}
