/* campaign_report.c -- what the database of a campaign has, as rows, and these as text. */
#include "campaign/campaign_report.h"

#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "campaign/campaign_time.h"
#include "judge/problem.h"

const char *const campaign_verdict_names[] = { "ok", "unknown", "bad" };

/* ---- rows ---- */

static void row_set_text(json_t *row, const char *key, const char *text)
{
	json_object_set_new(row, key, json_string(text));
}

static void row_set_time(json_t *row, const char *key, int64_t at)
{
	char text[CAMPAIGN_TIME_TEXT];

	campaign_time_print(at, text);
	row_set_text(row, key, text);
}

/* Where and by what it was seen. */
static int row_set_sightings(struct campaign_db *d, json_t *row, const char *key, const char *sql,
			     int64_t finding, struct err *err)
{
	json_t *list = json_array();
	struct sqlite3_stmt *s;
	int status = campaign_db_query(d, &s, err, sql, "i", finding);

	json_object_set_new(row, key, list);
	if (status)
		return status;
	while ((status = campaign_db_step(d, s, err)) > 0)
		json_array_append_new(list, json_string(campaign_db_text(s, 0)));
	campaign_db_end(s);
	return status;
}

static void row_set_folder_of(json_t *row, const char *dir, const char *folder)
{
	struct buf path = BUF_INIT;

	buf_addf(&path, "%s/%s", dir, folder);
	row_set_text(row, "folder", folder);
	row_set_text(row, "path", *folder ? path.data : "");
	json_object_set_new(row, "folder_exists",
			    json_boolean(*folder && !access(path.data, F_OK)));
	buf_free(&path);
}

static json_t *finding_row(struct sqlite3_stmt *s, const char *dir, bool whole)
{
	static const char *const texts[] = { "target", "group", "signature",
					     "code",   "title", "severity" };
	json_t *row = whole ? json_loads(campaign_db_text(s, 13), 0, NULL) : NULL;
	int column = 1;

	if (!json_is_object(row)) {
		json_decref(row);
		row = json_object();
	}
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		row_set_text(row, texts[i], campaign_db_text(s, column++));
	json_object_set_new(row, "confirmed", json_boolean(campaign_db_integer(s, 7)));
	json_object_set_new(row, "known",
			    *campaign_db_text(s, 8) ? json_string(campaign_db_text(s, 8))
						    : json_null());
	row_set_time(row, "first_seen", campaign_db_integer(s, 9));
	row_set_time(row, "last_seen", campaign_db_integer(s, 10));
	json_object_set_new(row, "times", json_integer(campaign_db_integer(s, 11)));
	row_set_folder_of(row, dir, campaign_db_text(s, 12));
	return row;
}

static enum severity row_severity_of(const json_t *row)
{
	return severity_find(json_text(row, "severity"));
}

/* Behind all that are as severe. */
static void row_insert_by_severity(json_t *list, json_t *row)
{
	size_t at = json_array_size(list);

	while (at && row_severity_of(json_array_get(list, at - 1)) > row_severity_of(row))
		at--;
	json_array_insert_new(list, at, row);
}

static int findings_rows(struct campaign_db *d, struct sqlite3_stmt *s, const char *dir, bool whole,
			 json_t *list, struct err *err)
{
	int more, status = 0;

	while (!status && (more = campaign_db_step(d, s, err)) != 0) {
		int64_t id = campaign_db_integer(s, 0);
		json_t *row;

		if (more < 0)
			return more;
		row = finding_row(s, dir, whole);
		status =
			row_set_sightings(d, row, "kernels",
					  "SELECT DISTINCT kernel FROM sightings WHERE finding = ? "
					  "AND kernel <> '' ORDER BY kernel",
					  id, err);
		if (!status)
			status = row_set_sightings(
				d, row, "instruments",
				"SELECT DISTINCT instrument FROM sightings JOIN arms ON "
				"arms.id = arm WHERE finding = ? ORDER BY instrument",
				id, err);
		row_insert_by_severity(list, row);
	}
	return status;
}

json_t *campaign_report_findings(struct campaign_db *d, const char *dir, int64_t since, bool whole,
				 struct err *err)
{
	json_t *list = json_array();
	struct sqlite3_stmt *s;
	int status = campaign_db_query(
		d, &s, err,
		"SELECT id, target, cause, signature, code, title, severity, confirmed, known, "
		"first_seen, last_seen, times, folder, row FROM findings WHERE first_seen >= ? "
		"ORDER BY first_seen, id",
		"i", since);

