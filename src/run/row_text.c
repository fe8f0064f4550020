/* row_text.c -- any bytes as text of JSON. */
#include "run/row_text.h"

#include "base/buf.h"

json_t *row_json_text(const char *text)
{
	json_t *plain = json_string(text), *escaped;
	struct buf out = BUF_INIT;

	if (plain)
		return plain;
	for (; *text; text++) {
		if ((signed char)*text < 0)
			buf_addf(&out, "\\x%02x", (unsigned char)*text);
		else
			buf_addch(&out, *text);
	}
	escaped = json_string(buf_str(&out));
	buf_free(&out);
	return escaped;
}
