/* cmd_campaign.c -- `assay campaign FILE`: many targets and instruments in turns, for days. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/must.h"
#include "base/stop.h"
#include "campaign/campaign_report.h"
#include "campaign/campaign_session.h"
#include "campaign/campaign_time.h"
#include "cli/command.h"
#include "cli/operands.h"
#include "cli/table.h"
#include "report/report.h"
#include "swarm/redis_url.h"

static struct campaign_command_settings {
	double seconds;
	const char *out, *new_since, *redis, *redis_file;
	bool json, markdown;
} settings;

#define ROW(field) offsetof(struct campaign_command_settings, field)

static const struct opt opts[] = {
	{ "seconds", OPT_DOUBLE, ROW(seconds), "N",
	  "stop after this time, and continue another time; 0: when the campaign is over", 0,
	  OPT_SECONDS_MAX },
	{ "out", OPT_TEXT, ROW(out), "DIR",
	  "directory of the campaign; one that is there already is continued. Default: a new one "
	  "in "
	  "runs/",
	  0, 0 },
	{ "redis", OPT_TEXT, ROW(redis), "URL",
	  "turns but those of explore are done by workers of a swarm (assay swarm work --any) on "
	  "this server",
	  0, 0 },
	{ "redis-file", OPT_TEXT, ROW(redis_file), "FILE", "the same, by a file with the URL", 0,
	  0 },
	{ "new-since", OPT_TEXT, ROW(new_since), "DATE",
	  "findings: only those first seen since then: \"YYYY-MM-DD\" or \"YYYY-MM-DD HH:MM\", UTC",
	  0, 0 },
	{ "markdown", OPT_FLAG, ROW(markdown), NULL, "findings: print a table in Markdown", 0, 0 },
	{ "json", OPT_FLAG, ROW(json), NULL, "print the result as one JSON object", 0, 0 },
	OPT_END,
};

static const int verdict_codes[] = { EXIT_CLEAN, EXIT_UNKNOWN, EXIT_FINDINGS };

/* ---- what is said while it runs ---- */

static void campaign_say_found(void *to, const char *lines)
{
	progress_end();
	if (!settings.json)
		fputs(lines, stdout);
	fflush(stdout);
}

static void campaign_say_warning(void *to, const char *line)
{
	progress_end();
	fprintf(stderr, "%s\n", line);
}

static void campaign_say_progress(void *to, const struct campaign_session *s)
{
	const struct campaign_turn *t = &s->turns[0];
	double left = s->until_seconds - clock_seconds();
	char rest[48] = "";

	if (!progress_wanted())
		return;
	if (isfinite(left))
		snprintf(rest, sizeof(rest), ", %.0f s left", fmax(left, 0));
	progress_show("%s: %.0f s%s, %ju turns, %ju new findings; now %s (%.0f of %.0f s)%s",
		      s->file->name, campaign_session_seconds(s), rest, (uintmax_t)s->turns_ended,
		      (uintmax_t)s->findings, s->arms.list[t->arm].name,
		      clock_seconds() - t->started_seconds, t->slice_seconds,
		      s->turn_count > 1 ? " and others" : "");
}

/* ---- the result ---- */

static double arms_sum(const json_t *arms, const char *key)
{
	double sum = 0;
	json_t *arm;
	size_t i;

	json_array_foreach(arms, i, arm) sum += json_number_value(json_object_get(arm, key));
	return sum;
}

