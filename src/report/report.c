/* report.c -- report.html: verdict, figures, findings with their traces, coverage.
 *
 * One self-contained page that follows the reader's choice of light or dark. Everything in it
 * comes from files of the run, so that it can be made again at any time. */
#include "report/report.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "report/code_page.h"
#include "report/learned_page.h"
#include "report/page.h"

enum { TEXT_MAX = 1 << 20 };

static void report_put_value(struct buf *out, const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_INTEGER:
		page_count(out, json_integer_value(value));
		break;
	case JSON_REAL:
		if (json_real_value(value) < 100)
			buf_addf(out, "%.2f", json_real_value(value));
		else
			page_count(out, (long long)json_real_value(value));
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		buf_adds(out, json_is_true(value) ? "yes" : "no");
		break;
	default:
		page_text(out, json_string_value(value) ? json_string_value(value) : "");
	}
}

/* "states_per_second" as words. */
static void put_key(struct buf *out, const char *key)
{
	struct buf words = BUF_INIT;

	for (; *key; key++)
		buf_addch(&words, *key == '_' ? ' ' : *key);
	page_text(out, buf_str(&words));
	buf_free(&words);
}

static void put_figures(struct buf *out, json_t *run)
{
	const char *key;
	json_t *value;

	page_heading(out, "Figures");
	buf_adds(out, "<table class=figures>\n");
	json_object_foreach(run, key, value)
	{
		if (json_is_array(value) || json_is_object(value))
			continue;
		buf_adds(out, "<tr><th>");
		put_key(out, key);
		buf_adds(out, "</th><td>");
		report_put_value(out, value);
		buf_adds(out, "</td></tr>\n");
	}
	buf_adds(out, "</table>\n");
}

/* A file of the run in a box, or nothing where there is none. */
static void put_file(struct buf *out, const char *dir, const char *name, const char *caption)
{
	struct buf text = BUF_INIT;
	char path[PATH_MAX];
	struct err none = { 0 };

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (!buf_read_file(&text, path, TEXT_MAX, &none) && text.len) {
		buf_addf(out, "<details><summary>%s</summary>", caption);
		page_box(out, buf_str(&text));
		buf_adds(out, "</details>\n");
	}
	buf_free(&text);
}

/* The folder of a finding, whether or not the run was moved since; false where it has none. Its
 * place is foreign input: it must not lead out of the run's directory. */
static bool finding_folder(const char *dir, const json_t *finding, char ret[PATH_MAX])
{
	const char *folder = json_text(finding, "folder");

	if (!*folder || *folder == '/')
		return false;
	for (const char *at = folder; at; at = strchr(at, '/')) {
		at += *at == '/';
		if (!strncmp(at, "..", 2) && (!at[2] || at[2] == '/'))
			return false;
	}
	return snprintf(ret, PATH_MAX, "%s/%s", dir, folder) < PATH_MAX - 16;
}

static long long report_count(const json_t *o, const char *key)
{
	return (long long)json_integer_value(json_object_get(o, key));
}

/* How much of it is known. */
static void put_evidence(struct buf *out, const json_t *finding)
{
	const json_t *outcomes = json_object_get(finding, "outcomes");

	buf_adds(out, "<p>On <b>");
	page_text(out, json_text(finding, "target"));
	buf_addf(out, "</b>; %lld calls", report_count(finding, "calls"));
	if (report_count(finding, "calls_left_out"))
		buf_addf(out, ", the last ones of %lld (the file <code>history</code> has all)",
			 report_count(finding, "calls") + report_count(finding, "calls_left_out"));
	buf_addf(out, "; shown in %lld of %lld replays.", report_count(finding, "shown"),
		 report_count(finding, "tries"));
	if (report_count(outcomes, "predicted") || report_count(outcomes, "not_recorded"))
		buf_addf(out, " Outcomes: %lld observed, %lld predicted, %lld not recorded.",
			 report_count(outcomes, "observed"), report_count(outcomes, "predicted"),
			 report_count(outcomes, "not_recorded"));
	if (json_is_true(json_object_get(finding, "in_kernel_log")))
		buf_adds(out, " The kernel log is the evidence.");
	if (json_is_string(json_object_get(finding, "program"))) {
		buf_adds(out, " Its program: ");
		page_text(out, json_text(finding, "program"));
		buf_addch(out, '.');
	}
	if (*json_text(finding, "severity")) {
		buf_adds(out, " Severity: ");
		page_text(out, json_text(finding, "severity"));
		buf_addch(out, '.');
	}
	if (json_is_false(json_object_get(finding, "shrunk")))
		buf_adds(out, " Not shrunk to the end.");
	if (report_count(finding, "count") > 1)
		buf_addf(out, " Seen %lld times.", report_count(finding, "count"));
	buf_adds(out, "</p>\n");
}

