/* cmd_conform.c -- `assay conform TARGET...`: does a file system keep to POSIX? */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/count_text.h"
#include "base/log.h"
#include "base/must.h"
#include "channel/schedule.h"
#include "cli/command.h"
#include "cli/jobs.h"
#include "cli/learned_report.h"
#include "cli/operands.h"
#include "cli/overlap_name.h"
#include "cli/parts.h"
#include "cli/summary.h"
#include "cmd/conform_figures.h"
#include "conform/cause_finding.h"
#include "conform/survey_schedules.h"
#include "target/learn.h"

/* Switches of schedules: all of them in minutes, or as far as the time goes. */
enum { PREEMPTIONS = 1, PREEMPTIONS_IN_TIME = 3 };

/* Of a call that a user looks at. */
enum { DEBUGGED_SECONDS = 86400 };

static struct conform_settings {
	struct opt_list suite;
	const char *scripts, *families, *out, *junit, *since, *known, *write_known, *config, *show,
		*kernel, *schedule, *part_text;
	uint64_t jobs, findings, repeat, preemptions, schedules, random, sample, space;
	struct part_number part;
	double deadline, seconds;
	int platform;
	bool json, tap, rules, list, races, whole, background, disks, learn, gdb;
} settings = {
	.platform = PLATFORM_LINUX,
	.findings = 20,
	.repeat = 20,
	.sample = 1,
	.part = PART_ALL,
	.deadline = 10,
	.disks = true,
	.learn = true,
};

#define ROW(field) offsetof(struct conform_settings, field)

static const struct opt opts[] = {
	{ "suite", OPT_LIST, ROW(suite), "all|published|NAME",
	  "which scripts: all generated ones, the published ones, or a family", 0, 0 },
	{ "scripts", OPT_TEXT, ROW(scripts), "PATH",
	  "more scripts, or the published ones: a directory or a tar archive", 0, 0 },
	{ "sample", OPT_U64, ROW(sample), "N", "only one script in N, for slow targets", 1,
	  1000000 },
	PART_OPT(struct conform_settings, part_text),
	{ "families", OPT_TEXT, ROW(families), "FILE", "an INI file with more families", 0, 0 },
	{ "races", OPT_FLAG, ROW(races), NULL,
	  "runs overlapping calls instead: does an order of effects explain the outcomes?", 0, 0 },
	{ "repeat", OPT_U64, ROW(repeat), "N", "runs of each race", 1, 1000000 },
	{ "preemptions", OPT_U64, ROW(preemptions), "N",
	  "runs each race of a kernel: target under all schedules with so many switches at most; "
	  "default there: 1, or 3 while --seconds last",
	  1, SCHEDULE_SWITCHES_MAX },
	{ "schedules", OPT_U64, ROW(schedules), "N", "schedules of each race at most; 0: all", 0,
	  UINT32_MAX },
	{ "random", OPT_U64, ROW(random), "N",
	  "with --preemptions: so many schedules of each race, drawn by chance; 0: all in order", 0,
	  UINT32_MAX },
	{ "schedule", OPT_TEXT, ROW(schedule), "SCRIPT:P@N=P,N=P",
	  "runs a race under this schedule alone, as a report names it", 0, 0 },
	{ "gdb", OPT_FLAG, ROW(gdb), NULL,
	  "with --schedule: in gdb, which stops at every switch and shows where each process is", 0,
	  0 },
	{ "whole", OPT_FLAG, ROW(whole), NULL,
	  "with --preemptions: also the schedules that cannot differ from others", 0, 0 },
	{ "background", OPT_FLAG, ROW(background), NULL,
	  "with --preemptions: threads of the kernel have work, and can continue at any point", 0,
	  0 },
	{ "disks", OPT_FLAG, ROW(disks), NULL,
	  "with --preemptions: what each outcome leaves is also checked by fsck, a remount and "
	  "free "
	  "space",
	  0, 0 },
	{ "seconds", OPT_DOUBLE, ROW(seconds), "N",
	  "begins no further script after so long, on each target; 0: no limit", 0,
	  OPT_SECONDS_MAX },
	{ "list", OPT_FLAG, ROW(list), NULL,
	  "prints only the families, and the proof that no combination is missing", 0, 0 },
	{ "show", OPT_TEXT, ROW(show), "SCRIPT", "prints only the script of that name", 0, 0 },
	{ "jobs", OPT_U64, ROW(jobs), "N",
	  "scripts in parallel; 0: one per CPU, but 1 on a directory or device of yours", 0,
	  CONFORM_JOBS_MAX },
	{ "platform", OPT_CHOICE, ROW(platform), "posix|linux|macos|freebsd",
	  "the platform whose rules apply", 0, 0 },
	{ "kernel", OPT_TEXT, ROW(kernel), "VERSION",
	  "version of Linux whose rules apply; default: that of the target's kernel", 0, 0 },
	KNOWN_OPTS(struct conform_settings),
	{ "since", OPT_TEXT, ROW(since), "RUN",
	  "prints new and fixed deviations since an earlier run", 0, 0 },
	{ "rules", OPT_FLAG, ROW(rules), NULL, "prints the rules that no script has exercised", 0,
	  0 },
	{ "findings", OPT_U64, ROW(findings), "N",
	  "causes to shrink and write with a C program, per target", 0, 10000 },
	{ "deadline", OPT_DOUBLE, ROW(deadline), "SECONDS", "time limit of one call", 0,
	  OPT_SECONDS_MAX },
	SPACE_OPT(struct conform_settings, space),
	LEARN_OPT(struct conform_settings, learn),
	{ "junit", OPT_TEXT, ROW(junit), "FILE", "writes a JUnit report", 0, 0 },
	{ "tap", OPT_FLAG, ROW(tap), NULL, "prints the result as TAP", 0, 0 },
	{ "out", OPT_TEXT, ROW(out), "DIR", "run directory; default: a new one in runs/", 0, 0 },
	{ "config", OPT_TEXT, ROW(config), "FILE", "an INI file that describes targets", 0, 0 },
	{ "json", OPT_FLAG, ROW(json), NULL, "print the result as one JSON object", 0, 0 },
	OPT_END,
};

