/* shell.c -- words for the shell. */
#include "process/shell.h"

#include "base/buf.h"

void shell_add_quoted(struct buf *out, const char *text, size_t len)
{
	buf_addch(out, '\'');
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\'')
			buf_adds(out, "'\\''");
		else
			buf_addch(out, text[i]);
	}
	buf_addch(out, '\'');
}