/* What else has the same cause. */
static void put_others(struct buf *out, const json_t *finding)
{
	const json_t *others = json_object_get(finding, "others"), *other;
	size_t i;

	if (!json_array_size(others))
		return;
	buf_adds(out, "<details><summary>The same cause (");
	page_text(out, json_text(finding, "group"));
	buf_addf(out, "), %zu more</summary><ul>\n", json_array_size(others));
	json_array_foreach(others, i, other)
	{
		buf_adds(out, "<li>");
		page_text(out, json_text(other, "signature"));
		buf_addf(out, ", %lld times", report_count(other, "count"));
		if (*json_text(other, "folder")) {
			buf_adds(out, ": <code>");
			page_text(out, json_text(other, "folder"));
			buf_adds(out, "</code>");
		}
		buf_adds(out, "</li>\n");
	}
	buf_adds(out, "</ul></details>\n");
}

static void put_folder(struct buf *out, const char *folder)
{
	char path[PATH_MAX + 16];
	struct buf trace = BUF_INIT;
	struct err none = { 0 };

	snprintf(path, sizeof(path), "%s/trace", folder);
	if (!buf_read_file(&trace, path, TEXT_MAX, &none))
		page_box(out, buf_str(&trace));
	buf_free(&trace);
	put_file(out, folder, "README.md", "What differs, and why it is wrong");
	put_file(out, folder, "repro.c", "C reproducer");
	put_file(out, folder, "fsck.txt", "Output of fsck");
}

static void put_finding(struct buf *out, const char *dir, const json_t *finding, const char *class)
{
	char folder[PATH_MAX];

	buf_addf(out, "<section class=\"%s\"><h3><span class=code>", class);
	page_text(out, json_text(finding, "code"));
	buf_adds(out, "</span> ");
	page_text(out, json_text(finding, "title"));
	buf_adds(out, "</h3>\n");
	put_evidence(out, finding);
	if (*json_text(finding, "failure")) {
		buf_adds(out, "<p>Its folder could not be written: ");
		page_text(out, json_text(finding, "failure"));
		buf_adds(out, "</p>\n");
		page_box(out, json_text(finding, "trace"));
	} else if (finding_folder(dir, finding, folder)) {
		put_folder(out, folder);
	}
	put_others(out, finding);
	buf_adds(out, "</section>\n");
}

static void put_findings(struct buf *out, const char *dir, const json_t *run)
{
	const json_t *unconfirmed = json_object_get(run, "unconfirmed");
	json_t *findings = json_object_get(run, "findings"), *finding;
	size_t i;

	page_heading(out, "Findings");
	if (!json_array_size(findings))
		buf_adds(out, "<p>None.</p>\n");
	json_array_foreach(findings, i, finding) put_finding(out, dir, finding, "finding");
	if (!json_array_size(unconfirmed))
		return;
	page_heading(out, "Not confirmed");
	buf_adds(out,
		 "<p>The search saw these, but no replay on a fresh file system did: the cause "
		 "may be outside of the file system. They are not findings.</p>\n");
	json_array_foreach(unconfirmed, i, finding)
		put_finding(out, dir, finding, "finding doubtful");
}

