/* cmd_swarm.c -- `assay swarm`: one command by workers of many machines, on a Redis server. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/must.h"
#include "base/rng.h"
#include "cli/operands.h"
#include "cli/parts.h"
#include "cli/summary.h"
#include "cmd/explore_report.h"
#include "workers/fingerprint.h"
#include "workers/swarm_command.h"
#include "workers/swarm_hosts.h"
#include "workers/swarm_parts.h"
#include "workers/swarm_status.h"
#include "workers/swarm_work.h"

#define ROW(field) offsetof(struct swarm_settings, field)

static const struct opt opts[] = {
	{ "redis", OPT_TEXT, ROW(redis), "URL",
	  "the server: redis://[:PASSWORD@]HOST[:PORT][/DB], rediss:// by TLS, unix:///SOCKET. "
	  "Others see a password in it (ps); better in --redis-file or ASSAY_REDIS",
	  0, 0 },
	{ "redis-file", OPT_TEXT, ROW(redis_file), "FILE", "a file with the URL", 0, 0 },
	{ "run", OPT_TEXT, ROW(run), "NAME",
	  "name of the run; start: a new one; else the only one of the server", 0, 0 },
	{ "jobs", OPT_U64, ROW(jobs), "N",
	  "worker processes on this machine; work: 0 is one per CPU; start: 0 is none", 0, 1024 },
	{ "hosts", OPT_TEXT, ROW(hosts), "FILE",
	  "start: also start workers on these hosts by ssh; a line is HOST [JOBS [PROGRAM]]", 0,
	  0 },
	{ "any", OPT_FLAG, ROW(any), NULL,
	  "work: every run of the server, also those that are started later, until it is stopped",
	  0, 0 },
	{ "await", OPT_FLAG, ROW(await), NULL,
	  "start: wait until workers elsewhere have done the work, and write what they found", 0,
	  0 },
	{ "known", OPT_TEXT, ROW(known), "FILE", "start: a file of known failures, for all workers",
	  0, 0 },
	{ "diverse", OPT_FLAG, ROW(diverse), NULL,
	  "start: workers share only findings and figures; each has its own seed and strategy", 0,
	  0 },
	{ "shards", OPT_U64, ROW(shards), "N",
	  "start: pieces of the visited states, each a key in its own slot of a cluster; 0: 16 "
	  "there, 1 on a single server",
	  0, SHARDS_MAX },
	{ "parts", OPT_U64, ROW(parts), "N",
	  "start: numbered parts of the work of crash, conform and fsck, which workers take one by "
	  "one",
	  1, PARTS_MAX },
	{ "dead-seconds", OPT_DOUBLE, ROW(dead), "N",
	  "a worker without a sign of life for so long is dead; its work is done by others", 1,
	  3600 },
	{ "offline-seconds", OPT_DOUBLE, ROW(offline), "N",
	  "how long a worker continues alone when the server is away", 0, 86400 },
	{ "patience", OPT_DOUBLE, ROW(patience), "SECONDS",
	  "how long it waits for the server then, before it gives up", 0, OPT_SECONDS_MAX },
	{ "keep", OPT_FLAG, ROW(keep), NULL, "leave the run on the server when it has ended", 0,
	  0 },
	{ "out", OPT_TEXT, ROW(out), "DIR", "run directory; default: a new one in runs/", 0, 0 },
	{ "json", OPT_FLAG, ROW(json), NULL, "print the result as one JSON object", 0, 0 },
	OPT_END,
};

enum { STATES_SUMMED_MAX = 4000000, CLUSTER_SHARDS = 16, AWAIT_US = 200000, KNOWN_MAX = 8 << 20 };

static int run_work(int argc, char **argv, struct err *err)
{
	return swarm_work(err);
}

/* ---- results ---- */

static int collect_findings(struct swarm *s, struct run *run, struct err *err)
{
	char dir[PATH_MAX];
	json_t *summary;
	int status;

	snprintf(dir, sizeof(dir), "%.4000s/swarm", run->dir);
	status = results_fetch_findings(&s->run, dir, &summary, err);
	if (status)
		return status;
	run_merge(run, summary, "swarm");
	json_decref(summary);
	return 0;
}

