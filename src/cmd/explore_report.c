/* explore_report.c -- what is left of a search, or of several: run.json, coverage, report, words.
 */
#include "cmd/explore_report.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/count_text.h"
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
	COUNT(calls),        COUNT(transitions), COUNT(duplicates),   COUNT(states),
	COUNT(edges_left),   COUNT(beyond),      COUNT(surprises),    COUNT(repeats),
	COUNT(differences),  COUNT(resets),      COUNT(state_bytes),  COUNT(edge_bytes),
	COUNT(kernel_notes), COUNT(fsck_runs),   COUNT(fsck_unknown), COUNT(fsck_us),
	COUNT(space_runs),   COUNT(space_us),    COUNT(visits),       COUNT(visit_us),
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
	char sum[33];

	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &children);
	for (size_t i = 0; i < ARRAY_LEN(counts); i++)
		json_object_set_new(o, counts[i].name,
				    json_integer((json_int_t)*figure_of(f, &counts[i])));
	for (size_t i = 0; i < ARRAY_LEN(reaches); i++)
		json_object_set_new(o, reaches[i].name,
				    json_integer((json_int_t)*figure_of(f, &reaches[i])));
	hash_print(f->states_sum, sum);
	json_object_set_new(o, "states_sum", json_string(sum));
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
			   const struct explore_progress *p)
{
	if (!run_sample_is_due(run))
		return;
	explore_set_figures(run, f);
	if (p->code)
		code_set_figures(run, p->code, p->target);
	run_sample(run);
}

void explore_show_progress(void *to, const struct explore_figures *f, struct run *run)
{
	double seconds = clock_seconds() - run->started_seconds;
	const struct explore_progress *p = to;

	explore_sample(run, f, p);
	if (p->instead) {
		p->instead(p->instead_to, f, run);
		return;
	}
	progress_show("%s: %.0f s, %s (%.0f/s), %s, %s%s", run->target, seconds,
		      count_text(f->transitions, "transition"), (double)f->transitions / seconds,
		      count_text(f->states, "state"),
		      count_text(json_array_size(run->findings), "finding"),
		      progress_left(seconds, p->seconds));
}

static void print_findings(const struct run *run, bool ended)
{
	struct buf text = BUF_INIT;

	findings_text(run->findings, run->unconfirmed, run->target, &text);
	fputs(buf_str(&text), stdout);
	buf_free(&text);
	if (!json_array_size(run->findings))
		puts(ended ? "no findings" : "no findings before the error");
	summary_print_known(run);
}

/* Of what else was done in states: "crash" or "races". */
static uint64_t step_figure(const struct run *run, const char *step, const char *name)
{
	return (uint64_t)json_integer_value(
		json_object_get(json_object_get(run->figures, step), name));
}

static void print_steps(const struct run *run, const struct explore_figures *f)
{
	double seconds = (double)f->visit_us * 1e-6;

	if (json_object_get(run->figures, "crash"))
		printf("crash: %s in %.1f s, %s, %s\n", count_text(f->visits, "state"), seconds,
		       count_text(step_figure(run, "crash", "crash_states"), "crash state"),
		       count_text(step_figure(run, "crash", "recoveries"), "recovery"));
	if (json_object_get(run->figures, "races"))
		printf("races: %s in %.1f s, %s, %s\n", count_text(f->visits, "state"), seconds,
		       count_text(step_figure(run, "races", "pairs"), "race"),
		       count_text(step_figure(run, "races", "schedules"), "schedule"));
}

static void print_jobs(const struct run *run, const struct explore_figures *f)
{
	json_int_t jobs = json_integer_value(json_object_get(run->figures, "jobs"));
	json_int_t replaced = json_integer_value(json_object_get(run->figures, "jobs_replaced"));
	uint64_t all = f->transitions + f->duplicates;

	if (jobs < 2)
		return;
	printf("jobs: %" JSON_INTEGER_FORMAT ", %.2f %% of the transitions made more than once",
	       jobs, all ? 100 * (double)f->duplicates / (double)all : 0);
	if (replaced)
		printf(", %" JSON_INTEGER_FORMAT " killed and replaced", replaced);
	putchar('\n');
}

