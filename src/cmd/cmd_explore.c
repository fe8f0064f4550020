/* cmd_explore.c -- `assay explore TARGET`: model checking of a file system. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/must.h"
#include "base/rng.h"
#include "cli/command.h"
#include "cli/jobs.h"
#include "cli/learned_report.h"
#include "cli/operands.h"
#include "cli/summary.h"
#include "cli/sweep.h"
#include "cmd/code_report.h"
#include "cmd/explore_operands.h"
#include "cmd/explore_report.h"
#include "cmd/explore_steps.h"
#include "explore/portfolio.h"
#include "target/learn.h"
#include "workers/explore_jobs.h"

static struct explore_settings {
	double seconds, deadline;
	uint64_t calls, seed, depth, memory, saved, findings, space, processes;
	int strategy; /* 0: as the target suggests, else enum strategy + 1 */
	uint64_t jobs;
	const char *profile, *verify, *out, *config, *resume, *known, *write_known, *kernel_log;
	struct opt_list set, against, coverage_from, faults;
	uint64_t failures;
	bool repeats; /* a seed was given */
	bool adaptive, all, bitstate, crash, leaks, learn, json, kernel_coverage, code_score;
	bool variants;
} settings = {
	.seconds = 60,
	.deadline = 10,
	.depth = 64,
	.memory = (uint64_t)2 << 30,
	.findings = 100,
	.failures = 1,
	.verify = "touched+16",
	.adaptive = true,
	.learn = true,
	.code_score = true,
	.variants = true,
};

/* Where several processes make one search. */
static struct explore_jobs jobs;

static const double seconds_min = 0.1; /* for a job that takes the place of another at the end */

#define ROW(field) offsetof(struct explore_settings, field)

