/* scdoc.c -- the markup of man page sources. */
#include "settings/scdoc.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/buf.h"

void scdoc_escape(const char *text, struct buf *out)
{
	for (; *text; text++) {
		if (strchr("\\*_<>[]|#`.", *text))
			buf_addch(out, '\\');
		buf_addch(out, *text);
	}
}

/* There an underscore marks nothing. */
static bool inside_word(const char *text, const char *p)
{
	return p > text && isalnum((unsigned char)p[-1]) && isalnum((unsigned char)p[1]);
}

void scdoc_plain(const char *text, struct buf *out)
{
	for (const char *p = text; *p; p++) {
		if (*p == '\\' && p[1])
			buf_addch(out, *++p);
		else if (*p != '*' && (*p != '_' || inside_word(text, p)))
			buf_addch(out, *p);
	}
}
