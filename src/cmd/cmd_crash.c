/* cmd_crash.c -- `assay crash TARGET`: does what was promised survive a power failure? */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/count_text.h"
#include "base/log.h"
#include "base/must.h"
#include "base/stop.h"
#include "cli/command.h"
#include "cli/jobs.h"
#include "cli/operands.h"
#include "cli/parts.h"
#include "cli/summary.h"
#include "cmd/crash_app.h"
#include "cmd/crash_daemon.h"
#include "cmd/crash_figures.h"
#include "crash/crash_report.h"
#include "crash/daemon_report.h"
#include "crash/logged_disk.h"
#include "crash/usual_sources.h"
#include "crash/workload_source.h"
#include "report/findings_text.h"
#include "target/learn.h"

static struct crash_settings {
	struct opt_list workloads, view, kill;
	const char *app, *app_trace, *prepare, *verify;
	const char *log, *image, *from;
	uint64_t states;
	const char *out, *config, *known, *write_known, *part_text;
	uint64_t seed, jobs, walks, resyncs, length, sample, subsets, sector, findings;
	double seconds, deadline;
	int inputs, level, sanity;
	bool json, during_recovery, in_place, unmount, daemon, faults, full;
	unsigned job; /* of several */
	struct part_number part;
} settings = {
	.walks = 100,
	.resyncs = 1500,
	.length = 12,
	.states = 2000,
	.sample = 1,
	.part = PART_ALL,
	.findings = 100,
	.deadline = 10,
	.sanity = SANITY_NEW,
};

#define ROW(field) offsetof(struct crash_settings, field)

