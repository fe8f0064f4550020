/* findings_text.c -- what a run has found, as text: findings, and what no replay has shown. */
#include "cmd/findings_text.h"

#include <string.h>

#include "base/buf.h"

static const char *text_of(const json_t *row, const char *key)
{
	const char *text = json_string_value(json_object_get(row, key));

	return text ? text : "";
}

/* Its folder, or why it has none and what would be in it. */
static void add_place(const json_t *row, struct buf *out)
{
	const char *line = text_of(row, "trace");
	size_t len;

	if (!json_object_get(row, "failure")) {
		buf_addf(out, "  %s\n", text_of(row, "path"));
		return;
	}
	buf_addf(out, "  could not be written: %s\n", text_of(row, "failure"));
	for (; *line; line += len + (line[len] == '\n')) {
		len = strcspn(line, "\n");
		buf_addf(out, "    %.*s\n", (int)len, line);
	}
}

static void add_row(const json_t *row, bool with_target, struct buf *out)
{
	json_int_t count = json_integer_value(json_object_get(row, "count"));

	if (with_target)
		buf_addf(out, "%s ", text_of(row, "target"));
	buf_addf(out, "%s: %s", text_of(row, "code"), text_of(row, "title"));
	if (count > 1)
		buf_addf(out, " (%lld times)", (long long)count);
	buf_addch(out, '\n');
	add_place(row, out);
	if (*text_of(row, "program"))
		buf_addf(out, "  its program: %s\n", text_of(row, "program"));
}

void findings_text(const json_t *findings, const json_t *unconfirmed, bool with_target,
		   struct buf *out)
{
	json_t *row;
	size_t i;

	json_array_foreach(findings, i, row) add_row(row, with_target, out);
	json_array_foreach(unconfirmed, i, row)
	{
		buf_adds(out, "not confirmed by any replay: ");
		add_row(row, with_target, out);
	}
}
