/* own_map.c -- a map of fields that no format describes. */
#include "damage/own_map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/must.h"

enum {
	NUMBER_MAX = 8, /* bytes of a difference that count as one field */
	LINE_MAX_BYTES = 200,
	DIFFERENCES_MAX = 2000, /* two disks may have nothing in common */
};

static const char difference_name[] = "repaired";

/* A row: a field, with a structure that has only this one, and where it lies. */
struct own_field {
	struct ondisk_structure structure;
	struct ondisk_field field;
	const char *label; /* NULL: none */
	uint64_t at;
};

void own_map_init(struct own_map *m, uint64_t disk_size)
{
	*m = (struct own_map){ .map.disk_size = disk_size, .format.name = "described" };
}

int own_map_add(struct own_map *m, const char *structure, const char *field, uint64_t at,
		uint16_t size, enum ondisk_role role, const char *label, struct err *err)
{
	if (!size || at > m->map.disk_size || size > m->map.disk_size - at)
		return err_set(err, EINVAL, "%s.%s does not lie on the disk", structure, field);
	if (m->count == m->cap) {
		m->cap = m->cap ? 2 * m->cap : 64;
		m->fields = must_realloc(m->fields, m->cap * sizeof(*m->fields));
	}
	m->fields[m->count++] = (struct own_field){
		.structure = { .name = arena_strdup(&m->arena, structure), .field_count = 1 },
		.field = { .name = arena_strdup(&m->arena, field), .size = size, .role = role },
		.label = label ? arena_strdup(&m->arena, label) : NULL,
		.at = at,
	};
	return 0;
}

static bool is_same_field(const struct own_field *a, const struct own_field *b)
{
	return a->field.size == b->field.size && a->field.role == b->field.role &&
	       !strcmp(a->field.name, b->field.name) &&
	       !strcmp(a->structure.name, b->structure.name);
}

/* The structure of the first row of this name. */
static const struct ondisk_structure *structure_of(struct own_map *m, struct own_field *row)
{
	struct own_field *first = m->fields;

	while (!is_same_field(first, row))
		first++;
	if (first == row) {
		row->structure.fields = &row->field;
		m->structures[m->format.structure_count++] = &row->structure;
	}
	return &first->structure;
}

/* From here on nothing moves any more. */
void own_map_finish(struct own_map *m)
{
	m->structures = must_alloc((m->count + 1) * sizeof(struct ondisk_structure *));
	for (size_t i = 0; i < m->count; i++) {
		struct own_field *row = &m->fields[i];
		const struct ondisk_structure *structure = structure_of(m, row);

		if (row->label)
			ondisk_add(&m->map, structure, row->at, row->field.size, "%s", row->label);
		else
			ondisk_add(&m->map, structure, row->at, row->field.size, "at %llu",
				   (unsigned long long)row->at);
	}
	m->format.structures = m->structures;
	m->map.format = &m->format;
}

void own_map_free(struct own_map *m)
{
	ondisk_free(&m->map);
	free(m->fields);
	free(m->structures);
	arena_free(&m->arena);
}

static bool role_find(const char *name, enum ondisk_role *ret)
{
	*ret = !strcmp(name, "bytes") ? ONDISK_BYTES
	     : !strcmp(name, "flags") ? ONDISK_FLAGS
				      : ONDISK_NUMBER;
	return *ret != ONDISK_NUMBER || !strcmp(name, "number");
}

static int parse_line(struct own_map *m, const char *line, struct err *err)
{
	char name[LINE_MAX_BYTES], label[LINE_MAX_BYTES] = "", role_name[16] = "number";
	enum ondisk_role role;
	long long at, size;
	char *dot;

	if (sscanf(line, "%199s %lli %lli %15s %199[^\n]", name, &at, &size, role_name, label) <
		    3 ||
	    !(dot = strchr(name, '.')) || at < 0 || size <= 0 || size > UINT16_MAX ||
	    !role_find(role_name, &role))
		return err_set(err, EINVAL,
			       "fields: expected STRUCTURE.FIELD OFFSET SIZE "
			       "[number|flags|bytes [LABEL]], found %s",
			       line);
	*dot = '\0';
	return own_map_add(m, name, dot + 1, (uint64_t)at, (uint16_t)size, role,
			   label[0] ? label : NULL, err);
}