/* Where the published scripts are kept, unless --scripts says it. */
static int add_published(struct suite *s, struct err *err)
{
	const char *shared = getenv("ASSAY_SHARED");
	struct buf path = BUF_INIT;
	int ret;

	if (settings.scripts)
		return suite_add_path(s, settings.scripts, err);
	if (!shared)
		return err_set(err, ENOENT,
			       "--suite published needs --scripts with the published scripts");
	buf_addf(&path, "%s/sibylfs/scripts.tar.xz", shared);
	ret = suite_add_path(s, path.data, err);
	buf_free(&path);
	return ret;
}

/* What is meant without --suite. --schedule names its family: FAMILY/SCRIPT:SCHEDULE. */
static int add_usual(struct suite *s, struct err *err)
{
	struct buf family = BUF_INIT;
	int ret;

	if (!settings.races)
		return suite_add_family(s, NULL, err);
	if (!settings.schedule || settings.scripts)
		return suite_add_races(s, settings.preemptions, err);
	buf_add(&family, settings.schedule, strcspn(settings.schedule, "/"));
	ret = suite_add_family(s, buf_str(&family), err);
	buf_free(&family);
	return ret;
}

static int build_suite(struct suite *s, struct err *err)
{
	bool published = false;
	int ret = suite_open(s, settings.families, err);

	if (!settings.suite.count && !ret)
		ret = add_usual(s, err);
	for (size_t i = 0; i < settings.suite.count && !ret; i++) {
		const char *name = settings.suite.items[i];

		if (!strcmp(name, "published")) {
			published = true;
			ret = add_published(s, err);
		} else {
			ret = suite_add_family(s, strcmp(name, "all") ? name : NULL, err);
		}
	}
	if (!ret && settings.scripts && !published)
		ret = suite_add_path(s, settings.scripts, err);
	suite_sort(s);
	suite_thin(s, settings.sample * settings.part.count,
		   settings.sample * settings.part.number);
	return ret;
}

