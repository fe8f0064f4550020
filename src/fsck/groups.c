/* groups.c -- fields of different objects are damaged at a time, so that one run tests them all.
 *
 * Most damage is repaired without a trace, and the next object does not matter for it. So a disk
 * has many fields damaged, each of another object. Where it is repaired and nothing is wrong,
 * each of them counts as tried; otherwise halves of them are tried, down to the one field that is
 * reported. A field that keeps the checker from repairing the others is left to be tried alone.
 *
 * What one field hides of another is not seen here: all are tried alone later, as time allows. */
#include "fsck/groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/must.h"
#include "base/rng.h"
#include "damage/values.h"

enum {
	GROUP_MAX = 16,      /* fields at a time, */
	GROUP_MIN = 4,       /* or else they are left to be tried alone */
	GROUP_OF_OBJECT = 2, /* instances of one object, such as entries of a directory */
	GROUP_WINDOW = 1024, /* lanes that are looked at for one group */
	GROUP_SHARE = 2,     /* one part of so many of the time */
	HANGS_MAX = 2,       /* groups with a field that hang, likewise: */
	SPOILS_MIN = 2,      /* times that a field was not repaired before it is tried alone only */
};

/* Values of lanes, by number: those of new kinds of instances have more of them. */
static const struct group_sweep {
	bool novel;
	uint8_t first, last;
} group_sweeps[] = {
	{ true, 0, 7 },
	{ false, 0, 1 },
	{ true, 8, 23 },
	{ false, 2, 7 },
};

struct group_member {
	struct field_lane *lane;
	uint8_t value[CHANGE_BYTES_MAX];
};

struct group {
	struct group_member members[GROUP_MAX];
	size_t count;
	struct corruption corruption;
};

/* The lanes that have their value of one number still to come. */
struct group_queue {
	struct field_lane **lanes; /* NULL: taken */
	size_t count, head;
	double until_seconds; /* of clock_seconds(); 0: no limit */
};

/* Not of the first structure of a disk, which all else depends on. */
static bool lane_is_for_groups(const struct campaign *c, const struct field_lane *lane)
{
	const struct field_progress *p = lane->p;

	return p->structure != c->map->instances[0].structure && p->hangs < HANGS_MAX &&
	       (p->spoils < SPOILS_MIN || p->spoils * 2 < p->images);
}

static bool is_of_object(const struct ondisk_instance *a, const struct ondisk_instance *b)
{
	const char *path = strchr(a->label, '/'), *other = strchr(b->label, '/');
	size_t len = path ? strcspn(path, ",") : 0;

	return path && other && len == strcspn(other, ",") && !memcmp(path, other, len);
}

/* One field of an instance, and few instances of an object, which hide each other. */
static bool group_has_place(const struct group *g, const struct field_lane *lane)
{
	unsigned same = 0;

	for (size_t i = 0; i < g->count; i++) {
		const struct ondisk_instance *other = g->members[i].lane->instance;

		if (other == lane->instance)
			return false;
		same += is_of_object(lane->instance, other);
	}
	return same < GROUP_OF_OBJECT;
}

/* Whether the lane has such a value, and a place in the group; number: of the value. */
static bool group_take(struct group *g, const struct campaign *c, struct field_lane *lane,
		       size_t number)
{
	struct group_member *m = &g->members[g->count];
	struct field_values values;
	bool taken = false;

	values_telling(&values, c->map, c->disk, lane->instance, &lane->field, c->options.seed);
	if (number < values.count) {
		m->lane = lane;
		memcpy(m->value, values.items[number], sizeof(m->value));
		taken = corruption_add_field(&g->corruption, c->disk, lane->instance, &lane->field,
					     m->value);
		g->count += taken;
	}
	values_free(&values);
	return taken;
}

static void group_fill(struct group *g, const struct campaign *c, struct group_queue *q,
		       size_t number)
{
	size_t end = q->head + GROUP_WINDOW < q->count ? q->head + GROUP_WINDOW : q->count;

	*g = (struct group){ 0 };
	for (size_t i = q->head; i < end && g->count < GROUP_MAX; i++) {
		struct field_lane *lane = q->lanes[i];

		if (!lane || !group_has_place(g, lane))
			continue;
		q->lanes[i] = NULL;
		if (lane_is_for_groups(c, lane))
			group_take(g, c, lane, number);
	}
	while (q->head < q->count && !q->lanes[q->head])
		q->head++;
}

/* Some members of a group. */
struct group_part {
	size_t first, count;
};

static void group_count(struct field_lane *lane)
{
	lane->in_groups++;
	lane->p->in_groups++;
}

