/* learned_page.c -- what a file system was found to lack, as a part of a page. */
#include "report/learned_page.h"

#include "base/buf.h"
#include "base/json.h"
#include "report/page.h"

static void learned_cell(struct buf *out, const json_t *row, const char *key)
{
	buf_adds(out, "<td>");
	page_text(out, json_text(row, key));
	buf_adds(out, "</td>");
}

void learned_section(struct buf *out, const json_t *learned, const json_t *descriptions)
{
	const json_t *row;
	size_t i;

	if (!json_array_size(learned))
		return;
	page_heading(out, "Missing features");
	buf_adds(out,
		 "<p>The file system has no description. Probes found that these features are "
		 "missing, and it was judged by that.</p>\n<table><tr><th>Feature</th>"
		 "<th>Trait</th><th>What was seen</th><th>Not judged because of it</th></tr>\n");
	json_array_foreach(learned, i, row)
	{
		buf_adds(out, "<tr>");
		learned_cell(out, row, "what");
		learned_cell(out, row, "trait");
		learned_cell(out, row, "reason");
		learned_cell(out, row, "hides");
		buf_adds(out, "</tr>\n");
	}
	buf_adds(out, "</table>\n");
	json_array_foreach(descriptions, i, row) if (json_is_string(row))
		page_box(out, json_string_value(row));
}
