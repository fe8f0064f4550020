/* view.c -- texts, files and counts of a run for its page. */
#include "report/view.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

json_t *view_text_part(const char *text, size_t len)
{
	json_t *plain = json_stringn(text, len), *escaped;
	struct buf out = BUF_INIT;

	if (plain)
		return plain;
	for (size_t i = 0; i < len; i++) {
		if ((signed char)text[i] < 0)
			buf_addf(&out, "\\x%02x", (unsigned char)text[i]);
		else
			buf_addch(&out, text[i]);
	}
	escaped = json_string(buf_str(&out));
	buf_free(&out);
	return escaped;
}

json_t *view_text(const char *text)
{
	return view_text_part(text, strlen(text));
}

/* A character below 256 is the byte of its number; of others nothing has made a byte. */
json_t *view_bytes(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	const char *text = json_text(object, key);
	struct buf bytes = BUF_INIT;
	json_t *ret;

	for (size_t i = 0, len = json_string_length(value); i < len; i++) {
		bool wide = (text[i] & 0xfe) == 0xc2 && i + 1 < len;

		buf_addch(&bytes,
			  (char)(wide ? (text[i] & 3) << 6 | (text[i + 1] & 0x3f) : text[i]));
		i += wide;
	}
	ret = view_text_part(buf_str(&bytes), bytes.len);
	buf_free(&bytes);
	return ret;
}

json_t *view_file(const char *dir, const char *name)
{
	struct buf text = BUF_INIT, clipped = BUF_INIT;
	struct err none = { 0 };
	char path[PATH_MAX];
	json_t *o = NULL;

	snprintf(path, sizeof(path), "%.3900s/%.100s", dir, name);
	if (!buf_read_file(&text, path, 16 * VIEW_TEXT_MAX, &none) && text.len) {
		buf_add_clipped(&clipped, text.data, VIEW_TEXT_MAX);
		o = view_text(buf_str(&clipped));
	}
	buf_free(&text);
	buf_free(&clipped);
	return o;
}

long long view_count(const json_t *o, const char *key)
{
	return (long long)json_integer_value(json_object_get(o, key));
}

long long view_sum(long long a, long long b)
{
	long long sum;

	return __builtin_add_overflow(a, b, &sum) ? LLONG_MAX : sum;
}

json_t *view_words(const char *key)
{
	struct buf words = BUF_INIT;
	json_t *text;

	for (; *key; key++)
		buf_addch(&words, *key == '_' ? ' ' : *key);
	text = view_text(buf_str(&words));
	buf_free(&words);
	return text;
}

json_t *view_seconds(double seconds)
{
	char text[64];
	long long whole = seconds > 0 && seconds < 1e12 ? (long long)seconds : 0;

	if (whole >= 3600)
		snprintf(text, sizeof(text), "%lld h %02lld min", whole / 3600, whole / 60 % 60);
	else if (whole >= 60)
		snprintf(text, sizeof(text), "%lld min %02lld s", whole / 60, whole % 60);
	else
		snprintf(text, sizeof(text), "%.1f s", seconds > 0 ? seconds : 0.0);
	return json_string(text);
}
