/* own_map.c -- a map of fields that no format describes. */
#include "fsck/own_map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/must.h"

enum {
	NUMBER_MAX = 8, /* bytes of a difference that count as one field */
	LINE_MAX_BYTES = 200,
};

/* A field of its own structure, and where it lies. */
struct own_field {
	struct ondisk_structure structure;
	struct ondisk_field field;
	uint64_t at;
};

void own_map_init(struct own_map *m, uint64_t disk_size)
{
	*m = (struct own_map){ .map.disk_size = disk_size, .format.name = "described" };
}

int own_map_add(struct own_map *m, const char *structure, const char *field, uint64_t at,
		uint16_t size, enum ondisk_role role, struct err *err)
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
		.at = at,
	};
	return 0;
}

/* From here on nothing moves any more. */
void own_map_finish(struct own_map *m)
{
	m->structures = must_alloc((m->count + 1) * sizeof(struct ondisk_structure *));
	for (size_t i = 0; i < m->count; i++) {
		m->fields[i].structure.fields = &m->fields[i].field;
		m->structures[i] = &m->fields[i].structure;
		ondisk_add(&m->map, &m->fields[i].structure, m->fields[i].at,
			   m->fields[i].field.size, "at %llu", (unsigned long long)m->fields[i].at);
	}
	m->format.structures = m->structures;
	m->format.structure_count = m->count;
	m->map.format = &m->format;
}

void own_map_free(struct own_map *m)
{
	ondisk_free(&m->map);
	free(m->fields);
	free(m->structures);
	arena_free(&m->arena);
}

static int parse_line(struct own_map *m, const char *line, struct err *err)
{
	char name[LINE_MAX_BYTES], role[16] = "number";
	unsigned long long at;
	unsigned size;
	char *dot;

	if (sscanf(line, "%199s %lli %i %15s", name, (long long *)&at, (int *)&size, role) < 3 ||
	    !(dot = strchr(name, '.')) || !size || size > UINT16_MAX)
		return err_set(err, EINVAL,
			       "fields: expected STRUCTURE.FIELD OFFSET SIZE [ROLE], found %s",
			       line);
	*dot = '\0';
	return own_map_add(m, name, dot + 1, at, (uint16_t)size,
			   !strcmp(role, "bytes")   ? ONDISK_BYTES
			   : !strcmp(role, "flags") ? ONDISK_FLAGS
						    : ONDISK_NUMBER,
			   err);
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

void own_map_add_difference(struct own_map *m, const uint8_t *a, const uint8_t *b)
{
	struct err never = { 0 };
	char name[32];

	for (uint64_t at = 0; at < m->map.disk_size; at++) {
		uint64_t begin = at;

		if (a[at] == b[at])
			continue;
		while (at + 1 < m->map.disk_size && at + 1 - begin < NUMBER_MAX &&
		       a[at + 1] != b[at + 1])
			at++;
		snprintf(name, sizeof(name), "%llu", (unsigned long long)begin);
		must(!own_map_add(m, "repaired", name, begin, (uint16_t)(at + 1 - begin),
				  ONDISK_NUMBER, &never));
	}
}
