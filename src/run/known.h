/* known.h -- findings that are known and wait for their fix.
 *
 * An INI file with a section for each, named by the finding's signature:
 *
 *	[TREE rename nlink]
 *	reason = ticket 4711, fixed in the next release
 *	until = 2026-12-31
 *
 * Such a finding is counted, not reported. One that no longer occurs is reported, so that its
 * section can be removed; after `until` (which may be left out) it is a finding again. */
#ifndef RUN_KNOWN_H
#define RUN_KNOWN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

struct expected_row {
	char *signature, *reason;
	uint64_t seen;
};

struct expected {
	struct expected_row *rows;
	size_t count;
};

/* today: "YYYY-MM-DD"; what ended before is left out. */
int expected_read(struct expected *e, const char *path, const char *today, struct err *err);
void expected_free(struct expected *e);
/* True if a finding of this signature is expected; counts it. */
bool expected_has(struct expected *e, const char *signature);
/* [{signature, reason, seen}] */
json_t *expected_json(const struct expected *e);

#endif
