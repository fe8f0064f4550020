/* walk.c -- what the walks of all formats share. */
#include "ondisk/walk.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/must.h"

void walk_fail(struct ondisk_walk *w, const char *format, ...)
{
	char text[256];
	va_list args;

	if (w->status)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	w->status = err_set(w->err, EUCLEAN, "the structures of the disk are damaged: %s", text);
}

const uint8_t *walk_read(struct ondisk_walk *w, uint64_t at, uint64_t len, const char *what)
{
	uint64_t size = w->map->disk_size;

	if (w->status)
		return NULL;
	if (at > size || len > size - at) {
		walk_fail(w, "%s at byte %llu ends behind its %llu bytes", what,
			  (unsigned long long)at, (unsigned long long)size);
		return NULL;
	}
	return w->disk + at;
}

const uint8_t *walk_add(struct ondisk_walk *w, const struct ondisk_structure *s, uint64_t at,
			uint32_t size, const char *label, ...)
{
	const uint8_t *bytes = walk_read(w, at, size, s->name);
	char text[WALK_PATH_MAX + 64];
	va_list args;

	if (!bytes)
		return NULL;
	va_start(args, label);
	vsnprintf(text, sizeof(text), label, args);
	va_end(args);
	if (!ondisk_add(w->map, s, at, size, "%s", text)) {
		walk_fail(w, "there are too many of them");
		return NULL;
	}
	return bytes;
}

void walk_add_bitmap(struct ondisk_walk *w, const struct ondisk_structure *whole,
		     const struct ondisk_structure *edge, uint64_t at, uint64_t bits,
		     const char *label)
{
	uint64_t len = (bits + 7) / 8, free = bits;
	const uint8_t *p = walk_add(w, whole, at, (uint32_t)len, "%s", label);

	while (p && free && !(p[(free - 1) / 8] & 1U << (free - 1) % 8))
		free--;
	if (p && free < bits)
		walk_add(w, edge, at + free / 8, 1, "%s, bit %llu", label,
			 (unsigned long long)free);
}

void walk_set_make(struct ondisk_walk *w, struct walk_set *ret, uint64_t count, const char *what)
{
	*ret = (struct walk_set){ 0 };
	if (count > w->map->disk_size) {
		walk_fail(w, "%llu %s do not fit", (unsigned long long)count, what);
		return;
	}
	*ret = (struct walk_set){ must_alloc(count / 8 + 1), count };
}

void walk_set_free(struct walk_set *s)
{
	free(s->bits);
	*s = (struct walk_set){ 0 };
}

bool walk_set_add(struct ondisk_walk *w, struct walk_set *s, uint64_t number, const char *what)
{
	uint8_t bit = (uint8_t)(1U << number % 8);

	if (w->status)
		return false;
	if (number >= s->count) {
		walk_fail(w, "%s %llu of %llu", what, (unsigned long long)number,
			  (unsigned long long)s->count);
		return false;
	}
	if (s->bits[number / 8] & bit)
		return false;
	s->bits[number / 8] |= bit;
	return true;
}

void walk_path(char ret[WALK_PATH_MAX], const char *dir, const uint8_t *name, size_t len)
{
	size_t n = strlen(dir);

	must(n < WALK_PATH_MAX);
	memmove(ret, dir, n);
	if (n + 1 < WALK_PATH_MAX)
		ret[n++] = '/';
	for (size_t i = 0; i < len && name[i] && n + 1 < WALK_PATH_MAX; i++)
		ret[n++] = isprint(name[i]) ? (char)name[i] : '?';
	ret[n] = '\0';
}
