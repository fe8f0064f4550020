/* swarm_parts.c -- a run of a swarm whose work is divided in parts. */
#include "workers/swarm_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/must.h"
#include "cli/jobs.h"
#include "cli/parts.h"
#include "cli/summary.h"
#include "workers/swarm_command.h"

/* How often a worker looks whether a part has become free. */
enum { WAIT_US = 200000 };

/* ---- a worker ---- */

/* What one worker does, and has done. */
struct parts_worker {
	struct swarm_worker *worker;
	const struct command *command;
	const json_t *about, *args;
	unsigned count; /* of parts */
	bool waits;
	struct run run;
	struct results_sender sender;
	unsigned begun;
};

/* In the process of a part: the command of the run, with the options of this part. */
static int part_job(void *to, unsigned number, const char *dir, struct err *err)
{
	const struct parts_worker *p = to;
	const char *argv[SWARM_ARGS_MAX + 16];
	char part[32], known[PATH_MAX];
	int argc = 0;

	snprintf(part, sizeof(part), "%u/%u", number + 1, p->count);
	for (size_t i = 0; i < json_array_size(p->args) && argc < SWARM_ARGS_MAX; i++)
		argv[argc++] = json_string_value(json_array_get(p->args, i));
	if (p->count > 1) {
		argv[argc++] = "--part";
		argv[argc++] = part;
	}
	argv[argc++] = "--jobs";
	argv[argc++] = "1";
	argv[argc++] = "--json";
	argv[argc++] = "--out";
	argv[argc++] = dir;
	if (swarm_add_known(p->about, dir, known, argv, &argc, err))
		return EXIT_UNKNOWN;
	argv[argc] = NULL;
	if (opt_parse(p->command->opts, p->command->settings, &argc, (char **)argv, err))
		return EXIT_USAGE;
	return p->command->run(argc, (char **)argv, err);
}

static int part_add(struct parts_worker *p, const json_t *summary, const char *subdir,
		    struct err *err)
{
	run_merge(&p->run, summary, subdir);
	p->command->parts->add(&p->run, summary);
	return run_close(&p->run, err);
}

/* Where its process was killed, the part is this worker's still, and comes again. */
static int part_do(struct parts_worker *p, unsigned number, struct err *err)
{
	struct job job = { .work = part_job, .to = p };
	char subdir[64], dir[PATH_MAX];
	json_t *summary;
	int status;

	snprintf(subdir, sizeof(subdir), "%u-part-%u", p->begun++, number + 1);
	snprintf(dir, sizeof(dir), "%.4000s/%s", p->run.dir, subdir);
	status = job_run(&job, number, dir, &summary, err);
	if (status || !summary)
		return status;
	status = work_parts_end(p->worker, &p->sender, number, dir, summary, !stop_requested, err);
	if (!status)
		status = part_add(p, summary, subdir, err);
	atomic_fetch_add(&p->worker->page->taken, 1);
	json_decref(summary);
	return status;
}

static int parts_do(struct parts_worker *p, bool *ret_done, struct err *err)
{
	int status = 0;

	while (!status && !stop_requested && !*ret_done) {
		enum part_offer offer;
		unsigned number;

		status = work_parts_take(p->worker, &offer, &number, err);
		if (status)
			break;
		if (offer == PART_MINE)
			status = part_do(p, number, err);
		else if (offer == PART_NONE_LEFT)
			*ret_done = true;
		else if (!p->waits)
			break;
		else
			usleep(WAIT_US);
	}
	return status;
}

int swarm_parts_work(struct swarm_worker *w, const struct command *c, const json_t *about,
		     bool waits, const char *dir, bool *ret_done, struct err *err)
{
	struct parts_worker p = {
		.worker = w,
		.command = c,
		.about = about,
		.args = json_object_get(about, "args"),
		.count = swarm_part_count(about),
		.waits = waits,
	};
	int status, code;

	if (run_open(&p.run, c->name, json_string_value(json_array_get(p.args, 1)), dir, 0, err))
		return EXIT_UNKNOWN;
	stop_catch_signals();
	status = parts_do(&p, ret_done, err);
	status = summary_write(&p.run, status, err);
	code = summary_code(&p.run, status);
	results_sender_free(&p.sender);
	run_free(&p.run);
	return code;
}

/* ---- results ---- */

/* The row of the same signature whose folder was published. */
static const json_t *row_published(const json_t *rows, const json_t *row)
{
	json_t *there;
	size_t i;

	json_array_foreach((json_t *)rows, i, there)
	{
		if (!strcmp(json_text(there, "signature"), json_text(row, "signature")))
			return there;
	}
	return NULL;
}

/* Of findings with one signature, the shortest has its folder on the server: that is the folder of
 * all. Those that are listed below others have none. */
static void rows_set_folders(json_t *rows, const json_t *published)
{
	json_t *row, *other;
	size_t i, k;

	json_array_foreach(rows, i, row)
	{
		const json_t *there = row_published(published, row);

		json_object_del(row, "folder");
		if (there)
			json_object_set(row, "folder", json_object_get(there, "folder"));
		json_array_foreach(json_object_get(row, "others"), k, other)
			json_object_del(other, "folder");
	}
}

static void add_cpu_seconds(struct run *run, const json_t *summary)
{
	double sum = json_number_value(json_object_get(run->figures, "cpu_seconds")) +
		     json_number_value(json_object_get(summary, "cpu_seconds"));

	json_object_set_new(run->figures, "cpu_seconds", json_real(sum));
}

static void collect_part(const struct command *c, json_t *summary, const json_t *published,
			 struct run *run)
{
	static const char *const lists[] = { "findings", "unconfirmed" };

	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		rows_set_folders(json_object_get(summary, lists[i]),
				 json_object_get(published, lists[i]));
	run_merge(run, summary, "swarm");
	c->parts->add(run, summary);
	add_cpu_seconds(run, summary);
}

static void set_part_counts(struct run *run, unsigned count, const struct work_parts_counts *c)
{
	const struct {
		const char *name;
		uint64_t value;
	} rows[] = {
		{ "parts", count },
		{ "parts_done", count - c->open - c->given_up },
		{ "parts_given_up", c->given_up },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		json_object_set_new(run->figures, rows[i].name,
				    json_integer((json_int_t)rows[i].value));
}

int swarm_parts_collect(struct swarm_run *r, const struct command *c, bool stopped, struct run *run,
			struct err *err)
{
	unsigned count = swarm_part_count(r->about);
	struct work_parts_counts counts = { 0 };
	json_t *published = NULL, *results = NULL;
	char dir[PATH_MAX], number[16];
	int status;

	snprintf(dir, sizeof(dir), "%.4000s/swarm", run->dir);
	status = results_fetch_findings(r, dir, &published, err);
	if (!status)
		status = work_parts_fetch(r, &results, err);
	if (!status)
		status = work_parts_count(r, &counts, err);
	for (unsigned i = 0; i < count && !status; i++) {
		json_t *summary;

		snprintf(number, sizeof(number), "%u", i);
		summary = json_object_get(results, number);
		if (summary)
			collect_part(c, summary, published, run);
	}
	json_decref(published);
	json_decref(results);
	set_part_counts(run, count, &counts);
	if (!status && (counts.given_up || (counts.open && !stopped)))
		status =
			err_set(err, ECHILD, "%" PRIu64 " of %u parts were not done to their end%s",
				counts.open + counts.given_up, count,
				counts.given_up ? ": some ended every worker that began them" : "");
	return status;
}
