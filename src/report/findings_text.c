/* findings_text.c -- what a run has found, as text: findings, and what no replay has shown. */
#include "report/findings_text.h"

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

void findings_text(const json_t *findings, const json_t *unconfirmed, const char *target,
		   struct buf *out)
{
	json_t *row;
	size_t i;

	json_array_foreach(findings, i, row) add_finding_row(row, target, out);
	json_array_foreach(unconfirmed, i, row)
	{
		buf_adds(out, "not confirmed by any replay: ");
		add_finding_row(row, target, out);
	}
}
