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

/* A set of words, and whether they were written: what others did while a task waited. */
struct word_set {
	uint64_t *words;
	uint8_t *how;
	size_t size; /* a power of two */
};

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

/* The accesses from that one on, until the task that waits continues. */
static void word_set_fill(struct word_set *set, const struct schedule_copy *c, uint32_t from,
			  uint8_t waits)
{
	uint32_t to = from;

	while (to < c->uses && c->use[to].task != waits)
		to++;
	set->size = 16;
	while (set->size < 2 * (size_t)(to - from))
		set->size *= 2;
	set->words = must_alloc(set->size * sizeof(*set->words));
	set->how = must_alloc(set->size);
	for (uint32_t i = from; i < to; i++) {
		size_t slot = word_set_slot(set, c->use[i].word);

		set->words[slot] = c->use[i].word;
		set->how[slot] |= c->use[i].write ? 2 : 1;
	}
}

static bool word_set_conflicts(const struct word_set *set, const struct schedule_use *mine)
{
	uint8_t how = set->how[word_set_slot(set, mine->word)];

	return mine->write ? how != 0 : how & 2;
}

/* The last point from `at` down to `from` at which that task could continue; -1: none. */
static int64_t last_enabled(const struct schedule_copy *c, int64_t at, int64_t from, uint8_t task)
{
	while (at >= from && !(c->point[at].others >> task & 1))
		at--;
	return at >= from ? at : -1;
}

/* The next point to switch at, before `at`, of a stretch that begins at `from`. `other` is the
 * run with the switch at that point, the last one of `depth` before. */
static int64_t next_before(const struct schedule_copy *c, const struct schedule_copy *other,
			   unsigned depth, int64_t at, int64_t from)
{
	uint8_t task = c->point[at].task;
	struct word_set did;
	int64_t next = -1;

	if (!other->ended)
		return at - 1;
	if (other->uses_before[depth] >= other->uses ||
	    other->use[other->uses_before[depth]].task == task)
		return -1;
	word_set_fill(&did, other, other->uses_before[depth], task);
	for (uint32_t i = c->uses; i-- > 0 && next < 0;) {
		const struct schedule_use *u = &c->use[i];

		if (u->task == task && u->point < at && u->point >= from &&
		    word_set_conflicts(&did, u))
			next = u->point;
	}
	free(did.words);
	free(did.how);
	return next;
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
	int64_t at = last_enabled(c, to, from, task);
	int r = 0;

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
		at = s->whole ? at - 1 : next_before(c, &s->copies[depth + 1], depth, at, from);
		at = at < 0 ? -1 : last_enabled(c, at, from, task);
	}
	return r;
}

static int search_below(struct schedule_search *s, struct schedule *schedule, unsigned switches,
			struct err *err)
{
	unsigned depth = schedule->count;
	struct schedule_copy *c = &s->copies[depth];
	uint32_t from = depth ? schedule->at[depth - 1] + 1 : 0, to;
	int r = s->run(s->own, schedule, &c->ended, err);

	if (r)
		return r;
	if (depth == switches || (switches == 1 && !depth))
		s->schedules++;
	copy_board(c, s->board);
	if (depth == switches || !c->ended)
		return 0;
	for (uint32_t i = from; i < c->points; i++)
		s->points += (unsigned)__builtin_popcount(c->point[i].others);
	for (; from < c->points && !r; from = to) {
		for (to = from; to < c->points && c->point[to].task == c->point[from].task; to++)
			;
		for (uint8_t task = 0; task < SCHEDULE_TASKS && !r; task++)
			r = search_stretch(s, schedule, switches, from, to - 1, task, err);
	}
	return r;
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
