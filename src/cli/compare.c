/* compare.c -- runs side by side: their figures, and which findings each of them has. */
#include "cli/compare.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/must.h"

enum { COLUMN_MAX = 24, KEY_WIDTH = 26 };

static const char *target_of(const json_t *finding, const json_t *summary)
{
	return *json_text(finding, "target") ? json_text(finding, "target")
					     : json_text(summary, "target");
}

static json_t *compare_row(const json_t *finding, const json_t *summary)
{
	return json_pack("{s:s, s:s, s:s, s:s}", "target", target_of(finding, summary), "signature",
			 json_text(finding, "signature"), "title", json_text(finding, "title"),
			 "severity", json_text(finding, "severity"));
}

static json_t *find_row(const json_t *rows, const char *target, const char *signature)
{
	json_t *row;
	size_t i;

	json_array_foreach((json_t *)rows, i,
			   row) if (!strcmp(json_text(row, "target"), target) &&
				    !strcmp(json_text(row, "signature"), signature)) return row;
	return NULL;
}

/* Each finding of a target once. */
static json_t *add_row(json_t *rows, const json_t *finding, const json_t *summary)
{
	json_t *row = find_row(rows, target_of(finding, summary), json_text(finding, "signature"));

	if (!row) {
		row = compare_row(finding, summary);
		json_array_append_new(rows, row);
	}
	return row;
}

static void add_findings(const struct report_run *run, json_t *rows)
{
	json_t *finding, *row, *in;
	size_t i;

	json_array_foreach(json_object_get(run->summary, "findings"), i, finding)
	{
		row = add_row(rows, finding, run->summary);
		in = json_object_get(row, "runs");
		if (!in) {
			in = json_array();
			json_object_set_new(row, "runs", in);
		}
		json_array_append_new(in, json_string(run->dir));
	}
}

static json_t *figures_of(const struct report_run *run)
{
	json_t *row = json_pack("{s:s}", "run", run->dir), *value;
	const char *key;

	json_object_foreach(run->summary, key, value)
	{
		if (!json_is_array(value) && !json_is_object(value))
			json_object_set(row, key, value);
	}
	json_object_set_new(row, "findings",
			    json_integer((json_int_t)json_array_size(
				    json_object_get(run->summary, "findings"))));
	return row;
}

json_t *compare_runs(const struct report_run *runs, size_t count)
{
	json_t *rows = json_array(), *findings = json_array();

	for (size_t i = 0; i < count; i++) {
		json_array_append_new(rows, figures_of(&runs[i]));
		add_findings(&runs[i], findings);
	}
	return json_pack("{s:o, s:o}", "runs", rows, "findings", findings);
}

/* Has a run said something of the target? */
static bool judges(const struct report_run *run, const char *target)
{
	const json_t *targets = json_object_get(run->summary, "targets"), *row;
	size_t i;

	if (!json_array_size(targets))
		return !strcmp(json_text(run->summary, "target"), target) &&
		       strcmp(json_text(run->summary, "verdict"), "unknown") != 0;
	json_array_foreach(targets, i, row)
	{
		if (strcmp(json_text(row, "target"), target))
			continue;
		return !*json_text(row, "lacks") && !*json_text(row, "failure") &&
		       strcmp(json_text(row, "verdict"), "unknown") != 0;
	}
	return false;
}

static bool any_judges(const struct report_run *runs, size_t count, const char *target)
{
	for (size_t i = 0; i < count; i++)
		if (judges(&runs[i], target))
			return true;
	return false;
}

json_t *compare_since(const struct report_run *before, const struct report_run *runs, size_t count)
{
	json_t *now = json_array(), *then = json_array(), *row;
	json_t *lists[4];
	size_t i;

	for (i = 0; i < ARRAY_LEN(lists); i++)
		lists[i] = json_array();
	for (i = 0; i < count; i++)
		add_findings(&runs[i], now);
	add_findings(before, then);
	json_array_foreach(now, i, row) json_array_append(
		find_row(then, json_text(row, "target"), json_text(row, "signature")) ? lists[3]
										      : lists[0],
		row);
	json_array_foreach(then, i, row)
	{
		if (find_row(now, json_text(row, "target"), json_text(row, "signature")))
			continue;
		json_array_append(any_judges(runs, count, json_text(row, "target")) ? lists[1]
										    : lists[2],
				  row);
	}
	json_decref(now);
	json_decref(then);
	return json_pack("{s:o, s:o, s:o, s:o}", "new", lists[0], "gone", lists[1], "not_run",
			 lists[2], "still", lists[3]);
}

