/* run_load.c -- what other runs, and earlier parts of the same run, have found. */
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "finding/folder.h"
#include "run/rows.h"

static bool row_is_listed(const json_t *list, const json_t *row, const char *key)
{
	const json_t *other;
	size_t i;

	json_array_foreach(list, i,
			   other) if (!strcmp(json_text(other, key), json_text(row, key)) &&
				      !strcmp(json_text(other, "target"),
					      json_text(row, "target"))) return true;
	return false;
}

static void row_put_below(json_t *row, const char *subdir)
{
	struct buf folder = BUF_INIT;

	if (*json_text(row, "folder")) {
		buf_addf(&folder, "%s/%s", subdir, json_text(row, "folder"));
		json_object_set_new(row, "folder", row_json_text(buf_str(&folder)));
	}
	buf_free(&folder);
}

/* A row of a run below this one's directory. */
static json_t *row_below(const json_t *row, const char *subdir)
{
	json_t *copy = json_deep_copy(row), *other;
	size_t i;

	row_put_below(copy, subdir);
	json_array_foreach(json_object_get(copy, "others"), i, other) row_put_below(other, subdir);
	return copy;
}

static void run_merge_unconfirmed(struct run *r, const json_t *row, const char *subdir)
{
	json_t *same = row_find_group(r->unconfirmed, NULL, json_text(row, "target"),
				      row_group(row)),
	       *copy;

	if (row_is_listed(r->findings, row, "signature"))
		return;
	if (same) {
		row_count_more(same, json_integer_value(json_object_get(row, "count")),
			       json_object_get(row, "signatures"));
		return;
	}
	copy = row_below(row, subdir);
	run_list_unconfirmed(r, copy);
	json_decref(copy);
}

/* What one run has confirmed is not doubtful because another could not. */
static void run_drop_confirmed(struct run *r)
{
	for (size_t i = json_array_size(r->unconfirmed); i--;) {
		json_t *row = json_array_get(r->unconfirmed, i);
		json_t *same =
			row_find_group(r->findings, NULL, json_text(row, "target"), row_group(row));

		if (!same)
			continue;
		run_count(r, json_text(row, "target"), json_text(row, "signature"),
			  row_count(row, "count"));
		run_fold(r, same, row, false);
		json_array_remove(r->unconfirmed, i);
	}
}

/* A finding of another run: alone, or in the group of one that is here; the simplest of both
 * represents it. */
static void run_merge_finding(struct run *r, json_t *row)
{
	json_t *same = row_find_group(r->findings, NULL, json_text(row, "target"), row_group(row));

	if (same && !row_is_better(row, same)) {
		run_count_row(r, row);
		run_fold(r, same, row, false);
		return;
	}
	run_list_finding(r, row);
	if (!same)
		return;
	run_fold(r, row, same, false);
	json_array_remove(r->findings, (size_t)row_place(r->findings, same));
}

void run_merge(struct run *r, const json_t *summary, const char *subdir)
{
	json_t *row, *copy;
	size_t i;

	json_array_foreach(json_object_get(summary, "findings"), i, row)
	{
		copy = row_below(row, subdir);
		run_merge_finding(r, copy);
		json_decref(copy);
	}
	json_array_foreach(json_object_get(summary, "unconfirmed"), i, row)
		run_merge_unconfirmed(r, row, subdir);
	run_drop_confirmed(r);
	known_merge(&r->known, json_object_get(summary, "known"));
}

/* ---- while processes of a run are at work ---- */

/* Of one group the simplest is shown. */
static void rows_show(const struct run *r, json_t *list, const json_t *row, const char *subdir)
{
	json_t *same = row_find_group(list, NULL, json_text(row, "target"), row_group(row)), *copy;
	char folder[PATH_MAX];

	if (same && row_count(same, "calls") <= row_count(row, "calls"))
		return;
	if (same)
		json_array_remove(list, (size_t)row_place(list, same));
	copy = row_below(row, subdir);
	snprintf(folder, sizeof(folder), "%s", json_text(copy, "folder"));
	if (*folder)
		row_set_folder(r, copy, folder);
	row_insert(list, copy);
	json_decref(copy);
}

