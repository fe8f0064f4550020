/* compare.c -- two checkers and the same damage: what does one lose that the other keeps? */
#include "fsck/compare.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/must.h"
#include "damage/values.h"

enum { FIELDS_MAX = 8, NAMES_TOLD = 8, INSTANCES_MAX = 64 };

/* ---- one comparison ---- */

void comparison_init(struct checker_comparison *c, struct fsck_session *a, struct fsck_session *b)
{
	*c = (struct checker_comparison){ .sides = { a, b } };
	contents_common(&c->common, &a->contents, &b->contents);
}

void comparison_free(struct checker_comparison *c)
{
	contents_free(&c->common);
}

static bool test_keeps(const struct fsck_test *t, struct hash content)
{
	return t->whole || contents_have(&t->after, content);
}

/* Files that this side has lost and the other one has not; their names are added. */
static uint64_t count_worse(const struct checker_comparison *c, const struct fsck_test *loser,
			    const struct fsck_test *keeper, struct buf *names)
{
	uint64_t count = 0;

	for (size_t i = 0; i < c->common.count; i++) {
		struct hash content = c->common.items[i].hash;

		if (test_keeps(loser, content) || !test_keeps(keeper, content))
			continue;
		if (count++ < NAMES_TOLD)
			buf_addf(names, "%s\n", c->common.items[i].names_nul);
	}
	return count;
}

/* Files of this side with a content that was never on the disk, and that the other has not. */
static uint64_t count_made_up(const struct checker_comparison *c, int side,
			      const struct compared *x, struct buf *names)
{
	const struct contents *after = &x->tests[side].after, *other = &x->tests[!side].after;
	uint64_t count = 0;

	for (size_t i = 0; i < after->count; i++) {
		if (contents_have(&c->sides[side]->contents, after->items[i].hash) ||
		    contents_have(other, after->items[i].hash))
			continue;
		if (count++ < NAMES_TOLD)
			buf_addf(names, "%s\n", after->items[i].names_nul);
	}
	return count;
}

static void compared_blame(const struct checker_comparison *c, struct compared *x, int side,
			   bool lost, const struct buf *names)
{
	struct fsck_test *t = &x->tests[side];

	x->loser = side;
	t->fault = FSCK_INCOMPLETE;
	buf_clear(&t->text);
	buf_addf(&t->text, "%s %llu file%s that %s %s", lost ? "loses" : "makes up",
		 (unsigned long long)x->count, x->count == 1 ? "" : "s",
		 c->sides[!side]->program->name, lost ? "keeps" : "does not have");
	buf_clear(&t->more);
	buf_adds(&t->more, buf_str(names));
}

/* Both have called their disk clean, and it could be read. What was lost weighs more than what was
 * made up, which shows on one disk only: two formats keep different parts of a damaged file. */
static void compared_judge(const struct checker_comparison *c, struct compared *x)
{
	x->loser = -1;
	if (!x->tests[0].read || !x->tests[1].read)
		return;
	for (int i = 0; i < 4 && x->loser < 0; i++) {
		struct buf names = BUF_INIT;
		int side = i % 2;
		bool lost = i < 2;

		if (!lost && !c->one_disk)
			break;
		x->count = lost ? count_worse(c, &x->tests[side], &x->tests[!side], &names)
				: count_made_up(c, side, x, &names);
		if (x->count)
			compared_blame(c, x, side, lost, &names);
		buf_free(&names);
	}
}

int comparison_try(struct checker_comparison *c, const struct corruption corruptions[2],
		   struct compared *ret, struct err *err)
{
	int r;

	*ret = (struct compared){ .loser = -1 };
	r = fsck_try(c->sides[0], &corruptions[0], 0, &ret->tests[0], err);
	if (!r)
		r = fsck_try(c->sides[1], &corruptions[1], 0, &ret->tests[1], err);
	if (r) {
		compared_free(ret);
		return r;
	}
	c->compared++;
	compared_judge(c, ret);
	c->incomplete += ret->loser >= 0;
	return 0;
}

int comparison_try_disks(struct checker_comparison *c, const uint8_t *const disks[2],
			 struct compared *ret, struct err *err)
{
	int r;

	*ret = (struct compared){ .loser = -1 };
	r = fsck_try_disk(c->sides[0], disks[0], 0, &ret->tests[0], err);
	if (!r)
		r = fsck_try_disk(c->sides[1], disks[1], 0, &ret->tests[1], err);
	if (r) {
		compared_free(ret);
		return r;
	}
	c->compared++;
	compared_judge(c, ret);
	c->incomplete += ret->loser >= 0;
	return 0;
}

void compared_free(struct compared *x)
{
	fsck_test_free(&x->tests[0]);
	fsck_test_free(&x->tests[1]);
}

/* ---- fields that mean the same ---- */

static const struct shared_field {
	const char *name;
	const char *fields[FIELDS_MAX];
} shared_fields[] = {
#define SHARED(name, ...) { name, { __VA_ARGS__ } },
#include "fsck/shared.def"
#undef SHARED
};

