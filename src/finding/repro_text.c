/* repro_text.c -- what may hold anything, as parts of a C program. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "finding/repro.h"
#include "op/c_text.h"

static const struct {
	const char *name, *text;
} helpers[HELPER_COUNT] = {
#define HELPER(name, text) { #name, text },
#include "finding/helpers.def"
#undef HELPER
};

void repro_comment(const char *text, size_t max, struct buf *out)
{
	for (size_t i = 0; text[i]; i++) {
		unsigned char byte = (unsigned char)text[i];

		if (i == max) {
			buf_adds(out, "...");
			return;
		}
		if (byte == '\n')
			buf_adds(out, "; ");
		else if (byte < ' ' || byte > '~')
			buf_addf(out, "\\%03o", byte);
		else
			buf_addch(out, (char)byte);
		/* Neither the end of a comment nor a trigraph. */
		if ((byte == '*' && text[i + 1] == '/') || (byte == '/' && text[i + 1] == '*') ||
		    (byte == '?' && text[i + 1] == '?'))
			buf_addch(out, ' ');
	}
}

void repro_errno(int error, struct buf *out)
{
	const char *name = errno_name(error);

	/* Beyond are the kernel's own, which no header of programs has. */
	if (isdigit((unsigned char)name[1]) || error > EHWPOISON)
		buf_addf(out, "%d", error);
	else
		buf_adds(out, name);
}

void repro_path(struct repro *r, const char *path)
{
	c_path(path, r->rooted, r->out);
	r->needs[HELPER_nothing] |= !path;
}

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Behind the comment or literal that begins at `at`. */
static const char *repro_skip(const char *at)
{
	char quote = *at;

	if (quote == '/') {
		at = strstr(at, "*/");
		return at ? at + 2 : "";
	}
	for (at++; *at && *at != quote; at++)
		at += *at == '\\' && at[1];
	return *at ? at + 1 : at;
}

static void repro_mention(struct repro *r, const char *word, size_t len)
{
	for (size_t i = 0; i < HELPER_COUNT; i++)
		if (strlen(helpers[i].name) == len && !memcmp(helpers[i].name, word, len))
			r->needs[i] = true;
}

void repro_mentions(struct repro *r, const char *text)
{
	size_t len;

	while (*text) {
		if (*text == '"' || *text == '\'' || (*text == '/' && text[1] == '*')) {
			text = repro_skip(text);
		} else if (is_word_char(*text)) {
			for (len = 0; is_word_char(text[len]); len++)
				;
			repro_mention(r, text, len);
			text += len;
		} else {
			text++;
		}
	}
}
