/* campaign.c -- which fields of a disk are damaged, in which order.
 *
 * A lane is a field of one instance. It gets a few values at a time: telling ones, and then mutants
 * of those that made the checker say something new. In a step all lanes that are due get their next
 * values; the lane of a later instance is due later, and a lane that showed nothing new waits
 * longer. So a short run has tried something of everything, and a long one everything, the
 * rewarding lanes before the others.
 *
 * Before that, several fields are damaged at a time (groups.h).
 *
 * Values that take every path of the checker, as far as these can be found, come first where there
 * is no limit of time, and have their share of it otherwise. At the end, a narrow field gets all.
 */
#include "fsck/campaign.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/map.h"
#include "base/must.h"
#include "base/rng.h"
#include "base/stop.h"
#include "damage/values.h"
#include "symbolic/path_process.h"

enum {
	CHUNK = 4,           /* values that a lane gets at a time, */
	FIRST_CHUNK = 2,     /* and at first */
	NEWS_WAIT = 1,       /* steps until its next ones, where these showed something new */
	SILENCE_WAIT = 2,    /* and where not */
	NOVEL_AT_ONCE = 16,  /* instances of new kinds whose first values are for one step */
	ROW_MIN = 4,         /* instances of a structure that have a last one */
	PARTS_MAX = 16,      /* of a long field that are lanes, at most, */
	PARTS_AT_ONCE = 8,   /* and whose first values are for one step */
	SILENT_MUTANTS = 16, /* chunks of mutants without news that end a lane */
};

static bool is_wanted(const struct campaign_options *o, const struct ondisk_structure *structure,
		      const struct ondisk_field *field)
{
	struct buf name = BUF_INIT;
	bool wanted = !o->fields->count;

	buf_addf(&name, "%s.%s", structure->name, field->name);
	for (size_t i = 0; i < o->fields->count; i++)
		wanted |= !strcmp(o->fields->items[i], name.data) ||
			  !strcmp(o->fields->items[i], structure->name);
	buf_free(&name);
	return wanted;
}

static bool has_field(const struct ondisk_instance *x, const struct field_progress *p)
{
	return x->structure == p->structure && ondisk_field_size(x, p->field);
}

static uint64_t count_instances(const struct ondisk_map *map, const struct field_progress *p)
{
	uint64_t count = 0;

	for (size_t i = 0; i < map->count; i++)
		count += has_field(&map->instances[i], p);
	return count;
}

static void add_structure(struct campaign *c, const struct ondisk_structure *structure)
{
	for (size_t f = 0; f < structure->field_count; f++) {
		struct field_progress p = { .structure = structure,
					    .field = &structure->fields[f] };

		p.instances = count_instances(c->map, &p);
		if (!p.instances || !is_wanted(&c->options, structure, p.field))
			continue;
		c->fields = must_realloc(c->fields, (c->count + 1) * sizeof(*c->fields));
		c->fields[c->count++] = p;
	}
}

/* By what things of different kinds differ: the value of flags or of a byte, and of other numbers
 * whether they are zero. */
static struct hash field_kind(const struct campaign *c, const struct ondisk_instance *x,
			      const struct ondisk_field *field, uint32_t size)
{
	static const uint8_t zero[sizeof(uint64_t)];
	const uint8_t *value = c->disk + x->at + field->offset;
	bool is_some;

	if (size == 1 || field->role == ONDISK_FLAGS)
		return hash128(value, size, (uintptr_t)field);
	is_some = memcmp(value, zero, size) != 0;
	return hash128(&is_some, sizeof(is_some), (uintptr_t)field);
}

/* Whether a field has another kind of value than in all earlier instances: an entry of another
 * type, an inode with another mode, the first extent that is not at the beginning of a file. */
static bool is_novel(const struct campaign *c, const struct ondisk_instance *x,
		     struct hash_map *seen)
{
	bool novel = false;

