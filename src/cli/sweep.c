/* sweep.c -- one search after the other on many targets, and one table of what came out. */
#include "cli/sweep.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/count_text.h"
#include "base/err.h"
#include "base/json.h"
#include "base/log.h"
#include "base/must.h"
#include "cli/summary.h"
#include "cli/terminal.h"
#include "report/findings_text.h"

enum { WORDS_MAX = 4096 };

/* What was found last is still shrunk and verified when the time is over. */
static const double patience_factor = 2, patience_least_seconds = 30;

/* Counts of one target that are added up for all. */
static const char *const counts[] = { "calls", "transitions", "states" };

void sweep_add(struct sweep *s, const char *target, const char *lacks)
{
	s->rows = must_realloc(s->rows, (s->count + 1) * sizeof(*s->rows));
	s->rows[s->count++] = (struct sweep_row){
		.target = must_strdup(target),
		.lacks = *lacks ? must_strdup(lacks) : NULL,
	};
}

void sweep_free(struct sweep *s)
{
	for (size_t i = 0; i < s->count; i++) {
		free(s->rows[i].target);
		free(s->rows[i].lacks);
		free(s->rows[i].failure);
		json_decref(s->rows[i].result);
	}
	free(s->rows);
}

/* DIR/NUMBER-TARGET: a command as a target is no name of a directory. */
static void sweep_directory(const struct run *all, const struct sweep *s, size_t i, char *ret,
			    size_t size)
{
	int len = snprintf(ret, size, "%s/%02zu-", all->dir, i + 1);

	for (const char *c = s->rows[i].target; *c && (size_t)len + 1 < size && len < NAME_MAX; c++)
		ret[len++] = strchr("/:!'\" \t\n", *c) ? '_' : *c;
	ret[len] = '\0';
}

/* The first line of what the job said. */
static char *read_error_text(const char *dir)
{
	struct buf text = BUF_INIT;
	char path[PATH_MAX], *words;

	snprintf(path, sizeof(path), "%.4000s/errors", dir);
	if (buf_read_file(&text, path, WORDS_MAX, NULL) || !text.len)
		words = must_strdup("killed: it did not stop in time");
	else
		words = must_strdup(strtok(text.data, "\n"));
	buf_free(&text);
	return words;
}

static void search_row(struct sweep *s, size_t i, const struct run *all, const struct job *job,
		       double patience_seconds)
{
	struct sweep_row *row = &s->rows[i];
	char dir[PATH_MAX], path[PATH_MAX];
	struct err err = { 0 };
	pid_t pid;

	sweep_directory(all, s, i, dir, sizeof(dir));
	pid = job_start(job, (unsigned)i, dir, &err);
	if (pid < 0) {
		row->failure = must_strdup(err.text);
		return;
	}
	job_await(pid, patience_seconds);
	snprintf(path, sizeof(path), "%.4000s/run.json", dir);
	row->result = json_load_file(path, 0, NULL);
	if (!row->result || json_is_true(json_object_get(row->result, "running")))
		row->failure = read_error_text(dir);
}

/* They were found by another process. */
static size_t sweep_show_findings(const struct sweep_row *row)
{
	json_t *findings = json_object_get(row->result, "findings"), *finding;
	size_t i;

	json_array_foreach(findings, i, finding) terminal_show_finding(finding);
	return json_array_size(findings);
}

void sweep_run(struct sweep *s, const struct run *all, const struct job *job, double seconds)
{
	double patience = seconds * patience_factor;
	size_t findings = 0;

	if (seconds > 0 && patience < patience_least_seconds)
		patience = patience_least_seconds;
	for (size_t i = 0; i < s->count && !stop_requested; i++) {
		if (s->rows[i].lacks)
			continue;
		progress_show("%s (%zu of %zu), %s so far", s->rows[i].target, i + 1, s->count,
			      count_text(findings, "finding"));
		search_row(s, i, all, job, patience);
		findings += sweep_show_findings(&s->rows[i]);
	}
	progress_end();
}

static json_int_t sweep_count(const struct sweep_row *row, const char *key)
{
	return json_integer_value(json_object_get(row->result, key));
}