static const struct opt opts[] = {
	{ "seconds", OPT_DOUBLE, ROW(seconds), "N",
	  "duration of the search of each target; 0 for no limit", 0, OPT_SECONDS_MAX },
	{ "calls", OPT_U64, ROW(calls), "N", "number of calls; 0 for no limit", 0, 0 },
	{ "seed", OPT_U64, ROW(seed), "N",
	  "repeats a search of one process exactly; 0 for a new one", 0, INT64_MAX },
	{ "strategy", OPT_CHOICE, ROW(strategy), "auto|tour|dfs|bfs|random|best|remount",
	  "the order of the search; auto: several that take turns", 0, 0 },
	{ "profile", OPT_TEXT, ROW(profile), "NAME",
	  "the universe: a shipped profile or an INI file; with a strategy default, else all", 0,
	  0 },
	{ "variants", OPT_FLAG, ROW(variants), NULL,
	  "without --profile and --strategy: also search other configurations of the file system "
	  "(variants in its description)",
	  0, 0 },
	{ "set", OPT_LIST, ROW(set), "KEY=VALUE", "overrides a key of the profile: ops.mkdir=5", 0,
	  0 },
	{ "against", OPT_LIST, ROW(against), "TARGET",
	  "another target that makes the same calls, for comparison", 0, 0 },
	{ "faults", OPT_LIST, ROW(faults), "alloc|read|write",
	  "injects failures of memory allocations or disk requests, one by one (kernel:...)", 0,
	  0 },
	{ "failures", OPT_U64, ROW(failures), "N", "injected failures per call", 1, 2 },
	{ "crash", OPT_FLAG, ROW(crash), NULL,
	  "crashes the states that are reached, half of the time: what was promised must survive; "
	  "without --profile in the profile crash",
	  0, 0 },
	{ "processes", OPT_U64, ROW(processes), "N",
	  "half of the time, N processes make overlapping calls in the states that are reached, "
	  "under every schedule (kernel:...); without --profile in the profile races",
	  2, SCHEDULE_PROCESSES_MAX },
	{ "leaks", OPT_FLAG, ROW(leaks), NULL, "searches for memory leaks (kernel:...)", 0, 0 },
	{ "verify", OPT_TEXT, ROW(verify), "full|touched+N",
	  "look at the whole tree after every call, or at what it touched and at all after every N",
	  0, 0 },
	{ "depth", OPT_U64, ROW(depth), "N", "maximum depth of dfs, bfs, best and remount", 1,
	  1 << 20 },
	{ "memory", OPT_U64, ROW(memory), "BYTES",
	  "maximum memory of each process for visited states and edges", 1 << 16, UINT64_MAX },
	{ "bitstate", OPT_FLAG, ROW(bitstate), NULL,
	  "dfs, bfs, best: store only bits of visited states, if memory is too small", 0, 0 },
	{ "saved", OPT_U64, ROW(saved), "N",
	  "dfs, bfs, best: maximum of saved states; the calls to other states are repeated. 0: as "
	  "many as --memory holds",
	  0, 0 },
	{ "adaptive", OPT_FLAG, ROW(adaptive), NULL,
	  "raise the weights of inputs and outcomes that were not seen yet", 0, 0 },
	{ "coverage-from", OPT_LIST, ROW(coverage_from), "FILE",
	  "a coverage.json of earlier tests: prefer the rest; may be repeated", 0, 0 },
	{ "kernel-coverage", OPT_FLAG, ROW(kernel_coverage), NULL,
	  "record the executed code of the file system, in a kernel built for it (kernel:...)", 0,
	  0 },
	{ "code-score", OPT_FLAG, ROW(code_score), NULL,
	  "prefer states and calls that reach new code (with --kernel-coverage)", 0, 0 },
	{ "deadline", OPT_DOUBLE, ROW(deadline), "SECONDS",
	  "time limit of one call; a longer call is a hang", 0, OPT_SECONDS_MAX },
	SPACE_OPT(struct explore_settings, space),
	LEARN_OPT(struct explore_settings, learn),
	{ "findings", OPT_U64, ROW(findings), "N", "stop after this number of different findings",
	  1, 1000000 },
	KNOWN_OPTS(struct explore_settings),
	{ "all", OPT_FLAG, ROW(all), NULL,
	  "search every target that can be tested here, one after the other", 0, 0 },
	{ "kernel-log", OPT_TEXT, ROW(kernel_log), "FILE",
	  "kernel log to watch instead of /dev/kmsg; messages about other processes and "
	  "devices are counted, but are not findings",
	  0, 0 },
	{ "jobs", OPT_U64, ROW(jobs), "N",
	  "processes that share the search; default: one per CPU, but 1 with --seed, or on a "
	  "directory "
	  "or device of yours",
	  1, JOBS_MAX },
	{ "resume", OPT_TEXT, ROW(resume), "RUN",
	  "continue the search of this run directory, with the same options", 0, 0 },
	{ "out", OPT_TEXT, ROW(out), "DIR", "run directory; default: a new one in runs/", 0, 0 },
	{ "config", OPT_TEXT, ROW(config), "FILE", "an INI file that describes targets", 0, 0 },
	{ "json", OPT_FLAG, ROW(json), NULL, "print the result as one JSON object", 0, 0 },
	OPT_END,
};

/* The searches of a run: one, or a portfolio that takes turns. */
struct searches {
	struct portfolio_search list[PORTFOLIO_MAX];
	size_t count;
	bool alone; /* what to search, and how, was said */
	struct explore_variants variants;
};

static struct target_options explore_target_options(void)
{
	return (struct target_options){ .config = settings.config,
					.deadline_seconds = settings.deadline,
					.space_bytes = settings.space };
}

static int explore_search(struct target *t, struct searches *s, struct run *run,
			  struct explore_options *o, struct err *err)
{
	struct explore_figures figures = { 0 };
	static struct explore_progress progress; /* of the one search of this process */
	struct target_options options = explore_target_options();
	struct explore_steps steps = { 0 };
	struct cover cover;
	int status = 0, written;

