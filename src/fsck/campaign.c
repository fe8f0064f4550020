/* campaign.c -- which fields of a disk are damaged, in which order.
 *
 * In rounds: the first instance of every field, then the second, and so on, so that a short run has
 * seen something of everything. An instance of a field gets values that take every path of the
 * checker, as far as these can be found, and telling ones; then, in a second pass, a narrow field
 * gets all. */
#include "fsck/campaign.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/must.h"
#include "base/stop.h"
#include "fsck/values.h"
#include "symbolic/path_process.h"

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
	return 0;
}

void campaign_close(struct campaign *c)
{
	path_process_close(c->paths);
	for (size_t i = 0; i < c->count; i++)
		buf_free(&c->fields[i].why_not);
	free(c->fields);
}

static bool campaign_is_over(const struct campaign *c)
{
	return stop_requested ||
	       (c->options.until_seconds > 0 && clock_seconds() >= c->options.until_seconds);
}

/* One value; 1: go on, 0: it is over. */
static int campaign_try(struct campaign *c, struct field_progress *p,
			const struct ondisk_instance *instance, const uint8_t *value,
			struct err *err)
{
	struct corruption corruption = { 0 };
	int r = 1;

	if (corruption_add_field(&corruption, c->disk, instance, p->field, value))
		r = c->test(c->to, &corruption, p, err);
	return r > 0 ? !campaign_is_over(c) : r;
}

/* The instance of this number that has the field. */
static const struct ondisk_instance *nth_instance(const struct campaign *c,
						  const struct field_progress *p, uint64_t number)
{
	for (size_t i = 0; i < c->map->count; i++)
		if (has_field(&c->map->instances[i], p) && !number--)
			return &c->map->instances[i];
	return NULL;
}

static int try_telling(struct campaign *c, struct field_progress *p,
		       const struct ondisk_instance *instance, struct err *err)
{
	struct field_values values;
	int r = 1;

	values_telling(&values, c->map, c->disk, instance, p->field, c->options.seed);
	for (size_t i = 0; i < values.count && r > 0; i++)
		r = campaign_try(c, p, instance, values.items[i], err);
	values_free(&values);
	p->tried += r > 0;
	return r;
}

static int try_all(struct campaign *c, struct field_progress *p,
		   const struct ondisk_instance *instance, struct err *err)
{
	uint8_t value[CHANGE_BYTES_MAX];
	int r = 1;

	for (uint64_t i = 0; i < values_all(p->field) && r > 0; i++) {
		values_numbered(p->field, i, value);
		r = campaign_try(c, p, instance, value, err);
	}
	p->all_values = r > 0 && values_all(p->field);
	return r;
}

/* ---- paths of the checker ---- */

enum { PATHS_SECONDS = 60, PATHS_SECONDS_MIN = 2 };

struct path_search {
	struct campaign *c;
	struct field_progress *p;
	const struct ondisk_instance *instance;
	struct err *err;
	int status; /* of the last test */
};

static bool path_found(void *to, const uint8_t *values, struct hash path)
{
	struct path_search *x = to;

	(void)path;
	x->status = campaign_try(x->c, x->p, x->instance, values, x->err);
	return x->status > 0;
}

/* Half of the time that is left is for paths, and every field is to have its share. */
static double paths_budget(const struct campaign *c, size_t fields_left)
{
	double most = c->options.paths_seconds > 0 ? c->options.paths_seconds : PATHS_SECONDS;
	double share;

	if (c->options.until_seconds <= 0)
		return most;
	share = (c->options.until_seconds - clock_seconds()) / 2 / (double)fields_left;
	return share < most ? share : most;
}

static void note_incomplete(struct field_progress *p, const char *why)
{
	if (!p->why_not.len)
		buf_adds(&p->why_not, why);
}

/* A byte has so few values that all of them are tried instead. */
static int try_paths(struct campaign *c, struct field_progress *p,
		     const struct ondisk_instance *instance, struct err *err)
{
	struct path_range range = { .at = instance->at + p->field->offset,
				    .len = corruption_field_len(instance, p->field) };
	struct path_search x = { .c = c, .p = p, .instance = instance, .err = err, .status = 1 };
	struct paths_options options = {
		.ranges = &range,
		.range_count = 1,
		.seconds = paths_budget(c, c->count - (size_t)(p - c->fields)),
	};
	struct paths_result result;
	int r;

	if (!c->options.command || range.len == 1)
		return 1;
	if (options.seconds < PATHS_SECONDS_MIN) {
		note_incomplete(p, "no time was left");
		return 1;
	}
	if (!c->paths)
		c->paths = path_process_open(c->options.command, c->options.image, 0);
	r = path_process_explore(c->paths, &options, path_found, &x, &result, err);
	if (r)
		return r;
	p->paths += result.paths;
	p->left += result.left;
	p->explored += result.complete;
	if (!result.complete)
		note_incomplete(p, buf_str(&result.why_not));
	paths_result_free(&result);
	return x.status;
}

static int try_instance(struct campaign *c, struct field_progress *p,
			const struct ondisk_instance *instance, struct err *err)
{
	int r = try_paths(c, p, instance, err);

	return r > 0 ? try_telling(c, p, instance, err) : r;
}

typedef int pass(struct campaign *c, struct field_progress *p,
		 const struct ondisk_instance *instance, struct err *err);

/* Every instance of every field once; 1: to the end. */
static int campaign_pass(struct campaign *c, pass *visit, struct err *err)
{
	bool left = true;
	int r = 1;

	for (uint64_t round = 0; left && r > 0; round++) {
		left = false;
		for (size_t i = 0; i < c->count && r > 0; i++) {
			struct field_progress *p = &c->fields[i];

			if (round >= p->instances)
				continue;
			left = true;
			if ((round + i) % c->options.jobs == c->options.job)
				r = visit(c, p, nth_instance(c, p, round), err);
		}
	}
	return r;
}

int campaign_run(struct campaign *c, struct err *err)
{
	int r = campaign_pass(c, try_instance, err);

	if (r > 0)
		r = campaign_pass(c, try_all, err);
	return r;
}
