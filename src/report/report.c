/* report.c -- report.html: verdict, figures, findings with their traces, coverage.
 *
 * One self-contained page that follows the reader's choice of light or dark. Everything in it
 * comes from files of the run, so that it can be made again at any time. */
#include "report/report.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "report/code_page.h"
#include "report/page.h"

enum { TEXT_MAX = 1 << 20 };

static const char *text_of(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text ? text : "";
}

static void put_value(struct buf *out, const json_t *value)
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
		for (const char *at = key; *at; at++)
			buf_addch(out, *at == '_' ? ' ' : *at);
		buf_adds(out, "</th><td>");
		put_value(out, value);
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

/* The finding's folder, whether or not the run was moved since. */
static void finding_dir(const char *dir, const char *path, char ret[PATH_MAX])
{
	const char *name = strrchr(path, '/');

	snprintf(ret, PATH_MAX, "%s/findings/%s", dir, name ? name + 1 : path);
}

static void put_finding(struct buf *out, const char *dir, json_t *finding)
{
	char folder[PATH_MAX], path[PATH_MAX + 16];
	struct buf trace = BUF_INIT;
	struct err none = { 0 };

	finding_dir(dir, text_of(finding, "path"), folder);
	buf_adds(out, "<section class=finding><h3><span class=code>");
	page_text(out, text_of(finding, "code"));
	buf_adds(out, "</span> ");
	page_text(out, text_of(finding, "title"));
	buf_addf(out, "</h3>\n<p>%lld calls; shown in %lld of %lld replays.</p>\n",
		 json_integer_value(json_object_get(finding, "calls")),
		 json_integer_value(json_object_get(finding, "shown")),
		 json_integer_value(json_object_get(finding, "tries")));
	snprintf(path, sizeof(path), "%s/trace", folder);
	if (!buf_read_file(&trace, path, TEXT_MAX, &none))
		page_box(out, buf_str(&trace));
	buf_free(&trace);
	put_file(out, folder, "README.md", "What differs, and why it is wrong");
	put_file(out, folder, "repro.c", "A C program that shows it");
	put_file(out, folder, "fsck.txt", "What the checker says");
	buf_adds(out, "</section>\n");
}

static void put_findings(struct buf *out, const char *dir, json_t *findings)
{
	json_t *finding;
	size_t i;

	page_heading(out, "Findings");
	if (!json_array_size(findings))
		buf_adds(out, "<p>None.</p>\n");
	json_array_foreach(findings, i, finding) put_finding(out, dir, finding);
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

int report_write(const char *dir, struct err *err)
{
	struct buf out = BUF_INIT;
	char path[PATH_MAX];
	json_t *run;
	int status;

	snprintf(path, sizeof(path), "%s/run.json", dir);
	run = json_load_file(path, 0, NULL);
	if (!run)
		return err_set(err, EINVAL, "%s: cannot be read as a run", path);
	page_begin(&out, text_of(run, "command"), text_of(run, "target"), text_of(run, "verdict"));
	put_findings(&out, dir, json_object_get(run, "findings"));
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