	cover_init(&cover);
	o->variants = s->variants.list;
	o->variant_count = s->variants.count;
	o->variant_options = options;
	if (jobs.memory)
		explore_jobs_join(&jobs, jobs.worker, o);
	else if (explore_part.progress)
		explore_part_join(&explore_part, o);
	progress = (struct explore_progress){ o->code, t, o->progress, o->progress_to,
					      settings.seconds };
	o->progress = explore_show_progress;
	o->progress_to = &progress;
	json_object_set_new(run->figures, "profile",
			    json_string(settings.profile || s->alone ? s->list[0].universe.name
								     : "auto"));
	json_object_set_new(run->figures, "strategy",
			    json_string(s->alone ? strategy_names[o->strategy] : "auto"));
	if (settings.crash)
		status = explore_steps_crash(&steps, t, &options, run, o, err);
	else if (settings.processes)
		status = explore_steps_race(&steps, t, &options, &s->list[0].universe, run, o, err);
	if (!status && s->alone)
		status = explore(o, t, &s->list[0].universe, run, &cover, &figures, err);
	else if (!status)
		status = explore_portfolio(o, s->list, s->count, t, run, &cover, &figures, err);
	progress_end();
	explore_steps_close(&steps);
	if (o->code && status >= 0)
		status = code_finish(run, o->code, t, err);
	if (status < 0 && run->verdict == VERDICT_OK)
		run->verdict = VERDICT_UNKNOWN;
	written = explore_finish(run, &figures, cover_json(&cover), settings.json, err);
	cover_free(&cover);
	return status < 0 ? status : written;
}

static int read_universe(struct universe *u, const char *profile, struct err *err)
{
	size_t count = settings.set.count;
	const char **overrides =
		must_alloc((count + settings.faults.count + 2) * sizeof(*overrides));
	struct arena arena = ARENA_INIT;
	int status;

	for (size_t i = 0; i < count; i++)
		overrides[i] = settings.set.items[i];
	count +=
		explore_add_operations(overrides + count, &settings.faults, settings.leaks, &arena);
	if (settings.processes)
		overrides[count++] =
			settings.processes == 2 ? "universe.users=0 0" : "universe.users=0 0 0";
	status = universe_open(u, profile, overrides, count, err);
	arena_free(&arena);
	free(overrides);
	return status;
}

static void close_searches(struct searches *s)
{
	for (size_t i = 0; i < s->count; i++)
		universe_free(&s->list[i].universe);
	buf_free(&s->variants.names);
}

/* Other configurations of the file system are searched where nothing is said that is about this
 * one: what it is compared with, which of its code was run, where it is crashed. */
static void list_variants(struct searches *s, const struct target *t)
{
	if (!settings.variants || settings.profile || settings.against.count || settings.crash ||
	    settings.kernel_coverage)
		return;
	explore_variants_find(&s->variants, t);
	s->count = portfolio_list_variants(s->variants.count, s->list, s->count);
}

/* What was not said: every profile and every strategy that suits the target. Only walks can be
 * compared with other targets, or look for leaks, which stay with the calls before them. */
static void list_searches(struct searches *s, const struct target *t)
{
	bool walks_only = settings.leaks || settings.against.count;
	const char *profile = settings.profile;

	s->alone = settings.strategy != 0;
	if (s->alone) {
		s->list[0] = (struct portfolio_search){
			.profile = profile ? profile : "default",
			.strategy = (enum strategy)(settings.strategy - 1),
		};
		s->count = 1;
	} else {
		s->count = portfolio_list(t, profile, walks_only, s->list);
		list_variants(s, t);
	}
}