static const struct opt opts[] = {
	{ "workloads", OPT_LIST, ROW(workloads), "seq-1|seq-2|seq-3|resync|walk|pair|FILE",
	  "what is done before the crash: all short workloads of so many operations, also "
	  "seq-N-nested; durable files that change and are synced again and again (resync); "
	  "random walks (walk:PROFILE); two processes and one fsync (pair); or a "
	  "script. May be repeated. Default: seq-1, the same with --inputs wide --in-place "
	  "--unmount and, where the power fails, resync, pair and walk; with --seconds, more of "
	  "resync, walk and seq-2 until then",
	  0, 0 },
	{ "inputs", OPT_CHOICE, ROW(inputs), "published|wide",
	  "arguments of the generated workloads: those of ACE, or drawn from many", 0, 0 },
	{ "in-place", OPT_FLAG, ROW(in_place), NULL,
	  "generated workloads make the files they need directly before they use them, unsynced", 0,
	  0 },
	{ "unmount", OPT_FLAG, ROW(unmount), NULL,
	  "generated workloads end with unmounting, and crashes during it", 0, 0 },
	{ "faults", OPT_FLAG, ROW(faults), NULL,
	  "in each workload a write to the disk fails, within a call that makes something durable "
	  "(kernel:..., journalfs)",
	  0, 0 },
	{ "full", OPT_FLAG, ROW(full), NULL,
	  "workloads run on a disk that is filled first, except for what they need", 0, 0 },
	{ "walks", OPT_U64, ROW(walks), "N", "number of walks", 1, UINT64_MAX },
	{ "resyncs", OPT_U64, ROW(resyncs), "N", "number of resync workloads", 1, UINT64_MAX },
	{ "length", OPT_U64, ROW(length), "N", "calls of each walk", 1, 1000 },
	{ "sample", OPT_U64, ROW(sample), "N", "only one workload in N", 1, UINT64_MAX },
	PART_OPT(struct crash_settings, part_text),
	{ "view", OPT_LIST, ROW(view), "order|lost-one|only-one|subset|torn",
	  "which crashes; may be repeated. Default: all", 0, 0 },
	{ "subsets", OPT_U64, ROW(subsets), "N",
	  "subset: how many for each group of writes without a flush between them; 0: 16", 0,
	  1 << 20 },
	{ "sector", OPT_U64, ROW(sector), "BYTES", "torn: bytes that the disk writes as a whole",
	  512, 1 << 20 },
	{ "during-recovery", OPT_FLAG, ROW(during_recovery), NULL,
	  "crashes recovery, too, at every point, and repeats it: the result must be the same. "
	  "Recovery is mounting, and the repair by a checker (once for each tree; --sanity all: "
	  "for each disk)",
	  0, 0 },
	{ "daemon", OPT_FLAG, ROW(daemon), NULL,
	  "no power failure: kill the FUSE daemon, or the server of a directory, and start it "
	  "again",
	  0, 0 },
	{ "kill", OPT_LIST, ROW(kill), "promises|calls|during",
	  "daemon: kill it behind every call that has promised something, behind every call, or "
	  "at a random moment of a random call; may be repeated. Default: calls",
	  0, 0 },
	{ "level", OPT_CHOICE, ROW(level), "target|posix|ordered|strict",
	  "what must survive: as the traits of the target say; only what POSIX promises; names "
	  "and attributes of one moment; the whole tree of one moment",
	  0, 0 },
	{ "sanity", OPT_CHOICE, ROW(sanity), "none|new|all",
	  "which recovered file systems are used, mounted again and checked by fsck: those with a "
	  "new tree, or all",
	  0, 0 },
	{ "app", OPT_TEXT, ROW(app), "COMMAND",
	  "instead of a target: a program whose files are crashed", 0, 0 },
	{ "verify", OPT_TEXT, ROW(verify), "COMMAND",
	  "with --app: checks the files in its working directory ({dir}) after a crash: 0 if all "
	  "is "
	  "well",
	  0, 0 },
	{ "prepare", OPT_TEXT, ROW(prepare), "COMMAND",
	  "with --app: makes the files that the program begins with", 0, 0 },
	{ "app-trace", OPT_TEXT, ROW(app_trace), "FILE",
	  "instead of --app: the calls of one that ran before (app.trace of its run directory)", 0,
	  0 },
	{ "states", OPT_U64, ROW(states), "N", "with --app: how many crash states for each level",
	  1, 1 << 24 },
	{ "log", OPT_TEXT, ROW(log), "FILE",
	  "instead of workloads: what was written to a disk, as dm-log-writes of the kernel logs "
	  "it, and every finding (writes.dm-log)",
	  0, 0 },
	{ "image", OPT_TEXT, ROW(image), "FILE", "with --log: the disk when the log began", 0, 0 },
	{ "from", OPT_TEXT, ROW(from), "MARK",
	  "with --log: no crash before this mark of the log, which mkfs may precede", 0, 0 },
	{ "seconds", OPT_DOUBLE, ROW(seconds), "N", "stop after this time; 0 for no limit", 0,
	  OPT_SECONDS_MAX },
	{ "seed", OPT_U64, ROW(seed), "N", "of wide inputs, walks and sampled subsets", 0,
	  INT64_MAX },
	{ "jobs", OPT_U64, ROW(jobs), "N",
	  "workloads in parallel; default: one per CPU, but 1 on a directory or device of yours", 1,
	  1024 },
	{ "deadline", OPT_DOUBLE, ROW(deadline), "SECONDS", "time limit of one call", 0,
	  OPT_SECONDS_MAX },
	{ "findings", OPT_U64, ROW(findings), "N", "stop after this number of different findings",
	  1, 1000000 },
	KNOWN_OPTS(struct crash_settings),
	{ "out", OPT_TEXT, ROW(out), "DIR", "run directory; default: a new one in runs/", 0, 0 },
	{ "config", OPT_TEXT, ROW(config), "FILE", "an INI file that describes targets", 0, 0 },
	{ "json", OPT_FLAG, ROW(json), NULL, "print the result as one JSON object", 0, 0 },
	OPT_END,
};

/* ---- the run ---- */

struct crash_run {
	struct crash_session session;
	struct daemon_crash_session killing; /* with --daemon, instead */
	struct run *run;
	uint64_t states_at_progress;
	struct err *err;
	int status;
};