static void print_explore_summary(const struct run *run, const struct explore_figures *f)
{
	double seconds = clock_seconds() - run->started_seconds;

	/* A target that could not be opened: the error says it all. */
	if (!f->end && !f->calls && !json_array_size(run->findings))
		return;
	if (f->exhausted)
		printf("%s: all %s and %s verified\n", run->target, count_text(f->states, "state"),
		       count_text(f->transitions, "transition"));
	printf("%s: %s, %s, %s in %.1f s (%.0f transitions/s), ended by %s; seed %" PRIu64 "\n",
	       run->target, count_text(f->calls, "call"), count_text(f->transitions, "transition"),
	       count_text(f->states, "state"), seconds, (double)f->transitions / seconds,
	       f->end ? f->end : "an error", run->seed);
	print_jobs(run, f);
	printf("inputs: %" PRIu64 " of %" PRIu64 " partitions of arguments; outcomes: %" PRIu64
	       " different\n",
	       f->inputs_seen, f->inputs, f->outcomes_seen);
	if (f->fsck_runs)
		printf("fsck: %s of the disk in %.1f s, %" PRIu64 " without a verdict\n",
		       count_text(f->fsck_runs, "check"), (double)f->fsck_us * 1e-6,
		       f->fsck_unknown);
	if (f->space_runs)
		printf("space: %s for lost space in %.1f s\n", count_text(f->space_runs, "search"),
		       (double)f->space_us * 1e-6);
	if (f->visits)
		print_steps(run, f);
	code_print(run);
	if (f->kernel_notes)
		printf("kernel log: %s not about this file system (%s/kernel-notes)\n",
		       count_text(f->kernel_notes, "message"), run->dir);
	learned_print(run);
	print_findings(run, f->end);
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

/* The counts of crashes, or of races, in all jobs. */
static void merge_step(struct run *run, json_t *job, const char *step)
{
	json_t *all = json_object_get(run->figures, step), *own, *count;
	const char *name;

	own = json_object_get(job, step);
	if (!all && own) {
		all = json_object();
		json_object_set_new(run->figures, step, all);
	}
	json_object_foreach(own, name, count)
		json_object_set_new(all, name,
				    json_integer(json_integer_value(json_object_get(all, name)) +
						 json_integer_value(count)));
}

/* The searches of a portfolio are the same in all jobs: their figures are added up. */
static void merge_searches(struct run *run, const json_t *job)
{
	json_t *all = json_object_get(run->figures, "searches"), *row, *value;
	const json_t *theirs = json_object_get(job, "searches");
	const char *name;
	size_t i;

	if (!all) {
		json_object_set_new(run->figures, "searches", json_deep_copy(theirs));
		return;
	}
	json_array_foreach(all, i, row)
	{
		json_object_foreach(json_array_get(theirs, i), name, value)
		{
			const json_t *own = json_object_get(row, name);

			if (!strcmp(name, "unseen_calls"))
				continue;
			if (json_is_integer(own) && json_is_integer(value))
				json_object_set_new(row, name,
						    json_integer(json_integer_value(own) +
								 json_integer_value(value)));
			else if (json_is_number(own) && json_is_number(value))
				json_object_set_new(row, name,
						    json_real(json_number_value(own) +
							      json_number_value(value)));
		}
	}
}

static void merge_figures(struct run *run, struct explore_figures *f, json_t *job)
{
	static const char *const same[] = { "profile", "strategy", "judged_by", LEARNED_FIGURES };

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
	merge_step(run, job, "crash");
	merge_step(run, job, "races");
	if (json_object_get(job, "searches"))
		merge_searches(run, job);
}

/* What can be read of one counts; what cannot is an error of the whole. */
static void merge_job(struct run *run, unsigned job, struct explore_figures *f, json_t *coverage,
		      struct err *err)
{
	json_t *summary = load_job_json(run->dir, job, "run.json", err);
	json_t *cover = load_job_json(run->dir, job, "coverage.json", err);
	char subdir[32];

	snprintf(subdir, sizeof(subdir), "job-%u", job);
	if (summary) {
		run_merge(run, summary, subdir);
		merge_figures(run, f, summary);
	}
	if (cover)
		metrics_merge(coverage, cover);
	json_decref(summary);
	json_decref(cover);
}

/* What one that was killed had found, and what it had made for good. */
static void merge_lost(struct run *run, const struct explore_jobs *jobs, unsigned job,
		       struct explore_figures *f)
{
	struct share_progress made = share_memory_progress_of(jobs->memory, job);
	struct err none = { 0 };
	json_t *summary = load_job_json(run->dir, job, "run.json", &none);
	char subdir[32];

	snprintf(subdir, sizeof(subdir), "job-%u", job);
	if (summary)
		run_merge(run, summary, subdir);
	json_decref(summary);
	f->calls += made.calls;
	if (jobs->lost[job] == JOB_LATE)
		f->transitions += made.transitions;
}

/* All end by the same, or the one that says most: not that it had to stop because of another. */
static void merge_end(struct explore_figures *f, const char *end, char ret[64])
{
	static const char *const weak[] = { "", "exhausted", "stopped" };
	bool is_weak = !f->end;

	for (size_t i = 0; i < ARRAY_LEN(weak) && !is_weak; i++)
		is_weak = !strcmp(f->end, weak[i]);
	if (is_weak)
		snprintf(ret, 64, "%s", end);
	f->end = ret;
}

static void merge_ends(const struct run *run, const struct explore_jobs *jobs,
		       struct explore_figures *f, char ret_end[64])
{
	struct err none = { 0 };
	bool all = true;

	for (unsigned i = 0; i < jobs->count; i++) {
		json_t *job = jobs->lost[i] ? NULL : load_job_json(run->dir, i, "run.json", &none);
		const char *end = json_string_value(json_object_get(job, "end"));

		if (!jobs->lost[i])
			all &= json_is_true(json_object_get(job, "exhausted"));
		if (end)
			merge_end(f, end, ret_end);
		json_decref(job);
	}
	f->exhausted = all;
}

int explore_merge(struct run *run, const struct explore_jobs *jobs, bool json, struct err *err)
{
	struct explore_figures f = { 0 };
	json_t *coverage = json_object();
	struct err unread = { 0 };
	char end[64] = "";
	uint64_t states;
	int status;

	for (unsigned i = 0; i < jobs->count; i++) {
		if (jobs->lost[i])
			merge_lost(run, jobs, i, &f);
		else
			merge_job(run, i, &f, coverage, &unread);
	}
	merge_ends(run, jobs, &f, end);
	states = share_memory_states(jobs->memory, &f.states_sum);
	if (states) /* where only bits are kept of them, they are added up */
		f.states = states;
	json_object_set_new(run->figures, "jobs", json_integer(jobs->count - jobs->replaced));
	json_object_set_new(run->figures, "jobs_replaced", json_integer(jobs->replaced));
	run_sample_jobs(run, jobs->count);
	code_merge(run, jobs->count, &unread);
	if (unread.code && run->verdict == VERDICT_OK)
		run->verdict = VERDICT_UNKNOWN;
	status = explore_finish(run, &f, coverage, json, err);
	if (unread.code && !err->code)
		*err = unread;
	return status < 0 ? status : -unread.code;
}

/* If nothing was left, what the dead had done was done once more. */
static void merge_worker(struct run *run, struct explore_figures *f, const struct swarm_sum *sum,
			 const char *number, json_t *own)
{
	static const char *const added[] = { "works", "works_twice", "works_asked", "round_trips",
					     "server_lost" };
	uint64_t transitions = f->transitions, left = f->edges_left;
	const char *end = json_string_value(json_object_get(own, "end"));

	merge_figures(run, f, own);
	for (size_t i = 0; i < ARRAY_LEN(added); i++) {
		json_int_t more = json_integer_value(json_object_get(own, added[i]));

		more += json_integer_value(json_object_get(run->figures, added[i]));
		json_object_set_new(run->figures, added[i], json_integer(more));
	}
	if (sum->nothing_left && json_object_get(sum->dead, number)) {
		f->duplicates += f->transitions - transitions;
		f->transitions = transitions;
		f->edges_left = left;
		return;
	}
	f->exhausted &= json_is_true(json_object_get(own, "exhausted"));
	if (end && (!f->end || strcmp(end, "exhausted") != 0))
		f->end = end;
}

int explore_merge_swarm(struct run *run, const struct swarm_sum *sum, bool json, struct err *err)
{
	struct explore_figures f = { .exhausted = sum->nothing_left };
	json_t *coverage = json_object(), *own;
	const char *number;

	json_object_foreach((json_t *)sum->figures, number, own)
		merge_worker(run, &f, sum, number, own);
	json_object_foreach((json_t *)sum->coverage, number, own) metrics_merge(coverage, own);
	if (sum->states) { /* else they share nothing: theirs are added up */
		f.states = sum->states;
		f.states_sum = sum->states_sum;
	}
	json_object_set_new(run->figures, "jobs",
			    json_integer((json_int_t)json_object_size(sum->figures)));
	return explore_finish(run, &f, coverage, json, err);
}