static int open_searches(struct searches *s, const struct target *t, struct err *err)
{
	int status = 0;

	if (settings.faults.count && !(t->caps & TARGET_FAULTS))
		return err_set(err, ENOTSUP, "%s does not support injected failures", t->name);
	if (settings.crash && settings.processes)
		return err_set(err, EINVAL, "--crash and --processes share no time: one of them");
	if (settings.leaks && !(t->caps & TARGET_LEAKS))
		return err_set(err, ENOTSUP, "cannot read the memory usage of %s", t->name);
	if (settings.crash && !(t->caps & TARGET_RECORD))
		return err_set(err, ENOTSUP, "%s: what it writes to its disk cannot be recorded",
			       t->name);
	list_searches(s, t);
	if (settings.leaks && s->alone && strategy_branches(s->list[0].strategy))
		return err_set(err, ENOTSUP, "--leaks needs the strategy tour or random");
	for (size_t i = 0; i < s->count && !status; i++) {
		status = read_universe(&s->list[i].universe, s->list[i].profile, err);
		if (status)
			s->count = i;
	}
	if (status)
		close_searches(s);
	return status;
}

static int explore_target(struct target *t, struct explore_options *o, struct err *err)
{
	const char *dir = settings.resume ? settings.resume : settings.out;
	struct searches *s = must_alloc(sizeof(*s));
	struct run run;
	int status = 0, code = EXIT_UNKNOWN;

	if (open_searches(s, t, err)) {
		free(s);
		return EXIT_USAGE;
	}
	o->strategy = s->list[0].strategy;
	if (!run_open(&run, "explore", t->name, dir, o->seed, err)) {
		stop_catch_signals();
		learned_add(&run, t);
		for (size_t i = 0; i < o->against_count; i++)
			learned_add(&run, o->against[i]);
		status = run_read_known(&run, settings.known, err);
		known_ask(&run.known, t->name, KNOWN_SIGNATURES | KNOWN_GROUPS, false);
		if (!status)
			status = explore_search(t, s, &run, o, err);
		if (!status)
			status = summary_write_known(&run, settings.write_known, err);
		code = summary_code(&run, status);
		run_free(&run);
	}
	close_searches(s);
	free(s);
	return code;
}

static int open_targets(struct explore_targets *t, const char *first, struct err *err)
{
	struct target_options options = explore_target_options();
	struct buf spec = BUF_INIT;
	int status = 0;

	if (settings.kernel_coverage)
		status = code_spec(first, settings.config, &spec, err);
	else
		buf_adds(&spec, first);
	if (!status)
		status = explore_targets_open(t, spec.data, &settings.against, &options,
					      settings.learn, err);
	buf_free(&spec);
	return status;
}

static int read_code(struct explore_options *o, struct code *c, struct target *t, struct err *err)
{
	int status = settings.kernel_coverage ? code_open(c, t, err) : 0;

	if (settings.kernel_coverage && !status)
		o->code = c;
	if (o->code && settings.resume && !code_is_saved(settings.resume))
		fprintf(stderr,
			"%s: the code coverage before the resume is lost; the report has only the "
			"rest\n",
			settings.resume);
	return status;
}

/* One search, in this process. */
static int explore_once(const char *target, struct err *err)
{
	struct cover before = { 0 };
	struct explore_options o = {
		.seconds = settings.seconds,
		.calls = settings.calls,
		.seed = settings.seed,
		.depth_max = (unsigned)settings.depth,
		.memory_max = settings.memory,
		.saved_max = settings.saved,
		.findings_max = (unsigned)settings.findings,
		.shrink_tries = 3000,
		.verify_times = 10,
		.before = settings.coverage_from.count ? &before : NULL,
		.failures_max = (unsigned)settings.failures,
		.code_score = settings.code_score,
		.openings = !settings.profile && !settings.set.count && !settings.against.count,
		.adaptive = settings.adaptive,
		.bitstate = settings.bitstate,
		.kernel_log = settings.kernel_log,
		.resume = settings.resume != NULL,
		.checkpoint_seconds = 10,
	};
	struct explore_targets targets = { 0 };
	struct code kernel_code = { 0 };
	int code = EXIT_UNKNOWN;

	if (!explore_read_verify(settings.verify, &o.verify_every, err) &&
	    !explore_read_coverage(&settings.coverage_from, &before, err) &&
	    !open_targets(&targets, target, err) &&
	    !read_code(&o, &kernel_code, targets.list[0], err)) {
		o.against = targets.list + 1;
		o.against_count = targets.count - 1;
		code = explore_target(targets.list[0], &o, err);
	}
	code_free(&kernel_code);
	explore_targets_close(&targets);
	cover_free(&before);
	return code;
}