static bool crash_is_over(const struct crash_run *x)
{
	return stop_requested || x->status < 0 ||
	       json_array_size(x->run->findings) >= settings.findings ||
	       (settings.seconds > 0 &&
		clock_seconds() - x->run->started_seconds >= settings.seconds);
}

static void crash_run_set_figures(const struct crash_run *x)
{
	if (settings.daemon)
		crash_daemon_set_figures(x->run, &x->killing);
	else
		crash_figures_set(x->run, &x->session, settings.during_recovery);
}

static void crash_show_progress(const struct crash_run *x)
{
	uint64_t workloads = x->session.figures.workloads + x->killing.figures.workloads;
	uint64_t states = x->session.figures.crash_states + x->killing.figures.crash_states;
	double seconds = clock_seconds() - x->run->started_seconds;

	if (run_sample_is_due(x->run)) {
		crash_run_set_figures(x);
		run_sample(x->run);
	}
	if (progress_wanted())
		progress_show("%s: %.0f s, %s, %s (%.0f/s), %s%s", x->run->target, seconds,
			      count_text(workloads, "workload"), count_text(states, "crash state"),
			      (double)states / seconds,
			      count_text(json_array_size(x->run->findings), "finding"),
			      progress_left(seconds, settings.seconds));
}

static bool crash_found(void *to, struct crash_case *c, const struct crash_violation *v)
{
	struct crash_run *x = to;

	x->status = crash_report(&x->session, x->run, c, v, x->err);
	return !crash_is_over(x);
}

static bool crash_found_killed(void *to, const struct daemon_crash_case *c,
			       const struct daemon_violation *v)
{
	struct crash_run *x = to;

	x->status = daemon_crash_report(&x->killing, x->run, c, v, x->err);
	return !crash_is_over(x);
}

static void crash_one_daemon(struct crash_run *x, const struct workload *w)
{
	int status = daemon_crash_each(&x->killing, w->calls, w->count, w->setup_count,
				       crash_found_killed, x, x->err);

	if (status)
		x->status = status;
}

static void crash_one(struct crash_run *x, const struct workload *w)
{
	struct crash_case c;
	int judged;

	if (settings.daemon) {
		crash_one_daemon(x, w);
		return;
	}
	judged = crash_execute(&x->session, w->calls, w->count, w->setup_count, &c, x->err);

	if (judged > 0)
		judged = crash_each(&x->session, &c, crash_found, x, x->err);
	if (judged < 0)
		x->status = judged;
	crash_case_free(&c);
}

/* Whether a workload belongs to the sample, to this part of it, and to this job. */
static bool crash_wants(uint64_t number)
{
	uint64_t share = number / settings.sample;

	return number % settings.sample == 0 &&
	       share % settings.part.count == settings.part.number &&
	       share / settings.part.count % settings.jobs == settings.job;
}

/* Those with the indexes [from, to), as far as there are so many. */
static void crash_source(struct crash_run *x, const struct workload_source *s, uint64_t from,
			 uint64_t to, uint64_t *number)
{
	struct arena arena = ARENA_INIT;

	for (uint64_t i = from; i < s->count && i < to && !crash_is_over(x); i++, ++*number) {
		struct workload w;

		if (!crash_wants(*number))
			continue;
		x->status = workload_source_make(s, i, &arena, &w, x->err);
		if (!x->status) {
			must_note("workload %s", w.name);
			crash_one(x, &w);
			crash_show_progress(x);
		}
		arena_reset(&arena);
	}
	arena_free(&arena);
}

static int crash_finish(struct run *run, int status, struct err *err)
{
	if (status < 0 && run->verdict == VERDICT_OK)
		run->verdict = VERDICT_UNKNOWN;
	/* A file system whose workloads all ended in another way was not checked. */
	if (run->verdict == VERDICT_OK && !crash_figure(run, "workloads"))
		run->verdict = VERDICT_UNKNOWN;
	status = summary_write(run, status, err);
	if (settings.json) {
		summary_print(run);
	} else {
		crash_figures_print(run, settings.daemon);
		summary_print_known(run);
	}
	return status;
}

