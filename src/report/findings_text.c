/* findings_text.c -- what a run has found, as text: findings, and what no replay has shown. */
#include "report/findings_text.h"

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/count_text.h"
#include "base/json.h"

enum { OTHERS_MAX = 8 };

/* Its folder, or why it has none and what would be in it. */
static void add_place(const json_t *row, struct buf *out)
{
	const char *line = json_text(row, "trace");
	size_t len;

	if (!json_object_get(row, "failure")) {
		buf_addf(out, "  %s\n", json_text(row, "path"));
		return;
	}
	buf_addf(out, "  could not be written: %s\n", json_text(row, "failure"));
	for (; *line; line += len + (line[len] == '\n')) {
		len = strcspn(line, "\n");
		buf_addf(out, "    %.*s\n", (int)len, line);
	}
}

/* What else has the same cause. */
static void add_others(const json_t *row, struct buf *out)
{
	const json_t *others = json_object_get(row, "others"), *other;
	json_int_t count;
	size_t i;

	json_array_foreach(others, i, other)
	{
		if (i == OTHERS_MAX) {
			buf_addf(out, "  and %zu more\n", json_array_size(others) - i);
			break;
		}
		count = json_integer_value(json_object_get(other, "count"));
		buf_addf(out, "  also: %s", json_text(other, "signature"));
		if (count) /* else only a replay has shown it */
			buf_addf(out, ", %s", count_text((uint64_t)count, "time"));
		buf_addch(out, '\n');
	}
}

static void add_finding_row(const json_t *row, const char *target, struct buf *out)
{
	json_int_t count = json_integer_value(json_object_get(row, "count"));

	if (!target || strcmp(json_text(row, "target"), target) != 0)
		buf_addf(out, "%s ", json_text(row, "target"));
	buf_addf(out, "%s: %s", json_text(row, "code"), json_text(row, "title"));
	if (count > 1)
		buf_addf(out, " (%lld times)", (long long)count);
	buf_addch(out, '\n');
	add_place(row, out);
	if (*json_text(row, "program"))
		buf_addf(out, "  its program: %s\n", json_text(row, "program"));
	add_others(row, out);
}

/* ---- many that differ by a detail ---- */

static bool row_has_heading(const json_t *row, const json_t *like)
{
	static const char *const same[] = { "code", "target", "heading" };

	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++)
		if (strcmp(json_text(row, same[i]), json_text(like, same[i])) != 0)
			return false;
	return *json_text(row, "heading") && !json_object_get(row, "failure");
}

/* The place of another one with its heading, from `from` on; the size of the list if there is
 * none. */
static size_t find_heading(const json_t *findings, size_t from, const json_t *like)
{
	while (from < json_array_size(findings) &&
	       !row_has_heading(json_array_get(findings, from), like))
		from++;
	return from;
}

static size_t heading_count(const json_t *findings, const json_t *like)
{
	size_t count = 0, at = find_heading(findings, 0, like);

	for (; at < json_array_size(findings); at = find_heading(findings, at + 1, like))
		count++;
	return count;
}

static bool row_says(const json_t *row, const json_t *like)
{
	return row_has_heading(row, like) &&
	       !strcmp(json_text(row, "said"), json_text(like, "said"));
}

static const char *folder_name(const json_t *row)
{
	const char *path = json_text(row, "path"), *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Those of which the same is said are one line, and one for the rest of them. */
static void add_detail(const json_t *findings, size_t first, struct buf *out)
{
	const json_t *row = json_array_get(findings, first), *other;
	size_t others = 0;

	for (size_t i = 0; i < first; i++)
		if (row_says(json_array_get(findings, i), row))
			return;
	buf_addf(out, "  %s  %s", json_text(row, "path"), json_text(row, "detail"));
	if (*json_text(row, "said"))
		buf_addf(out, ": \"%s\"", json_text(row, "said"));
	for (size_t i = first + 1; i < json_array_size(findings); i++) {
		other = json_array_get(findings, i);
		if (row_says(other, row) && others++ < OTHERS_MAX)
			buf_addf(out, "%s %s (%s)", others == 1 ? "\n    the same:" : ",",
				 json_text(other, "detail"), folder_name(other));
	}
	if (others > OTHERS_MAX)
		buf_addf(out, ", and %zu more", others - OTHERS_MAX);
	buf_addch(out, '\n');
}

/* All findings with the heading of this one, the first that has it. */
static void add_heading(const json_t *findings, size_t first, const char *target, struct buf *out)
{
	const json_t *row = json_array_get(findings, first);

	if (!target || strcmp(json_text(row, "target"), target) != 0)
		buf_addf(out, "%s ", json_text(row, "target"));
	buf_addf(out, "%s: %s: %s\n", json_text(row, "code"), json_text(row, "heading"),
		 count_text(heading_count(findings, row), "finding"));
	for (size_t i = first; i < json_array_size(findings);
	     i = find_heading(findings, i + 1, row))
		add_detail(findings, i, out);
}

void findings_text(const json_t *findings, const json_t *unconfirmed, const char *target,
		   struct buf *out)
{
	json_t *row;
	size_t i;

	json_array_foreach(findings, i, row)
	{
		if (heading_count(findings, row) < 2)
			add_finding_row(row, target, out);
		else if (find_heading(findings, 0, row) == i)
			add_heading(findings, i, target, out);
	}
	json_array_foreach(unconfirmed, i, row)
	{
		buf_adds(out, "not confirmed by any replay: ");
		add_finding_row(row, target, out);
	}
}