/* Like that of any run; findings that are known are in a separate list. */
static json_t *campaign_summary(const struct campaign_session *s, const json_t *rows,
				const json_t *arms)
{
	json_t *findings = json_array(), *unconfirmed = json_array(), *known = json_array(), *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		if (!json_is_null(json_object_get(row, "known")))
			json_array_append(known, row);
		else
			json_array_append(json_is_true(json_object_get(row, "confirmed"))
						  ? findings
						  : unconfirmed,
					  row);
	}
	return json_pack("{s:s, s:s, s:I, s:s, s:f, s:f, s:I, s:I, s:o, s:o, s:o, s:O}", "command",
			 "campaign", "target", s->file->name, "seed", (json_int_t)s->seed,
			 "verdict", campaign_verdict_names[campaign_report_verdict(rows, arms)],
			 "seconds", campaign_session_seconds(s), "cpu_seconds",
			 arms_sum(arms, "cpu_seconds"), "turns",
			 (json_int_t)arms_sum(arms, "turns"), "new_findings",
			 (json_int_t)s->findings, "findings", findings, "unconfirmed", unconfirmed,
			 "known_findings", known, "arms", arms);
}

static int campaign_write(const struct campaign_session *s, const json_t *summary, struct err *err)
{
	struct buf path = BUF_INIT, text = BUF_INIT;
	char *dump = json_dumps(summary, JSON_INDENT(2));
	int status;

	must(dump);
	buf_addf(&text, "%s\n", dump);
	free(dump);
	buf_addf(&path, "%s/run.json", s->place.path);
	status = buf_write_file(&text, path.data, err);
	buf_free(&path);
	buf_free(&text);
	return status ? status : report_write(s->place.path, err);
}

static void campaign_print(const struct campaign_session *s, const json_t *summary,
			   const json_t *arms)
{
	const json_t *findings = json_object_get(summary, "findings");
	struct buf out = BUF_INIT;

	if (settings.json) {
		json_dumpf(summary, stdout, JSON_INDENT(2));
		putchar('\n');
		return;
	}
	campaign_report_arms_text(arms, &out);
	buf_addf(&out, "%zu finding%s, %ju of them new; %zu known, %zu not confirmed\n",
		 json_array_size(findings), json_array_size(findings) == 1 ? "" : "s",
		 (uintmax_t)s->findings,
		 json_array_size(json_object_get(summary, "known_findings")),
		 json_array_size(json_object_get(summary, "unconfirmed")));
	buf_addf(&out, "report: %s/report.html\nfindings: assay campaign findings %s\n",
		 s->place.path, s->place.path);
	fputs(buf_str(&out), stdout);
	buf_free(&out);
}

/* After a failure (status) it is never clean. */
static int campaign_finish(struct campaign_session *s, int status, struct err *err)
{
	json_t *arms = campaign_report_arms(&s->db, err), *rows = NULL, *summary;
	int code = EXIT_UNKNOWN;

	if (arms)
		rows = campaign_report_findings(&s->db, s->place.path, INT64_MIN, true, err);
	if (rows) {
		summary = campaign_summary(s, rows, arms);
		if (campaign_write(s, summary, err))
			status = -EIO;
		campaign_print(s, summary, arms);
		code = verdict_codes[campaign_report_verdict(rows, arms)];
		json_decref(summary);
	}
	json_decref(rows);
	json_decref(arms);
	return status && code == EXIT_CLEAN ? EXIT_UNKNOWN : code;
}

/* ---- the file ---- */

/* Parses them as the command itself would. */
static int campaign_parse_words(const struct command *c, struct buf *words, struct err *err)
{
	char **vector = must_alloc((words->len + 2) * sizeof(*vector));
	int count = 0, status;

	vector[count++] = (char *)c->name;
	for (size_t at = 0; at < words->len; at += strlen(words->data + at) + 1)
		vector[count++] = words->data + at;
	vector[count] = NULL;
	status = opt_parse(c->opts, c->settings, &count, vector, err);
	if (!status && count > 1)
		status = err_set(err, EINVAL, "%s: not an option", vector[1]);
	free(vector);
	return status;
}

/* A mistake in options is one of the file, not of each turn. */
static int campaign_check_section(const struct campaign_file *f, const struct campaign_section *s,
				  struct err *err)
{
	const struct command *c = command_find(instrument_table[s->instrument].command);
	struct buf words = BUF_INIT;
	struct err why = { 0 };
	int status;