static void read_options(struct crash_options *o, const struct target *t)
{
	crash_options_init(o, t);
	o->effort.during_recovery = settings.during_recovery;
	o->views.seed = settings.seed;
	o->views.subsets = settings.subsets ? (unsigned)settings.subsets : o->views.subsets;
	o->views.sector = settings.sector ? (uint32_t)settings.sector : o->views.sector;
	if (settings.level)
		o->rules.level = (enum persist_level)(settings.level - 1);
	if (settings.view.count)
		o->views.views = 0;
	for (size_t i = 0; i < settings.view.count; i++)
		o->views.views |= 1u << view_find(settings.view.items[i]);
}

/* What a failed write leaves may be damaged; what was promised all the same must be there. */
static enum sanity chosen_sanity(void)
{
	return settings.faults ? SANITY_NONE : (enum sanity)settings.sanity;
}

static int crash_begin(struct crash_run *x, struct target *t, struct err *err)
{
	struct crash_options o;
	struct daemon_crash_options killing = { .moments = crash_daemon_moments(&settings.kill),
						.seed = settings.seed };

	read_options(&o, t);
	killing.rules = o.rules;
	return settings.daemon ? daemon_crash_open(&x->killing, t, &killing, err)
			       : crash_open(&x->session, t, &o, chosen_sanity(), err);
}

static void crash_end(struct crash_run *x)
{
	crash_run_set_figures(x);
	if (settings.daemon)
		daemon_crash_close(&x->killing);
	else
		crash_close(&x->session);
}

static int crash_open_source(struct crash_run *x, struct workload_source *s, const char *name,
			     const struct workload_source_options *how)
{
	const struct model *model = settings.daemon ? &x->killing.model : &x->session.model;
	const struct state *start = settings.daemon ? &x->killing.start : &x->session.start;
	const struct target *t = settings.daemon ? x->killing.target : x->session.target;
	struct workload_source_options options = *how;

	options.seed = settings.seed;
	options.unmounts &= !settings.daemon; /* which ends the daemon itself */
	options.disk_bytes = settings.daemon ? 0 : x->session.recovery.base.size;
	options.walks = settings.walks;
	options.resyncs = settings.resyncs;
	options.length = (unsigned)settings.length;
	options.full |= settings.full;
	options.faults |= settings.faults;
	options.processes = t->caps & TARGET_PROCESSES;
	x->status = workload_source_open(s, name, &options, model, start, x->err);
	return x->status;
}

static void crash_named(struct crash_run *x, const char *name,
			const struct workload_source_options *how, uint64_t *number)
{
	struct workload_source s;

	if (crash_open_source(x, &s, name, how))
		return;
	crash_source(x, &s, 0, s.count, number);
	workload_source_close(&s);
}

/* As the source says, and as the user asks for. */
static void crash_take_effort(struct crash_run *x, const struct usual_source *u)
{
	struct crash_effort effort = u->effort;

	effort.during_recovery |= settings.during_recovery;
	effort.unsound |= u->how.faults;
	crash_set_effort(&x->session, &effort);
}

