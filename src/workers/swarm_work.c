/* swarm_work.c -- `assay swarm work`: workers of this machine. */
#include "workers/swarm_work.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/jobs.h"
#include "cli/summary.h"
#include "workers/fingerprint.h"
#include "workers/swarm_crew.h"
#include "workers/swarm_parts.h"
#include "workers/swarm_pool.h"
#include "workers/swarm_search.h"

/* In the process of a worker. */
static struct {
	const struct swarm *swarm;
	struct swarm_crew *crew;
	struct swarm_worker worker;
} here;

static void print_label(char label[320], unsigned number)
{
	char host[256] = "unknown";

	gethostname(host, sizeof(host) - 1);
	snprintf(label, 320, "%s %d %u", host, (int)getpid(), number);
}

/* An exit code; *ret_done: nothing is left for any worker. */
static int worker_work(const char *dir, bool *ret_done, struct err *err)
{
	const struct command *c = swarm_run_command(here.swarm);
	const json_t *about = here.swarm->run.about;

	return c->parts ? swarm_parts_work(&here.worker, c, about, !swarm_settings.any, dir,
					   ret_done, err)
			: swarm_search_work(&here.worker, c, about, dir, ret_done, err);
}

static int worker_job(void *to, unsigned number, const char *dir, struct err *err)
{
	struct worker_options o = { .url = &here.swarm->url,
				    .run = here.swarm->name,
				    .dead_seconds = swarm_settings.dead,
				    .offline_seconds = swarm_settings.offline,
				    .offline_works = 100000,
				    .patience_seconds = swarm_settings.patience };
	char label[320];
	bool done = false;
	int code;

	print_label(label, number);
	o.label = label;
	if (worker_open(&here.worker, &o, &here.crew->pages[number], err))
		return EXIT_UNKNOWN;
	code = worker_work(dir, &done, err);
	if (here.worker.failed.code && !err->code)
		*err = here.worker.failed;
	worker_close(&here.worker, done && !err->code ? "done" : "left");
	return err->code && code == EXIT_CLEAN ? EXIT_UNKNOWN : code;
}

/* ---- work ---- */

int swarm_check_fingerprint(const struct swarm *s, struct err *err)
{
	const char *theirs = json_text(s->run.about, "fingerprint");
	struct buf ours = BUF_INIT;
	bool same;

	fingerprint(swarm_args(s), &ours);
	same = !strcmp(theirs, buf_str(&ours));
	if (!same) {
		fprintf(stderr, "the run %s was started with:\n%sthis worker has:\n%s", s->name,
			theirs, buf_str(&ours));
		err_set(err, EINVAL, "this worker does not fit the run %s", s->name);
	}
	buf_free(&ours);
	return same ? 0 : -EINVAL;
}

int swarm_work_here(struct swarm *s, struct run *local, unsigned jobs, struct err *err)
{
	struct swarm_crew crew = { .run = &s->run,
				   .url = &s->url,
				   .dead_seconds = swarm_settings.dead,
				   .patience_seconds = swarm_settings.patience };
	struct job job = { .work = worker_job };
	int status = swarm_crew_open(&crew, jobs, err);

	if (status)
		return status;
	here.swarm = s;
	here.crew = &crew;
	stop_catch_signals();
	status = swarm_crew_run(&crew, local, jobs, &job, err);
	for (unsigned i = 0; i < crew.count; i++) {
		json_t *summary = NULL;
		struct err none = { 0 };

		if (job_merge(local, i, &summary, &none))
			continue;
		job_add_figures(local, summary,
				(const char *const[]){ "calls", "transitions", NULL });
		json_decref(summary);
	}
	swarm_crew_close(&crew);
	return status;
}

static int work_on_run(struct swarm *s, unsigned jobs, struct err *err)
{
	struct run local;
	int status, code;

	if (run_open(&local, "swarm", swarm_target(s), swarm_settings.out, swarm_seed(s), err))
		return EXIT_UNKNOWN;
	status = swarm_work_here(s, &local, jobs, err);
	status = summary_write(&local, status, err);
	if (swarm_settings.json)
		summary_print(&local);
	else
		printf("%s: %zu findings of this machine's workers in run %s; report: "
		       "%s/report.html\n",
		       swarm_target(s), json_array_size(local.findings), s->name, local.dir);
	code = summary_code(&local, status);
	run_free(&local);
	return code;
}

/* By one process. */
static int work_in_pool(const char *name, const char *dir, struct err *err)
{
	struct swarm s;
	int code;

	swarm_settings.run = name;
	swarm_settings.out = dir;
	swarm_settings.json = true;
	code = swarm_open(&s, false, err);
	if (!code)
		code = swarm_check_fingerprint(&s, err) ? EXIT_UNKNOWN : work_on_run(&s, 1, err);
	swarm_close(&s);
	return code;
}

static int run_pool(struct err *err)
{
	struct swarm_pool pool = { .dead_seconds = swarm_settings.dead,
				   .patience_seconds = swarm_settings.patience,
				   .work = work_in_pool };
	struct redis_url url = { 0 };
	struct buf text = BUF_INIT;
	struct run run;
	int code = EXIT_USAGE, status;

	pool.url = &url;
	if (swarm_settings.run)
		err_set(err, EINVAL, "--any and --run exclude each other");
	else if (!redis_url_choose(&text, swarm_settings.redis, swarm_settings.redis_file, err) &&
		 !redis_url_parse(&url, buf_str(&text), err))
		code = run_open(&run, "swarm", "any", swarm_settings.out, 0, err) ? EXIT_UNKNOWN
										  : EXIT_CLEAN;
	if (!code) {
		status = swarm_pool_serve(&pool, &run, jobs_wanted((unsigned)swarm_settings.jobs),
					  err);
		status = summary_write(&run, status, err);
		code = summary_code(&run, status);
		run_free(&run);
	}
	redis_url_free(&url);
	buf_free(&text);
	return code;
}

int swarm_work(struct err *err)
{
	struct swarm s;
	int code;

	if (swarm_settings.any)
		return run_pool(err);
	code = swarm_open(&s, false, err);
	if (!code)
		code = swarm_check_fingerprint(&s, err)
			     ? EXIT_UNKNOWN
			     : work_on_run(&s,
					   jobs_on(swarm_target(&s), NULL,
						   (unsigned)swarm_settings.jobs),
					   err);
	swarm_close(&s);
	return code;
}
