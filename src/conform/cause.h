/* cause.h -- deviations gathered by cause: one line, not a thousand.
 *
 * Two deviations have one cause if the call, what was seen, what is allowed and the rule that
 * says so are the same. */
#ifndef CONFORM_CAUSE_H
#define CONFORM_CAUSE_H

#include "conform/conform.h"
#include "run/known.h"

struct cause {
	char *text; /* "open: EPERM, allowed: success": names it, also from run to run */
	const struct deviation *example; /* in the smallest script that shows it */
	size_t scripts;
	bool outside_posix;     /* one of them at least */
	enum severity severity; /* the worst of them */
	const char *reason;     /* why it is a known failure; NULL: it is none */
	bool unconfirmed;       /* its smallest script did not show it again */
	uint32_t order;         /* in which they were met */
};

struct causes {
	struct cause *items; /* what POSIX forbids first; then by severity, most scripts first */
	size_t count;
	size_t unexpected;
	size_t unconfirmed; /* of these */
	uint32_t *of;       /* each deviation of the result: which of the items */
};

/* Examples point into the result. */
void causes_gather(struct causes *ret, const struct conform_result *r);
void causes_free(struct causes *c);
/* Causes of one group (judge/group.h) are shown with the one of the smallest script: that one. */
const struct cause *causes_head(const struct causes *c, const struct cause *of);
/* The first of that text, or NULL. */
const struct cause *causes_find(const struct causes *c, const char *text);

/* Marks the causes that are known failures of this target. */
void causes_mark_known(struct causes *c, struct known *known, const char *target);

/* The others as lines of a file of known failures. */
void causes_print_unknown(const struct causes *c, const char *target, struct buf *out);

#endif