	for (size_t f = 0; f < x->structure->field_count; f++) {
		const struct ondisk_field *field = &x->structure->fields[f];
		uint32_t size = ondisk_field_size(x, field);
		bool new;

		if (!size || size > sizeof(uint64_t) || field->role == ONDISK_BYTES ||
		    field->role == ONDISK_CHECKSUM)
			continue;
		hash_map_put(seen, field_kind(c, x, field, size), &new);
		novel |= new;
	}
	return novel;
}

/* The last one of several that lie one behind the other: the last group, the last entry of a
 * directory. */
static bool is_last(const struct ondisk_map *map, size_t i)
{
	const struct ondisk_structure *structure = map->instances[i].structure;
	size_t row = 1;

	if (i + 1 < map->count && map->instances[i + 1].structure == structure)
		return false;
	while (row < ROW_MIN && row <= i && map->instances[i - row].structure == structure)
		row++;
	return row == ROW_MIN;
}

/* One of each kind, and the last of a row, before a second one. */
static bool *find_novel(const struct campaign *c)
{
	bool *novel = must_alloc(c->map->count + 1);
	struct hash_map seen = HASH_MAP_INIT;

	for (size_t i = 0; i < c->map->count; i++) {
		novel[i] = is_novel(c, &c->map->instances[i], &seen);
		novel[i] |= is_last(c->map, i);
	}
	hash_map_free(&seen);
	return novel;
}

/* How many lanes a field of an instance has: one, or several where the structure is nothing else,
 * a bitmap, of which a change reaches only a part. */
static uint32_t count_parts(const struct ondisk_instance *x, const struct ondisk_field *field)
{
	uint32_t parts = (x->size + CHANGE_BYTES_MAX - 1) / CHANGE_BYTES_MAX;
	bool is_all = !field->offset && field->size == ONDISK_REST && x->size <= UINT16_MAX;

	return !is_all || field->role != ONDISK_BYTES ? 1 : parts < PARTS_MAX ? parts : PARTS_MAX;
}

/* The parts of a field are spread over it, the first and the last bytes being among them. */
static struct ondisk_field field_part(const struct ondisk_instance *x,
				      const struct ondisk_field *field, uint32_t part,
				      uint32_t parts)
{
	struct ondisk_field ret = *field;

	if (parts > 1) {
		ret.offset = (uint16_t)((x->size - CHANGE_BYTES_MAX) * part / (parts - 1));
		ret.size = CHANGE_BYTES_MAX;
	}
	return ret;
}

static void add_instance(struct campaign *c, size_t field, const struct ondisk_instance *x,
			 uint64_t round, uint64_t due, bool is_novel)
{
	uint32_t parts = count_parts(x, c->fields[field].field);

	for (uint32_t i = 0; i < parts; i++)
		if ((round + field + i) % c->options.jobs == c->options.job) {
			c->fields[field].has_lanes = true;
			c->lanes[c->lane_count++] = (struct field_lane){
				.instance = x,
				.p = &c->fields[field],
				.field = field_part(x, c->fields[field].field, i, parts),
				.round = round,
				.due = due + i / PARTS_AT_ONCE,
				.is_novel = is_novel,
			};
		}
}

/* The instances that have the field: those of a new kind, several in a step, then the others. */
static void add_lanes(struct campaign *c, size_t field, const bool *novel)
{
	uint64_t round = 0;

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < c->map->count; i++) {
			if (novel[i] == pass ||
			    !has_field(&c->map->instances[i], &c->fields[field]))
				continue;
			add_instance(c, field, &c->map->instances[i], round,
				     pass ? round : round / NOVEL_AT_ONCE, !pass);
			round++;
		}
}

static uint64_t count_lanes(const struct campaign *c, const struct field_progress *p)
{
	uint64_t count = 0;

	for (size_t i = 0; i < c->map->count; i++)
		if (has_field(&c->map->instances[i], p))
			count += count_parts(&c->map->instances[i], p->field);
	return count;
}