/* The script and the schedule that --schedule names. */
static int choose_schedule(struct suite *s, struct scheduled_one *ret, struct err *err)
{
	const char *colon = strrchr(settings.schedule, ':');
	struct buf name = BUF_INIT;
	long number = -1;
	int status;

	buf_add(&name, settings.schedule, colon ? (size_t)(colon - settings.schedule) : 0);
	if (colon)
		number = suite_find(s, buf_str(&name));
	status = number < 0 ? err_set(err, ENOENT, "%s: no such script", settings.schedule)
			    : scheduled_parse(colon + 1, ret, err);
	if (!status)
		suite_keep(s, (size_t)number);
	buf_free(&name);
	return status;
}

static int list_families(const struct suite *s)
{
	struct buf out = BUF_INIT;
	bool complete = true;

	for (size_t i = 0; i < s->families.count; i++)
		complete &= family_describe(s->families.items[i], &out);
	buf_addf(&out, "%s, %s, %s\n", count_text(s->count, "script"), count_text(s->calls, "call"),
		 count_text(s->setup_count, "set-up"));
	fputs(out.data, stdout);
	buf_free(&out);
	return complete ? EXIT_CLEAN : EXIT_INTERNAL;
}

static int show_script(const struct suite *s, struct err *err)
{
	struct buf out = BUF_INIT;
	long number = suite_find(s, settings.show);

	if (number < 0) {
		err_set(err, ENOENT, "%s: no such script", settings.show);
		return EXIT_USAGE;
	}
	suite_print(s, &s->scripts[number], &out);
	fputs(out.data, stdout);
	buf_free(&out);
	return EXIT_CLEAN;
}

/* Names of targets, each followed by NUL. */
static void add_target(struct buf *names, const char *name)
{
	buf_add(names, name, strlen(name) + 1);
}

/* Schedules take a kernel that is built for them. */
static void add_named_target(struct buf *names, const char *name)
{
	struct buf full = BUF_INIT;

	if (settings.preemptions)
		overlap_name(name, &full);
	else
		buf_adds(&full, name);
	add_target(names, full.data);
	buf_free(&full);
}

static void add_usable(void *to, const char *name, const char *lacks)
{
	if (!*lacks)
		add_target(to, name);
}

static int read_targets(struct buf *names, int argc, char **argv, struct err *err)
{
	int ret = 0;

	for (int i = 1; i < argc && !ret; i++) {
		if (!strcmp(argv[i], "all"))
			ret = target_each(settings.config, add_usable, names, err);
		else
			add_named_target(names, argv[i]);
	}
	return ret;
}

struct progress {
	const char *target;
	size_t total;
	size_t done_before, rejected_before; /* on the targets before */
	double start_seconds;                /* of clock_seconds() */
	struct run *run;
};

static void json_set_count(json_t *o, const char *name, uint64_t count)
{
	json_object_set_new(o, name, json_integer((json_int_t)count));
}

static size_t scripts_run(const struct conform_result *r)
{
	return r->suite ? r->suite->count - r->counts[SCRIPT_FATES] : 0;
}

/* Scripts take about the same time, so that the rate says how long the rest takes; --seconds may
 * end it before. */
static void conform_show_line(const struct progress *p, size_t done, size_t rejected)
{
	double seconds, all;

	if (!progress_wanted())
		return;
	seconds = clock_seconds() - p->start_seconds;
	all = done ? seconds / (double)done * (double)p->total : 0;
	if (settings.seconds > 0 && (all <= 0 || settings.seconds < all))
		all = settings.seconds;
	progress_show("%s: %.0f s, %zu of %zu scripts (%.0f/s), %zu rejected%s", p->target, seconds,
		      done, p->total, seconds > 0 ? (double)done / seconds : 0, rejected,
		      progress_left(seconds, all));
}

static void conform_show_progress(void *to, size_t done, size_t rejected)
{
	const struct progress *p = to;

	if (run_sample_is_due(p->run)) {
		json_set_count(p->run->figures, "scripts_run", p->done_before + done);
		json_set_count(p->run->figures, "rejected", p->rejected_before + rejected);
		run_sample(p->run);
	}
	conform_show_line(p, done, rejected);
}

static unsigned job_count(void)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	if (settings.races && !settings.preemptions)
		processors /= 2; /* the others are for who is raced with */
	if (settings.jobs)
		return (unsigned)settings.jobs;
	return processors < 1                ? 1
	     : processors > CONFORM_JOBS_MAX ? CONFORM_JOBS_MAX
					     : (unsigned)processors;
}

