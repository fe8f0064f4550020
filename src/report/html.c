/* html.c -- texts and counts as HTML, and JSON within a page. */
#include "report/html.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/must.h"

const char *html_entity(char c)
{
	switch (c) {
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '&':
		return "&amp;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

void html_text(struct buf *out, const char *text)
{
	for (; text && *text; text++) {
		const char *entity = html_entity(*text);

		if (entity)
			buf_adds(out, entity);
		else if (((unsigned char)*text < ' ' && *text != '\n' && *text != '\t') ||
			 *text == 0x7f)
			buf_addf(out, "\\x%02x", (unsigned char)*text);
		else
			buf_addch(out, *text);
	}
}

void html_count(struct buf *out, long long count)
{
	char digits[32];
	size_t len = (size_t)snprintf(digits, sizeof(digits), "%lld", count);

	for (size_t i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0 && digits[i - 1] != '-')
			buf_adds(out, "\u202f");
		buf_addch(out, digits[i]);
	}
}

void html_json(struct buf *out, const json_t *data)
{
	char *text = json_dumps(data, JSON_COMPACT | JSON_ENCODE_ANY);

	must(text);
	for (const char *c = text; *c; c++) {
		if (*c == '<' || *c == '>' || *c == '&')
			buf_addf(out, "\\u%04x", (unsigned char)*c);
		else
			buf_addch(out, *c);
	}
	free(text);
}