static int collect_search(struct swarm *s, struct run *run, struct err *err)
{
	json_t *figures = NULL, *coverage = NULL, *dead = NULL;
	struct swarm_sum sum = { 0 };
	bool summed;
	int status = collect_findings(s, run, err);

	if (!status)
		status = results_fetch(&s->run, "figures", &figures, err);
	if (!status)
		status = results_fetch(&s->run, "coverage", &coverage, err);
	if (!status)
		status = results_dead(&s->run, &dead, err);
	if (!status)
		status = results_is_done(&s->run, &sum.nothing_left, err);
	if (!status)
		status = results_states(&s->run, STATES_SUMMED_MAX, &sum.states, &sum.states_sum,
					&summed, err);
	sum.figures = figures;
	sum.coverage = coverage;
	sum.dead = dead;
	if (!status)
		status = explore_merge_swarm(run, &sum, swarm_settings.json, err);
	json_decref(figures);
	json_decref(coverage);
	json_decref(dead);
	return status;
}

/* The time is that since the run was started, by whichever process. */
static int collect_parts(struct swarm *s, bool stopped, struct run *run, struct err *err)
{
	const struct command *c = swarm_run_command(s);
	double passed =
		(double)time(NULL) - json_number_value(json_object_get(s->run.about, "started"));
	int status = swarm_command_parse(c, swarm_args(s), swarm_settings.json, err);

	if (status)
		return status;
	if (run->started_seconds > clock_seconds() - passed)
		run->started_seconds = clock_seconds() - passed;
	status = swarm_parts_collect(&s->run, c, stopped, run, err);
	return c->parts->finish(run, status, err);
}

/* Everything that the workers have published, as a run of this machine. stopped: by the user, so
 * that not all of the work need be done. */
static int collect(struct swarm *s, bool stopped, struct run *run, struct err *err)
{
	struct swarm_counts counts = { 0 };
	int status = results_counts(&s->run, &counts, err);

	if (status)
		return status;
	json_object_set_new(run->figures, "run", json_string(s->name));
	json_object_set_new(run->figures, "jobs", json_integer((json_int_t)counts.workers));
	json_object_set_new(run->figures, "workers_dead",
			    json_integer((json_int_t)(counts.dead - counts.left)));
	return swarm_run_command(s)->parts ? collect_parts(s, stopped, run, err)
					   : collect_search(s, run, err);
}

/* Waits until no worker is left, or for so long, or until a stop, unless there was one before. */
static int await_workers(struct swarm *s, double seconds, uint64_t *ret_living, struct err *err)
{
	double until = clock_seconds() + seconds;
	bool stopped, stopped_before = stop_requested;
	int status;

	for (;;) {
		/* Also buries those without a sign of life. */
		status = swarm_run_beat(&s->run, 0, swarm_settings.dead, &stopped, err);
		if (!status)
			status = swarm_run_living(&s->run, ret_living, err);
		if (status || !*ret_living || clock_seconds() > until ||
		    (stop_requested && !stopped_before))
			return status;
		usleep(AWAIT_US);
	}
}

static int is_work_done(struct swarm *s, bool *ret, struct err *err)
{
	struct work_parts_counts counts;
	int status;

	if (!swarm_run_command(s)->parts)
		return results_is_done(&s->run, ret, err);
	status = work_parts_count(&s->run, &counts, err);
	*ret = !status && !counts.open;
	return status;
}

/* Waits until nothing is left to do. */
static int await_work(struct swarm *s, struct err *err)
{
	bool done = false, stopped;
	int status = 0;

	while (!status && !done && !stop_requested) {
		usleep(AWAIT_US);
		/* What the dead had is free. */
		status = swarm_run_beat(&s->run, 0, swarm_settings.dead, &stopped, err);
		if (!status)
			status = is_work_done(s, &done, err);
	}
	return status;
}

/* The run of what all have found: that of the command, where its parts make up the whole. */
static int swarm_open_result(const struct swarm *s, struct run *ret, struct err *err)
{
	const struct command *c = swarm_run_command(s);

	return run_open(ret, c->parts ? c->name : "swarm", swarm_target(s), swarm_settings.out,
			swarm_seed(s), err);
}

static int swarm_finish(struct swarm *s, bool stopped, struct run *run, struct err *err)
{
	int status = collect(s, stopped, run, err);

	if (!status && !swarm_settings.keep)
		status = swarm_run_remove(&s->run, err);
	return status;
}

