/* run_index.h -- all runs below a directory, and the findings of a campaign, as the index shows
 * them.
 *
 * Runs are looked for three directories deep. What belongs to a run (its jobs, its targets) is not
 * listed: its page leads there. A run.json, and the database of a campaign, are read again only if
 * they have changed. */
#ifndef SERVE_RUN_INDEX_H
#define SERVE_RUN_INDEX_H

#include <jansson.h>

#include "base/buf.h"

struct served_root;

enum {
	INDEX_DEPTH_MAX = 3,
	INDEX_RUNS_MAX = 2000,
	INDEX_ENTRIES_MAX = 20000, /* of all directories that are looked at */
	INDEX_JSON_BYTES_MAX = 32 << 20,
};

struct run_index {
	const struct served_root *root;
	json_t *known; /* by path: what was read, and of which run.json */
	/* Findings of the campaign in a directory, from its database: title, severity, target,
	 * confirmed, first_seen, last_seen, times, folder; NULL: it cannot be read now. */
	json_t *(*read_campaign)(const char *dir);
	json_t *campaign;          /* what it said last, */
	struct buf campaign_stamp; /* of this file */
};

void run_index_init(struct run_index *x, const struct served_root *root);
void run_index_free(struct run_index *x);
/* What the template shows; the newest run first. */
json_t *run_index_view(struct run_index *x);

#endif