void run_show_jobs(const struct run *r, unsigned jobs)
{
	json_t *o = run_summary(r), *findings = json_copy(r->findings), *summary, *row;
	json_t *unconfirmed = json_copy(r->unconfirmed);
	struct err none = { 0 };
	char path[PATH_MAX], subdir[32];
	size_t i;

	for (unsigned job = 0; job < jobs; job++) {
		snprintf(subdir, sizeof(subdir), "job-%u", job);
		snprintf(path, sizeof(path), "%.4000s/%s/run.json", r->dir, subdir);
		summary = json_load_file(path, 0, NULL);
		json_array_foreach(json_object_get(summary, FINDINGS), i, row)
			rows_show(r, findings, row, subdir);
		json_array_foreach(json_object_get(summary, UNCONFIRMED), i, row)
			rows_show(r, unconfirmed, row, subdir);
		json_decref(summary);
	}
	for (i = json_array_size(unconfirmed); i--;) {
		row = json_array_get(unconfirmed, i);
		if (row_find_group(findings, NULL, json_text(row, "target"), row_group(row)))
			json_array_remove(unconfirmed, i);
	}
	if (json_array_size(findings))
		json_object_set_new(o, "verdict", json_string("bad"));
	json_object_set_new(o, FINDINGS, findings);
	json_object_set_new(o, UNCONFIRMED, unconfirmed);
	run_write_summary(r, o, &none); /* what cannot be written now is written at the end */
	json_decref(o);
}

/* ---- what an earlier part of a run has left ---- */

/* Rows of run.json, which is untrusted: each has to have a signature and a folder. */
static int run_load_list(struct run *r, const json_t *old, const char *name,
			 void (*list)(struct run *r, json_t *row), struct err *err)
{
	const json_t *rows = json_object_get(old, name), *signature;
	json_t *row;
	size_t i, k;

	if (rows && !json_is_array(rows))
		return err_set(err, EINVAL, "%s/run.json: %s is no list", r->dir, name);
	json_array_foreach(rows, i, row)
	{
		if (!*json_text(row, "signature"))
			return err_set(err, EINVAL, "%s/run.json: %s[%zu] has no signature", r->dir,
				       name, i);
		list(r, row);
		json_array_foreach(json_object_get(row, "signatures"), k,
				   signature) if (json_is_string(signature))++
			*str_map_put(&r->attempts, json_string_value(signature), NULL);
	}
	return 0;
}

/* A folder that was written when the run was killed, before run.json named it. */
static void run_load_folder(struct run *r, const char *path, bool confirmed)
{
	json_t *row = json_object();
	struct err none = { 0 };
	struct finding f;

	if (!finding_read(&f, path, &none)) {
		buf_adds(&f.discrepancy.title, f.discrepancy.signature);
		f.tries = f.shown = confirmed;
		row_fill(row, &f);
		row_set_folder(r, row, path + strlen(r->dir) + 1);
		if (confirmed) {
			run_list_finding(r, row);
		} else {
			row_set_count(row, "count", 1);
			json_object_set_new(row, "signatures", json_array());
			run_list_unconfirmed(r, row);
		}
		finding_free(&f);
	}
	json_decref(row);
}

static bool row_names_folder(const json_t *list, const char *folder)
{
	const json_t *row;
	size_t i;

	json_array_foreach(list, i, row) if (!strcmp(json_text(row, "folder"), folder)) return true;
	return false;
}

static void run_load_unlisted(struct run *r, const char *place, const json_t *list, bool confirmed)
{
	char pattern[PATH_MAX];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%.3000s/%s/*/" FOLDER_TRACE, r->dir, place);
	if (glob(pattern, 0, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		*strrchr(found.gl_pathv[i], '/') = '\0';
		if (!row_names_folder(list, found.gl_pathv[i] + strlen(r->dir) + 1))
			run_load_folder(r, found.gl_pathv[i], confirmed);
	}
	globfree(&found);
}

/* Those whose folder has gone: it was moved when the run was killed, and is found as unlisted. */
static void run_drop_moved(struct run *r)
{
	char path[PATH_MAX];

	for (size_t i = json_array_size(r->unconfirmed); i--;) {
		const char *folder = json_text(json_array_get(r->unconfirmed, i), "folder");

		snprintf(path, sizeof(path), "%.3000s/%.1000s", r->dir, folder);
		if (*folder && access(path, F_OK))
			json_array_remove(r->unconfirmed, i);
	}
}

int run_load_findings(struct run *r, struct err *err)
{
	char path[PATH_MAX];
	json_error_t where;
	json_t *old = NULL;
	int status = 0;

	snprintf(path, sizeof(path), "%s/run.json", r->dir);
	if (!access(path, F_OK)) {
		old = json_load_file(path, 0, &where);
		if (!json_is_object(old))
			status = err_set(err, EINVAL, "%s: not a run's: line %d: %s", path,
					 where.line, old ? "no object" : where.text);
	}
	if (!status)
		status = run_load_list(r, old, FINDINGS, run_list_finding, err);
	if (!status)
		status = run_load_list(r, old, UNCONFIRMED, run_list_unconfirmed, err);
	json_decref(old);
	if (status)
		return status;
	run_drop_moved(r);
	run_load_unlisted(r, FINDINGS, r->findings, true);
	run_load_unlisted(r, UNCONFIRMED, r->unconfirmed, false);
	return 0;
}
