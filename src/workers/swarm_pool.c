/* swarm_pool.c -- workers that serve every run of a server, whenever it is started.
 *
 * A worker looks for a run with work that no other has, does what there is in a process, and looks
 * again. Results are on the server; the directory of a run is removed. */
#include "workers/swarm_pool.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/must.h"
#include "cli/command.h"
#include "cli/jobs.h"
#include "swarm/work_parts.h"
#include "workers/swarm_command.h"

enum { POOL_LOOK_US = 500000 };

/* Of a run that this worker cannot work on. */
static const uint64_t unfit = UINT64_MAX;

struct pool_worker {
	const struct swarm_pool *pool;
	struct str_map seen; /* run -> when it was last looked at for long, in ms; or unfit */
	char name[RUN_NAME_MAX + 1];
};

static uint64_t pool_ms(void)
{
	return (uint64_t)(1000 * clock_seconds());
}

/* ---- choosing ---- */

enum pool_need {
	NEEDS_NONE,   /* it is over */
	NEEDS_OTHERS, /* all that is left is some worker's, as long as it lives */
	NEEDS_WORKER
};

static int pool_need(struct swarm_run *run, enum pool_need *ret, struct err *err)
{
	struct work_parts_counts counts;
	const struct command *c;
	bool stopped, done;
	int status = swarm_run_read(run, err);

	if (!status)
		status = swarm_run_is_stopped(run, &stopped, err);
	c = status ? NULL : swarm_command(json_object_get(run->about, "args"));
	if (!c || stopped)
		return status;
	if (!c->parts) {
		status = results_is_done(run, &done, err);
		*ret = !status && !done ? NEEDS_WORKER : NEEDS_NONE;
		return status;
	}
	status = work_parts_count(run, &counts, err);
	if (!status && counts.open)
		*ret = counts.open > counts.begun ? NEEDS_WORKER : NEEDS_OTHERS;
	return status;
}

/* Is the run for this worker, now? Work that others have begun may become free when they die. */
static int pool_wants(struct pool_worker *w, bool *ret, struct err *err)
{
	enum pool_need need = NEEDS_NONE;
	struct swarm_run run;
	const char *warning;
	bool is_new;
	uint64_t *seen = str_map_put(&w->seen, w->name, &is_new);
	int status;

	if (is_new)
		*seen = pool_ms();
	if (*seen == unfit)
		return 0;
	status = swarm_run_open(&run, w->pool->url, w->name, &warning, err);
	if (status)
		return status;
	status = pool_need(&run, &need, err);
	swarm_run_close(&run);
	*ret = need == NEEDS_WORKER ||
	       (need == NEEDS_OTHERS &&
		pool_ms() - *seen > (uint64_t)(1000 * w->pool->dead_seconds));
	/* It was removed meanwhile. */
	return err_forget(err, status, ENOENT);
}

static int pool_choose(struct pool_worker *w, bool *ret_found, struct err *err)
{
	json_t *names = NULL;
	int status = swarm_run_list(w->pool->url, &names, err);
	size_t count = json_array_size(names);

	for (size_t i = 0; i < count && !status && !*ret_found; i++) {
		/* Not all workers the same one. */
		size_t at = (i + (size_t)getpid()) % count;

		snprintf(w->name, sizeof(w->name), "%s",
			 json_string_value(json_array_get(names, at)));
		status = pool_wants(w, ret_found, err);
	}
	json_decref(names);
	return status;
}

/* ---- serving ---- */

static int pool_job(void *to, unsigned number, const char *dir, struct err *err)
{
	const struct pool_worker *w = to;

	return w->pool->work(w->name, dir, err);
}

/* A run that ends in an error is not tried again: others may do it. */
static void pool_visit(struct pool_worker *w, const char *dir)
{
	struct job job = { .work = pool_job, .to = w };
	struct err err = { 0 };
	json_t *summary = NULL;
	int status = job_run(&job, 0, dir, &summary, &err);

	if (status && !stop_requested)
		fprintf(stderr, "run %s is left to others: %s (%s/errors)\n", w->name, err.text,
			dir);
	*str_map_put(&w->seen, w->name, NULL) = status ? unfit : pool_ms();
	json_decref(summary);
	if (!status)
		run_dir_remove(dir);
}

static int pool_serve(void *to, unsigned number, const char *dir, struct err *err)
{
	struct pool_worker w = { .pool = to };
	double until = clock_seconds() + w.pool->patience_seconds;
	char place[PATH_MAX];
	unsigned visits = 0;
	int status = 0;

	stop_catch_signals();
	while (!status && !stop_requested) {
		bool found = false;

		status = pool_choose(&w, &found, err);
		if (!status)
			until = clock_seconds() + w.pool->patience_seconds;
		else if (clock_seconds() < until)
			status = err_forget(err, status, ENOTCONN);
		snprintf(place, sizeof(place), "%.4000s/%u", dir, visits);
		if (found && !status) {
			visits++;
			pool_visit(&w, place);
		} else if (!status) {
			usleep(POOL_LOOK_US);
		}
	}
	str_map_free(&w.seen);
	return status ? EXIT_UNKNOWN : EXIT_CLEAN;
}

int swarm_pool_serve(const struct swarm_pool *p, struct run *run, unsigned workers, struct err *err)
{
	struct job job = { .work = pool_serve, .to = (void *)p, .speaks = true };

	stop_catch_signals();
	return jobs_run(run, workers, &job, err);
}
