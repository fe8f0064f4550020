/* shell.c -- words and lines for the shell. */
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

/* The traps come first: a signal that arrives during mktemp is handled behind the assignment. */
void shell_add_work_directory(struct buf *out, const char *first)
{
	buf_addf(out,
		 "work=\n"
		 "trap '%s[ -z \"$work\" ] || rm -rf \"$work\"' EXIT\n"
		 "trap 'exit 2' HUP INT TERM\n"
		 "work=$(mktemp -d) || exit 2\n",
		 first);
}
