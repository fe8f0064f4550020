/* strace_line.c -- splitting a line into process, name, arguments and result, in one pass. */
#include "cover/strace_line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "base/must.h"
#include "cover/name_table.h"
#include "cover/words.h"

static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && *p == ' ')
		p++;
	return p;
}

static const char *read_decimal(const char *p, const char *end, uint64_t *ret)
{
	uint64_t n = 0;

	for (; p < end && is_digit(*p); p++)
		n = n * 10 + (uint64_t)(*p - '0');
	*ret = n;
	return p;
}

/* "[pid 12] ", "12  ", then perhaps a time: the beginning of the call itself. */
const char *strace_head(const char *p, const char *end, uint32_t *ret_pid)
{
	const char *start = p;
	uint64_t pid = 0;

	if (end - p > 5 && !memcmp(p, "[pid ", 5)) {
		p = read_decimal(skip_blanks(p + 5, end), end, &pid);
		if (p < end && *p == ']')
			p++;
	} else if (p < end && is_digit(*p)) {
		p = read_decimal(p, end, &pid);
		if (p < end && *p != ' ') { /* it is a time */
			p = start;
			pid = 0;
		}
	}
	*ret_pid = (uint32_t)pid;
	for (p = skip_blanks(p, end); p < end && is_digit(*p);) {
		while (p < end && (is_digit(*p) || *p == ':' || *p == '.'))
			p++;
		p = skip_blanks(p, end);
	}
	return p;
}

/* Behind a string in quotes; p is at the first quote. */
static const char *skip_string(const char *p, const char *end)
{
	const char *quote;

	for (p++;;) {
		quote = memchr(p, '"', (size_t)(end - p));
		if (!quote)
			return end;
		p = quote + 1;
		while (quote[-1] == '\\' && quote[-2] == '\\')
			quote -= 2;
		if (quote[-1] != '\\')
			return p;
	}
}

/* Behind "<path>" of a descriptor; p is at '<'. If the path contains '>', the text after it
 * decides. */
static const char *skip_angle(const char *p, const char *end)
{
	static const bool follows[256] = { [','] = true, [')'] = true, [']'] = true, ['}'] = true,
					   [' '] = true, ['('] = true, ['|'] = true };

	while ((p = memchr(p, '>', (size_t)(end - p)))) {
		p++;
		if (p == end || follows[(unsigned char)*p])
			return p;
	}
	return end;
}

/* What ends a run of ordinary bytes. */
static const bool special[256] = {
	['"'] = true, ['('] = true, [')'] = true, ['['] = true, [']'] = true,
	['{'] = true, ['}'] = true, [','] = true, ['<'] = true,
};

/* Splits the arguments; p is behind the opening parenthesis. Behind the closing one, or NULL. */
static const char *read_args(struct strace_line *l, const char *p, const char *end)
{
	const char *start = p;
	unsigned depth = 0;

	while (p < end) {
		while (p < end && !special[(unsigned char)*p])
			p++;
		if (p == end)
			return NULL;
		switch (*p) {
		case '"':
			p = skip_string(p, end);
			continue;
		case '<':
			/* not "a << b" nor "<unfinished" */
			p = p > start && p[-1] != ' ' && p[-1] != '<' ? skip_angle(p, end) : p + 1;
			continue;
		case '(':
		case '[':
		case '{':
			depth++;
			break;
		case ',':
		case ')':
		case ']':
		case '}':
			if (!depth && (*p == ',' || *p == ')')) {
				if (l->args < STRACE_ARGS_MAX && (p > start || *p == ','))
					l->arg[l->args++] =
						(struct text){ start, (size_t)(p - start) };
				start = skip_blanks(p + 1, end);
				if (*p == ')')
					return p + 1;
			} else if (*p != ',' && depth) {
				depth--;
			}
			break;
		}
		p++;
	}
	return NULL;
}

/* The path behind a descriptor: "3</m/f>", with -yy perhaps "<...>(deleted)". */
struct text strace_path_behind(struct text arg)
{
	const char *open = memchr(arg.at, '<', arg.len), *close;