	if (!status) {
		status = findings_rows(d, s, dir, whole, list, err);
		campaign_db_end(s);
	}
	if (status) {
		json_decref(list);
		return NULL;
	}
	return list;
}

static json_t *arm_row(struct sqlite3_stmt *s)
{
	static const char *const texts[] = { "name",   "section", "instrument",
					     "target", "state",   "reason" };
	static const char *const counts[] = { "turns", "failures", "states", "code", "findings" };
	json_t *row = json_object();
	int column = 0;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		row_set_text(row, texts[i], campaign_db_text(s, column++));
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		json_object_set_new(row, counts[i], json_integer(campaign_db_integer(s, column++)));
	json_object_set_new(row, "seconds", json_real(campaign_db_real(s, column++)));
	json_object_set_new(row, "cpu_seconds", json_real(campaign_db_real(s, column++)));
	return row;
}

json_t *campaign_report_arms(struct campaign_db *d, struct err *err)
{
	json_t *list = json_array();
	struct sqlite3_stmt *s;
	int status = campaign_db_query(d, &s, err,
				       "SELECT name, section, instrument, target, state, reason, "
				       "turns, failures, states, code, findings, seconds, "
				       "cpu_seconds FROM arms ORDER BY id",
				       "");

	if (!status) {
		while ((status = campaign_db_step(d, s, err)) > 0)
			json_array_append_new(list, arm_row(s));
		campaign_db_end(s);
	}
	if (status) {
		json_decref(list);
		return NULL;
	}
	return list;
}

/* ---- the verdict ---- */

static bool row_is(const json_t *row, const char *key)
{
	return json_is_true(json_object_get(row, key));
}

/* What a machine lacks was not claimed. */
static bool arm_is_unknown(const json_t *arm)
{
	return !strcmp(json_text(arm, "state"), "put aside") ||
	       (!json_integer_value(json_object_get(arm, "turns")) &&
		!strcmp(json_text(arm, "state"), "active"));
}

enum campaign_verdict campaign_report_verdict(const json_t *findings, const json_t *arms)
{
	enum campaign_verdict verdict = CAMPAIGN_OK;
	bool any = false;
	json_t *row;
	size_t i;

	json_array_foreach(arms, i, row)
	{
		any |= json_integer_value(json_object_get(row, "turns")) > 0;
		if (arm_is_unknown(row))
			verdict = CAMPAIGN_UNKNOWN;
	}
	json_array_foreach(findings, i, row)
	{
		if (!json_is_null(json_object_get(row, "known")))
			continue;
		if (row_is(row, "confirmed"))
			return CAMPAIGN_BAD;
		verdict = CAMPAIGN_UNKNOWN;
	}
	return any ? verdict : CAMPAIGN_UNKNOWN;
}

/* ---- text ---- */

static long long arm_count(const json_t *arm, const char *key)
{
	return json_integer_value(json_object_get(arm, key));
}

static double arm_real(const json_t *arm, const char *key)
{
	return json_real_value(json_object_get(arm, key));
}

static void arm_text(const json_t *arm, struct buf *out)
{
	double cpu = arm_real(arm, "cpu_seconds");

	buf_addf(out, "%-44s %6lld %9.0f %9.0f %10lld %8.1f %7lld %8lld  %s\n",
		 json_text(arm, "name"), arm_count(arm, "turns"), arm_real(arm, "seconds"), cpu,
		 arm_count(arm, "states"), cpu > 0 ? (double)arm_count(arm, "states") / cpu : 0,
		 arm_count(arm, "code"), arm_count(arm, "findings"), json_text(arm, "state"));
}

static bool arm_has_state(const json_t *arm, const char *state)
{
	return !strcmp(json_text(arm, "state"), state);
}

/* What is lacking for a target is lacking for all its arms: a line for the first. */
static bool arm_is_first_lacking(const json_t *arms, size_t arm)
{
	const char *target = json_text(json_array_get(arms, arm), "target");

	for (size_t i = 0; i < arm; i++) {
		const json_t *other = json_array_get(arms, i);

		if (arm_has_state(other, "lacking") && !strcmp(json_text(other, "target"), target))
			return false;
	}
	return true;
}

static void arms_text_reasons(const json_t *arms, struct buf *out)
{
	json_t *arm;
	size_t i;

	json_array_foreach(arms, i, arm)
	{
		if (arm_has_state(arm, "lacking")) {
			if (arm_is_first_lacking(arms, i))
				buf_addf(out, "%s: not tested: %s\n", json_text(arm, "target"),
					 json_text(arm, "reason"));
		} else if (*json_text(arm, "reason") && !arm_has_state(arm, "gone")) {
			buf_addf(out, "%s: %s: %s\n", json_text(arm, "name"),
				 json_text(arm, "state"), json_text(arm, "reason"));
		}
	}
}

