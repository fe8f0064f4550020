/* cmd_watch.c -- `assay watch TREE FS`: builds and explores a kernel whenever its sources change.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/must.h"
#include "cli/command.h"
#include "cli/operands.h"
#include "cli/source_watch.h"
#include "cli/summary.h"
#include "cli/sweep.h"
#include "cli/table.h"
#include "cmd/code_report.h"
#include "report/findings_text.h"
#include "target/description.h"
#include "target/kernels.h"
#include "universe/universe.h"

enum { WORDS_MAX = 20 };

static struct watch_settings {
	double seconds;
	const char *profile, *known, *out, *config;
	bool kernel_coverage, once, json;
} settings = {
	.seconds = 20,
};

#define ROW(field) offsetof(struct watch_settings, field)

static const struct opt opts[] = {
	{ "seconds", OPT_DOUBLE, ROW(seconds), "N",
	  "duration of the search of each file system after a change", 1, OPT_SECONDS_MAX },
	{ "profile", OPT_TEXT, ROW(profile), "NAME",
	  "the universe: a shipped profile or an INI file; default: all that suit", 0, 0 },
	{ "known", OPT_TEXT, ROW(known), "FILE",
	  "a file of known failures, with their reasons: counted, not reported", 0, 0 },
	{ "kernel-coverage", OPT_FLAG, ROW(kernel_coverage), NULL,
	  "build a kernel that records executed code, prefer calls that reach new code, and print "
	  "how much of the changed files was executed",
	  0, 0 },
	{ "once", OPT_FLAG, ROW(once), NULL, "build and explore once, and do not wait", 0, 0 },
	{ "out", OPT_TEXT, ROW(out), "DIR", "run directory; default: a new one in runs/", 0, 0 },
	{ "config", OPT_TEXT, ROW(config), "FILE", "an INI file that describes targets", 0, 0 },
	{ "json", OPT_FLAG, ROW(json), NULL, "print the result at the end as one JSON object", 0,
	  0 },
	OPT_END,
};

struct watch {
	char tree[PATH_MAX];
	char **targets; /* "kernel:ext4@linux" */
	size_t target_count;
	struct source_watch sources;
	struct run all; /* the findings of all rounds */
	unsigned round;
};

/* ---- commands as jobs ---- */

/* A command line of ours, for a job. */
struct watch_command {
	char *words[WORDS_MAX];
	int count;
};

static void command_add(struct watch_command *c, const char *word)
{
	must(c->count + 1 < WORDS_MAX);
	c->words[c->count++] = (char *)word;
}

static void command_add_option(struct watch_command *c, const char *name, const char *value)
{
	if (!value)
		return;
	command_add(c, name);
	command_add(c, value);
}

static int command_run(struct watch_command *c, struct err *err)
{
	const struct command *command = command_find(c->words[0]);

	if (opt_parse(command->opts, command->settings, &c->count, c->words, err))
		return EXIT_USAGE;
	return command->run(c->count, c->words, err);
}

/* In a job whose work does not look whether it is to stop: signals end it. A hangup that was
 * ignored (nohup) stays so. False if one has come already. */
static bool end_by_signals(void)
{
	static const int signals[] = { SIGHUP, SIGINT, SIGTERM };

	for (size_t i = 0; i < ARRAY_LEN(signals); i++)
		if (signal(signals[i], SIG_DFL) == SIG_IGN)
			signal(signals[i], SIG_IGN);
	return !stop_requested;
}

/* In the job. The processes of the build end with it. */
static int watch_job_build(void *to, unsigned number, const char *dir, struct err *err)
{
	struct watch_command c = { 0 };
	struct watch *w = to;

	if (!end_by_signals())
		return EXIT_UNKNOWN;
	command_add(&c, "kernel");
	command_add(&c, "build");
	command_add_option(&c, "--source", w->tree);
	if (settings.kernel_coverage)
		command_add(&c, "--coverage");
	return command_run(&c, err);
}

static void watch_known_path(const struct watch *w, char *ret, size_t size)
{
	snprintf(ret, size, "%.4000s/known", w->all.dir);
}

static int watch_job_explore(void *to, unsigned number, const char *dir, struct err *err)
{
	char known[PATH_MAX], seconds[32];
	struct watch_command c = { 0 };
	struct watch *w = to;

	watch_known_path(w, known, sizeof(known));
	snprintf(seconds, sizeof(seconds), "%g", settings.seconds);
	command_add(&c, "explore");
	command_add(&c, w->targets[number]);
	command_add_option(&c, "--seconds", seconds);
	command_add_option(&c, "--profile", settings.profile);
	command_add_option(&c, "--config", settings.config);
	command_add_option(&c, "--known", known);
	command_add_option(&c, "--out", dir);
	if (settings.kernel_coverage)
		command_add(&c, "--kernel-coverage");
	command_add(&c, "--json");
	return command_run(&c, err);
}

/* ---- one round ---- */