/* Each job has its own seed and directory. A resumed job continues; one that was killed before its
 * first checkpoint starts again, as does one that takes the place of another in the time that is
 * left. */
static int run_job(void *to, unsigned number, const char *dir, struct err *err)
{
	double passed = clock_seconds() - jobs.started_seconds;
	uint64_t calls = settings.calls;

	jobs.worker = number;
	settings.seed += number;
	settings.out = dir;
	settings.resume = settings.resume && run_dir_has_checkpoint(dir) ? dir : NULL;
	settings.write_known = NULL; /* that is for all of them */
	settings.json = true;
	if (settings.seconds > 0)
		settings.seconds = fmax(settings.seconds - passed, seconds_min);
	if (calls) /* each makes its part of them */
		settings.calls = calls / settings.jobs + (number < calls % settings.jobs);
	return explore_once(to, err);
}

/* Whether the target can do what is asked for, before anything is made. Returns an exit code. */
static int check_abilities(const char *target, struct err *err)
{
	struct explore_targets targets = { 0 };
	struct searches *s;
	int status;

	if (!settings.faults.count && !settings.leaks && !settings.crash)
		return 0;
	s = must_alloc(sizeof(*s));
	status = open_targets(&targets, target, err);
	if (!status && !(status = open_searches(s, targets.list[0], err)))
		close_searches(s);
	explore_targets_close(&targets);
	free(s);
	return operand_code(status);
}

/* One search of a target by several processes. */
static int explore_together(const char *target, struct err *err)
{
	struct job job = { .work = run_job, .to = (void *)target };
	const char *dir = settings.resume ? settings.resume : settings.out;
	struct err none = { 0 };
	struct run all;
	int status, code = check_abilities(target, err), merged = 0;

	if (code)
		return code;
	if (explore_jobs_open(&jobs, (unsigned)settings.jobs, settings.memory, err))
		return EXIT_UNKNOWN;
	jobs.findings_max = settings.findings;
	jobs.seconds = settings.seconds;
	jobs.alone = settings.strategy != 0;
	if (run_open(&all, "explore", target, dir, settings.seed, err)) {
		explore_jobs_close(&jobs);
		return EXIT_UNKNOWN;
	}
	stop_catch_signals();
	status = run_read_known(&all, settings.known, err);
	if (!status)
		status = explore_jobs_run(&jobs, &all, &job, err);
	/* What those have found that did not fail is reported in any case. */
	if (status < 0 && all.verdict == VERDICT_OK)
		all.verdict = VERDICT_UNKNOWN;
	if (jobs.ran && jobs.failed_code != EXIT_USAGE)
		merged = explore_merge(&all, &jobs, settings.json, status < 0 ? &none : err);
	if (!status)
		status = merged;
	if (status >= 0)
		status = summary_write_known(&all, settings.write_known, err);
	code = jobs.failed_code == EXIT_USAGE ? EXIT_USAGE : summary_code(&all, status);
	run_free(&all);
	explore_jobs_close(&jobs);
	return code;
}

/* Who gives a seed wants the same calls again, which only one process makes. */
static unsigned choose_jobs(const char *target)
{
	unsigned wanted = (unsigned)settings.jobs;

	if (!wanted && settings.resume)
		wanted = explore_jobs_of(settings.resume);
	else if (!wanted && settings.repeats)
		wanted = 1;
	wanted = jobs_on(target, settings.config, wanted);
	for (size_t i = 0; i < settings.against.count; i++)
		wanted = jobs_on(settings.against.items[i], settings.config, wanted);
	/* No process without a call to make. */
	return settings.calls && wanted > settings.calls ? (unsigned)settings.calls : wanted;
}

