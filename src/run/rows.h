/* rows.h -- inside a run: rows of run.json and their folders.
 *
 * A row names its folder relative to the run's directory ("folder", so that a run can be moved) and
 * as a user can give it to other commands ("path"). Rows are in one of two lists, and their folders
 * in the directory of that name: findings, and unconfirmed. Both lists are by severity, and a row
 * is for all discrepancies of its group: of findings it is the simplest, and "others" has the
 * rest; of unconfirmed ones it is the first, and counts them. */
#ifndef RUN_ROWS_H
#define RUN_ROWS_H

#include <limits.h>

#include "base/json.h"
#include "run/row_text.h"
#include "run/run.h"

#define FINDINGS "findings"
#define UNCONFIRMED "unconfirmed"
#define OTHERS "others" /* below the folder of a finding */

void row_set_count(json_t *o, const char *key, uint64_t count);
/* Writes what is known of a finding to its row. */
void row_fill(json_t *row, const struct finding *f);
/* Was met `times` times more, under these signatures. */
void row_count_more(json_t *row, json_int_t times, const json_t *signatures);
/* The place of a row in a list, or -1. */
int row_place(const json_t *list, const json_t *row);

void run_list_finding(struct run *r, json_t *row);
void run_list_unconfirmed(struct run *r, json_t *row);
/* Another one of the same target and group; NULL if there is none. */
json_t *row_find_group(const json_t *list, const json_t *row, const char *target,
		       const char *group);
/* Puts a row where its severity belongs. */
void row_insert(json_t *list, json_t *row);
uint64_t row_count(const json_t *o, const char *key);
/* Its program was run, and did not show it. */
bool row_is_doubted(const json_t *row);
/* Of two findings of one cause: not contradicted by its program, then of fewer calls. */
bool row_is_better(const json_t *row, const json_t *than);
/* What findings of one cause share; of a row that does not say, its signature. */
const char *row_group(const json_t *row);

/* Counts how often a signature was met on a target. */
void run_count(struct run *r, const char *target, const char *signature, uint64_t times);
/* The same of all signatures of a row. */
void run_count_row(struct run *r, const json_t *row);
/* Puts a row under another one of its group; `move`: and its folder below that one's. */
void run_fold(const struct run *r, json_t *into, json_t *row, bool move);

void row_set_folder(const struct run *r, json_t *row, const char *folder);
/* Removes the files of a folder, and it; a directory in it keeps it. */
void row_remove_folder(const char *path);
/* DIR/others/NNN-CODE below the folder of a row, the first that is not there yet. */
int row_new_folder_below(const struct run *r, const json_t *row, const char *code,
			 char ret[PATH_MAX], struct err *err);
/* The README of a row names what is under it. */
void row_write_others(const struct run *r, const json_t *row);
/* Writes a finding to its folder in `place`, where it moves first. What cannot be written stays in
 * the row, with the reason and its calls. */
void row_write_folder(struct run *r, json_t *row, const char *place, const struct finding *f,
		      const struct target *t);

#endif