	if (s->profiles)
		campaign_words("--profile x", &words);
	campaign_words(s->options ? s->options : "", &words);
	status = campaign_parse_words(c, &words, &why);
	/* What was parsed points into them, and is not used: turns are other processes. */
	if (status)
		err_set(err, -status, "%s: [arms.%s]: %s: %s", f->name, s->name, c->name, why.text);
	return operand_code(status);
}

static int campaign_check_file(const struct campaign_file *f, struct err *err)
{
	int code = operand_known(f->known, NULL, err);

	if (!code)
		code = operand_file(f->config, err);
	for (size_t i = 0; i < f->section_count && !code; i++)
		code = campaign_check_section(f, &f->sections[i], err);
	return code ? code : operand_new_directory(settings.out, err);
}

/* Turns get the server by the environment, which no other user sees. */
static int campaign_choose_server(struct err *err)
{
	struct redis_url url;
	struct buf text = BUF_INIT;
	int status;

	if (!settings.redis && !settings.redis_file)
		return 0;
	status = redis_url_choose(&text, settings.redis, settings.redis_file, err);
	if (!status)
		status = redis_url_parse(&url, buf_str(&text), err);
	if (!status) {
		redis_url_free(&url);
		setenv("ASSAY_REDIS", buf_str(&text), 1);
	}
	buf_free(&text);
	return status;
}

static int campaign_start(const struct campaign_file *f, struct err *err)
{
	const struct campaign_listener listener = { .found = campaign_say_found,
						    .warn = campaign_say_warning,
						    .progress = campaign_say_progress };
	struct campaign_session s;
	int status, code;

	stop_catch_signals();
	if (campaign_choose_server(err))
		return EXIT_USAGE;
	status = campaign_session_open(&s, f, settings.out, &listener, err);
	if (status)
		return operand_code(status);
	s.on_swarm = settings.redis || settings.redis_file;
	status = campaign_session_run(&s, settings.seconds, err);
	progress_end();
	code = campaign_finish(&s, status, err);
	campaign_session_close(&s);
	return code;
}

static int run_campaign_file(const char *path, struct err *err)
{
	struct campaign_file f;
	int status, code;

	if (settings.new_since || settings.markdown) {
		err_set(err, EINVAL,
			"--new-since and --markdown are for `assay campaign findings`");
		return EXIT_USAGE;
	}
	status = campaign_file_read(&f, path, err);
	if (status)
		return operand_code(status);
	code = campaign_check_file(&f, err);
	if (!code)
		code = campaign_start(&f, err);
	campaign_file_free(&f);
	return code;
}

/* ---- what the database has ---- */

