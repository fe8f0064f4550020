/* crash_app.c -- `assay crash --app`: records a program, crashes it, prints where it is safe. */
#include "cmd/crash_app.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "appcrash/app.h"
#include "appcrash/app_record.h"
#include "base/clock.h"
#include "base/count_text.h"
#include "base/err.h"
#include "cli/command.h"
#include "cli/operands.h"
#include "cli/summary.h"
#include "report/findings_text.h"

enum { APP_SECONDS = 3600 }; /* for a program that was given no time */

static const char run_target[] = "app";

static void crash_app_set_figures(struct run *run, const struct app_session *s)
{
	json_t *levels = json_object();

	for (enum persist_level i = 0; i < PERSIST_LEVELS; i++) {
		const struct app_level *l = &s->levels[i];

		if (l->tried)
			json_object_set_new(levels, persist_level_names[i],
					    json_pack("{s:b, s:b, s:I, s:I, s:I}", "safe",
						      !l->failed, "complete", l->complete, "states",
						      (json_int_t)l->states, "failed",
						      (json_int_t)l->failed, "left_out",
						      (json_int_t)l->left_out));
	}
	json_object_set_new(run->figures, "levels", levels);
	json_object_set_new(run->figures, "calls", json_integer((json_int_t)s->workload.count));
	json_object_set_new(run->figures, "checks", json_integer((json_int_t)s->checks));
}

static void crash_app_add_level(const struct app_session *s, enum persist_level level,
				struct buf *out)
{
	const struct app_level *l = &s->levels[level];

	if (!l->tried)
		return;
	buf_addf(out, "%-8s %-45s %6" PRIu64 " states, ", persist_level_names[level],
		 app_level_sentences[level], l->states);
	if (l->failed)
		buf_addf(out, "the check fails on %" PRIu64, l->failed);
	else
		buf_adds(out, l->complete ? "safe" : "no failure before it ended");
	if (l->left_out)
		buf_addf(out, " (a sample: %" PRIu64 " were not tried)", l->left_out);
	buf_addch(out, '\n');
}

/* The answer in one sentence. */
static void crash_app_add_answer(const struct app_session *s, struct buf *out)
{
	static const char *const safe[PERSIST_LEVELS] = {
		[PERSIST_STRICT] = "safe where the whole tree is of one moment",
		[PERSIST_ORDERED] = "safe where names and attributes are of one moment",
		[PERSIST_POSIX] = "safe on any POSIX file system",
	};
	static const char *const not_safe[PERSIST_LEVELS] = {
		[PERSIST_STRICT] = "not safe even where the whole tree is of one moment",
		[PERSIST_ORDERED] = "not safe where data and names may be of different moments",
		[PERSIST_POSIX] = "not safe where only what was synced survives",
	};
	int weakest = -1, unsafe = -1;

	for (int i = PERSIST_LEVELS; i-- > 0;) {
		const struct app_level *l = &s->levels[i];

		if (l->tried && l->failed && unsafe < 0)
			unsafe = i;
		if (l->tried && !l->failed && l->complete && unsafe < 0)
			weakest = i;
	}
	if (weakest >= 0)
		buf_adds(out, safe[weakest]);
	if (unsafe >= 0)
		buf_addf(out, "%s%s", weakest >= 0 ? "; " : "", not_safe[unsafe]);
	if (weakest >= 0 || unsafe >= 0)
		buf_addch(out, '\n');
}

static void crash_app_print(const struct run *run, const struct app_session *s)
{
	struct buf out = BUF_INIT;

	findings_text(run->findings, run->unconfirmed, run->target, &out);
	for (int i = PERSIST_LEVELS; i-- > 0;)
		crash_app_add_level(s, (enum persist_level)i, &out);
	buf_addf(&out, "%s, %zu of them change or sync something; %s in %.1f s\n",
		 count_text(s->workload.count - s->workload.setup_count, "call"),
		 s->history.count ? s->history.steps[s->history.count - 1].calls : 0,
		 count_text(s->checks, "check"), clock_seconds() - run->started_seconds);
	crash_app_add_answer(s, &out);
	buf_addf(&out, "report: %s/report.html\n", run->dir);
	fputs(out.data, stdout);
	buf_free(&out);
}

static int crash_app_try(const struct crash_app *a, struct run *run, struct app_session *s,
			 struct err *err)
{
	char trace[PATH_MAX];
	struct app_record record = {
		.prepare = a->prepare,
		.app = a->app,
		.dir = buf_str(&s->dir),
		.trace = trace,
		.seconds = a->seconds > 0 ? a->seconds : APP_SECONDS,
	};
	int status = 0;

	snprintf(trace, sizeof(trace), "%.4000s/app.trace", run->dir);
	if (!a->trace)
		status = app_record(&record, err);
	if (!status)
		status = app_read(s, a->trace ? a->trace : trace, err);
	return status ? status : app_crash(s, err);
}

static int crash_app_in(const struct crash_app *a, struct run *run, struct err *err)
{
	struct app_options o = {
		.verify = a->verify,
		.levels = a->level ? 1u << (a->level - 1) : (1u << PERSIST_LEVELS) - 1,
		.states = a->states,
		.seed = a->seed,
		.findings = a->findings,
		.check_seconds = a->deadline,
		.until_seconds = a->seconds > 0 ? run->started_seconds + a->seconds : 0,
	};
	struct app_session s;
	int status = app_open(&s, &o, run, err);

	if (!status)
		status = crash_app_try(a, run, &s, err);
	crash_app_set_figures(run, &s);
	if (status < 0 && run->verdict == VERDICT_OK)
		run->verdict = VERDICT_UNKNOWN;
	status = summary_write(run, status, err);
	if (a->json)
		summary_print(run);
	else if (s.levels[PERSIST_STRICT].tried || s.levels[PERSIST_ORDERED].tried ||
		 s.levels[PERSIST_POSIX].tried)
		crash_app_print(run, &s);
	app_close(&s);
	return status;
}

static int crash_app_check_names(const struct crash_app *a, struct err *err)
{
	int code = 0;

	if (!a->verify)
		err_set(err, EINVAL, "--app needs --verify COMMAND");
	else if (a->app && a->trace)
		err_set(err, EINVAL, "--app and --app-trace exclude each other");
	else if (a->prepare && a->trace)
		err_set(err, EINVAL, "--prepare needs --app");
	if (err->code)
		return EXIT_USAGE;
	if (a->trace)
		code = operand_file(a->trace, err);
	if (!code)
		code = operand_known(a->known, a->write_known, err);
	return code ? code : operand_run_directory(a->out, err);
}

int crash_app_run(const struct crash_app *a, struct err *err)
{
	int status, code = crash_app_check_names(a, err);
	struct run run;

	if (code)
		return code;
	if (run_open(&run, "crash", run_target, a->out, a->seed, err))
		return EXIT_UNKNOWN;
	stop_catch_signals();
	status = run_read_known(&run, a->known, err);
	known_ask(&run.known, run_target, KNOWN_SIGNATURES | KNOWN_GROUPS, false);
	if (!status)
		status = crash_app_in(a, &run, err);
	if (!status)
		status = summary_write_known(&run, a->write_known, err);
	code = summary_code(&run, status);
	run_free(&run);
	return code;
}