int own_map_parse(struct own_map *m, const char *text, struct err *err)
{
	char line[LINE_MAX_BYTES];
	int r = 0;

	for (size_t len; *text && !r; text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)len, text);
		if (line[strspn(line, " \t")])
			r = parse_line(m, line, err);
	}
	return r;
}

/* The smallest field that has this byte; NULL: none. */
static const struct ondisk_field *field_at(const struct ondisk_map *map, uint64_t at,
					   const struct ondisk_instance **ret)
{
	const struct ondisk_field *best = NULL;
	uint32_t best_size = UINT32_MAX;

	for (size_t n = 0; n < map->count; n++) {
		const struct ondisk_instance *i = &map->instances[n];

		if (at < i->at || at >= i->at + i->size)
			continue;
		for (size_t f = 0; f < i->structure->field_count; f++) {
			const struct ondisk_field *field = &i->structure->fields[f];
			uint64_t begin = i->at + field->offset;
			uint32_t size = ondisk_field_size(i, field);

			if (at < begin || at >= begin + size || size >= best_size)
				continue;
			best = field;
			best_size = size;
			*ret = i;
		}
	}
	return best;
}

/* Where bytes that differ end; they are as many as make a number. */
static uint64_t difference_end(const uint8_t *a, const uint8_t *b, uint64_t begin, uint64_t limit)
{
	uint64_t end = begin + 1;

	while (end < limit && end - begin < NUMBER_MAX && a[end] != b[end])
		end++;
	return end;
}

/* The field, or, where it is a long one, what differs of it; returns where that ends. */
static uint64_t add_field(struct own_map *m, const uint8_t *a, const uint8_t *b, uint64_t at,
			  const struct ondisk_instance *i, const struct ondisk_field *field)
{
	uint64_t begin = i->at + field->offset, end = begin + ondisk_field_size(i, field);
	struct err never = { 0 };

	if (end - begin > NUMBER_MAX) {
		end = difference_end(a, b, at, end);
		begin = at;
	}
	must(!own_map_add(m, i->structure->name, field->name, begin, (uint16_t)(end - begin),
			  field->role, i->label, &never));
	m->fields[m->count - 1].structure.big_endian = i->structure->big_endian;
	return end;
}

/* Of no field. */
static uint64_t add_bytes(struct own_map *m, const uint8_t *a, const uint8_t *b, uint64_t at)
{
	uint64_t end = difference_end(a, b, at, m->map.disk_size);
	struct err never = { 0 };
	char name[32];

	snprintf(name, sizeof(name), "%llu", (unsigned long long)at);
	must(!own_map_add(m, difference_name, name, at, (uint16_t)(end - at), ONDISK_NUMBER, NULL,
			  &never));
	return end;
}

void own_map_add_difference(struct own_map *m, const uint8_t *a, const uint8_t *b,
			    const struct ondisk_map *known)
{
	size_t limit = m->count + DIFFERENCES_MAX;

	for (uint64_t at = 0; at < m->map.disk_size && m->count < limit;) {
		const struct ondisk_instance *i = NULL;
		const struct ondisk_field *field = NULL;

		if (a[at] == b[at]) {
			at++;
			continue;
		}
		if (known)
			field = field_at(known, at, &i);
		at = field ? add_field(m, a, b, at, i, field) : add_bytes(m, a, b, at);
	}
}

bool own_map_is_difference(const struct ondisk_instance *i)
{
	return !strcmp(i->structure->name, difference_name);
}