	if (!open || open[1] != '/')
		return (struct text){ open ? open + 1 : NULL, 0 };
	close = memrchr(open, '>', (size_t)(arg.at + arg.len - open));
	if (close && close[-1] == '>') /* -yy: "<path<char 1:3>>" */
		close = memchr(open + 1, '<', (size_t)(close - open));
	return close ? (struct text){ open + 1, (size_t)(close - open - 1) }
		     : (struct text){ NULL, 0 };
}

/* "[{iov_base=..., iov_len=2}, ...]": the sum; false where strace left pieces out. */
bool strace_sum(struct text arg, int64_t *ret)
{
	static const char label[] = "iov_len=";
	const char *p = arg.at, *end = arg.at + arg.len, *found;
	uint64_t len, sum = 0;

	if (memmem(p, arg.len, "...]", 4))
		return false;
	while ((found = memmem(p, (size_t)(end - p), label, sizeof(label) - 1))) {
		p = read_decimal(found + sizeof(label) - 1, end, &len);
		sum += len;
	}
	*ret = (int64_t)sum;
	return true;
}

/* The value behind "label=" in a structure. */
struct text strace_field(struct text arg, const char *label)
{
	const char *p = memmem(arg.at, arg.len, label, strlen(label)), *end = arg.at + arg.len,
		   *stop;

	if (!p)
		return (struct text){ NULL, 0 };
	p += strlen(label);
	for (stop = p; stop < end && *stop != ',' && *stop != '}';)
		stop++;
	return (struct text){ p, (size_t)(stop - p) };
}

/* The usual names of errors. */
static struct name_table errors;
static once_flag once = ONCE_FLAG_INIT;

static void fill_errors(void)
{
	for (int error = 1; error < COVER_ERRNOS; error++)
		name_table_add(&errors, must_strdup(errno_name(error)), error);
}

static int64_t find_error(const char *name, size_t len)
{
	int error;

	call_once(&once, fill_errors);
	error = name_table_find(&errors, name, len);
	return error < 0 ? errno_find(name, len) : error;
}

/* "3</m/f>", "-1 ENOENT (...)", "? ERESTARTSYS (...)"; false for a call that never returned. */
bool strace_result(const struct strace_line *l, int64_t *ret, struct text *ret_path)
{
	const char *p = l->result, *name;
	uint64_t n;
	bool failed = l->end - p > 3 && (!memcmp(p, "-1 E", 4) || !memcmp(p, "? E", 3));

	if (failed) {
		p = memchr(p, 'E', (size_t)(l->end - p));
		for (name = p; p < l->end && (is_digit(*p) || (*p >= 'A' && *p <= 'Z'));)
			p++;
		*ret = -find_error(name, (size_t)(p - name));
		if (*ret >= 0)
			*ret = -EINTR; /* ERESTARTSYS and its like */
		return true;
	}
	if (p == l->end || *p == '?')
		return false;
	if (l->end - p > 2 && p[0] == '0' && p[1] == 'x') {
		*ret = (int64_t)strtoull(p, NULL, 16);
		return true;
	}
	*ret_path = strace_path_behind((struct text){ p, (size_t)(l->end - p) });
	read_decimal(p + (*p == '-'), l->end, &n);
	*ret = *p == '-' ? -(int64_t)n : (int64_t)n;
	return true;
}

const char *strace_name(struct strace_line *l, const char *p, const char *end)
{
	l->name.at = p;
	while (p < end && ((*p >= 'a' && *p <= 'z') || is_digit(*p) || *p == '_'))
		p++;
	l->name.len = (size_t)(p - l->name.at);
	return p;
}

/* Arguments and result; p is behind the name. False where the line is no whole call. */
bool strace_split(struct strace_line *l, const char *p, const char *end)
{
	if (p == end || *p != '(')
		return false;
	p = read_args(l, p + 1, end);
	if (!p)
		return false;
	p = skip_blanks(p, end);
	if (end - p < 3 || p[0] != '=' || p[1] != ' ')
		return false;
	l->result = p + 2;
	l->end = end;
	return true;
}
