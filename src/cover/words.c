/* words.c -- names of flags as numbers. */
#include "cover/words.h"

#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "op/kind.h"

/* What tracers write and our own language does not. */
static const struct kind_name others[] = {
	{ .name = "FASYNC", .value = 020000 },
	{ .name = "O_NDELAY", .value = 04000 },
	{ .name = "AT_STATX_SYNC_AS_STAT", .value = 0 },
	{ .name = "STATX_ALL", .value = 0xfff },
	{ .name = "LOCK_MAND", .value = 32 },
	{ .name = NULL },
};

/* Bits of an unknown name: above every flag of Linux, in the partition "unknown". */
static const int64_t unknown_bit = INT64_C(1) << 31;

/* Decimal, octal or hexadecimal; returns the first byte behind it. */
static const char *read_c_number(const char *p, const char *end, int64_t *ret)
{
	bool negative = *p == '-';
	uint64_t n = 0;
	unsigned base = 10, digit;

	p += negative;
	if (end - p > 1 && p[0] == '0') {
		base = p[1] == 'x' ? 16 : 8;
		p += base == 16 ? 2 : 1;
	}
	for (; p < end; p++) {
		digit = *p <= '9' ? (unsigned)(*p - '0') : (unsigned)((*p | 32) - 'a') + 10;
		if (digit >= base)
			break;
		n = n * base + digit;
	}
	*ret = negative ? -(int64_t)n : (int64_t)n;
	return p;
}

/* One of "A|B|0x10". */
static bool read_word(enum kind kind, const char *p, const char *end, int64_t *ret)
{
	const struct kind_name *name;
	size_t len = (size_t)(end - p);

	if (!len)
		return false;
	if (is_digit(*p) || *p == '-')
		return read_c_number(p, end, ret) == end;
	if (!(*p >= 'A' && *p <= 'Z') && *p != '_')
		return false;
	name = name_find(kind_names(kind), p, len);
	if (!name)
		name = name_find(others, p, len);
	*ret = name ? name->value & UINT32_MAX : unknown_bit;
	if (name && name->value < 0)
		*ret = name->value; /* AT_FDCWD */
	return true;
}

static bool read_flag_words(enum kind kind, const char *p, const char *end, int64_t *ret)
{
	const char *bar;
	int64_t word;

	for (*ret = 0;; p = bar + 1) {
		bar = memchr(p, '|', (size_t)(end - p));
		if (!read_word(kind, p, bar ? bar : end, &word))
			return false;
		*ret |= word;
		if (!bar)
			return true;
	}
}

static struct words_slot *words_hash_slot(struct words *w, enum kind kind, const char *text,
					  size_t len)
{
	unsigned hash = (unsigned)kind * 31 + (unsigned)len;

	for (size_t i = 0; i < len; i++)
		hash = hash * 33 + (unsigned char)text[i];
	return &w->slots[(hash ^ hash >> 9) % WORDS_SLOTS];
}

bool words_value(struct words *w, enum kind kind, const char *text, size_t len, int64_t *ret)
{
	const char *end = text + len, *p;
	struct words_slot *slot;

	if (!len)
		return false;
	if (is_digit(*text) || *text == '-') {
		p = read_c_number(text, end, ret);
		if (p == end || *p == '<' || *p == ' ') /* a path, a comment */
			return true;
	}
	p = memchr(text, '<', len);
	if (p)
		len = (size_t)(p - text);
	if (len > WORDS_TEXT)
		return read_flag_words(kind, text, text + len, ret);
	slot = words_hash_slot(w, kind, text, len);
	if (slot->len != len || slot->kind != kind || memcmp(slot->text, text, len)) {
		if (!read_flag_words(kind, text, text + len, ret))
			return false;
		*slot = (struct words_slot){ .len = (uint8_t)len,
					     .kind = (uint8_t)kind,
					     .value = *ret };
		memcpy(slot->text, text, len);
	}
	*ret = slot->value;
	return true;
}

const struct syscall *words_request(const char *text, size_t len)
{
	const struct syscall *ioctl = syscall_find("ioctl", 5);
	const char *found;
	int64_t number;

	if (len && is_digit(*text)) {
		read_c_number(text, text + len, &number);
		return syscall_request(ioctl, (unsigned)number);
	}
	for (const struct syscall *s = ioctl + 1; s->request; s++) {
		found = memmem(text, len, s->name, strlen(s->name));
		if (found &&
		    (found + strlen(s->name) == text + len || found[strlen(s->name)] == ' '))
			return s;
	}
	return NULL;
}