static void value_text(const json_t *value, struct buf *out)
{
	if (json_is_integer(value))
		buf_addf(out, "%lld", (long long)json_integer_value(value));
	else if (json_is_real(value))
		buf_addf(out, "%.6g", json_real_value(value));
	else if (json_is_boolean(value))
		buf_adds(out, json_is_true(value) ? "yes" : "no");
	else
		buf_adds(out, json_string_value(value) ? json_string_value(value) : "-");
}

/* What a figure is called, where its key is a word of the inside. */
static const char *figure_name(const char *key)
{
	static const struct {
		const char *key, *name;
	} rows[] = {
		{ "edges_left", "transitions not yet tried" },
		{ "beyond", "calls past the limits" },
		{ "surprises", "allowed, not predicted" },
		{ "shapes", "different features" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (!strcmp(rows[i].key, key))
			return rows[i].name;
	return key;
}

static void print_finding(const json_t *row, struct buf *out)
{
	buf_addf(out, "  %-14s %s: %s\n", json_text(row, "severity"), json_text(row, "target"),
		 json_text(row, "title"));
}

/* Keys in the order in which the runs have them. */
static json_t *all_keys(const json_t *runs)
{
	json_t *keys = json_object(), *run, *value;
	const char *key;
	size_t i;

	json_array_foreach((json_t *)runs, i, run) json_object_foreach(run, key, value)
		json_object_set_new(keys, key, json_true());
	return keys;
}

json_t *compare_figures(const json_t *compared)
{
	const json_t *runs = json_object_get(compared, "runs"), *run;
	json_t *keys = all_keys(runs), *rows = json_array(), *cells, *value;
	struct buf text = BUF_INIT;
	const char *key;
	size_t i;

	json_object_foreach(keys, key, value)
	{
		cells = json_array();
		json_array_foreach(runs, i, run)
		{
			buf_clear(&text);
			value_text(json_object_get(run, key), &text);
			json_array_append_new(cells, json_string(buf_str(&text)));
		}
		json_array_append_new(rows, json_pack("{s:s, s:o}", "figure", figure_name(key),
						      "cells", cells));
	}
	json_decref(keys);
	buf_free(&text);
	return rows;
}

static void print_figures(const json_t *compared, struct buf *out)
{
	json_t *rows = compare_figures(compared), *row, *cell;
	size_t i, k;

	json_array_foreach(rows, i, row)
	{
		buf_addf(out, "%-*s", KEY_WIDTH, json_text(row, "figure"));
		json_array_foreach(json_object_get(row, "cells"), k, cell)
		{
			size_t len = json_string_length(cell);

			/* The end of a path says more than its beginning. */
			buf_addf(out, "  %*s", COLUMN_MAX,
				 json_string_value(cell) +
					 (len > COLUMN_MAX ? len - COLUMN_MAX : 0));
		}
		buf_addch(out, '\n');
	}
	json_decref(rows);
}

void compare_print(const json_t *compared, struct buf *out)
{
	const json_t *findings = json_object_get(compared, "findings"), *row, *run;
	size_t i, k;

	print_figures(compared, out);
	json_array_foreach(findings, i, row)
	{
		if (!i)
			buf_adds(out, "\nfindings, and the runs that have them\n");
		print_finding(row, out);
		json_array_foreach(json_object_get(row, "runs"), k, run)
			buf_addf(out, "      %s\n", json_string_value(run));
	}
}

void compare_print_since(const json_t *since, struct buf *out)
{
	static const struct {
		const char *key, *title;
	} lists[] = {
		{ "new", "new" },
		{ "gone", "gone" },
		{ "not_run", "not run: their targets were not judged" },
		{ "still", "still there" },
	};

	for (size_t l = 0; l < ARRAY_LEN(lists); l++) {
		const json_t *list = json_object_get(since, lists[l].key), *row;
		size_t i;

		buf_addf(out, "%s: %zu\n", lists[l].title, json_array_size(list));
		json_array_foreach(list, i, row) print_finding(row, out);
	}
}