static int explore_one(const char *target, struct err *err)
{
	settings.jobs = choose_jobs(target);
	return settings.jobs == 1 ? explore_once(target, err) : explore_together(target, err);
}

/* A row of a sweep. */
static int run_row(void *to, unsigned number, const char *dir, struct err *err)
{
	const struct sweep *s = to;

	settings.out = dir;
	settings.write_known = NULL;
	settings.json = true;
	return explore_one(s->rows[number].target, err);
}

static int run_sweep(struct sweep *s, struct err *err)
{
	struct job job = { .work = run_row, .to = s };
	struct run all;
	int status, code;

	if (run_open(&all, "explore", "sweep", settings.out, settings.seed, err))
		return EXIT_UNKNOWN;
	stop_catch_signals();
	status = run_read_known(&all, settings.known, err);
	if (!status) {
		sweep_run(s, &all, &job, settings.seconds);
		status = sweep_finish(s, &all, settings.json, err);
	}
	if (!status)
		status = summary_write_known(&all, settings.write_known, err);
	code = summary_code(&all, status);
	run_free(&all);
	return code;
}

static void sweep_add_target(void *to, const char *name, const char *lacks)
{
	sweep_add(to, name, lacks);
}

static int explore_many(int count, char **names, struct err *err)
{
	struct sweep s = { 0 };
	int code = EXIT_USAGE;

	for (int i = 0; i < count; i++)
		sweep_add(&s, names[i], "");
	if (!settings.all || !target_each(settings.config, sweep_add_target, &s, err))
		code = run_sweep(&s, err);
	sweep_free(&s);
	return code;
}

static int check_universe(struct err *err)
{
	struct universe u;
	int status = read_universe(&u, settings.profile ? settings.profile : "default", err);

	if (!status)
		universe_free(&u);
	return operand_code(status);
}

static int check_known(struct err *err)
{
	return operand_known(settings.known, settings.write_known, err);
}

static int check_coverage(struct err *err)
{
	struct cover before = { 0 };
	int status = explore_read_coverage(&settings.coverage_from, &before, err);

	cover_free(&before);
	return operand_code(status);
}

static int check_target_name(const char *target, struct err *err)
{
	struct buf spec = BUF_INIT;
	int code = operand_target(target, settings.config, err);

	if (!code && settings.kernel_coverage)
		code = operand_code(code_spec(target, settings.config, &spec, err));
	buf_free(&spec);
	return code;
}

/* Every name on the command line, before anything is made. */
static int explore_check_names(int count, char **targets, struct err *err)
{
	int (*const checks[])(struct err * err) = { check_universe, check_known, check_coverage };
	int code = operand_code(explore_check_resume(settings.resume, settings.out,
						     count == 1 && !settings.all, err));
	unsigned every;

	for (int i = 0; !code && i < count; i++)
		code = check_target_name(targets[i], err);
	for (size_t i = 0; !code && i < settings.against.count; i++)
		code = operand_target(settings.against.items[i], settings.config, err);
	for (size_t i = 0; !code && i < ARRAY_LEN(checks); i++)
		code = checks[i](err);
	if (!code)
		code = operand_file(settings.kernel_log, err);
	if (!code)
		code = operand_code(explore_read_verify(settings.verify, &every, err));
	return code ? code : operand_run_directory(settings.out, err);
}

static int run_explore(int argc, char **argv, struct err *err)
{
	int code;

	if (argc < 2 && !settings.all) {
		err_set(err, EINVAL, "no target given");
		return EXIT_USAGE;
	}
	/* Crashes are worth their time where calls change what is on the disk, and sync it. */
	if (settings.crash && !settings.profile)
		settings.profile = "crash";
	else if (settings.processes && !settings.profile)
		settings.profile = "races";
	code = explore_check_names(argc - 1, argv + 1, err);
	if (code)
		return code;
	settings.repeats = settings.seed != 0;
	if (!settings.seed)
		settings.seed = rng_fresh_seed() >> 1 | 1;
	return argc == 2 && !settings.all ? explore_one(argv[1], err)
					  : explore_many(argc - 1, argv + 1, err);
}

