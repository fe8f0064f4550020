/* view_calls.c -- the calls of a trace, with the objects that went wrong marked in them. */
#include <string.h>

#include "report/view.h"

enum { CALLS_SHOWN = 60, LINE_BYTES_MAX = 2000 };

/* The next text in quotes from `at` on, without them; false: none is left. */
static bool calls_next_quoted(const char *at, const char *end, const char **ret, size_t *ret_len)
{
	const char *from = memchr(at, '"', (size_t)(end - at)), *to;

	if (!from)
		return false;
	for (to = ++from; to < end && *to != '"'; to++)
		to += *to == '\\' && to + 1 < end;
	if (to >= end)
		return false;
	*ret = from;
	*ret_len = (size_t)(to - from);
	return true;
}

/* Whether a path of a call, "d/x" or "/d/x", is one of the list, "/d/x". */
static bool calls_is_marked(const json_t *paths, const char *text, size_t len)
{
	const json_t *path;
	size_t i;

	while (len && *text == '/') {
		text++;
		len--;
	}
	json_array_foreach(paths, i, path)
	{
		const char *other = json_string_value(path);

		while (other && *other == '/')
			other++;
		if (other && *other && strlen(other) == len && !memcmp(other, text, len))
			return true;
	}
	return false;
}

static void calls_add_part(json_t *parts, const char *text, size_t len, bool mark)
{
	json_t *part;

	if (!len)
		return;
	part = json_pack("{s:b}", "mark", mark);
	json_object_set_new(part, "text", view_text_part(text, len));
	json_array_append_new(parts, part);
}

/* Texts behind flags are data, not paths. */
static bool calls_has_flags(const char *at, const char *quoted)
{
	static const char here[] = "AT_FDCWD";

	for (; at < quoted; at++) {
		if (!strncmp(at, here, strlen(here)))
			at += strlen(here);
		else if (*at >= 'A' && *at <= 'Z')
			return true;
	}
	return false;
}

static json_t *calls_parts(const char *line, const char *end, const json_t *paths)
{
	json_t *parts = json_array();
	const char *at = line, *quoted, *from = line;
	size_t len;

	while (calls_next_quoted(at, end, &quoted, &len) && !calls_has_flags(at, quoted)) {
		if (calls_is_marked(paths, quoted, len)) {
			calls_add_part(parts, from, (size_t)(quoted - from), false);
			calls_add_part(parts, quoted, len, true);
			from = quoted + len;
		}
		at = quoted + len + 1;
	}
	calls_add_part(parts, from, (size_t)(end - from), false);
	return parts;
}

/* Where the outcome begins, behind the last " = " that is in no quotes; the end: it has none. */
static const char *calls_outcome(const char *line, const char *end)
{
	const char *outcome = end;
	bool quoted = false;

	for (const char *c = line; c + 3 <= end; c++) {
		if (*c == '\\')
			c++;
		else if (*c == '"')
			quoted = !quoted;
		else if (!quoted && !memcmp(c, " = ", 3)) {
			outcome = c;
			break;
		}
	}
	return outcome;
}

static json_t *calls_row(const char *line, size_t len, const json_t *paths)
{
	const char *end = line + (len < LINE_BYTES_MAX ? len : LINE_BYTES_MAX);
	const char *outcome = calls_outcome(line, end);
	json_t *row = json_object();

	json_object_set_new(row, "parts", calls_parts(line, outcome, paths));
	json_object_set_new(row, "outcome",
			    outcome < end ? view_text_part(outcome + 3, (size_t)(end - outcome) - 3)
					  : json_string(""));
	json_object_set_new(row, "note", json_string(""));
	json_object_set_new(row, "last", json_false());
	return row;
}

json_t *view_calls(const char *trace, const json_t *paths, long long *ret_left_out)
{
	json_t *rows = json_array(), *last;
	size_t len;

	*ret_left_out = 0;
	for (; *trace; trace += len + (trace[len] == '\n')) {
		len = strcspn(trace, "\n");
		last = json_array_get(rows, json_array_size(rows) - 1);
		if (*trace == '#' && last)
			json_object_set_new(last, "note", view_text_part(trace, len));
		if (*trace == '#' || !len)
			continue;
		if (json_array_size(rows) == CALLS_SHOWN) {
			json_array_remove(rows, 0);
			++*ret_left_out;
		}
		json_array_append_new(rows, calls_row(trace, len, paths));
	}
	last = json_array_get(rows, json_array_size(rows) - 1);
	if (last)
		json_object_set_new(last, "last", json_true());
	return rows;
}

json_t *view_last_paths(const char *trace)
{
	const char *line = NULL, *end, *at, *quoted;
	json_t *paths = json_array();
	size_t len;

	for (; *trace; trace += len + (trace[len] == '\n')) {
		len = strcspn(trace, "\n");
		if (len && *trace != '#')
			line = trace;
	}
	if (!line)
		return paths;
	end = calls_outcome(line, line + strcspn(line, "\n"));
	for (at = line; calls_next_quoted(at, end, &quoted, &len); at = quoted + len + 1)
		json_array_append_new(paths, view_text_part(quoted, len));
	return paths;
}