/* In an order that prefers no structure: a run may end within its first step. */
static void make_lanes(struct campaign *c)
{
	size_t *order = must_alloc(c->count * sizeof(*order));
	bool *novel = find_novel(c);
	uint64_t sum = 0;
	struct rng rng;

	rng_seed(&rng, c->options.seed + c->options.order);
	for (size_t i = 0; i < c->count; i++) {
		size_t k = (size_t)rng_below(&rng, i + 1);

		order[i] = order[k];
		order[k] = i;
		sum += count_lanes(c, &c->fields[i]);
	}
	c->lanes = must_alloc(sum * sizeof(*c->lanes));
	for (size_t i = 0; i < c->count; i++)
		add_lanes(c, order[i], novel);
	/* Where another process has all instances, nothing is left to try here. */
	for (size_t i = 0; i < c->count; i++)
		c->fields[i].all_values = !c->fields[i].has_lanes && values_all(c->fields[i].field);
	free(novel);
	free(order);
}

int campaign_open(struct campaign *c, const struct ondisk_map *map, const uint8_t *disk,
		  const struct campaign_options *o, struct err *err)
{
	*c = (struct campaign){ .map = map, .disk = disk, .options = *o };
	for (size_t i = 0; i < map->format->structure_count; i++)
		add_structure(c, map->format->structures[i]);
	if (!c->count)
		return err_set(err, EINVAL,
			       "a disk of the format %s has no such field; --list-fields prints "
			       "those it has",
			       map->format->name);
	c->options.jobs = c->options.jobs ? c->options.jobs : 1;
	c->started_seconds = clock_seconds();
	make_lanes(c);
	return 0;
}

void campaign_close(struct campaign *c)
{
	path_process_close(c->paths);
	for (size_t i = 0; i < c->count; i++)
		buf_free(&c->fields[i].why_not);
	free(c->fields);
	free(c->lanes);
}

bool campaign_is_over(const struct campaign *c)
{
	return stop_requested ||
	       (c->options.until_seconds > 0 && clock_seconds() >= c->options.until_seconds);
}

/* A value that made the checker say something new is kept, to be changed further. */
static void keep_value(struct field_progress *p, const uint8_t *value, uint16_t len)
{
	memcpy(p->rewarding[p->rewarding_count++ % REWARDING_MAX], value, len);
}

int campaign_try(struct campaign *c, const struct field_lane *lane, const uint8_t *value,
		 struct err *err)
{
	struct corruption corruption = { 0 };
	uint64_t news = lane->p->news;
	int r = 1;

	if (corruption_add_field(&corruption, c->disk, lane->instance, &lane->field, value))
		r = c->test(c->to, &corruption, lane->p, err);
	if (lane->p->news > news)
		keep_value(lane->p, value, corruption_field_len(lane->instance, &lane->field));
	return r > 0 ? !campaign_is_over(c) : r;
}

/* ---- paths of the checker ---- */

enum {
	PATHS_SECONDS = 60,    /* for a lane, at most */
	PATHS_SECONDS_MIN = 2, /* less is of no use: */
	PATHS_START = 8,       /* the first exploration starts the checker, too */
	PATHS_LANES = 75,      /* so many have their share of the time, where there are so many */
	PATHS_SHARE = 4,       /* one part of so many of the time is for paths */
};

struct path_search {
	struct campaign *c;
	struct field_lane *lane;
	struct err *err;
	int status; /* of the last test */
};

static bool path_found(void *to, const uint8_t *values, struct hash path)
{
	struct path_search *x = to;

	(void)path;
	x->status = campaign_try(x->c, x->lane, values, x->err);
	return x->status > 0;
}

/* lanes: that are to have a part of the time, which is what is left of it in the end, and a share
 * before. */
static double paths_budget(const struct campaign *c, bool in_the_end, size_t lanes)
{
	double most = c->options.paths_seconds > 0 ? c->options.paths_seconds : PATHS_SECONDS;
	double share = c->options.until_seconds - c->started_seconds;

	if (c->options.until_seconds <= 0)
		return most;
	share = in_the_end ? c->options.until_seconds - clock_seconds() : share / PATHS_SHARE;
	share /= (double)(lanes < PATHS_LANES ? lanes : PATHS_LANES);
	if (share < PATHS_SECONDS_MIN)
		share = PATHS_SECONDS_MIN;
	share += c->paths ? 0 : PATHS_START;
	if (share > c->options.until_seconds - clock_seconds())
		share = c->options.until_seconds - clock_seconds();
	return share < most ? share : most;
}