/* What an earlier round has found is known to this one. */
static int watch_write_known(struct watch *w, struct err *err)
{
	struct buf text = BUF_INIT;
	char path[PATH_MAX];
	int status;

	known_print(&w->all.known, &text);
	buf_adds(&text, "# because: found earlier in this watch\n");
	run_print_failures(&w->all, &text);
	watch_known_path(w, path, sizeof(path));
	status = buf_write_file(&text, path, err);
	buf_free(&text);
	return status;
}

static void watch_add_row(const struct watch *w, const struct sweep_row *row, struct buf *out)
{
	const json_t *result = row->result;
	size_t found = json_array_size(json_object_get(result, "findings"));

	if (!result) {
		buf_addf(out, "%s: %s\n", row->target,
			 row->failure ? row->failure : "not searched");
		return;
	}
	buf_addf(out, "%s: ", row->target);
	if (found)
		buf_addf(out, "%zu new finding%s", found, found == 1 ? "" : "s");
	else
		buf_adds(out, "nothing new");
	buf_addf(out, " in %.0f s (%" JSON_INTEGER_FORMAT " transitions)\n",
		 json_real_value(json_object_get(result, "seconds")),
		 json_integer_value(json_object_get(result, "transitions")));
	code_add_files(result, &w->sources.changed, out);
}

static void watch_print(const struct watch *w, const struct sweep *s, const struct run *round)
{
	struct buf out = BUF_INIT;

	for (size_t i = 0; i < s->count; i++)
		watch_add_row(w, &s->rows[i], &out);
	findings_text(round->findings, round->unconfirmed, NULL, &out);
	known_report(&round->known, &out);
	if (!settings.json)
		fputs(buf_str(&out), stdout);
	fflush(stdout);
	buf_free(&out);
}

/* The known failures of the rounds differ, and are counted in theirs. */
static int watch_merge(struct watch *w, const struct run *round, struct err *err)
{
	json_t *summary = run_summary(round);
	int status;

	json_object_del(summary, "known");
	run_merge(&w->all, summary, round->dir + strlen(w->all.dir) + 1);
	json_decref(summary);
	w->all.verdict = json_array_size(w->all.findings) ? VERDICT_BAD : round->verdict;
	json_object_set_new(w->all.figures, "rounds", json_integer(w->round));
	status = summary_write(&w->all, 0, err);
	return status ? status : watch_write_known(w, err);
}

static int watch_explore(struct watch *w, struct run *round, struct err *err)
{
	struct job job = { .work = watch_job_explore, .to = w };
	struct sweep s = { 0 };
	char known[PATH_MAX];
	int status;

	watch_known_path(w, known, sizeof(known));
	status = run_read_known(round, known, err);
	for (size_t i = 0; i < w->target_count; i++)
		sweep_add(&s, w->targets[i], "");
	if (!status) {
		sweep_run(&s, round, &job, settings.seconds);
		status = sweep_collect(&s, round, err);
		watch_print(w, &s, round);
	}
	sweep_free(&s);
	return status ? status : watch_merge(w, round, err);
}

/* The build reports its progress and its errors itself. */
static int watch_build(struct watch *w, const char *dir, int *ret_code, struct err *err)
{
	struct job job = { .work = watch_job_build, .to = w, .speaks = true };
	pid_t pid = job_start(&job, w->round, dir, err);

	if (pid < 0)
		return pid;
	*ret_code = job_await(pid, 0);
	return 0;
}

/* What cannot be built cannot be judged, until it can. */
static int watch_round(struct watch *w, struct err *err)
{
	char dir[PATH_MAX];
	struct run round;
	int code = EXIT_UNKNOWN, status;
	bool leaves;

	snprintf(dir, sizeof(dir), "%.4000s/round-%u", w->all.dir, ++w->round);
	if (run_open(&round, "watch", w->all.target, dir, 0, err))
		return -EIO;
	round.verdict = VERDICT_UNKNOWN;
	status = watch_build(w, dir, &code, err);
	if (!status && !stop_requested && code == EXIT_CLEAN) {
		round.verdict = VERDICT_OK;
		status = watch_explore(w, &round, err);
	} else if (!status && !stop_requested) {
		status = watch_merge(w, &round, err);
	}
	leaves = json_array_size(round.findings) || json_array_size(round.unconfirmed) ||
		 (round.verdict != VERDICT_OK && code == EXIT_CLEAN);
	run_free(&round);
	if (!leaves)
		run_dir_remove(dir);
	return status;
}

/* ---- all rounds ---- */

static int watch_await(struct watch *w, struct err *err)
{
	const struct str_map *changed = &w->sources.changed;
	int status;

	progress_show("waiting for changes in %s", w->tree);
	status = source_watch_await(&w->sources, err);
	progress_end();
	if (status || stop_requested || settings.json)
		return status;
	printf("%s", changed->entries[0].key);
	if (changed->count > 1)
		printf(" and %zu more", changed->count - 1);
	puts(changed->count > 1 ? " have changed" : " has changed");
	fflush(stdout);
	return 0;
}

