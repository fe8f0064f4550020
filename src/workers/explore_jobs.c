/* explore_jobs.c -- one search by several processes: what they share, and who looks after them. */
#include "workers/explore_jobs.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/count_text.h"
#include "base/log.h"
#include "base/must.h"

/* Memory for what all have visited, compared to what one may use for its graph. */
enum { SHARED_PART = 4 };
/* How often run.json is written while they work. */
enum { SHOW_SECONDS = 2 };

struct explore_part explore_part;

int explore_jobs_open(struct explore_jobs *j, unsigned count, uint64_t memory, struct err *err)
{
	uint64_t part = memory / SHARED_PART;

	*j = (struct explore_jobs){
		.count = count,
		.replaced_max = count + 1,
		.started_seconds = clock_seconds(),
	};
	j->memory = share_memory_open(count, part > UINT64_MAX / count ? UINT64_MAX : part * count,
				      err);
	if (!j->memory)
		return -err->code;
	j->lost = must_alloc((count + j->replaced_max) * sizeof(*j->lost));
	return 0;
}

void explore_jobs_close(struct explore_jobs *j)
{
	if (j->memory)
		share_memory_close(j->memory);
	free(j->lost);
}

unsigned explore_jobs_of(const char *run)
{
	char path[PATH_MAX];
	unsigned count = 0;

	do
		snprintf(path, sizeof(path), "%.4000s/job-%u", run, count);
	while (!access(path, F_OK) && count++ < JOBS_MAX);
	return count ? count : 1;
}

/* ---- in a process of them ---- */

static struct share *jobs_join_search(void *to, unsigned channel)
{
	struct explore_jobs *j = to;

	return share_memory_join(j->memory, j->worker, channel);
}

static void jobs_publish(void *to, const struct explore_figures *f, struct run *run)
{
	struct explore_jobs *j = to;
	struct share_progress p = { .calls = f->calls,
				    .transitions = f->transitions,
				    .findings = json_array_size(run->findings) };

	share_memory_publish(j->memory, j->worker, &p);
}

void explore_jobs_join(struct explore_jobs *j, unsigned number, struct explore_options *o)
{
	j->worker = number;
	o->shared = (struct share_source){ jobs_join_search, j };
	o->progress = jobs_publish;
	o->progress_to = j;
}

void explore_part_join(const struct explore_part *p, struct explore_options *o)
{
	o->shared = p->shared;
	o->progress = p->progress;
	o->progress_to = p->progress_to;
}

/* ---- in the process that looks after them ---- */

/* run.json of the run as a whole, for those who look at it meanwhile (`assay serve`). */
static void jobs_show(struct explore_jobs *j, const struct share_progress *p, uint64_t states)
{
	const struct {
		const char *name;
		uint64_t count;
	} figures[] = {
		{ "jobs", j->count - j->replaced },
		{ "calls", p->calls },
		{ "transitions", p->transitions },
		{ "states", states },
	};

	/* One that cannot begin leaves nothing. */
	if (!p->calls || clock_seconds() - j->shown_seconds < SHOW_SECONDS)
		return;
	j->shown_seconds = clock_seconds();
	for (size_t i = 0; i < ARRAY_LEN(figures); i++)
		json_object_set_new(j->run->figures, figures[i].name,
				    json_integer((json_int_t)figures[i].count));
	run_show_jobs(j->run, j->count);
}

/* True if they have found enough. */
static bool jobs_look(void *to)
{
	struct explore_jobs *j = to;
	double seconds = clock_seconds() - j->started_seconds;
	uint64_t states;
	struct share_progress p = share_memory_progress(j->memory, &states);

	jobs_show(j, &p, states);
	if (progress_wanted())
		progress_show("%s: %.0f s, %s (%.0f/s), %s, %s%s", j->target, seconds,
			      count_text(p.transitions, "transition"),
			      (double)p.transitions / seconds, count_text(states, "state"),
			      count_text(p.findings, "finding"),
			      progress_left(seconds, j->seconds));
	return p.findings >= j->findings_max;
}

static void jobs_ended(void *to, unsigned number, int code, bool failed)
{
	struct explore_jobs *j = to;

	if (failed && !j->failed_code)
		j->failed_code = code;
	if (failed)
		share_memory_died(j->memory, number);
	else
		share_memory_left(j->memory, number);
}

static int jobs_killed(void *to, unsigned number)
{
	struct explore_jobs *j = to;
	int next;
	bool late = j->alone && share_memory_is_over(j->memory, 0);

	j->lost[number] = late ? JOB_LATE : JOB_LOST;
	share_memory_died(j->memory, number);
	if (late)
		return JOB_NONE;
	if (j->replaced >= j->replaced_max)
		return -ENOSPC;
	next = share_memory_add(j->memory);
	if (next < 0)
		return next;
	j->replaced++;
	j->count++;
	return next;
}

int explore_jobs_run(struct explore_jobs *j, const struct run *run, const struct job *job,
		     struct err *err)
{
	struct job_care care = { jobs_look, jobs_ended, jobs_killed, j };
	int status;

	j->target = run->target;
	j->run = run;
	j->ran = true;
	status = jobs_run_together(run, j->count, job, &care, err);
	progress_end();
	return status;
}