const struct command command_explore = {
	.name = "explore",
	.usage = "TARGET...",
	.summary = "search the states and inputs of a file system for bugs",
	.text = "Makes calls on a file system. Compares every outcome with the model of POSIX,\n"
		"and after every call compares the tree with the tree of the model. On file\n"
		"systems of the host, directories and FUSE daemons, tours look at what the call\n"
		"can have touched, and at the whole tree after every 16th call and whenever\n"
		"something is unexpected (*--verify*).\n"
		"Shrinks each discrepancy to the fewest and simplest calls, replays it ten\n"
		"times and writes it as a trace and a C program.\n"
		"\n"
		"Several processes (*--jobs*) make one search: each state is worked on by one\n"
		"of them, and counted once. One that has nothing left to try gets a state from\n"
		"another. What a process had that was killed, the others try again.\n"
		"\n"
		"The universe (*--profile*) bounds names, sizes and flags. _tour_ executes\n"
		"every call in every state once and never restores the file system. _random_\n"
		"keeps no states. _dfs_, _bfs_ and _best_ save and restore the file system;\n"
		"_remount_ unmounts and mounts it around every call. When no call is left to\n"
		"try, all states and transitions are verified. Without *--strategy*, searches\n"
		"by all strategies and in all profiles that suit the target take turns, and\n"
		"those that find more that is new get more calls.\n"
		"\n"
		"With *--against*, other targets make the same calls. run.json lists the\n"
		"differences that the model allows. With three or more targets a finding names\n"
		"the target that differs from the others.\n"
		"\n"
		"With *--faults*, one allocation or disk request of the next call may fail in\n"
		"every state. That call must either return an error and change nothing, or\n"
		"succeed.\n"
		"\n"
		"With *--crash*, half of the time goes into power failures in the states that\n"
		"are reached: the calls that lead to one, with a sync and an fsync, are a\n"
		"workload of *assay crash*.\n"
		"\n"
		"With *--processes*, half of the time goes into overlapping calls in the states\n"
		"that are reached, under schedules as *assay conform --races* has them.\n"
		"\n"
		"With *--leaks*, the last calls are repeated from time to time, several times\n"
		"in a copy of the kernel, each time between a mount and an unmount. Allocated\n"
		"memory that grows with every repetition is a finding.\n"
		"\n"
		"With *--coverage-from*, the initial weights come from coverage files of *assay\n"
		"cover* or of earlier runs: operations, values and errors with no count are\n"
		"drawn more often.\n"
		"\n"
		"Of *fuse:COMMAND* and *dir:PATH* Assay probes first which features are\n"
		"missing, and judges by that. The summary lists each of them, with what is not\n"
		"judged because of it, and a description to paste. *--no-learn* leaves the\n"
		"probes out.\n"
		"\n"
		"Several targets, or *--all*, are searched one after the other, each for\n"
		"*--seconds*. A target that fails does not end the others. One table shows all\n"
		"results, and for each target that *--all* cannot test here it shows what is\n"
		"missing.\n"
		"\n"
		"All discrepancies of one cause are one finding: the simplest. The others\n"
		"are named under it, with their calls, and are not shrunk. Findings are listed\n"
		"by severity.\n"
		"\n" KNOWN_TEXT "\n"
		"A discrepancy that no replay on a fresh file system shows again is not a\n"
		"finding. It is stored in _RUN_/unconfirmed, counted and reported.\n"
		"\n"
		"Exit status: 0 no findings, 1 findings, 2 could not tell, for example because\n"
		"no replay shows any of the discrepancies.",
	.opts = opts,
	.settings = &settings,
	.run = run_explore,
};