static int run_stop(int argc, char **argv, struct err *err)
{
	struct swarm s;
	struct run run;
	uint64_t living = 0;
	int code = swarm_open(&s, false, err), status;

	if (code) {
		swarm_close(&s);
		return code;
	}
	stop_catch_signals();
	status = swarm_run_stop(&s.run, err);
	if (!status)
		status = await_workers(&s, 3 * swarm_settings.dead + 30, &living, err);
	if (living)
		fprintf(stderr, "assay swarm: %" PRIu64 " workers have not ended yet\n", living);
	code = EXIT_UNKNOWN;
	if (!status && !swarm_open_result(&s, &run, err)) {
		status = swarm_finish(&s, true, &run, err);
		code = summary_code(&run, status);
		run_free(&run);
	}
	swarm_close(&s);
	return code;
}

/* ---- status ---- */

static int run_status(int argc, char **argv, struct err *err)
{
	struct swarm s;
	json_t *o;
	int code = swarm_open(&s, false, err);

	if (!code && swarm_status(&s.run, swarm_run_command(&s)->parts, &o, err))
		code = EXIT_UNKNOWN;
	if (!code) {
		if (swarm_settings.json)
			json_dumpf(o, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
		else
			swarm_status_print(o);
		if (swarm_settings.json)
			putchar('\n');
		json_decref(o);
	}
	swarm_close(&s);
	return code;
}

/* ---- start ---- */

/* Each key costs its command in every request: more than one is for the nodes of a cluster. */
static unsigned choose_shards(const struct swarm *s)
{
	if (swarm_settings.shards)
		return (unsigned)swarm_settings.shards;
	return redis_net_is_cluster(&s->run.net) ? CLUSTER_SHARDS : 1;
}

static json_t *swarm_describe(const struct swarm *s, int argc, char **argv)
{
	json_t *about = json_object(), *args = json_array();
	struct buf print = BUF_INIT;

	for (int i = 0; i < argc; i++)
		json_array_append_new(args, json_string(argv[i]));
	fingerprint(args, &print);
	json_object_set_new(about, "args", args);
	json_object_set_new(about, "fingerprint", json_string(buf_str(&print)));
	json_object_set_new(about, "shards", json_integer((json_int_t)choose_shards(s)));
	json_object_set_new(about, "parts", json_integer((json_int_t)swarm_settings.parts));
	json_object_set_new(about, "diverse", json_boolean(swarm_settings.diverse));
	json_object_set_new(about, "seed", json_integer((json_int_t)(rng_fresh_seed() >> 2 | 1)));
	json_object_set_new(about, "started", json_integer((json_int_t)time(NULL)));
	buf_free(&print);
	return about;
}

static int add_known(json_t *about, struct err *err)
{
	struct buf text = BUF_INIT;
	int status = swarm_settings.known
			   ? buf_read_file(&text, swarm_settings.known, KNOWN_MAX, err)
			   : 0;

	if (!status && text.len)
		json_object_set_new(about, "known", json_string(text.data));
	buf_free(&text);
	return status;
}

/* A run of this name that is there already is continued, if it is the same. */
static int put_description(struct swarm *s, int argc, char **argv, struct err *err)
{
	json_t *about = swarm_describe(s, argc, argv),
	       *args = json_deep_copy(json_object_get(about, "args"));
	bool made = false;
	int status = add_known(about, err);

	if (!status)
		status = swarm_run_make(&s->run, about, &made, err);
	else
		json_decref(about);

	if (!status && !made && !json_equal(args, swarm_args(s)))
		status =
			err_set(err, EEXIST, "the server has a run %s of another command", s->name);
	json_decref(args);
	if (!status)
		status = swarm_check_fingerprint(s, err);
	if (!status && swarm_run_command(s)->parts)
		status = work_parts_put(&s->run, swarm_part_count(s->run.about), err);
	return status;
}

static int start_hosts(const struct swarm *s, struct swarm_hosts *h, struct err *err)
{
	struct buf options = BUF_INIT;
	int status;

	buf_addf(&options, "--run %s --dead-seconds %g --offline-seconds %g --patience %g", s->name,
		 swarm_settings.dead, swarm_settings.offline, swarm_settings.patience);
	status = swarm_hosts_start(h, swarm_settings.hosts, buf_str(&s->url_text), options.data,
				   err);
	buf_free(&options);
	return status;
}

/* Workers of this machine and of the hosts; then what all have found. */
static int work_here(struct swarm *s, const struct swarm_hosts *hosts, struct err *err)
{
	uint64_t living = 0;
	struct run run, local;
	int status = 0, code;

	if (swarm_open_result(s, &run, err))
		return EXIT_UNKNOWN;
	stop_catch_signals();
	if (swarm_settings.jobs) {
		char dir[PATH_MAX];

		snprintf(dir, sizeof(dir), "%.4000s/here", run.dir);
		status = run_open(&local, "swarm", swarm_target(s), dir, swarm_seed(s), err);
		if (!status) {
			status = swarm_work_here(s, &local, (unsigned)swarm_settings.jobs, err);
			status = summary_write(&local, status, err);
			run_free(&local);
		}
	}
	swarm_hosts_await(hosts, swarm_settings.hosts);
	if (!status && swarm_settings.await)
		status = await_work(s, err);
	if (stop_requested)
		swarm_run_stop(&s->run, err);
	if (!status)
		status =
			await_workers(s, stop_requested ? 3 * swarm_settings.dead : OPT_SECONDS_MAX,
				      &living, err);
	if (!status)
		status = swarm_finish(s, stop_requested, &run, err);
	code = summary_code(&run, status);
	run_free(&run);
	return code;
}

static int run_start(int argc, char **argv, struct err *err)
{
	struct swarm_hosts hosts = { .count = 0 };
	struct swarm s;
	int code;

	if (swarm_command_check(argc, argv, swarm_settings.diverse, swarm_settings.parts, err))
		return EXIT_USAGE;
	code = operand_file(swarm_settings.hosts, err);
	if (!code)
		code = operand_known(swarm_settings.known, NULL, err);
	if (!code)
		code = operand_new_directory(swarm_settings.out, err);
	if (code)
		return code;
	code = swarm_open(&s, true, err);
	if (!code && put_description(&s, argc, argv, err))
		code = EXIT_UNKNOWN;
	if (!code && swarm_settings.hosts && start_hosts(&s, &hosts, err))
		code = EXIT_UNKNOWN;
	if (!code && (swarm_settings.jobs || swarm_settings.hosts || swarm_settings.await))
		code = work_here(&s, &hosts, err);
	else if (!code)
		printf("%s\n", s.name);
	swarm_close(&s);
	return code;
}

/* ---- the command ---- */

static const struct {
	const char *name;
	int (*run)(int argc, char **argv, struct err *err);
} actions[] = {
	{ "start", run_start },
	{ "work", run_work },
	{ "status", run_status },
	{ "stop", run_stop },
};

static int run_swarm(int argc, char **argv, struct err *err)
{
	for (size_t i = 0; argc > 1 && i < ARRAY_LEN(actions); i++) {
		if (strcmp(argv[1], actions[i].name) != 0)
			continue;
		if (actions[i].run != run_start && argc > 2)
			break;
		return actions[i].run(argc - 2, argv + 2, err);
	}
	err_set(err, EINVAL, "start, work, status or stop?");
	return EXIT_USAGE;
}

const struct command command_swarm = {
	.name = "swarm",
	.usage = "start [-- explore|crash|conform|fsck TARGET [OPTIONS]]|work|status|stop",
	.summary = "one command by workers of many machines, on a Redis server",
	.text = "A run is a description and its results on a Redis or Valkey server "
		"(docs/SWARM.md).\n"
		"*start* puts the description there: the command behind two dashes. With\n"
		"*--jobs* or *--hosts* it also starts workers, waits for their end and writes\n"
		"what all have found to a run directory; else it prints the name of the run.\n"
		"*work* is a worker, as many processes as *--jobs* says; it ends when nothing\n"
		"is left. Workers join and leave at any time. *status* shows how far the run\n"
		"is. *stop* ends it, writes what was found to a run directory and removes it\n"
		"from the server.\n"
		"\n"
		"Workers of *explore* share which states are taken and which were reached, so that "
		"each\n"
		"state is worked on once and counted once. When a worker is killed, others do\n"
		"its work. When the server is away, workers continue alone for a while, and\n"
		"send what they did when it is back. A worker whose program, model, profile or\n"
		"kernel is not that of the run is refused.\n"
		"\n"
		"The work of *crash*, *conform* and *fsck* is divided in *--parts*, which need\n"
		"not know of each other. Workers take them one by one, and one that a worker\n"
		"could not end is done by another. The results are put together as if one\n"
		"machine had done all. *--seconds* of the command is for each part.\n"
		"\n"
		"With *--diverse* workers of *explore* share nothing but findings and figures: for "
		"spaces that\n"
		"are too large to share, each worker has its own seed and strategy, and keeps\n"
		"bits instead of states.\n"
		"\n"
		"Exit status: 0 no findings, 1 findings, 2 could not tell, for example because\n"
		"the server is away.",
	.opts = opts,
	.settings = &swarm_settings,
	.run = run_swarm,
};
