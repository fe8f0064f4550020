/* rows.h -- inside a run: rows of run.json and their folders.
 *
 * A row names its folder relative to the run's directory ("folder", so that a run can be moved) and
 * as a user can give it to other commands ("path"). Rows are in one of two lists, and their folders
 * in the directory of that name: findings, and unconfirmed, where a row is for all discrepancies of
 * a cause and counts them. */
#ifndef RUN_ROWS_H
#define RUN_ROWS_H

#include "base/json.h"
#include "run/run.h"

#define FINDINGS "findings"
#define UNCONFIRMED "unconfirmed"

/* Any bytes as text: those that are not UTF-8 are written as escapes. */
json_t *row_json_text(const char *text);
void row_set_count(json_t *o, const char *key, uint64_t count);
/* Writes what is known of a finding to its row. */
void row_fill(json_t *row, const struct finding *f);
/* Was met `times` times more, under these signatures. */
void row_count_more(json_t *row, json_int_t times, const json_t *signatures);
/* The place of a row in a list, or -1. */
int row_place(const json_t *list, const json_t *row);

void run_list_finding(struct run *r, json_t *row);
void run_list_unconfirmed(struct run *r, json_t *row);
/* Another unconfirmed one of the same target and cause; NULL if there is none. */
json_t *run_find_cause(const struct run *r, const json_t *row, const char *target,
		       const char *cause);

void row_set_folder(const struct run *r, json_t *row, const char *folder);
/* Removes the files of a folder, and it; a directory in it keeps it. */
void row_remove_folder(const char *path);
/* Writes a finding to its folder in `place`, where it moves first. What cannot be written stays in
 * the row, with the reason and its calls. */
void row_write_folder(struct run *r, json_t *row, const char *place, const struct finding *f,
		      const struct target *t);

#endif