/* A field of a format, by the row of the table. */
struct format_field {
	const struct ondisk_structure *structure;
	const struct ondisk_field *field;
};

static bool find_field(const struct shared_field *shared, const struct ondisk_map *map,
		       struct format_field *ret)
{
	for (size_t i = 0; i < FIELDS_MAX && shared->fields[i]; i++) {
		ret->field = ondisk_find(map->format, shared->fields[i], &ret->structure);
		if (!ret->field)
			continue;
		for (size_t k = 0; k < map->count; k++)
			if (map->instances[k].structure == ret->structure &&
			    ondisk_field_size(&map->instances[k], ret->field))
				return true;
	}
	return false;
}

/* The path and what comes behind it: "/dir, \"name\"". "" for what belongs to no object. */
static const char *label_key(const struct ondisk_instance *i)
{
	const char *path = strchr(i->label, '/');

	return path ? path : "";
}

/* The instance of the same object on the other disk. */
static const struct ondisk_instance *find_same(const struct ondisk_map *map,
					       const struct format_field *f,
					       const struct ondisk_instance *i)
{
	for (size_t k = 0; k < map->count; k++) {
		const struct ondisk_instance *other = &map->instances[k];

		if (other->structure == f->structure && ondisk_field_size(other, f->field) &&
		    !strcmp(label_key(other), label_key(i)))
			return other;
	}
	return NULL;
}

/* A number in the width and order of a field; text as it is. */
static void convert(const uint8_t *value, uint16_t from_len, uint8_t ret[CHANGE_BYTES_MAX],
		    uint16_t len, bool is_text, bool big_endian)
{
	memset(ret, 0, CHANGE_BYTES_MAX);
	for (uint16_t i = 0; i < from_len && i < len; i++)
		ret[is_text || !big_endian ? i : len - 1 - i] = value[i];
}

struct visitor {
	int (*visit)(void *to, const char *field, const struct corruption corruptions[2],
		     struct err *err);
	void *to;
};

/* Telling values of the first side, as far as the second can have them. */
static int each_value(const struct checker_comparison *c, const struct ondisk_map *maps[2],
		      const struct shared_field *shared, const struct format_field fields[2],
		      const struct ondisk_instance *instances[2], uint64_t seed,
		      const struct visitor *v, struct err *err)
{
	uint16_t len = corruption_field_len(instances[1], fields[1].field);
	bool is_text = fields[1].field->role == ONDISK_BYTES;
	struct field_values values;
	int r = 1;

	values_telling(&values, maps[0], c->sides[0]->damaged.base, instances[0], fields[0].field,
		       seed);
	for (size_t i = 0; i < values.count && r > 0; i++) {
		struct corruption pair[2] = { { .count = 0 }, { .count = 0 } };
		uint8_t other[CHANGE_BYTES_MAX];

		convert(values.items[i], values.len, other, len, is_text,
			instances[1]->structure->big_endian);
		if (corruption_add_field(&pair[0], c->sides[0]->damaged.base, instances[0],
					 fields[0].field, values.items[i]) &&
		    corruption_add_field(&pair[1], c->sides[1]->damaged.base, instances[1],
					 fields[1].field, other))
			r = v->visit(v->to, shared->name, pair, err);
	}
	values_free(&values);
	return r;
}

static int each_instance(const struct checker_comparison *c, const struct ondisk_map *maps[2],
			 const struct shared_field *shared, const struct format_field fields[2],
			 uint64_t seed, const struct visitor *v, struct err *err)
{
	size_t visited = 0;
	int r = 1;

	for (size_t i = 0; i < maps[0]->count && visited < INSTANCES_MAX && r > 0; i++) {
		const struct ondisk_instance *pair[2] = { &maps[0]->instances[i], NULL };

		if (pair[0]->structure != fields[0].structure ||
		    !ondisk_field_size(pair[0], fields[0].field))
			continue;
		pair[1] = find_same(maps[1], &fields[1], pair[0]);
		if (!pair[1])
			continue;
		visited++;
		r = each_value(c, maps, shared, fields, pair, seed, v, err);
	}
	return r;
}

int comparison_each(const struct checker_comparison *c, const struct ondisk_map *maps[2],
		    uint64_t seed,
		    int (*visit)(void *to, const char *field,
				 const struct corruption corruptions[2], struct err *err),
		    void *to, struct err *err)
{
	const struct visitor v = { visit, to };
	size_t shared = 0;
	int r = 1;

	for (size_t i = 0; i < ARRAY_LEN(shared_fields) && r > 0; i++) {
		struct format_field fields[2];

		if (!find_field(&shared_fields[i], maps[0], &fields[0]) ||
		    !find_field(&shared_fields[i], maps[1], &fields[1]))
			continue;
		shared++;
		r = each_instance(c, maps, &shared_fields[i], fields, seed, &v, err);
	}
	if (!shared)
		return err_set(err, ENOTSUP, "%s and %s have no fields in common",
			       maps[0]->format->name, maps[1]->format->name);
	return r;
}