static void crash_usual(struct crash_run *x, const struct target *t, uint64_t *number)
{
	struct workload_source sources[USUAL_SOURCES];
	const struct usual_source *of[USUAL_SOURCES];
	const struct usual_wanted wanted = {
		.timed = settings.seconds > 0,
		.daemon = settings.daemon,
		/* Otherwise all are; what a failed write leaves need not recover. */
		.recoveries = !settings.during_recovery && !settings.faults,
		.varied = !settings.faults && !settings.full,
	};
	size_t count = 0;
	bool more = true;

	for (size_t i = 0; i < USUAL_SOURCES && !x->status; i++) {
		if (!usual_source_is_wanted(&usual_sources[i], t, &wanted))
			continue;
		of[count] = &usual_sources[i];
		if (crash_open_source(x, &sources[count], of[count]->name, &of[count]->how))
			break;
		if (settings.seconds > 0)
			workload_source_go_on(&sources[count]);
		count++;
	}
	for (uint64_t turn = 0; more && !crash_is_over(x); turn++) {
		more = false;
		for (size_t i = 0; i < count; i++) {
			uint64_t from = turn * of[i]->turn;

			crash_take_effort(x, of[i]);
			crash_source(x, &sources[i], from, from + of[i]->turn, number);
			more |= !of[i]->aside && from + of[i]->turn < sources[i].count;
		}
	}
	while (count)
		workload_source_close(&sources[--count]);
}

static bool crash_found_in_log(void *to, struct crash_case *c, const struct crash_violation *v)
{
	struct crash_run *x = to;

	x->status = crash_report_log(&x->session, x->run, c, v, x->err);
	return !crash_is_over(x);
}

/* The only workload is the log. */
static int crash_log(const struct logged_disk *input, struct target *t, struct run *run,
		     struct err *err)
{
	struct crash_run x = { .run = run, .err = err };
	int status = crash_begin(&x, t, err);
	struct crash_case c;

	if (status)
		return status;
	x.status = logged_disk_case(input, &x.session, &c, err);
	if (!x.status)
		status = crash_each(&x.session, &c, crash_found_in_log, &x, err);
	crash_case_free(&c);
	crash_end(&x);
	return x.status ? x.status : status;
}

static int crash_workloads(struct target *t, struct run *run, struct err *err)
{
	const struct workload_source_options chosen = {
		.wide = settings.inputs == 1,
		.in_place = settings.in_place,
		.unmounts = settings.unmount && t->caps & TARGET_REMOUNT,
	};
	struct crash_run x = { .run = run, .err = err };
	uint64_t number = 0;
	int status = crash_begin(&x, t, err);

	if (status)
		return status;
	for (size_t i = 0; i < settings.workloads.count && !crash_is_over(&x); i++)
		crash_named(&x, settings.workloads.items[i], &chosen, &number);
	if (!settings.workloads.count)
		crash_usual(&x, t, &number);
	progress_end();
	crash_end(&x);
	return x.status;
}

/* Opens a target that can do what is asked for. Returns an exit code. */
static int open_crashable(struct target **ret, const char *name, const struct logged_disk *input,
			  struct err *err)
{
	struct target_options options = { .config = settings.config,
					  .deadline_seconds = settings.deadline,
					  .record = !settings.daemon,
					  .image = input ? input->path.data : NULL };
	int status = 0;

	if (settings.daemon ? learn_open(ret, name, &options, err)
			    : target_open(ret, name, &options, err))
		return EXIT_UNKNOWN;
	if (settings.daemon)
		status = crash_daemon_check(*ret, &settings.kill, err);
	else if (!((*ret)->caps & TARGET_RECORD))
		status = err_set(err, ENOTSUP, "%s: what it writes to its disk cannot be recorded",
				 name);
	else if (settings.faults && !((*ret)->caps & TARGET_FAULTS))
		status = err_set(err, ENOTSUP, "%s does not support injected failures", name);
	if (status)
		target_close(*ret);
	return operand_code(status);
}

static int crash_target(const char *name, const struct logged_disk *input, struct err *err)
{
	struct target *t;
	struct run run;
	int status, code = open_crashable(&t, name, input, err);

	if (code)
		return code;
	code = EXIT_UNKNOWN;
	if (!run_open(&run, "crash", name, settings.out, settings.seed, err)) {
		stop_catch_signals();
		status = run_read_known(&run, settings.known, err);
		known_ask(&run.known, name, KNOWN_SIGNATURES | KNOWN_GROUPS, false);
		if (!status)
			status = input ? crash_log(input, t, &run, err)
				       : crash_workloads(t, &run, err);
		status = crash_finish(&run, status, err);
		if (!status)
			status = summary_write_known(&run, settings.write_known, err);
		code = summary_code(&run, status);
		run_free(&run);
	}
	target_close(t);
	return code;
}