static void note_incomplete(struct field_progress *p, const char *why)
{
	if (!p->why_not.len)
		buf_adds(&p->why_not, why);
}

/* A byte has so few values that all of them are tried instead. */
static bool lane_wants_paths(const struct campaign *c, const struct field_lane *lane)
{
	return c->options.command && !lane->paths_tried &&
	       corruption_field_len(lane->instance, &lane->field) > 1;
}

static int try_paths(struct campaign *c, struct field_lane *lane, double seconds, struct err *err)
{
	struct field_progress *p = lane->p;
	struct path_range range = { .at = lane->instance->at + lane->field.offset,
				    .len = corruption_field_len(lane->instance, &lane->field) };
	struct path_search x = { .c = c, .lane = lane, .err = err, .status = 1 };
	struct paths_options options = { .ranges = &range, .range_count = 1, .seconds = seconds };
	struct paths_result result;
	int r;

	lane->paths_tried = true;
	if (!c->paths)
		c->paths = path_process_open(c->options.command, c->options.image, 0);
	r = path_process_explore(c->paths, &options, path_found, &x, &result, err);
	if (r)
		return r;
	p->paths += result.paths;
	c->path_count += result.paths;
	p->left += result.left;
	p->explored += result.complete;
	lane->paths_complete = result.complete;
	if (result.branches > c->branches)
		c->branches = result.branches;
	if (!result.complete)
		note_incomplete(p, buf_str(&result.why_not));
	paths_result_free(&result);
	return x.status;
}

/* The lane whose paths promise most: of an early instance, where other values showed much. */
static struct field_lane *next_for_paths(struct campaign *c, bool begun_only)
{
	struct field_lane *best = NULL;

	for (size_t i = 0; i < c->lane_count; i++) {
		struct field_lane *lane = &c->lanes[i];

		if (!lane_wants_paths(c, lane) || (begun_only && !lane->next))
			continue;
		if (!best || lane->round < best->round ||
		    (lane->round == best->round && lane->news > best->news))
			best = lane;
	}
	return best;
}

/* Where the time is limited: paths of some lanes, so that they have their share of it, once
 * something of everything was tried, or a part of the time is over. */
static int share_with_paths(struct campaign *c, uint64_t step, struct err *err)
{
	double began = clock_seconds(), limit = c->options.until_seconds - c->started_seconds;
	struct field_lane *lane;
	int r;

	if (c->options.until_seconds <= 0 ||
	    (!step && (began - c->started_seconds) * PATHS_SHARE < limit) ||
	    c->paths_seconds * PATHS_SHARE >= began - c->started_seconds ||
	    c->options.until_seconds - began < PATHS_SECONDS_MIN)
		return 1;
	lane = next_for_paths(c, true);
	if (!lane)
		return 1;
	r = try_paths(c, lane, paths_budget(c, false, c->lane_count), err);
	c->paths_seconds += clock_seconds() - began;
	return r;
}

/* Those whose share of a limited time did not suffice are searched once more, unless all values
 * come next. */
static size_t paths_renew(struct campaign *c)
{
	size_t count = 0;

	for (size_t i = 0; i < c->lane_count; i++) {
		struct field_lane *lane = &c->lanes[i];

		if (c->options.until_seconds > 0 && !lane->paths_complete &&
		    !values_all(lane->p->field))
			lane->paths_tried = false;
		count += lane_wants_paths(c, lane);
	}
	return count;
}

/* What is left of them when there is nothing else to try but all values. */
static int try_paths_left(struct campaign *c, struct err *err)
{
	size_t left = paths_renew(c);
	struct field_lane *lane;
	int r = 1;

	while (r > 0 && (lane = next_for_paths(c, false)))
		r = try_paths(c, lane, paths_budget(c, true, left--), err);
	return r;
}