/* Did it execute every script there is? Races depend on the moment. */
static bool survey_is_complete(const struct surveyed *t)
{
	return !settings.races && !settings.suite.count && settings.sample == 1 &&
	       settings.part.count == 1 && !t->failure && !t->result.stopped &&
	       !t->result.counts[SCRIPT_FATES];
}

/* Once, for all jobs: what the target lacks. What fails here fails in the jobs, too. */
static void survey_learn(struct surveyed *t, const char *name,
			 const struct target_options *target_options, struct run *run)
{
	struct target *target;
	struct err none = { 0 };

	if (!settings.learn || !target_learns(name, settings.config) ||
	    learn_open(&target, name, target_options, &none))
		return;
	learned_add(run, target);
	t->learned = target->learned;
	target->learned = NULL;
	target_close(target);
}

static void survey_target(struct survey *s, const char *name, const struct session_options *session,
			  struct run *run)
{
	struct progress progress = { .target = name, .total = s->suite->count, .run = run };
	struct conform_options options = {
		.session = *session,
		.jobs = jobs_on(name, session->target_options.config, job_count()),
		.seconds = settings.seconds,
		.progress = conform_show_progress,
		.progress_to = &progress,
	};
	struct err err = { 0 };
	struct surveyed *t;

	for (size_t i = 0; i < s->count; i++) {
		progress.done_before += scripts_run(&s->targets[i].result);
		progress.rejected_before += s->targets[i].result.counts[SCRIPT_REJECTED];
	}
	options.session.target = name;
	progress.total *= conform_rounds(&options);
	s->targets = must_realloc(s->targets, (s->count + 1) * sizeof(*s->targets));
	t = &s->targets[s->count++];
	*t = (struct surveyed){ 0 };
	survey_learn(t, name, &session->target_options, run);
	options.session.target_options.learned = t->learned;
	progress.start_seconds = clock_seconds();
	if (conform_run(&t->result, s->suite, &options, &err))
		t->failure = must_strdup(err.text);
	progress_end();
	causes_gather(&t->causes, &t->result);
	causes_mark_known(&t->causes, &run->known, name);
	known_ask(&run->known, name, settings.races ? KNOWN_RACES : KNOWN_CAUSES | KNOWN_GROUPS,
		  survey_is_complete(t));
}

static int write_junit(const struct survey *s, struct err *err)
{
	struct buf text = BUF_INIT;
	int ret = 0;

	if (settings.junit) {
		survey_junit(s, &text);
		ret = buf_write_file(&text, settings.junit, err);
	}
	buf_free(&text);
	return ret;
}

/* The targets of the run that is compared with. */
static int load_since(json_t **ret, struct err *err)
{
	struct buf path = BUF_INIT;
	int status = 0;
	json_t *run;

	buf_addf(&path, "%s/run.json", settings.since);
	run = json_load_file(path.data, 0, NULL);
	if (json_is_array(json_object_get(run, "targets")))
		*ret = json_incref(json_object_get(run, "targets"));
	else
		status = err_set(err, EINVAL, "%s: not a run of conform", path.data);
	json_decref(run);
	buf_free(&path);
	return status;
}

/* What is new and gone since then. */
static int add_changes(const struct survey *s, struct buf *out, struct err *err)
{
	size_t start = out->len;
	json_t *before;
	int status = settings.since ? load_since(&before, err) : 0;

	if (status || !settings.since)
		return status;
	survey_compare(s, before, out);
	json_decref(before);
	if (out->len == start)
		buf_addf(out, "no changes since %s\n", settings.since);
	return 0;
}

static int print_result(struct run *run, const struct survey *s, const struct model *model,
			struct err *err)
{
	struct buf out = BUF_INIT;
	int ret = 0;

	if (settings.tap)
		survey_tap(s, &out);
	else if (!settings.json)
		survey_print(s, &out);
	if (!settings.tap && !settings.json) {
		learned_print(run);
		if (settings.preemptions && !settings.schedule)
			survey_print_schedules(s, (unsigned)settings.preemptions, &out);
		if (settings.rules)
			survey_print_rules(s, model, &out);
		ret = add_changes(s, &out, err);
		buf_addch(&out, '\n');
		known_report(&run->known, &out);
		buf_addf(&out, "report: %s/report.html\n", run->dir);
	}
	if (settings.json)
		summary_print(run);
	fputs(buf_str(&out), stdout);
	buf_free(&out);
	return ret;
}