/* ---- several processes ---- */

static int crash_job(void *to, unsigned number, const char *dir, struct err *err)
{
	settings.job = number;
	settings.out = dir;
	settings.write_known = NULL;
	settings.json = true;
	return crash_target(to, NULL, err);
}

static int crash_jobs(const char *target, struct err *err)
{
	struct job job = { .work = crash_job, .to = (void *)target };
	struct target *first;
	struct run all;
	int status, code = open_crashable(&first, target, NULL, err);
	bool ran;

	if (code)
		return code;
	target_close(first);
	if (run_open(&all, "crash", target, settings.out, settings.seed, err))
		return EXIT_UNKNOWN;
	stop_catch_signals();
	status = run_read_known(&all, settings.known, err);
	ran = !status;
	if (ran)
		status = jobs_run(&all, (unsigned)settings.jobs, &job, err);
	/* What one has found is reported, whatever became of the others. */
	for (unsigned i = 0; i < settings.jobs && ran; i++) {
		int merged = crash_figures_merge(&all, i, settings.daemon, err);

		status = status ? status : merged;
	}
	run_sample_jobs(&all, (unsigned)settings.jobs);
	status = crash_finish(&all, status, err);
	if (!status)
		status = summary_write_known(&all, settings.write_known, err);
	code = summary_code(&all, status);
	run_free(&all);
	return code;
}

/* ---- the command line ---- */

static int crash_check_names(const char *target, struct err *err)
{
	int code = operand_target(target, settings.config, err);

	for (size_t i = 0; !code && i < settings.workloads.count; i++) {
		if (!workload_source_is_generated(settings.workloads.items[i]))
			code = operand_file(settings.workloads.items[i], err);
	}
	for (size_t i = 0; !code && i < settings.view.count; i++)
		if (view_find(settings.view.items[i]) == VIEWS)
			code = operand_code(err_set(err, EINVAL, "--view: there is no view %s",
						    settings.view.items[i]));
	if (!code)
		code = crash_daemon_check_names(settings.daemon, &settings.kill, err);
	if (!code)
		code = operand_new_directory(settings.out, err);
	return code ? code : operand_known(settings.known, settings.write_known, err);
}

static int run_crash_app(int argc, struct err *err)
{
	struct crash_app app = { settings.app,         settings.prepare,  settings.verify,
				 settings.app_trace,   settings.out,      settings.known,
				 settings.write_known, settings.level,    settings.seed,
				 settings.states,      settings.findings, settings.seconds,
				 settings.deadline,    settings.json };

	if (argc > 1) {
		err_set(err, EINVAL, "--app and a target exclude each other");
		return EXIT_USAGE;
	}
	return crash_app_run(&app, err);
}

static int run_crash_log(const char *target, struct err *err)
{
	struct logged_disk input;
	int code;

	if (!settings.log || !settings.image || settings.daemon || settings.workloads.count) {
		err_set(err, EINVAL,
			"--log and --image belong together, without workloads and "
			"without --daemon");
		return EXIT_USAGE;
	}
	code = operand_file(settings.log, err);
	if (!code)
		code = operand_file(settings.image, err);
	if (code)
		return code;
	code = logged_disk_read(&input, settings.log, settings.image, settings.from, err)
		     ? EXIT_USAGE
		     : crash_target(target, &input, err);
	logged_disk_free(&input);
	return code;
}