/* One row: a name and its partitions, the untried ones marked. */
static void put_partitions(struct buf *out, const char *name, json_t *partitions)
{
	const char *partition;
	json_t *count;

	buf_adds(out, "<tr><th>");
	page_text(out, name);
	buf_adds(out, "</th><td>");
	json_object_foreach(partitions, partition, count)
	{
		buf_addf(out, "<span class=\"part%s\">", json_integer_value(count) ? "" : " none");
		page_text(out, partition);
		if (json_integer_value(count)) {
			buf_adds(out, " <b>");
			page_count(out, json_integer_value(count));
			buf_adds(out, "</b>");
		}
		buf_adds(out, "</span> ");
	}
	buf_adds(out, "</td></tr>\n");
}

static void put_coverage(struct buf *out, const char *dir)
{
	char path[PATH_MAX];
	const char *call, *argument;
	json_t *cover, *arguments, *partitions, *outputs;

	snprintf(path, sizeof(path), "%s/coverage.json", dir);
	cover = json_load_file(path, 0, NULL);
	if (!cover)
		return;
	page_heading(out, "Coverage");
	buf_adds(out,
		 "<p>Partitions of every argument, and outcomes, with how often each was tried; "
		 "pale ones never.</p>\n");
	outputs = json_object_get(cover, "output");
	json_object_foreach(json_object_get(cover, "input"), call, arguments)
	{
		buf_adds(out, "<details><summary>");
		page_text(out, call);
		buf_adds(out, "</summary><table class=cover>\n");
		json_object_foreach(arguments, argument, partitions)
			put_partitions(out, argument, partitions);
		put_partitions(out, "outcome", json_object_get(outputs, call));
		buf_adds(out, "</table></details>\n");
	}
	json_decref(cover);
}

static bool is_list_of_objects(const json_t *list)
{
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item) if (!json_is_object(item)) return false;
	return !list || json_is_array(list);
}

/* run.json, which is untrusted, checked as far as the page relies on it; NULL if it is invalid. */
static json_t *read_run(const char *dir, struct err *err)
{
	static const char *const texts[] = { "command", "target", "verdict" };
	static const char *const lists[] = { "findings", "unconfirmed" };
	char path[PATH_MAX];
	json_error_t where;
	json_t *run;

	snprintf(path, sizeof(path), "%s/run.json", dir);
	run = json_load_file(path, 0, &where);
	if (!run)
		err_set(err, EINVAL, "%s: cannot be read as a run: line %d: %s", path, where.line,
			where.text);
	else if (!json_is_object(run))
		err_set(err, EINVAL, "%s: cannot be read as a run: not a JSON object", path);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts) && !err->code; i++)
		if (!json_is_string(json_object_get(run, texts[i])))
			err_set(err, EINVAL, "%s: \"%s\" is missing or not a text", path, texts[i]);
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists) && !err->code; i++)
		if (!is_list_of_objects(json_object_get(run, lists[i])))
			err_set(err, EINVAL, "%s: \"%s\" is not a list of objects", path, lists[i]);
	if (!err->code)
		return run;
	json_decref(run);
	return NULL;
}

int report_write(const char *dir, struct err *err)
{
	struct buf out = BUF_INIT;
	struct err why = { 0 };
	char path[PATH_MAX];
	json_t *run = read_run(dir, &why);
	int status;

	if (!run)
		return err_set(err, -why.code, "%s", why.text);
	page_begin(&out, json_text(run, "command"), json_text(run, "target"),
		   json_text(run, "verdict"));
	put_findings(&out, dir, run);
	learned_section(&out, json_object_get(run, "learned"),
			json_object_get(run, "descriptions"));
	put_figures(&out, run);
	code_section(&out, json_object_get(run, "kernel_coverage"));
	put_coverage(&out, dir);
	page_end(&out);
	json_decref(run);
	snprintf(path, sizeof(path), "%s/report.html", dir);
	status = buf_write_file(&out, path, err);
	buf_free(&out);
	return status;
}