/* Everything that is known goes to the run's directory, as far as it fits, and to the terminal. */
static int conform_finish(struct run *run, const struct survey *s,
			  const struct session_options *session, struct err *err)
{
	struct session_options options = *session;
	struct model model;
	int ret = 0, junit, printed;

	for (size_t i = 0; i < s->count && !ret; i++) {
		options.target = s->targets[i].result.target;
		options.target_options.learned = s->targets[i].learned;
		progress_show("%s: replaying and shrinking; %s of deviations", options.target,
			      count_text(s->targets[i].causes.unexpected, "cause"));
		ret = tell_causes(s, &s->targets[i], &options, (unsigned)settings.findings, run,
				  err);
	}
	progress_end();
	run->verdict = conform_figures_verdict(s);
	conform_figures_set(run, s, (unsigned)settings.preemptions);
	model_init(&model, session->platform, settings.kernel ? session->kernel : KERNEL_CURRENT);
	json_object_set_new(run->figures, "rules", survey_rules(s, &model));
	/* What fails on the way, work on a finding say, must not lose the rest. */
	junit = write_junit(s, err);
	ret = summary_write(run, ret ? ret : junit, err);
	printed = print_result(run, s, &model, err);
	return ret ? ret : printed;
}

static void join_names(const struct buf *names, struct buf *out)
{
	for (size_t at = 0; at < names->len; at += strlen(names->data + at) + 1)
		buf_addf(out, "%s%s", at ? "+" : "", names->data + at);
}

static int survey_write_known(const struct run *run, const struct survey *s, struct err *err)
{
	struct buf failures = BUF_INIT;
	int status;

	for (size_t i = 0; i < s->count; i++)
		causes_print_unknown(&s->targets[i].causes, s->targets[i].result.target, &failures);
	status = run_write_known(run, settings.write_known, &failures, err);
	buf_free(&failures);
	return status;
}

static int run_survey(struct suite *suite, const struct buf *names,
		      const struct session_options *session, struct err *err)
{
	struct survey survey = { .suite = suite };
	struct buf joined = BUF_INIT;
	int code = EXIT_UNKNOWN, status;
	struct run run;

	join_names(names, &joined);
	if (!run_open(&run, "conform", joined.data, settings.out, 1, err)) {
		stop_catch_signals();
		status = run_read_known(&run, settings.known, err);
		for (size_t at = 0; at < names->len && !stop_requested && !status;
		     at += strlen(names->data + at) + 1)
			survey_target(&survey, names->data + at, session, &run);
		if (!status)
			status = conform_finish(&run, &survey, session, err);
		if (!status)
			status = survey_write_known(&run, &survey, err);
		code = summary_code(&run, status);
		run_free(&run);
	}
	survey_free(&survey);
	buf_free(&joined);
	return code;
}

/* Every name on the command line, before anything is made. */
static int conform_check_names(const struct buf *names, struct err *err)
{
	int code = operand_new_file(settings.junit, err);
	json_t *before = NULL;

	for (size_t at = 0; !code && at < names->len; at += strlen(names->data + at) + 1)
		code = operand_target(names->data + at, settings.config, err);
	if (!code)
		code = operand_known(settings.known, settings.write_known, err);
	if (!code && settings.since)
		code = operand_code(load_since(&before, err));
	json_decref(before);
	return code ? code : operand_run_directory(settings.out, err);
}

