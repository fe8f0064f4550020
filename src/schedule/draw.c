/* draw.c -- schedules by chance, where there are too many to try all of them.
 *
 * Each has the same chance, so that what is missed has a bound (Burckhardt and others, "A
 * randomized scheduler with probabilistic guarantees of finding bugs", 2010). */
#include <math.h>
#include <stdlib.h>

#include "base/must.h"
#include "base/rng.h"
#include "schedule/search.h"

/* A multiple of all numbers of tasks that could continue: each of them is as likely. */
enum { CHOICES = 252 };
_Static_assert(SCHEDULE_ANY + CHOICES - 1 <= UINT8_MAX, "a choice fits in a byte");

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static struct schedule draw_one(const struct schedule_search *s, unsigned switches, struct rng *rng)
{
	struct schedule schedule = {
		.first = (uint32_t)rng_below(rng, s->processes),
		.count = switches,
	};

	for (unsigned i = 0; i < switches; i++) {
		schedule.at[i] = (uint32_t)rng_below(rng, s->longest);
		schedule.to[i] = (uint8_t)(SCHEDULE_ANY + rng_below(rng, CHOICES));
	}
	qsort(schedule.at, switches, sizeof(*schedule.at), by_number);
	return schedule;
}

static int draw_run(struct schedule_search *s, const struct schedule *schedule, struct err *err)
{
	bool ended;
	int r = s->run(s->own, schedule, &ended, err);

	if (!r && s->board->points > s->longest)
		s->longest = s->board->points;
	return r;
}

int schedule_draw(struct schedule_search *s, unsigned switches, unsigned others, uint64_t count,
		  struct rng *rng, struct err *err)
{
	int r = 0;

	must(switches && switches <= SCHEDULE_SWITCHES_MAX && others);
	s->longest = 1;
	for (uint32_t first = 0; first < s->processes && !r; first++) {
		struct schedule serial = { .first = first };

		r = draw_run(s, &serial, err);
	}
	while (!r && s->schedules < count && !(s->stop && *s->stop)) {
		struct schedule schedule = draw_one(s, switches, rng);

		r = draw_run(s, &schedule, err);
		s->schedules++;
	}
	return r;
}

double schedule_chance(const struct schedule_search *s, unsigned switches, unsigned others)
{
	double one = 1.0 / s->processes;

	/* Points are drawn one by one: they may come in any order. */
	for (unsigned i = 0; i < switches; i++)
		one *= (i + 1.0) / ((double)s->longest * others);
	return -expm1((double)s->schedules * log1p(-one));
}
