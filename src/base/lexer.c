/* lexer.c -- the tokens of the trace language. */
#include "base/lexer.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/put.h"

enum { FOUND_MAX = 24 };

void lex_init(struct lexer *l, const char *name, char *text, struct err *err)
{
	*l = (struct lexer){
		.name = name, .next = text, .line_start = text, .line = 1, .err = err
	};
}

static void lex_describe_next(const char *next, struct buf *out)
{
	size_t len = strcspn(next + (*next != '\0'), " \t\r\n") + 1;

	if (*next == '\n')
		buf_adds(out, "end of line");
	else if (!*next)
		buf_adds(out, "end of file");
	else
		put_quoted(out, next, len < FOUND_MAX ? len : FOUND_MAX);
}

int lex_expected(struct lexer *l, const char *what)
{
	struct buf found = BUF_INIT;

	lex_blanks(l);
	lex_describe_next(l->next, &found);
	err_set(l->err, EINVAL, "%s:%u:%zu: expected %s, found %s", l->name, l->line,
		(size_t)(l->next - l->line_start) + 1, what, found.data);
	buf_free(&found);
	return -EINVAL;
}

int lex_char(struct lexer *l, char c)
{
	char what[] = { '\'', c, '\'', '\0' };

	return lex_take(l, c) ? 0 : lex_expected(l, what);
}

int lex_end(struct lexer *l)
{
	if (lex_take(l, '\n')) {
		l->line++;
		l->line_start = l->next;
		return 0;
	}
	return *l->next ? lex_expected(l, "end of line") : 0;
}

static bool lex_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

size_t lex_peek_word(struct lexer *l, const char **ret)
{
	size_t len = 0;

	lex_blanks(l);
	*ret = l->next;
	if (is_letter(*l->next))
		for (len = 1; is_letter(l->next[len]) || lex_is_digit(l->next[len]);)
			len++;
	return len;
}

bool lex_take_word(struct lexer *l, const char *word)
{
	const char *found;
	size_t len = lex_peek_word(l, &found);

	if (!len || !word_is(found, len, word))
		return false;
	l->next += len;
	return true;
}

bool lex_at_num(struct lexer *l)
{
	char c = lex_peek(l);

	return lex_is_digit(c) || (c == '-' && lex_is_digit(l->next[1]));
}

static int digit_value(char c)
{
	if (lex_is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 99;
}

/* The base that the prefix at p says, and the first digit behind the prefix. */
static unsigned base_of(const char **p, enum radix radix)
{
	const char *s = *p;

	if (s[0] != '0')
		return 10;
	if (s[1] == 'x' && digit_value(s[2]) < 16) {
		*p += 2;
		return 16;
	}
	if (radix == RADIX_C)
		return 8;
	if (s[1] == 'o' && digit_value(s[2]) < 8) {
		*p += 2;
		return 8;
	}
	return 10;
}

int lex_num(struct lexer *l, enum radix radix, int64_t *ret)
{
	uint64_t value = 0, limit;
	bool negative;
	unsigned base;
	const char *p;
	int digit;

	if (!lex_at_num(l))
		return lex_expected(l, "a number");
	negative = *l->next == '-';
	p = l->next + negative;
	base = base_of(&p, radix);
	limit = base == 10 || negative ? (uint64_t)INT64_MAX + negative : UINT64_MAX;
	for (; (digit = digit_value(*p)) < (int)base; p++)
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, (unsigned)digit, &value) || value > limit)
			return lex_expected(l, "a number of 64 bits");
	if (is_letter(*p) || lex_is_digit(*p))
		return lex_expected(l, "a number");
	*ret = (int64_t)(negative ? -value : value);
	l->next += p - l->next;
	return 0;
}

int lex_num_in(struct lexer *l, enum radix radix, int64_t min, int64_t max, int64_t *ret)
{
	struct lexer start;
	struct buf what = BUF_INIT;
	int err;

	lex_blanks(l);
	start = *l;
	err = lex_num(l, radix, ret);
	if (err || (*ret >= min && *ret <= max))
		return err;
	buf_addf(&what, "a number from %lld to %lld", (long long)min, (long long)max);
	lex_expected(&start, what.data);
	buf_free(&what);
	return -EINVAL;
}

/* The byte behind a backslash; *p is moved past it. -1 where it is no escape of OCaml's. */
static int lex_escape(char **p)
{
	const unsigned char *s = (unsigned char *)*p;
	int value = -1;

	*p += 1;
	switch (s[0]) {
	case 'n':
		return '\n';
	case 't':
		return '\t';
	case 'r':
		return '\r';
	case 'b':
		return '\b';
	case '"':
	case '\\':
	case '\'':
	case ' ':
		return s[0];
	}
	if (lex_is_digit((char)s[0]) && lex_is_digit((char)s[1]) && lex_is_digit((char)s[2]))
		value = (s[0] - '0') * 100 + (s[1] - '0') * 10 + s[2] - '0';
	else if (s[0] == 'x' && digit_value((char)s[1]) < 16 && digit_value((char)s[2]) < 16)
		value = digit_value((char)s[1]) * 16 + digit_value((char)s[2]);
	*p += 2;
	return value < 256 ? value : -1;
}

/* Decodes from l->next, which points to the first backslash, up to the quote. */
static int lex_decode_string(struct lexer *l, char *text, uint32_t *ret_len)
{
	char *from = l->next, *to = l->next;
	int byte;

	while (*from != '"') {
		l->next = from;
		if (*from == '\n' || !*from)
			return lex_expected(l, "closing quote");
		if (*from != '\\') {
			*to++ = *from++;
			continue;
		}
		from++;
		byte = lex_escape(&from);
		if (byte < 0)
			return lex_expected(l, "an escape sequence");
		*to++ = (char)byte;
	}
	*to = '\0';
	*ret_len = (uint32_t)(to - text);
	l->next = from + 1;
	return 0;
}

int lex_string(struct lexer *l, char **ret, uint32_t *ret_len)
{
	char *p;

	if (!lex_take(l, '"'))
		return lex_expected(l, "a string");
	*ret = l->next;
	for (p = l->next; *p != '"' && *p != '\\' && *p != '\n' && *p;)
		p++;
	if (*p == '"') {
		*p = '\0';
		*ret_len = (uint32_t)(p - *ret);
		l->next = p + 1;
		return 0;
	}
	l->next = p;
	return lex_decode_string(l, *ret, ret_len);
}

char *lex_rest(struct lexer *l)
{
	char *rest, *end;

	lex_blanks(l);
	rest = l->next;
	end = rest + strcspn(rest, "\n");
	l->next = end;
	if (*end) {
		l->line++;
		l->line_start = ++l->next;
	}
	while (end > rest && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		end--;
	*end = '\0';
	return rest;
}