static int conform_targets(struct suite *suite, int argc, char **argv, struct err *err)
{
	struct session_options session = {
		.platform = (enum platform)settings.platform,
		.repeat = (unsigned)settings.repeat,
		.schedules = { .preemptions = (unsigned)settings.preemptions,
			       .whole = settings.whole,
			       .background = settings.background,
			       .examines = settings.disks,
			       .debugs = settings.gdb,
			       .limit = settings.schedules,
			       .drawn = settings.random },
		.target_options = { .deadline_seconds =
					    settings.gdb ? DEBUGGED_SECONDS : settings.deadline,
				    .overlaps = settings.races && !settings.preemptions,
				    .space_bytes = settings.space,
				    .config = settings.config },
	};
	struct scheduled_one one;
	struct buf names = BUF_INIT;
	int code = EXIT_USAGE;

	if (settings.schedule)
		session.schedules.one = &one;
	if (argc < 2)
		err_set(err, EINVAL, "no target given");
	else if (settings.preemptions && !settings.races)
		err_set(err, EINVAL, "--preemptions is for --races");
	else if (settings.gdb && !settings.schedule)
		err_set(err, EINVAL, "--gdb is for --schedule");
	else if (settings.schedule && choose_schedule(suite, &one, err))
		code = EXIT_USAGE;
	else if (!(settings.kernel && version_parse(settings.kernel, &session.kernel, err)) &&
		 !read_targets(&names, argc, argv, err))
		code = conform_check_names(&names, err);
	if (code == EXIT_CLEAN)
		code = run_survey(suite, &names, &session, err);
	buf_free(&names);
	return code;
}

/* Calls overlap in a kernel in a process only by schedules. */
static unsigned usual_preemptions(int argc, char **argv)
{
	bool kernels = settings.races && argc > 1;

	if (settings.schedule)
		return SCHEDULE_SWITCHES_MAX;
	for (int i = 1; i < argc; i++)
		kernels &= !strncmp(argv[i], "kernel:", 7);
	if (!kernels)
		return 0;
	return settings.seconds > 0 ? PREEMPTIONS_IN_TIME : PREEMPTIONS;
}

static int run_conform(int argc, char **argv, struct err *err)
{
	struct suite suite;
	int code;

	if (!settings.preemptions)
		settings.preemptions = usual_preemptions(argc, argv);
	if (part_read(settings.part_text, &settings.part, err))
		return EXIT_USAGE;
	if (build_suite(&suite, err))
		code = EXIT_USAGE;
	else if (settings.list)
		code = list_families(&suite);
	else if (settings.show)
		code = show_script(&suite, err);
	else
		code = conform_targets(&suite, argc, argv, err);
	suite_free(&suite);
	return code;
}

/* ---- in parts ---- */

static const char *const conform_whole_only[] = { "--list",  "--show", "--schedule", "--since",
						  "--junit", "--tap",  "--rules",    NULL };

static int conform_check_operand(const char *target, struct err *err)
{
	struct suite suite;
	int code = operand_target(target, settings.config, err);

	if (code)
		return code;
	if (build_suite(&suite, err))
		code = EXIT_USAGE;
	suite_free(&suite);
	return code;
}

static int conform_finish_parts(struct run *all, int status, struct err *err)
{
	status = summary_write(all, status, err);
	if (settings.json)
		summary_print(all);
	else
		conform_figures_print(all);
	return status;
}

static const struct command_parts conform_parts = {
	.whole_only = conform_whole_only,
	.check = conform_check_operand,
	.add = conform_figures_add,
	.finish = conform_finish_parts,
};

const struct command command_conform = {
	.name = "conform",
	.usage = "TARGET...",
	.summary = "check a file system against POSIX and Linux with generated scripts",
	.text = "Executes many small scripts on each target with real processes and users.\n"
		"Compares every outcome, and the tree at the end of every script, with the\n"
		"model. Families generate the scripts: they combine properties of paths, calls,\n"
		"flags and users so that some script has every possible choice of values\n"
		"(*--list* proves it). _all_ means every target that can be tested here.\n"
		"\n"
		"The report groups deviations by cause: the call, the actual outcome, the\n"
		"allowed outcomes and their rule. One table shows several targets side by side.\n"
		"The report separates what POSIX does not allow from what POSIX allows but\n"
		"Linux does not do.\n"
		"\n"
		"Causes of one group, the same field of the same kind of object say, share one\n"
		"example and one finding.\n"
		"\n" KNOWN_TEXT
		"If all generated scripts were executed and none shows a known failure, the\n"
		"report asks whether it is fixed.\n"
		"\n"
		"Exit status: 0 no deviations (except those in *--known*), 1 deviations, 2\n"
		"could not tell.",
	.opts = opts,
	.settings = &settings,
	.parts = &conform_parts,
	.run = run_conform,
};