static int print_status(struct campaign_db *d, const char *dir, struct err *err)
{
	json_t *arms = campaign_report_arms(d, err), *findings = NULL;
	struct buf out = BUF_INIT;
	double seconds = 0;

	if (arms && !campaign_db_get(d, "seconds", &seconds, err))
		findings = campaign_report_findings(d, dir, INT64_MIN, false, err);
	if (findings && settings.json) {
		json_t *all =
			json_pack("{s:s, s:f, s:O, s:O}", "verdict",
				  campaign_verdict_names[campaign_report_verdict(findings, arms)],
				  "seconds", seconds, "arms", arms, "findings", findings);

		json_dumpf(all, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(all);
	} else if (findings) {
		campaign_report_arms_text(arms, &out);
		buf_addf(&out, "%.0f seconds, %.0f turns\n\n", seconds, arms_sum(arms, "turns"));
		campaign_report_findings_text(findings, &out);
		fputs(buf_str(&out), stdout);
	}
	json_decref(arms);
	json_decref(findings);
	buf_free(&out);
	return findings ? EXIT_CLEAN : EXIT_UNKNOWN;
}

static int print_findings(struct campaign_db *d, const char *dir, struct err *err)
{
	struct buf out = BUF_INIT;
	int64_t since = INT64_MIN;
	int code = EXIT_CLEAN;
	json_t *findings, *row;
	size_t i;

	if (settings.new_since && campaign_time_parse(settings.new_since, &since, err))
		return EXIT_USAGE;
	findings = campaign_report_findings(d, dir, since, false, err);
	if (!findings)
		return EXIT_UNKNOWN;
	if (settings.json) {
		json_dumpf(findings, stdout, JSON_INDENT(2));
		putchar('\n');
	} else if (settings.markdown) {
		campaign_report_findings_markdown(findings, &out);
	} else {
		campaign_report_findings_text(findings, &out);
	}
	fputs(buf_str(&out), stdout);
	json_array_foreach(findings, i, row) if (json_is_null(json_object_get(row, "known")) &&
						 json_is_true(json_object_get(row, "confirmed")))
		code = EXIT_FINDINGS;
	json_decref(findings);
	buf_free(&out);
	return code;
}

static int run_campaign_reader(const char *dir, bool findings, struct err *err)
{
	struct campaign_db d;
	int code;

	if (settings.out || settings.seconds > 0 || settings.redis || settings.redis_file ||
	    (!findings && (settings.new_since || settings.markdown))) {
		err_set(err, EINVAL, "an option that does not belong to it");
		return EXIT_USAGE;
	}
	code = operand_directory(dir, err);
	if (!code)
		code = operand_code(campaign_db_open(&d, dir, CAMPAIGN_DB_READ, err));
	if (code)
		return code;
	code = findings ? print_findings(&d, dir, err) : print_status(&d, dir, err);
	campaign_db_close(&d);
	return code;
}

static int run_campaign(int argc, char **argv, struct err *err)
{
	if (argc == 3 && !strcmp(argv[1], "status"))
		return run_campaign_reader(argv[2], false, err);
	if (argc == 3 && !strcmp(argv[1], "findings"))
		return run_campaign_reader(argv[2], true, err);
	if (argc == 2)
		return run_campaign_file(argv[1], err);
	err_set(err, EINVAL, argc < 2 ? "no file given" : "%s: unexpected operand", argv[argc - 1]);
	return EXIT_USAGE;
}

const struct command command_campaign = {
	.name = "campaign",
	.usage = "FILE | status DIR | findings DIR",
	.summary = "test many file systems by many instruments in turns, for days",
	.text = "_FILE_, an INI file, names targets, instruments (_explore_, _conform_, _crash_,\n"
		"_fsck_, _races_, _schedules_), their options and their time. Each combination is\n"
		"an arm. Arms take turns, each a command of Assay that runs for some time. An arm\n"
		"whose turns yield more new states, new code and new findings per CPU-second gets\n"
		"more turns; a part of the time is dealt out evenly, so that none starves. _FILE_\n"
		"may also be the name of a shipped one: _all_, _reffs_, _survey_.\n"
		"\n"
		"A campaign can be stopped at any time (Ctrl-C) and continued with the same\n"
		"*--out*. If it is killed, the next start takes over what the turns of that\n"
		"moment had found. A turn that crashes ends only itself. An arm whose turns fail\n"
		"three times in a row is put aside, with its reason, until the next start.\n"
		"\n"
		"With *--redis*, turns of all instruments but _explore_ are done by the workers of "
		"a\n"
		"swarm, which run *assay swarm work --any*; so many at the same time as _jobs_ of\n"
		"the file says. Choice and database stay here.\n"
		"\n"
		"The database _DIR_/campaign.db (SQLite) has all findings, however many turns\n"
		"and instruments have shown them: when each was first and last seen, how often,\n"
		"on which kernels, and whether it is known. *assay campaign status* prints the\n"
		"arms and the findings, *assay campaign findings* the findings alone; both also\n"
		"while the campaign runs.\n"
		"\n"
		"Exit status: 0 no findings, 1 findings that are not known, 2 could not tell,\n"
		"for example because an arm could not run. *assay campaign status* returns 0.",
	.opts = opts,
	.settings = &settings,
	.run = run_campaign,
};
