/* corruption.c -- a few bytes of a disk that are not what they were. */
#include "damage/corruption.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "base/buf.h"
#include "base/must.h"

enum { CUT_LEN = 3 };

static void corruption_add(struct corruption *c, const struct disk_change *change,
			   const uint8_t *disk, const uint8_t *value)
{
	struct disk_change *to = &c->changes[c->count++];

	must(c->count <= CORRUPTION_CHANGES_MAX && change->len <= CHANGE_BYTES_MAX);
	*to = *change;
	memcpy(to->old, disk + change->at, change->len);
	memcpy(to->new, value, change->len);
}

uint16_t corruption_field_len(const struct ondisk_instance *instance,
			      const struct ondisk_field *field)
{
	uint32_t size = ondisk_field_size(instance, field);

	return size < CHANGE_BYTES_MAX ? (uint16_t)size : CHANGE_BYTES_MAX;
}

bool corruption_add_field(struct corruption *c, const uint8_t *disk,
			  const struct ondisk_instance *instance, const struct ondisk_field *field,
			  const uint8_t *value)
{
	struct disk_change change = {
		.at = instance->at + field->offset,
		.len = corruption_field_len(instance, field),
		.instance = instance,
		.field = field,
	};

	if (!memcmp(disk + change.at, value, change.len))
		return false;
	corruption_add(c, &change, disk, value);
	return true;
}

void corruption_add_bytes(struct corruption *c, const uint8_t *disk, uint64_t at,
			  const uint8_t *value, uint16_t len)
{
	struct disk_change change = { .at = at, .len = len };

	corruption_add(c, &change, disk, value);
}

static void print_field(const struct disk_change *change, struct buf *out)
{
	if (change->field)
		buf_addf(out, "%s.%s", change->instance->structure->name, change->field->name);
	else
		buf_adds(out, "bytes");
}

void corruption_print_fields(const struct corruption *c, struct buf *out)
{
	for (size_t i = 0; i < c->count; i++) {
		if (i && c->changes[i].field == c->changes[i - 1].field)
			continue;
		buf_adds(out, i ? " and " : "");
		print_field(&c->changes[i], out);
	}
}

static bool is_number(const struct disk_change *change)
{
	return change->field && change->field->role != ONDISK_BYTES && change->len <= 8;
}

static bool has_flags(const struct disk_change *change)
{
	return change->field && change->field->role == ONDISK_FLAGS;
}

/* "0x1 -> 0xff01" */
static void print_numbers(const struct disk_change *x, struct buf *out)
{
	uint64_t (*number)(const uint8_t *p, unsigned len) =
		x->instance->structure->big_endian ? ondisk_be : ondisk_le;

	buf_addf(out, "0x%" PRIx64 " -> 0x%" PRIx64, number(x->old, x->len),
		 number(x->new, x->len));
}

void corruption_print_short(const struct corruption *c, struct buf *out)
{
	corruption_print_fields(c, out);
	if (c->count == 1 && is_number(&c->changes[0])) {
		buf_addch(out, ' ');
		print_numbers(&c->changes[0], out);
	} else {
		buf_adds(out, " changed");
	}
}

static void print_bytes(const uint8_t *bytes, uint16_t len, struct buf *out)
{
	for (uint16_t i = 0; i < len; i++)
		buf_addf(out, "%s%02x", i ? " " : "", bytes[i]);
}

void corruption_print(const struct corruption *c, struct buf *out)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct disk_change *x = &c->changes[i];

		if (x->field)
			buf_addf(out, "%s: ", x->instance->label);
		print_field(x, out);
		if (is_number(x)) {
			buf_addch(out, ' ');
			print_numbers(x, out);
		}
		buf_addf(out, " (offset %" PRIu64 ": ", x->at);
		print_bytes(x->old, x->len, out);
		buf_adds(out, " -> ");
		print_bytes(x->new, x->len, out);
		buf_adds(out, ")\n");
	}
}

void corruption_path(const struct disk_change *change, struct buf *out)
{
	const char *path = change->instance ? strchr(change->instance->label, '/') : NULL;

	if (!path)
		return;
	/* Of a long path the label has the end only. */
	if (path - change->instance->label >= CUT_LEN && !strncmp(path - CUT_LEN, "...", CUT_LEN))
		path -= CUT_LEN;
	buf_add(out, path, strcspn(path, ","));
}

/* What changes nothing is no change. */
static void corruption_drop_equal(struct corruption *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->count; i++)
		if (memcmp(c->changes[i].old, c->changes[i].new, c->changes[i].len) != 0)
			c->changes[kept++] = c->changes[i];
	c->count = kept;
}

struct corruption_shrinking {
	struct corruption *c;
	int (*shows)(void *to, const struct corruption *c, struct err *err);
	void *to;
};

/* Gives bits of a byte back what they were, if that shows the same. */
static int corruption_restore(struct corruption_shrinking *x, size_t change, uint16_t byte,
			      uint8_t bits, struct err *err)
{
	struct corruption simpler = *x->c;
	struct disk_change *in = &simpler.changes[change];
	int r;

	if (!((in->old[byte] ^ in->new[byte]) & bits))
		return 0;
	in->new[byte] = (uint8_t)((in->new[byte] & ~bits) | (in->old[byte] & bits));
	r = x->shows(x->to, &simpler, err);
	if (r > 0)
		*x->c = simpler;
	return r < 0 ? r : 0;
}

int corruption_shrink(struct corruption *c,
		      int (*shows)(void *to, const struct corruption *c, struct err *err), void *to,
		      struct err *err)
{
	struct corruption_shrinking x = { c, shows, to };
	int r = 0;

	for (size_t i = 0; i < c->count && !r; i++)
		for (uint16_t b = 0; b < c->changes[i].len && !r; b++)
			r = corruption_restore(&x, i, b, 0xff, err);
	for (size_t i = 0; i < c->count && !r; i++)
		for (uint16_t b = 0; has_flags(&c->changes[i]) && b < c->changes[i].len; b++)
			for (unsigned bit = 0; bit < CHAR_BIT && !r; bit++)
				r = corruption_restore(&x, i, b, (uint8_t)(1U << bit), err);
	corruption_drop_equal(c);
	return r;
}