/* ---- values ---- */

/* The next ones of the telling values, up to a chunk; *ret_count: how many there are. */
static int try_telling(struct campaign *c, struct field_lane *lane, size_t *ret_count,
		       struct err *err)
{
	size_t chunk = lane->next ? CHUNK : FIRST_CHUNK;
	struct field_values values;
	int r = 1;

	values_telling(&values, c->map, c->disk, lane->instance, &lane->field, c->options.seed);
	*ret_count = values.count;
	for (size_t i = 0; i < chunk && lane->next < values.count && r > 0; i++)
		r = campaign_try(c, lane, values.items[lane->next++], err);
	values_free(&values);
	return r;
}

/* Of what was rewarding in any instance of the field. */
static int try_mutants(struct campaign *c, struct field_lane *lane, struct err *err)
{
	struct field_progress *p = lane->p;
	uint16_t len = corruption_field_len(lane->instance, &lane->field);
	size_t pool = p->rewarding_count < REWARDING_MAX ? p->rewarding_count : REWARDING_MAX;
	uint8_t value[CHANGE_BYTES_MAX];
	struct rng rng;
	int r = 1;

	rng_seed(&rng, c->options.seed ^ (lane->instance->at + lane->field.offset + lane->next));
	for (size_t i = 0; i < CHUNK && r > 0; i++) {
		memcpy(value, p->rewarding[rng_below(&rng, pool)], sizeof(value));
		values_mutate(value, len, p->rewarding[rng_below(&rng, pool)], &rng);
		r = campaign_try(c, lane, value, err);
	}
	lane->next += CHUNK;
	return r;
}

/* All values of a narrow field come later anyway. */
static bool lane_is_done(const struct field_lane *lane)
{
	return lane->silent_mutants >= SILENT_MUTANTS || values_all(lane->p->field) ||
	       !lane->p->rewarding_count;
}

static int lane_advance(struct campaign *c, struct field_lane *lane, struct err *err)
{
	uint64_t news = lane->p->news;
	size_t telling = lane->telling;
	int r = 1;

	if (c->options.until_seconds <= 0 && lane_wants_paths(c, lane))
		r = try_paths(c, lane, paths_budget(c, false, c->lane_count), err);
	if (r > 0 && (!telling || lane->next < telling)) {
		r = try_telling(c, lane, &lane->telling, err);
		if (r > 0 && lane->next >= lane->telling)
			lane->p->tried += lane->field.offset == lane->p->field->offset;
	} else if (r > 0) {
		r = try_mutants(c, lane, err);
		lane->silent_mutants += lane->p->news == news;
	}
	lane->news += lane->p->news - news;
	lane->due += lane->p->news > news ? NEWS_WAIT : SILENCE_WAIT;
	lane->done = r > 0 && lane->next >= lane->telling && lane_is_done(lane);
	return r;
}

/* All lanes that are due; *ret_next: when another one is, UINT64_MAX if none ever will be. */
static int campaign_step(struct campaign *c, uint64_t step, uint64_t *ret_next, struct err *err)
{
	int r = 1;

	*ret_next = UINT64_MAX;
	for (size_t i = 0; i < c->lane_count && r > 0; i++) {
		struct field_lane *lane = &c->lanes[i];

		if (!lane->done && lane->due <= step)
			r = lane_advance(c, lane, err);
		if (!lane->done && lane->due < *ret_next)
			*ret_next = lane->due;
		if (r > 0)
			r = share_with_paths(c, step, err);
	}
	return r;
}

static int try_all(struct campaign *c, struct field_lane *lane, struct err *err)
{
	struct field_progress *p = lane->p;
	uint8_t value[CHANGE_BYTES_MAX];
	int r = 1;

	for (uint64_t i = 0; i < values_all(p->field) && r > 0; i++) {
		values_numbered(p->field, i, value);
		r = campaign_try(c, lane, value, err);
	}
	p->all_values = r > 0 && values_all(p->field);
	return r;
}

