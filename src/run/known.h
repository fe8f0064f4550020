/* known.h -- known failures: one file for explore and conform.
 *
 *	# because: ticket 4711, fixed in the next release
 *	# until: 2026-12-31
 *	ext4: TREE rename nlink
 *	*: open: EPERM, allowed: success
 *
 * A line names a target, or "*" for all, and a failure as it is printed: the signature of a finding
 * or the cause of a deviation, in which "*" matches any text. A signature without its words in
 * parentheses means all that have some there. The comment "because" above it is the reason, for
 * all lines up to the next reason. With "until", these lines hold up to that day. Other comments
 * and empty lines are skipped. */
#ifndef RUN_KNOWN_H
#define RUN_KNOWN_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct err;

struct known_row {
	char *line;       /* "ext4: TREE rename nlink" */
	const char *text; /* of it, behind the target */
	char *reason;
	uint64_t seen; /* so often */
};

struct known {
	struct known_row *rows;
	size_t count;
};

/* today: "YYYY-MM-DD"; what held up to a day before is left out. */
int known_read(struct known *k, const char *path, const char *today, struct err *err);
void known_free(struct known *k);
/* The row of a failure of this target, NULL if it is not known. */
struct known_row *known_find(const struct known *k, const char *target, const char *text);
/* [{signature, reason, seen}] */
json_t *known_json(const struct known *k);

#endif
