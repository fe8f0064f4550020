/* behaviour.c -- what a checker says, as a number. */
#include "fsck/behaviour.h"

#include <string.h>

#include "base/buf.h"
#include "base/map.h"
#include "target/checker.h"

enum { LINES_MAX = 200 };

struct hash behaviour_of_text(const char *text)
{
	struct buf line = BUF_INIT, plain = BUF_INIT;
	struct hash_map seen = { 0 };
	struct hash sum = { 0 };
	unsigned lines = 0;

	for (const char *end; *text && lines < LINES_MAX; text = end + (*end != '\0'), lines++) {
		struct hash hash;
		bool new;

		end = text + strcspn(text, "\n");
		buf_clear(&line);
		buf_clear(&plain);
		buf_add(&line, text, (size_t)(end - text));
		checker_complaint(buf_str(&line), "", &plain);
		hash = hash128(buf_str(&plain), plain.len, 0);
		hash_map_put(&seen, hash, &new);
		if (new)
			sum = hash_add(sum, hash);
	}
	hash_map_free(&seen);
	buf_free(&line);
	buf_free(&plain);
	return sum;
}
