/* xml.c -- text in XML. */
#include "report/xml.h"

#include <string.h>

#include "base/buf.h"
#include "report/html.h"

/* The bytes of one character beyond ASCII; 0: it is none that UTF-8 and XML have. */
static size_t character_len(const char *at)
{
	unsigned char c = (unsigned char)*at;
	size_t len = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;

	if (c < 0xc2 || c > 0xf4 || !strncmp(at, "\xef\xbf\xbe", 3) ||
	    !strncmp(at, "\xef\xbf\xbf", 3))
		return 0;
	for (size_t i = 1; i < len; i++)
		if (((unsigned char)at[i] & 0xc0) != 0x80)
			return 0;
	/* Surrogates, and what could be shorter. */
	if ((c == 0xed && (unsigned char)at[1] > 0x9f) ||
	    (c == 0xe0 && (unsigned char)at[1] < 0xa0) ||
	    (c == 0xf0 && (unsigned char)at[1] < 0x90) ||
	    (c == 0xf4 && (unsigned char)at[1] > 0x8f))
		return 0;
	return len;
}

void xml_text(struct buf *out, const char *text)
{
	for (const char *at = text; *at; at++) {
		unsigned char c = (unsigned char)*at;
		size_t len = c < 0x80 ? 1 : character_len(at);

		if (html_entity(*at)) {
			buf_adds(out, html_entity(*at));
		} else if (!len || (c < ' ' && c != '\n' && c != '\t')) {
			buf_addch(out, '?');
		} else {
			buf_add(out, at, len);
			at += len - 1;
		}
	}
}

void xml_attribute(struct buf *out, const char *name, const char *value)
{
	buf_addf(out, " %s=\"", name);
	xml_text(out, value);
	buf_addch(out, '"');
}
