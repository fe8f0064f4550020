/* put.c -- numbers and strings as both dialects write them. */
#include "base/put.h"

void put_num(struct buf *out, int64_t num)
{
	if (num < 0)
		buf_addch(out, '-');
	buf_addu(out, num < 0 ? -(uint64_t)num : (uint64_t)num);
}

void put_octal(struct buf *out, uint64_t num, unsigned digits_min)
{
	char digits[22], *p = digits + sizeof(digits);

	for (unsigned i = 0; num || i < digits_min; i++, num >>= 3)
		*--p = (char)('0' + (num & 7));
	buf_add(out, p, (size_t)(digits + sizeof(digits) - p));
}

void put_hex(struct buf *out, uint64_t num)
{
	char digits[16], *p = digits + sizeof(digits);

	do {
		*--p = "0123456789abcdef"[num & 15];
		num >>= 4;
	} while (num);
	put_literal(out, "0x");
	buf_add(out, p, (size_t)(digits + sizeof(digits) - p));
}

/* The letter behind the backslash, or 0. */
static char escape_letter(char c)
{
	switch (c) {
	case '\n':
		return 'n';
	case '\t':
		return 't';
	case '\r':
		return 'r';
	case '\b':
		return 'b';
	case '"':
	case '\\':
		return c;
	}
	return 0;
}

static char *put_escaped(char *to, char c)
{
	unsigned char byte = (unsigned char)c;
	char letter = escape_letter(c);

	*to++ = '\\';
	if (letter) {
		*to++ = letter;
		return to;
	}
	*to++ = (char)('0' + byte / 100);
	*to++ = (char)('0' + byte / 10 % 10);
	*to++ = (char)('0' + byte % 10);
	return to;
}

void put_quoted(struct buf *out, const char *text, size_t len)
{
	char *to;

	buf_reserve(out, 4 * len + 2);
	to = out->data + out->len;
	*to++ = '"';
	for (size_t i = 0; i < len; i++) {
		if (text[i] >= ' ' && text[i] <= '~' && text[i] != '"' && text[i] != '\\')
			*to++ = text[i];
		else
			to = put_escaped(to, text[i]);
	}
	*to++ = '"';
	*to = '\0';
	out->len = (size_t)(to - out->data);
}