void campaign_report_arms_text(const json_t *arms, struct buf *out)
{
	size_t i, waiting = 0;
	json_t *arm;

	buf_addf(out, "%-44s %6s %9s %9s %10s %8s %7s %8s  %s\n", "arm", "turns", "seconds",
		 "CPU-sec", "states", "per CPU", "code", "findings", "state");
	json_array_foreach(arms, i, arm)
	{
		if (arm_count(arm, "turns"))
			arm_text(arm, out);
		else
			waiting += arm_has_state(arm, "active");
	}
	if (waiting)
		buf_addf(out, "%zu arm%s had no turn yet\n", waiting, waiting == 1 ? "" : "s");
	arms_text_reasons(arms, out);
}

static void list_text(const json_t *list, const char *none, struct buf *out)
{
	json_t *item;
	size_t i;

	if (!json_array_size(list))
		buf_adds(out, none);
	json_array_foreach(list, i, item)
		buf_addf(out, "%s%s", i ? ", " : "", json_string_value(item));
}

static void finding_text(const json_t *row, struct buf *out)
{
	buf_addf(out, "%s %s: %s\n", json_text(row, "target"), json_text(row, "code"),
		 json_text(row, "title"));
	buf_addf(out, "  %s; first seen %s, last seen %s, %lld time%s, by ",
		 json_text(row, "severity"), json_text(row, "first_seen"),
		 json_text(row, "last_seen"), arm_count(row, "times"),
		 arm_count(row, "times") == 1 ? "" : "s");
	list_text(json_object_get(row, "instruments"), "?", out);
	if (json_array_size(json_object_get(row, "kernels"))) {
		buf_adds(out, "; on ");
		list_text(json_object_get(row, "kernels"), "", out);
	}
	buf_addch(out, '\n');
	if (*json_text(row, "known"))
		buf_addf(out, "  known: %s\n", json_text(row, "known"));
	if (!row_is(row, "confirmed"))
		buf_adds(out, "  not confirmed by any replay\n");
	buf_addf(out, "  %s%s\n", json_text(row, "path"),
		 row_is(row, "folder_exists") ? "" : " (no longer there)");
}

void campaign_report_findings_text(const json_t *findings, struct buf *out)
{
	enum severity last = SEVERITIES + 1;
	json_t *row;
	size_t i;

	json_array_foreach(findings, i, row)
	{
		enum severity severity = row_severity_of(row);

		if (severity != last)
			buf_addf(out, "%s%s\n", i ? "\n" : "",
				 severity < SEVERITIES ? severity_table[severity].sentence
						       : "not classified");
		last = severity;
		finding_text(row, out);
	}
}

/* ---- Markdown ---- */

/* A cell of a table: no bar and no line end, and nothing that would be markup. */
static void cell_add(const char *text, struct buf *out)
{
	for (; *text; text++) {
		if (strchr("|\\`*_<>[]", *text))
			buf_addch(out, '\\');
		buf_addch(out, *text == '\n' ? ' ' : *text);
	}
}

static void cell_list(const json_t *list, const char *none, struct buf *out)
{
	struct buf text = BUF_INIT;

	list_text(list, none, &text);
	cell_add(buf_str(&text), out);
	buf_free(&text);
}

void campaign_report_findings_markdown(const json_t *findings, struct buf *out)
{
	json_t *row;
	size_t i;

	buf_adds(out,
		 "| file system | what is wrong | severity | found by | first seen | last seen "
		 "| times | kernels | known |\n|---|---|---|---|---|---|---|---|---|\n");
	json_array_foreach(findings, i, row)
	{
		buf_adds(out, "| ");
		cell_add(json_text(row, "target"), out);
		buf_adds(out, " | ");
		cell_add(json_text(row, "title"), out);
		buf_addf(out, "%s | %s | ", row_is(row, "confirmed") ? "" : " (not confirmed)",
			 json_text(row, "severity"));
		cell_list(json_object_get(row, "instruments"), "", out);
		buf_addf(out, " | %.10s | %.10s | %lld | ", json_text(row, "first_seen"),
			 json_text(row, "last_seen"), arm_count(row, "times"));
		cell_list(json_object_get(row, "kernels"), "", out);
		buf_adds(out, " | ");
		cell_add(json_text(row, "known"), out);
		buf_adds(out, " |\n");
	}
}