/* The first instance of every field before the second one. */
static int try_all_of_all(struct campaign *c, struct err *err)
{
	bool left = true;
	int r = 1;

	for (uint64_t round = 0; left && r > 0; round++) {
		left = false;
		for (size_t i = 0; i < c->lane_count && r > 0; i++) {
			left |= c->lanes[i].round > round;
			if (c->lanes[i].round == round)
				r = try_all(c, &c->lanes[i], err);
		}
	}
	return r;
}

/* ---- pairs ---- */

/* Another field of the instance. */
static const struct field_lane *draw_in_instance(const struct campaign *c,
						 const struct field_lane *lane, struct rng *rng)
{
	const struct field_lane *drawn = lane;
	uint64_t seen = 0;

	for (size_t i = 0; i < c->lane_count; i++)
		if (c->lanes[i].instance == lane->instance && &c->lanes[i] != lane &&
		    !rng_below(rng, ++seen))
			drawn = &c->lanes[i];
	return drawn;
}

static bool is_related(const struct ondisk_instance *a, const struct ondisk_instance *b)
{
	const char *path = strchr(a->label, '/'), *other = strchr(b->label, '/');

	return a != b && (a->structure == b->structure || (path && other && !strcmp(path, other)));
}

/* A field of another instance: of the same structure, or of the same object. */
static const struct field_lane *draw_related(const struct campaign *c,
					     const struct field_lane *lane, struct rng *rng)
{
	const struct field_lane *drawn = lane;
	uint64_t seen = 0;

	for (size_t i = 0; i < c->lane_count; i++)
		if (is_related(c->lanes[i].instance, lane->instance) && !rng_below(rng, ++seen))
			drawn = &c->lanes[i];
	return drawn;
}

/* Half of the pairs lie in one structure, a quarter in related ones. */
static const struct field_lane *draw_second(const struct campaign *c, const struct field_lane *lane,
					    struct rng *rng)
{
	switch (rng_below(rng, 4)) {
	case 0:
		return &c->lanes[rng_below(rng, c->lane_count)];
	case 1:
		return draw_related(c, lane, rng);
	default:
		return draw_in_instance(c, lane, rng);
	}
}

/* A telling value, or, as often as not, the one that the other field has got. */
static void add_drawn(struct campaign *c, const struct field_lane *lane,
		      struct corruption *corruption, struct rng *rng)
{
	const struct disk_change *first = corruption->count ? corruption->changes : NULL;
	struct field_values values;

	values_telling(&values, c->map, c->disk, lane->instance, &lane->field, rng_u64(rng));
	if (first && first->len == values.len && rng_chance(rng, 1, 2))
		corruption_add_field(corruption, c->disk, lane->instance, &lane->field, first->new);
	else if (values.count)
		corruption_add_field(corruption, c->disk, lane->instance, &lane->field,
				     values.items[rng_below(rng, values.count)]);
	values_free(&values);
}

int campaign_run_pairs(struct campaign *c, struct err *err)
{
	struct rng rng;
	int r = 1;

	rng_seed(&rng, c->options.seed + c->options.job);
	while (r > 0 && c->lane_count && !campaign_is_over(c)) {
		const struct field_lane *lane = &c->lanes[rng_below(&rng, c->lane_count)];
		const struct field_lane *second = draw_second(c, lane, &rng);
		struct corruption corruption = { 0 };

		add_drawn(c, lane, &corruption, &rng);
		if (second != lane)
			add_drawn(c, second, &corruption, &rng);
		if (corruption.count == 2)
			r = c->test(c->to, &corruption, lane->p, err);
	}
	return r < 0 ? r : 0;
}

int campaign_run(struct campaign *c, struct err *err)
{
	uint64_t step = 0;
	int r = 1;

	while (r > 0 && step != UINT64_MAX)
		r = campaign_step(c, step, &step, err);
	if (r > 0)
		r = try_paths_left(c, err);
	if (r > 0)
		r = try_all_of_all(c, err);
	return r;
}
