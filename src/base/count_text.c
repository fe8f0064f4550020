/* count_text.c -- a number and what it counts, in English. */
#include "base/count_text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool ends_with(const char *noun, const char *end)
{
	size_t len = strlen(noun), end_len = strlen(end);

	return len >= end_len && !strcmp(noun + len - end_len, end);
}

const char *count_text(uint64_t count, const char *noun)
{
	static char texts[COUNT_TEXTS][64];
	static unsigned next;
	char *text = texts[next++ % COUNT_TEXTS];
	size_t len = strlen(noun);
	const char *end = "s";

	if (count == 1) {
		end = "";
	} else if (ends_with(noun, "s") || ends_with(noun, "x") || ends_with(noun, "ch") ||
		   ends_with(noun, "sh")) {
		end = "es";
	} else if (len > 1 && noun[len - 1] == 'y' && !strchr("aeiou", noun[len - 2])) {
		end = "ies";
		len--;
	}
	snprintf(text, sizeof(texts[0]), "%" PRIu64 " %.*s%s", count, (int)len, noun, end);
	return text;
}