static int run_crash(int argc, char **argv, struct err *err)
{
	int code;

	if (settings.app || settings.app_trace)
		return run_crash_app(argc, err);
	if (argc != 2) {
		err_set(err, EINVAL, argc < 2 ? "no target given" : "more than one target given");
		return EXIT_USAGE;
	}
	code = crash_check_names(argv[1], err);
	if (!code)
		code = part_read(settings.part_text, &settings.part, err);
	if (!code)
		code = operand_run_directory(settings.out, err);
	if (code)
		return code;
	if (settings.log || settings.image || settings.from)
		return run_crash_log(argv[1], err);
	if (settings.daemon && !settings.jobs)
		settings.jobs = 1; /* when it is killed is a matter of time */
	settings.jobs = jobs_on(argv[1], settings.config, (unsigned)settings.jobs);
	return settings.jobs == 1 ? crash_target(argv[1], NULL, err) : crash_jobs(argv[1], err);
}

static const char *const crash_whole_only[] = { "--app", "--app-trace", "--log", "--image", NULL };

static void crash_add_part(struct run *all, const json_t *part)
{
	crash_figures_add(all, part, settings.daemon);
}

static const struct command_parts crash_parts = {
	.whole_only = crash_whole_only,
	.check = crash_check_names,
	.add = crash_add_part,
	.finish = crash_finish,
};

const struct command command_crash = {
	.name = "crash",
	.usage = "TARGET [--log FILE --image FILE] | --app COMMAND --verify COMMAND",
	.summary = "check what survives a power failure",
	.text = "Runs short workloads on the target, and records every request to its disk.\n"
		"From these, builds the disks that a power failure could have left at any\n"
		"moment. Mounts each of them and compares what is there with what must have\n"
		"survived: what was written before fsync, fdatasync, sync or a synchronous\n"
		"write returned, and whatever else the file system promises.\n"
		"\n"
		"A crash loses some of the writes since the last flush. The views, from the\n"
		"easiest to explain to the hardest: _order_ (nothing is lost: every write up to\n"
		"a moment), _lost-one_ (all but one write since the last flush), _only-one_\n"
		"(only one of them), _subset_ (any of them), _torn_ (the last write reaches the\n"
		"disk in part). A finding is reported in the first view that shows it.\n"
		"\n"
		"A recovered file system must also be sound: everything can be read, files and\n"
		"directories can be made and removed in every directory, mounting it again\n"
		"changes nothing, and fsck finds no error.\n"
		"\n"
		"The generated workloads are those of ACE: sequences of one to three operations\n"
		"out of thirteen on few files, each followed by fsync, sync or nothing. Walks\n"
		"are random sequences of the calls of a profile. In _pair_, process 2 renames,\n"
		"removes, replaces or changes a file that process 1 has open and has changed, and\n"
		"one of them calls fsync. A script of calls works as\n"
		"well; what precedes a line \"# run\" is set up before the first crash.\n"
		"\n"
		"With *--faults*, a write to the disk fails in each workload, within a call that\n"
		"makes something durable. A call that returns an error has promised nothing, and\n"
		"later calls promise nothing of what was not durable then; what is changed\n"
		"afterwards must survive as ever. With *--full*, the disk is filled before the\n"
		"workload.\n"
		"\n"
		"With *--log* and *--image*, the disks come from a log of dm-log-writes. What the\n"
		"calls were is not known then: every crash disk has to be one that can be\n"
		"mounted and used, and that is sound.\n"
		"\n"
		"With *--app*, a program is tested, not a file system. It runs once in an empty\n"
		"directory, and its calls are recorded. For each tree of files that a crash can\n"
		"leave, at a level of persistence, *--verify* is run. All levels are tried, from\n"
		"the strictest to what POSIX promises, unless *--level* names one: is the program\n"
		"safe on any file system, or only on some? The variable ASSAY\\_PRINTED names a\n"
		"file with what the program had printed before the crash: what it has confirmed\n"
		"must be there.\n"
		"\n" CRASH_DAEMON_TEXT "\n" KNOWN_TEXT "\n"
		"Exit status: 0 nothing lost, 1 findings, 2 could not tell.",
	.opts = opts,
	.settings = &settings,
	.parts = &crash_parts,
	.run = run_crash,
};
