/* known.h -- known failures: one file for all instruments.
 *
 *	# because: ticket 4711, fixed in the next release
 *	# until: 2026-12-31
 *	ext4: TREE rename nlink
 *	ext4: nlink of directories, too small
 *	*: open: EPERM, allowed: success
 *
 * A line names a target, or "*" for all, and a failure as it is printed: the signature of a
 *finding, its group (judge/group.h) or the cause of a deviation, in which "*" matches any text. A
 *signature without its words in parentheses means all that have some there. The comment "because"
 *above it is the reason, for all lines up to the next reason. With "until", these lines hold up to
 *that day; from then on what they name is reported again. Other comments and empty lines are
 *skipped. */
#ifndef RUN_KNOWN_H
#define RUN_KNOWN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;

enum { KNOWN_DATE = sizeof("YYYY-MM-DD") };

struct known_row {
	char *line;       /* "ext4: TREE rename nlink" */
	const char *text; /* of it, behind the target */
	char *reason;
	char until[KNOWN_DATE]; /* its last day, or "" */
	bool expired;           /* that day has passed: it is not known any more */
	uint64_t seen;          /* so often */
	bool asked;             /* the run is one that may show it */
	bool in_part;           /* but need not */
};

struct known {
	struct known_row *rows;
	size_t count;
};

/* How a row names its failure. */
enum known_form {
	KNOWN_SIGNATURES = 1 << 0, /* of explore */
	KNOWN_CAUSES = 1 << 1,     /* of conform */
	KNOWN_RACES = 1 << 2,      /* of conform --races */
	KNOWN_GROUPS = 1 << 3,     /* of both */
};

enum known_state {
	KNOWN_NOT_ASKED, /* of another target, or nothing that this run could show */
	KNOWN_SEEN,
	KNOWN_NOT_SEEN,
	KNOWN_FIXED, /* not seen where it would have been */
	KNOWN_EXPIRED,
};

/* today: "YYYY-MM-DD". */
int known_read(struct known *k, const char *path, const char *today, struct err *err);
void known_free(struct known *k);
/* The row of a failure of this target, NULL if it is not known, or not any more. */
struct known_row *known_find(const struct known *k, const char *target, const char *text);
/* The same by its text or its group, of a failure that was met so often; counts it, also under a
 * row that has expired. */
const struct known_row *known_meet(struct known *k, const char *target, const char *text,
				   const char *group, uint64_t times);
/* A run asks this target for failures of these forms (enum known_form); `all`: for all there are.
 */
void known_ask(struct known *k, const char *target, unsigned forms, bool all);
enum known_state known_state(const struct known_row *row);
/* [{failure, reason, state, seen, until}] */
json_t *known_json(const struct known *k);
/* Adds what a part of the run says, which has read the same file. */
void known_merge(struct known *k, const json_t *list);
/* A line for each row that the run could show. */
void known_report(const struct known *k, struct buf *out);

/* The file again, without what has expired; and new lines for it, below a reason. */
void known_print(const struct known *k, struct buf *out);
void known_print_reason(const char *today, struct buf *out);
void known_print_failure(const char *target, const char *text, struct buf *out);

#endif
