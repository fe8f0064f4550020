/* explore_report.c -- what is left of a search, or of several: run.json, coverage, report, words.
 */
#include "cmd/explore_report.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/must.h"
#include "cli/learned_report.h"
#include "cli/summary.h"
#include "cmd/code_report.h"
#include "cover/metrics.h"
#include "report/findings_text.h"

/* Figures that are counts: of one run as they are, of several their sum. */
static const struct count {
	const char *name;
	size_t offset;
} counts[] = {
#define COUNT(field) \
	{ \
#field, offsetof(struct explore_figures, field) \
	}
	COUNT(calls),     COUNT(transitions),  COUNT(states),     COUNT(edges_left),
	COUNT(beyond),    COUNT(surprises),    COUNT(repeats),    COUNT(differences),
	COUNT(resets),    COUNT(state_bytes),  COUNT(edge_bytes), COUNT(kernel_notes),
	COUNT(fsck_runs), COUNT(fsck_unknown), COUNT(fsck_us),    COUNT(space_runs),
	COUNT(space_us),  COUNT(paths),        COUNT(path_us),
};

/* And those of which several runs have at least the greatest. */
static const struct count reaches[] = {
	COUNT(shapes), COUNT(depth), COUNT(inputs), COUNT(inputs_seen), COUNT(outcomes_seen),
};
#undef COUNT

static uint64_t *figure_of(const struct explore_figures *f, const struct count *c)
{
	return (uint64_t *)((char *)f + c->offset);
}

static void explore_set_figures(struct run *run, const struct explore_figures *f)
{
	double seconds = clock_seconds() - run->started_seconds;
	struct rusage self, children;
	json_t *o = run->figures;

	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &children);
	for (size_t i = 0; i < ARRAY_LEN(counts); i++)
		json_object_set_new(o, counts[i].name,
				    json_integer((json_int_t)*figure_of(f, &counts[i])));
	for (size_t i = 0; i < ARRAY_LEN(reaches); i++)
		json_object_set_new(o, reaches[i].name,
				    json_integer((json_int_t)*figure_of(f, &reaches[i])));
	json_object_set_new(o, "exhausted", json_boolean(f->exhausted));
	json_object_set_new(o, "end", json_string(f->end ? f->end : "error"));
	json_object_set_new(o, "transitions_per_second",
			    json_real((double)f->transitions / seconds));
	json_object_set_new(o, "states_per_second", json_real((double)f->states / seconds));
	json_object_set_new(o, "max_rss_kb",
			    json_integer(self.ru_maxrss > children.ru_maxrss ? self.ru_maxrss
									     : children.ru_maxrss));
}

static void explore_sample(struct run *run, const struct explore_figures *f,
			   const struct explore_code *code)
{
	if (!run_sample_is_due(run))
		return;
	explore_set_figures(run, f);
	if (code->code)
		code_set_figures(run, code->code, code->target);
	run_sample(run);
}

void explore_show_progress(void *to, const struct explore_figures *f, struct run *run)
{
	double seconds = clock_seconds() - run->started_seconds;

	explore_sample(run, f, to);
	progress_show("%s: %.0f s, %" PRIu64 " transitions (%.0f/s), %" PRIu64
		      " states, %zu findings",
		      run->target, seconds, f->transitions, (double)f->transitions / seconds,
		      f->states, json_array_size(run->findings));
}

static void print_findings(const struct run *run)
{
	struct buf text = BUF_INIT;

	findings_text(run->findings, run->unconfirmed, false, &text);
	fputs(buf_str(&text), stdout);
	buf_free(&text);
	if (!json_array_size(run->findings))
		puts("no findings");
	summary_print_known(run);
}

static json_int_t crash_figure(const struct run *run, const char *name)
{
	return json_integer_value(json_object_get(json_object_get(run->figures, "crash"), name));
}

static void print_explore_summary(const struct run *run, const struct explore_figures *f)
{
	double seconds = clock_seconds() - run->started_seconds;

	if (f->exhausted)
		printf("%s: all %" PRIu64 " states and %" PRIu64 " transitions verified\n",
		       run->target, f->states, f->transitions);
	printf("%s: %" PRIu64 " calls, %" PRIu64 " transitions, %" PRIu64 " states in %.1f s "
	       "(%.0f transitions/s), ended by %s; seed %" PRIu64 "\n",
	       run->target, f->calls, f->transitions, f->states, seconds,
	       (double)f->transitions / seconds, f->end ? f->end : "an error", run->seed);
	printf("inputs: %" PRIu64 " of %" PRIu64 " partitions of arguments; outcomes: %" PRIu64
	       " different\n",
	       f->inputs_seen, f->inputs, f->outcomes_seen);
	if (f->fsck_runs)
		printf("fsck: %" PRIu64 " checks of the disk in %.1f s, %" PRIu64
		       " without a verdict\n",
		       f->fsck_runs, (double)f->fsck_us * 1e-6, f->fsck_unknown);
	if (f->space_runs)
		printf("space: %" PRIu64 " searches for lost space in %.1f s\n", f->space_runs,
		       (double)f->space_us * 1e-6);
	if (f->paths)
		printf("crash: %" PRIu64 " states in %.1f s, %" JSON_INTEGER_FORMAT
		       " crash states, %" JSON_INTEGER_FORMAT " recoveries\n",
		       f->paths, (double)f->path_us * 1e-6, crash_figure(run, "crash_states"),
		       crash_figure(run, "recoveries"));
	code_print(run);
	if (f->kernel_notes)
		printf("kernel log: %" PRIu64
		       " messages that are not about this file system (%s/kernel-notes)\n",
		       f->kernel_notes, run->dir);
	learned_print(run);
	print_findings(run);
	printf("report: %s/report.html\n", run->dir);
}