static int group_probe(struct campaign *c, const struct group *g, struct group_part part,
		       struct err *err)
{
	struct corruption some = { .count = part.count };
	int r;

	memcpy(some.changes, g->corruption.changes + part.first,
	       part.count * sizeof(*some.changes));
	r = c->probe(c->to, &some, err);
	for (size_t i = 0; i < part.count && r == PROBE_FINE; i++)
		group_count(g->members[part.first + i].lane);
	for (size_t i = 0; i < part.count && r == PROBE_HANGS; i++)
		g->members[part.first + i].lane->p->hangs++;
	return r;
}

static int group_search(struct campaign *c, const struct group *g, struct group_part part,
			struct err *err);

/* A part that is not fine is searched. What hangs takes seconds each time, and is left for each
 * to be tried alone. 1: go on, 0: it is over; *ret_fine: it is. */
static int group_look(struct campaign *c, const struct group *g, struct group_part part,
		      bool *ret_fine, struct err *err)
{
	int found = group_probe(c, g, part, err);

	*ret_fine = found == PROBE_FINE;
	return found < 0 ? found : found == PROBE_WRONG ? group_search(c, g, part, err) : 1;
}

/* The whole is not fine: halves are tried, down to single members, which are reported. */
static int group_search(struct campaign *c, const struct group *g, struct group_part part,
			struct err *err)
{
	struct group_part left = { part.first, part.count / 2 };
	struct group_part right = { part.first + left.count, part.count - left.count };
	bool fine;
	int r;

	if (part.count == 1)
		return campaign_try(c, g->members[part.first].lane, g->members[part.first].value,
				    err);
	r = group_look(c, g, left, &fine, err);
	if (r <= 0)
		return r;
	/* If the left half is fine, the right one is not. */
	return fine ? group_search(c, g, right, err) : group_look(c, g, right, &fine, err);
}

static int group_try(struct campaign *c, const struct group *g, struct err *err)
{
	struct group_part all = { 0, g->count };
	bool fine;
	int r = group_look(c, g, all, &fine, err);

	return r > 0 ? !campaign_is_over(c) : r;
}

/* In an order that prefers nothing, so that groups are of many structures. */
static void queue_fill(struct group_queue *q, struct campaign *c, bool novel, size_t number)
{
	struct rng rng;

	rng_seed(&rng, c->options.seed + number);
	q->count = q->head = 0;
	for (size_t i = 0; i < c->lane_count; i++) {
		size_t k = (size_t)rng_below(&rng, q->count + 1);

		if (c->lanes[i].is_novel != novel || !lane_is_for_groups(c, &c->lanes[i]))
			continue;
		q->lanes[q->count] = q->lanes[k];
		q->lanes[k] = &c->lanes[i];
		q->count++;
	}
}

static double groups_until(const struct campaign *c)
{
	double limit = c->options.until_seconds - c->started_seconds;

	return c->options.until_seconds > 0 ? c->started_seconds + limit / GROUP_SHARE : 0;
}

/* Alone, those come first that were in no group. */
static void groups_end(struct campaign *c)
{
	for (size_t i = 0; i < c->lane_count; i++)
		c->lanes[i].due += c->lanes[i].in_groups > 0;
}

static bool queue_is_late(const struct group_queue *q)
{
	return q->until_seconds && clock_seconds() >= q->until_seconds;
}

/* One value of all these lanes, as time allows. 1: go on, 0: it is over. */
static int groups_sweep(struct campaign *c, struct group_queue *q, bool novel, size_t number,
			struct err *err)
{
	struct group *g = must_alloc(sizeof(*g));
	int r = 1;

	queue_fill(q, c, novel, number);
	do {
		group_fill(g, c, q, number);
		if (g->count >= GROUP_MIN)
			r = group_try(c, g, err);
	} while (g->count >= GROUP_MIN && r > 0 && !queue_is_late(q));
	free(g);
	return r;
}

int groups_run(struct campaign *c, struct err *err)
{
	struct group_queue q = { .lanes = must_alloc((c->lane_count + 1) * sizeof(*q.lanes)),
				 .until_seconds = groups_until(c) };
	int r = 1;

	for (size_t i = 0; i < ARRAY_LEN(group_sweeps); i++)
		for (size_t v = group_sweeps[i].first; v <= group_sweeps[i].last; v++)
			if (r > 0 && !queue_is_late(&q))
				r = groups_sweep(c, &q, group_sweeps[i].novel, v, err);
	groups_end(c);
	free(q.lanes);
	return r;
}