static int watch_rounds(struct watch *w, struct err *err)
{
	int status = watch_write_known(w, err);

	while (!status && !stop_requested) {
		status = watch_round(w, err);
		if (settings.once)
			break;
		if (!status && !stop_requested)
			status = watch_await(w, err);
	}
	return status;
}

static int watch_run(struct watch *w, const char *name, struct err *err)
{
	int status, code;

	if (run_open(&w->all, "watch", name, settings.out, 0, err))
		return EXIT_UNKNOWN;
	stop_catch_signals();
	status = run_read_known(&w->all, settings.known, err);
	if (!status)
		status = source_watch_open(&w->sources, w->tree, err);
	if (!status)
		status = watch_rounds(w, err);
	source_watch_close(&w->sources);
	run_end(&w->all);
	if (settings.json)
		summary_print(&w->all);
	else if (json_array_size(w->all.findings))
		printf("report: %s/report.html\n", w->all.dir);
	code = summary_code(&w->all, status);
	run_free(&w->all);
	return code;
}

static int watch_check_tree(struct watch *w, const char *tree, struct err *err)
{
	struct buf file = BUF_INIT;
	int code = operand_directory(tree, err);

	if (!code && !realpath(tree, w->tree))
		code = operand_code(err_sys(err, errno, "%s", tree));
	buf_addf(&file, "%s/arch/um/Makefile", w->tree);
	if (!code && access(file.data, R_OK))
		code = operand_code(err_set(err, ENOENT, "%s holds no sources of Linux", tree));
	buf_free(&file);
	return code;
}

static int watch_check_profile(struct err *err)
{
	struct universe u;
	int status;

	if (!settings.profile)
		return EXIT_CLEAN;
	status = universe_open(&u, settings.profile, NULL, 0, err);
	if (!status)
		universe_free(&u);
	return operand_code(status);
}

/* The kernel need not be there yet. */
static int watch_add_target(struct watch *w, const char *fs, const char *name, struct err *err)
{
	struct buf spec = BUF_INIT;
	struct target_description d;
	int status;

	buf_addf(&spec, "kernel:%s@%s", fs, name);
	status = description_find(&d, spec.data, settings.config, err);
	description_free(&d);
	if (status)
		buf_free(&spec);
	else
		w->targets[w->target_count++] = spec.data;
	return operand_code(status);
}

static int run_watch(int argc, char **argv, struct err *err)
{
	struct watch *w = must_alloc(sizeof(*w));
	struct buf name = BUF_INIT;
	int code = EXIT_USAGE;

	*w = (struct watch){ .sources = { .fd = -1 } };
	if (argc < 3)
		err_set(err, EINVAL, "expected a source tree and a file system");
	else
		code = watch_check_tree(w, argv[1], err);
	if (!code)
		code = watch_check_profile(err);
	if (!code)
		code = operand_known(settings.known, NULL, err);
	if (!code)
		code = operand_new_directory(settings.out, err);
	if (!code) {
		kernels_source_name(w->tree, &name);
		w->targets = must_alloc((size_t)argc * sizeof(*w->targets));
	}
	for (int i = 2; i < argc && !code; i++)
		code = watch_add_target(w, argv[i], name.data, err);
	if (!code)
		code = watch_run(w, name.data, err);
	for (size_t i = 0; i < w->target_count; i++)
		free(w->targets[i]);
	free(w->targets);
	free(w);
	buf_free(&name);
	return code;
}

const struct command command_watch = {
	.name = "watch",
	.usage = "TREE FS...",
	.summary = "build and explore a kernel whenever its sources change",
	.text = "Builds a kernel from the Linux source tree _TREE_ as *assay kernel build "
		"--source*\n"
		"does, and explores the file system *kernel:*_FS_ of it. Then waits until a "
		"source\n"
		"file in the tree changes, compiles what changed, explores again, and so on until\n"
		"it is stopped (Ctrl-C). _FS_ is the name of a target without *kernel:*, for\n"
		"example _ext4_; several take turns.\n"
		"\n"
		"Prints \"nothing new\" or the new findings. A finding is new if no earlier round\n"
		"of this watch has shown it and *--known* does not list it. Those seen again, and\n"
		"those not seen any more, are listed as known. If the tree cannot be compiled,\n"
		"prints the first error of the compiler and waits for the next change.\n"
		"\n"
		"With *--kernel-coverage*, the kernel records executed code: the search prefers\n"
		"calls that reach new code, and the result says how much of the changed files was\n"
		"executed. That kernel is built instead of the usual one; its calls are slower.\n"
		"\n"
		"Exit status: 0 no findings, 1 findings in any round, 2 could not tell, for\n"
		"example because the tree of the last round could not be compiled.",
	.opts = opts,
	.settings = &settings,
	.run = run_watch,
};
