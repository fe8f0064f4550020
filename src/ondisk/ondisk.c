/* ondisk.c -- the formats that are described; reading a disk, sealing what was changed on it.
 *
 * Sealing costs a binary search and the checksums that depend on the bytes: microseconds. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/must.h"
#include "ondisk/ondisk.h"

enum {
	INSTANCES_MAX = 1 << 22,
	COVERS_MAX = 1 << 23,
	DEPTH_MAX = 8, /* of checksums of checksums */
};

#define ONDISK_FORMAT(name) extern const struct ondisk_format ondisk_##name;
#include "ondisk/formats.def"
#undef ONDISK_FORMAT

#define ONDISK_FORMAT(name) &ondisk_##name,
static const struct ondisk_format *const formats[] = {
#include "ondisk/formats.def"
};
#undef ONDISK_FORMAT

const struct ondisk_format *ondisk_format(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	return NULL;
}

static const struct ondisk_format *ondisk_recognise(const uint8_t *disk, uint64_t size)
{
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (formats[i]->recognises(disk, size))
			return formats[i];
	return NULL;
}

static int ondisk_compare_covers(const void *a, const void *b)
{
	const struct ondisk_cover *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

int ondisk_read(struct ondisk_map *ret, const uint8_t *disk, uint64_t size, struct err *err)
{
	struct ondisk_map m = { .format = ondisk_recognise(disk, size), .disk_size = size };
	int status;

	if (!m.format)
		return err_set(err, ENOTSUP,
			       "the disk has no format whose structures are described");
	status = m.format->walk(&m, disk, err);
	if (!status && m.beyond)
		status = err_set(err, EUCLEAN, "a structure of %s lies beyond the end of the disk",
				 m.format->name);
	if (!status && (m.count >= INSTANCES_MAX || m.cover_count >= COVERS_MAX))
		status = err_set(err, EFBIG, "the disk has more than %d structures", INSTANCES_MAX);
	if (status) {
		ondisk_free(&m);
		return status;
	}
	if (m.cover_count)
		qsort(m.covers, m.cover_count, sizeof(*m.covers), ondisk_compare_covers);
	*ret = m;
	return 0;
}

void ondisk_free(struct ondisk_map *m)
{
	free(m->instances);
	free(m->covers);
	*m = (struct ondisk_map){ 0 };
}

/* Room for one more of an array. */
static void *ondisk_grow(void *array, size_t count, size_t *cap, size_t size)
{
	if (count < *cap)
		return array;
	*cap = *cap ? *cap * 2 : 256;
	return must_realloc(array, *cap * size);
}

static bool ondisk_within(struct ondisk_map *m, uint64_t at, uint64_t len)
{
	bool within = at <= m->disk_size && len <= m->disk_size - at;

	m->beyond |= !within;
	return within;
}

struct ondisk_instance *ondisk_add(struct ondisk_map *m, const struct ondisk_structure *structure,
				   uint64_t at, uint32_t size, const char *label, ...)
{
	struct ondisk_instance *i;
	va_list args;

	if (!ondisk_within(m, at, size) || m->count >= INSTANCES_MAX)
		return NULL;
	m->instances = ondisk_grow(m->instances, m->count, &m->cap, sizeof(*m->instances));
	i = &m->instances[m->count++];
	*i = (struct ondisk_instance){ .structure = structure, .at = at, .size = size };
	va_start(args, label);
	vsnprintf(i->label, sizeof(i->label), label, args);
	va_end(args);
	return i;
}

void ondisk_cover(struct ondisk_map *m, struct ondisk_cover cover)
{
	if (!ondisk_within(m, cover.at, cover.len) || m->cover_count >= COVERS_MAX)
		return;
	m->covers = ondisk_grow(m->covers, m->cover_count, &m->cover_cap, sizeof(*m->covers));
	m->covers[m->cover_count++] = cover;
	if (m->cover_len_max < cover.len)
		m->cover_len_max = cover.len;
}

/* The first row that begins at `at` or later. */
static size_t ondisk_first_cover(const struct ondisk_map *m, uint64_t at)
{
	size_t low = 0, high = m->cover_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (m->covers[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void ondisk_seal_all(struct ondisk_sealing *s)
{
	const struct ondisk_map *m = s->map;

	for (size_t i = 0; i < m->cover_count; i++)
		if (m->covers[i].kind != ONDISK_ALL)
			m->format->seal(s, &m->covers[i]);
}

static void ondisk_seal_range(struct ondisk_sealing *s, uint64_t at, uint64_t len)
{
	const struct ondisk_map *m = s->map;
	uint64_t begin = at > m->cover_len_max ? at - m->cover_len_max : 0;
	bool all = false;

	if (s->depth >= DEPTH_MAX)
		return; /* a changed pointer has made a checksum depend on itself */
	s->depth++;
	for (size_t i = ondisk_first_cover(m, begin);
	     i < m->cover_count && m->covers[i].at < at + len; i++) {
		const struct ondisk_cover *c = &m->covers[i];

		if (c->at + c->len <= at)
			continue;
		if (c->kind == ONDISK_ALL)
			all = true;
		else
			m->format->seal(s, c);
	}
	if (all)
		ondisk_seal_all(s);
	s->depth--;
}

void ondisk_seal(const struct ondisk_map *m, uint8_t *disk, uint64_t at, uint64_t len)
{
	struct ondisk_sealing s = { .map = m, .disk = disk, .at = at, .len = len };

	must(at <= m->disk_size && len <= m->disk_size - at);
	if (m->format->seal && len)
		ondisk_seal_range(&s, at, len);
}

uint64_t ondisk_wrong_checksum(const struct ondisk_map *m, const uint8_t *disk)
{
	struct ondisk_sealing s = {
		.map = m,
		.disk = (uint8_t *)disk,
		.compares = true,
		.wrong_at = UINT64_MAX,
	};

	if (m->format->seal)
		ondisk_seal_all(&s);
	return s.wrong_at;
}

void ondisk_seal_put(struct ondisk_sealing *s, uint64_t at, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;
	bool changed = false;

	must(at <= s->map->disk_size && len <= s->map->disk_size - at);
	if (s->compares) {
		if (memcmp(s->disk + at, bytes, len) != 0 && at < s->wrong_at)
			s->wrong_at = at;
		return;
	}
	for (size_t i = 0; i < len; i++) {
		if (at + i - s->at < s->len || s->disk[at + i] == p[i])
			continue;
		s->disk[at + i] = p[i];
		changed = true;
	}
	if (changed)
		ondisk_seal_range(s, at, len);
}

void ondisk_seal_le(struct ondisk_sealing *s, uint64_t at, uint64_t number, size_t len)
{
	uint8_t bytes[8] = { 0 };

	must(len <= sizeof(bytes));
	for (size_t i = 0; i < len; i++)
		bytes[i] = number >> (8 * i);
	ondisk_seal_put(s, at, bytes, len);
}

void ondisk_seal_be(struct ondisk_sealing *s, uint64_t at, uint64_t number, size_t len)
{
	uint8_t bytes[8] = { 0 };

	must(len <= sizeof(bytes));
	for (size_t i = 0; i < len; i++)
		bytes[i] = number >> (8 * (len - 1 - i));
	ondisk_seal_put(s, at, bytes, len);
}

uint32_t ondisk_field_size(const struct ondisk_instance *i, const struct ondisk_field *field)
{
	if (field->size == ONDISK_REST)
		return field->offset < i->size ? i->size - field->offset : 0;
	return field->offset + field->size <= i->size ? field->size : 0;
}

const struct ondisk_field *ondisk_find(const struct ondisk_format *format, const char *name,
				       const struct ondisk_structure **ret_structure)
{
	const char *dot = strchr(name, '.');
	size_t len = dot ? (size_t)(dot - name) : 0;

	for (size_t i = 0; dot && i < format->structure_count; i++) {
		const struct ondisk_structure *s = format->structures[i];

		if (strlen(s->name) != len || memcmp(s->name, name, len) != 0)
			continue;
		for (size_t j = 0; j < s->field_count; j++)
			if (!strcmp(s->fields[j].name, dot + 1)) {
				if (ret_structure)
					*ret_structure = s;
				return &s->fields[j];
			}
	}
	return NULL;
}
