/* wrap.c -- words filled into lines. */
#include "base/wrap.h"

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"

enum { WIDTH = 80 };

static const char gaps[] = " \n";

void wrap_words(const char *text, size_t indent, struct buf *out)
{
	size_t column = indent, len;

	for (text += strspn(text, gaps); *text; text += strspn(text, gaps)) {
		len = strcspn(text, gaps);
		if (column > indent && column + 1 + len > WIDTH) {
			buf_addf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			buf_addch(out, ' ');
			column++;
		}
		buf_add(out, text, len);
		column += len;
		text += len;
	}
	buf_addch(out, '\n');
}

static bool line_stays(const char *line)
{
	return strchr(" \t-#\n", *line);
}

void wrap_text(const char *text, struct buf *out)
{
	struct buf paragraph = BUF_INIT;
	size_t len;
	bool kept;

	for (; *text; text += len) {
		len = strcspn(text, "\n");
		len += text[len] == '\n';
		kept = line_stays(text);
		if (!kept)
			buf_add(&paragraph, text, len);
		if (paragraph.len && (kept || !text[len])) {
			wrap_words(paragraph.data, 0, out);
			buf_clear(&paragraph);
		}
		if (kept)
			buf_add(out, text, len);
	}
	buf_free(&paragraph);
}