int explore_finish(struct run *run, const struct explore_figures *f, json_t *coverage, bool json,
		   struct err *err)
{
	int status;

	explore_set_figures(run, f);
	metrics_add(coverage, 0);
	status = cover_write(coverage, run->dir, err);
	json_decref(coverage);
	status = summary_write(run, status, err);
	/* Findings that could not be written are reported, too. */
	if (json)
		summary_print(run);
	else
		print_explore_summary(run, f);
	return status;
}

static json_t *load_job_json(const char *dir, unsigned job, const char *name, struct err *err)
{
	char path[PATH_MAX];
	json_t *o;

	snprintf(path, sizeof(path), "%s/job-%u/%s", dir, job, name);
	o = json_load_file(path, 0, NULL);
	if (!o)
		err_set(err, EINVAL, "%s: cannot be read", path);
	return o;
}

/* The counts of crashes in all jobs. */
static void merge_crash(struct run *run, json_t *job)
{
	json_t *all = json_object_get(run->figures, "crash"), *own, *count;
	const char *name;

	own = json_object_get(job, "crash");
	if (!all && own) {
		all = json_object();
		json_object_set_new(run->figures, "crash", all);
	}
	json_object_foreach(own, name, count)
		json_object_set_new(all, name,
				    json_integer(json_integer_value(json_object_get(all, name)) +
						 json_integer_value(count)));
}

static void merge_figures(struct run *run, struct explore_figures *f, json_t *job)
{
	static const char *const same[] = { "profile", "strategy", LEARNED_FIGURES };

	for (size_t i = 0; i < ARRAY_LEN(counts); i++)
		*figure_of(f, &counts[i]) +=
			(uint64_t)json_integer_value(json_object_get(job, counts[i].name));
	for (size_t i = 0; i < ARRAY_LEN(reaches); i++) {
		uint64_t *most = figure_of(f, &reaches[i]);
		json_t *own = json_object_get(job, reaches[i].name);

		if ((uint64_t)json_integer_value(own) > *most)
			*most = (uint64_t)json_integer_value(own);
	}
	for (size_t i = 0; i < ARRAY_LEN(same); i++)
		json_object_set(run->figures, same[i], json_object_get(job, same[i]));
	merge_crash(run, job);
}

/* What one job has exhausted, the others have no part in. */
static void merge_exhausted(struct explore_figures *f, json_t *job)
{
	if (!json_is_true(json_object_get(job, "exhausted")))
		return;
	f->exhausted = true;
	f->transitions = (uint64_t)json_integer_value(json_object_get(job, "transitions"));
	f->states = (uint64_t)json_integer_value(json_object_get(job, "states"));
	f->edges_left = 0;
}

static int merge_job(struct run *run, unsigned job, struct explore_figures *f, json_t *coverage,
		     struct hash_map *states, struct err *err)
{
	json_t *summary = load_job_json(run->dir, job, "run.json", err);
	json_t *cover = load_job_json(run->dir, job, "coverage.json", err);
	char dir[PATH_MAX], subdir[32];
	struct err none = { 0 };

	if (summary && cover) {
		snprintf(subdir, sizeof(subdir), "job-%u", job);
		run_merge(run, summary, subdir);
		merge_figures(run, f, summary);
		metrics_merge(coverage, cover);
		snprintf(dir, sizeof(dir), "%s/job-%u", run->dir, job);
		/* Branching searches leave no list of states: theirs are added up. */
		explore_states(dir, states, &none);
	}
	json_decref(summary);
	json_decref(cover);
	return err->code;
}

int explore_merge(struct run *run, unsigned jobs, bool json, struct err *err)
{
	struct explore_figures f = { .end = "its jobs" };
	struct hash_map states = HASH_MAP_INIT;
	json_t *coverage = json_object(), *job;
	int status = 0;

	for (unsigned i = 0; i < jobs && !status; i++)
		status = merge_job(run, i, &f, coverage, &states, err);
	run_sample_jobs(run, jobs);
	if (states.count)
		f.states = states.count;
	hash_map_free(&states);
	for (unsigned i = 0; i < jobs && !status; i++) {
		job = load_job_json(run->dir, i, "run.json", err);
		merge_exhausted(&f, job);
		json_decref(job);
	}
	if (!status)
		status = code_merge(run, jobs, err);
	if (!status)
		return explore_finish(run, &f, coverage, json, err);
	json_decref(coverage);
	return status;
}
