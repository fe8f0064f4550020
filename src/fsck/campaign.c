/* campaign.c -- which fields of a disk are damaged, in which order.
 *
 * In rounds: the first instance of every field, then the second, and so on, so that a short run has
 * seen something of everything. An instance of a field gets telling values; then, in a second pass,
 * a narrow field gets all. */
#include "fsck/campaign.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/must.h"
#include "base/stop.h"
#include "fsck/values.h"

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
	return x->structure == p->structure && p->field->offset + p->field->size <= x->size;
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

		p.instances = count_instances(&c->session->map, &p);
		if (!p.instances || !is_wanted(&c->options, structure, p.field))
			continue;
		c->fields = must_realloc(c->fields, (c->count + 1) * sizeof(*c->fields));
		c->fields[c->count++] = p;
	}
}

int campaign_open(struct campaign *c, struct fsck_session *s, const struct campaign_options *o,
		  struct err *err)
{
	const struct ondisk_format *format = s->map.format;

	*c = (struct campaign){ .session = s, .options = *o };
	for (size_t i = 0; i < format->structure_count; i++)
		add_structure(c, format->structures[i]);
	if (!c->count)
		return err_set(err, EINVAL,
			       "no field of that name is on a disk of %s; `assay fsck %s "
			       "--list-fields` prints all",
			       format->name, s->program->name);
	return 0;
}

void campaign_close(struct campaign *c)
{
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
	struct fsck_session *s = c->session;
	struct corruption corruption = { 0 };
	struct fsck_test t;
	bool more = true;
	int r;

	if (!corruption_add_field(&corruption, s->damaged.base, instance, p->field, value))
		return 1;
	for (int mode = 0; mode < (int)s->program->mode_count && more; mode++) {
		if (!fsck_is_new(s, &corruption, mode))
			continue;
		r = fsck_try(s, &corruption, mode, &t, err);
		if (r)
			return r;
		p->images++;
		if (t.fault != FSCK_FINE) {
			p->faults++;
			more = c->found(c->to, &t);
		}
		fsck_test_free(&t);
	}
	c->progress(c->to);
	return more && !campaign_is_over(c);
}

/* The instance of this number that has the field. */
static const struct ondisk_instance *nth_instance(const struct campaign *c,
						  const struct field_progress *p, uint64_t number)
{
	const struct ondisk_map *map = &c->session->map;

	for (size_t i = 0; i < map->count; i++)
		if (has_field(&map->instances[i], p) && !number--)
			return &map->instances[i];
	return NULL;
}

static int try_telling(struct campaign *c, struct field_progress *p,
		       const struct ondisk_instance *instance, struct err *err)
{
	struct field_values values;
	int r = 1;

	values_telling(&values, &c->session->map, c->session->damaged.base, instance, p->field,
		       c->options.seed);
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
	int r = campaign_pass(c, try_telling, err);

	if (r > 0)
		r = campaign_pass(c, try_all, err);
	return r < 0 ? r : 0;
}