static enum verdict sweep_verdict(const struct sweep_row *row)
{
	if (row->lacks)
		return VERDICT_OK; /* nothing was claimed of it */
	if (!strcmp(json_text(row->result, "verdict"), "bad"))
		return VERDICT_BAD;
	return strcmp(json_text(row->result, "verdict"), "ok") ? VERDICT_UNKNOWN : VERDICT_OK;
}

/* One word for the table. */
static const char *verdict_text(const struct sweep_row *row)
{
	static const char *const names[] = { "ok", "unknown", "bad" };

	return row->lacks ? "lacking" : names[sweep_verdict(row)];
}

static json_t *sweep_row_json(const struct sweep_row *row, const char *dir)
{
	json_t *o = json_pack("{s:s, s:s, s:s?, s:s?}", "target", row->target, "verdict",
			      verdict_text(row), "lacks", row->lacks, "failure", row->failure);

	if (row->result)
		json_object_set_new(o, "dir", json_string(dir));
	for (size_t i = 0; i < ARRAY_LEN(counts); i++)
		json_object_set_new(o, counts[i], json_integer(sweep_count(row, counts[i])));
	json_object_set_new(o, "seconds",
			    json_real(json_real_value(json_object_get(row->result, "seconds"))));
	if (row->result)
		json_object_set(o, "findings", json_object_get(row->result, "findings"));
	else
		json_object_set_new(o, "findings", json_array());
	return o;
}

static void add_up(const struct sweep *s, struct run *all)
{
	json_int_t sums[ARRAY_LEN(counts)] = { 0 };
	json_t *table = json_array();
	char dir[PATH_MAX];

	for (size_t i = 0; i < s->count; i++) {
		const struct sweep_row *row = &s->rows[i];

		sweep_directory(all, s, i, dir, sizeof(dir));
		json_array_append_new(table, sweep_row_json(row, dir + strlen(all->dir) + 1));
		run_merge(all, row->result, dir + strlen(all->dir) + 1);
		for (size_t k = 0; k < ARRAY_LEN(counts); k++)
			sums[k] += sweep_count(row, counts[k]);
		if (sweep_verdict(row) > all->verdict)
			all->verdict = sweep_verdict(row);
	}
	for (size_t k = 0; k < ARRAY_LEN(counts); k++)
		json_object_set_new(all->figures, counts[k], json_integer(sums[k]));
	json_object_set_new(all->figures, "targets", table);
}

static void sweep_print_table(const struct sweep *s, struct buf *out)
{
	buf_addf(out, "%-20s %10s %12s %9s %8s  %s\n", "target", "states", "transitions",
		 "findings", "seconds", "verdict");
	for (size_t i = 0; i < s->count; i++) {
		const struct sweep_row *row = &s->rows[i];

		buf_addf(out, "%-20s %10lld %12lld %9zu %8.1f  %s\n", row->target,
			 (long long)sweep_count(row, "states"),
			 (long long)sweep_count(row, "transitions"),
			 json_array_size(json_object_get(row->result, "findings")),
			 json_real_value(json_object_get(row->result, "seconds")),
			 verdict_text(row));
	}
	for (size_t i = 0; i < s->count; i++) {
		const struct sweep_row *row = &s->rows[i];

		if (row->lacks || row->failure)
			buf_addf(out, "%s: %s\n", row->target,
				 row->lacks ? row->lacks : row->failure);
	}
}

int sweep_collect(struct sweep *s, struct run *all, struct err *err)
{
	add_up(s, all);
	return summary_write(all, 0, err);
}

int sweep_finish(struct sweep *s, struct run *all, bool json, struct err *err)
{
	struct buf out = BUF_INIT;
	int status = sweep_collect(s, all, err);

	if (json) {
		summary_print(all);
	} else {
		findings_text(all->findings, all->unconfirmed, NULL, &out);
		sweep_print_table(s, &out);
		known_report(&all->known, &out);
		buf_addf(&out, "report: %s/report.html\n", all->dir);
		fputs(out.data, stdout);
	}
	buf_free(&out);
	return status;
}
