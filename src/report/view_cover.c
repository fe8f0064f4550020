/* view_cover.c -- which inputs and outcomes were tried: of one tool, or of several side by side.
 *
 * Every partition of every argument is one mark, the darker the more often it was tried, by the
 * logarithm. Partitions beside each other that no one tried are one mark. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "op/kind.h"
#include "report/view.h"

enum { COVER_COLOURS = 6, COVER_TOOLS = 16 };

struct cover_tools {
	const char *names[COVER_TOOLS];
	json_t *coverages[COVER_TOOLS]; /* input, output, metrics, untested */
	size_t count;
};

/* Errnos that a call could return and never did are there with 0: "EXDEV from rename never" of
 * "untested". */
static void cover_add_untested(json_t *counts, const json_t *coverage, const char *call)
{
	struct buf end = BUF_INIT;
	const json_t *line;
	size_t i;

	buf_addf(&end, " from %s never", call);
	json_array_foreach(json_object_get(coverage, "untested"), i, line)
	{
		const char *text = json_string_value(line);
		size_t len = json_string_length(line);

		if (len > end.len && !strcmp(text + len - end.len, end.data))
			json_object_setn_new(counts, text, len - end.len, json_integer(0));
	}
	buf_free(&end);
}

/* By partition, or by outcome where argument is NULL; to be released. */
static json_t *cover_counts(const struct cover_tools *t, size_t tool, const char *call,
			    const char *argument)
{
	json_t *coverage = t->coverages[tool], *counts;

	if (argument)
		return json_incref(json_object_get(
			json_object_get(json_object_get(coverage, "input"), call), argument));
	counts = json_copy(json_object_get(json_object_get(coverage, "output"), call));
	if (json_is_object(counts))
		cover_add_untested(counts, coverage, call);
	return counts;
}

static double cover_most(const json_t *counts)
{
	double most = 1;
	const char *key;
	json_t *count;

	json_object_foreach((json_t *)counts, key, count) most =
		fmax(most, (double)json_integer_value(count));
	return most;
}

/* From 0.25 to 1, by the logarithm; as text, for a style. */
static json_t *cover_shade(double count, double most)
{
	char text[16];

	snprintf(text, sizeof(text), "%.2f", 0.25 + 0.75 * log10(count + 1) / log10(most + 1));
	return json_string(text);
}

/* ---- marks ---- */

static void cover_end_fold(json_t *marks, struct buf *names, size_t *count)
{
	json_t *mark;

	if (!*count)
		return;
	mark = json_object();
	json_object_set_new(mark, "never", json_integer((json_int_t)*count));
	json_object_set_new(mark, "names", view_text(buf_str(names)));
	json_array_append_new(marks, mark);
	buf_clear(names);
	*count = 0;
}

static json_t *cover_marks(json_t *counts, size_t *ret_tried, size_t *ret_all)
{
	double most = cover_most(counts);
	struct buf names = BUF_INIT;
	json_t *marks = json_array(), *count, *mark;
	size_t folded = 0;
	const char *partition;

	*ret_tried = *ret_all = 0;
	json_object_foreach(counts, partition, count)
	{
		json_int_t times = json_integer_value(count);
		bool wanted = partition_is_wanted(partition);

		if (times <= 0 && !wanted)
			continue;
		*ret_all += wanted;
		*ret_tried += wanted && times > 0;
		if (times <= 0) {
			buf_addf(&names, "%s%s", folded++ ? ", " : "", partition);
			continue;
		}
		cover_end_fold(marks, &names, &folded);
		mark = json_pack("{s:i, s:s, s:I, s:o}", "never", 0, "names", partition, "times",
				 times, "shade", cover_shade((double)times, most));
		json_array_append_new(marks, mark);
	}
	cover_end_fold(marks, &names, &folded);
	buf_free(&names);
	return marks;
}

/* All marks of a call, argument by argument. */
static json_t *cover_overall(const struct cover_tools *t, size_t tool, json_t *rows)
{
	json_t *all = json_array(), *row, *strip, *mark, *copy;
	json_int_t tried = 0, of = 0;
	size_t i, k;

	json_array_foreach(rows, i, row)
	{
		strip = json_array_get(json_object_get(row, "strips"), tool);
		tried += view_count(strip, "tried");
		of += view_count(strip, "all");
		json_array_foreach(json_object_get(strip, "marks"), k, mark)
		{
			copy = json_copy(mark);
			json_object_set(copy, "of", json_object_get(row, "argument"));
			json_array_append_new(all, copy);
		}
	}
	return json_pack("{s:i, s:s, s:o, s:I, s:I}", "colour", (int)(tool % COVER_COLOURS), "tool",
			 t->names[tool], "marks", all, "tried", tried, "all", of);
}

static json_t *cover_strip(const struct cover_tools *t, size_t tool, const char *call,
			   const char *argument)
{
	json_t *counts = cover_counts(t, tool, call, argument), *strip;
	size_t tried = 0, all = 0;
	json_t *marks = counts ? cover_marks(counts, &tried, &all) : json_array();

	strip = json_pack("{s:i, s:s, s:o, s:I, s:I, s:b}", "colour", (int)(tool % COVER_COLOURS),
			  "tool", t->names[tool], "marks", marks, "tried", (json_int_t)tried, "all",
			  (json_int_t)all, "several", t->count > 1);
	json_decref(counts);
	return strip;
}

static json_t *cover_argument(const struct cover_tools *t, const char *call, const char *argument)
{
	json_t *strips = json_array();

	for (size_t i = 0; i < t->count; i++)
		json_array_append_new(strips, cover_strip(t, i, call, argument));
	return json_pack("{s:s, s:o}", "argument", argument ? argument : "outcome", "strips",
			 strips);
}

/* All calls that any tool made, with their arguments. */
static json_t *cover_all_calls(const struct cover_tools *t)
{
	static const char *const parts[] = { "output", "input" };
	json_t *all = json_object(), *arguments;
	const char *call;

	for (size_t i = 0; i < t->count; i++)
		for (size_t p = 0; p < 2; p++)
			json_object_foreach(json_object_get(t->coverages[i], parts[p]), call,
					    arguments)
			{
				if (!json_object_get(all, call))
					json_object_set_new(all, call, json_object());
				if (p && json_is_object(arguments))
					json_object_update(json_object_get(all, call), arguments);
			}
	return all;
}

static json_t *cover_calls(const struct cover_tools *t, json_t *all)
{
	json_t *calls = json_array(), *arguments, *counts, *rows, *overall;
	const char *call, *argument;

	json_object_foreach(all, call, arguments)
	{
		rows = json_array();
		json_object_foreach(arguments, argument, counts) if (json_object_size(counts))
			json_array_append_new(rows, cover_argument(t, call, argument));
		json_array_append_new(rows, cover_argument(t, call, NULL));
		overall = json_array();
		for (size_t i = 0; i < t->count; i++)
			json_array_append_new(overall, cover_overall(t, i, rows));
		json_array_append_new(calls, json_pack("{s:s, s:o, s:o}", "call", call, "arguments",
						       rows, "overall", overall));
	}
	return calls;
}

/* ---- operation by outcome ---- */

static const char success[] = "success";

/* Outcomes, success first, then those that came most often. */
static json_t *cover_columns(json_t *output)
{
	json_t *sums = json_object(), *columns = json_array(), *outcomes, *count;
	const char *call, *outcome;

	json_object_foreach(output, call, outcomes) json_object_foreach(outcomes, outcome, count)
		json_object_set_new(sums, outcome,
				    json_integer(view_sum(view_count(sums, outcome),
							  json_integer_value(count))));
	if (json_object_get(sums, success))
		json_array_append_new(columns, json_string(success));
	json_object_del(sums, success);
	while (json_object_size(sums)) {
		const char *best = NULL;
		json_int_t most = 0;

		json_object_foreach(sums, outcome, count) if (json_integer_value(count) > most)
		{
			most = json_integer_value(count);
			best = outcome;
		}
		if (!best)
			break;
		json_array_append_new(columns, json_string(best));
		json_object_del(sums, best);
	}
	json_decref(sums);
	return columns;
}

static json_t *cover_heat_row(const char *call, json_t *outcomes, const json_t *columns,
			      double most)
{
	json_t *cells = json_array(), *cell;
	const json_t *column;
	size_t i;

	json_array_foreach(columns, i, column)
	{
		json_int_t times =
			json_integer_value(json_object_get(outcomes, json_string_value(column)));

		cell = json_pack("{s:s, s:I, s:b}", "outcome", json_string_value(column), "times",
				 times > 0 ? times : (json_int_t)0, "tried", times > 0);
		json_object_set_new(cell, "shade",
				    cover_shade(times > 0 ? (double)times : 0, most));
		json_array_append_new(cells, cell);
	}
	return json_pack("{s:s, s:o}", "call", call, "cells", cells);
}

static json_t *cover_heat(json_t *output)
{
	json_t *columns = cover_columns(output), *rows = json_array(), *outcomes;
	double most = 1;
	const char *call;

	json_object_foreach(output, call, outcomes) most = fmax(most, cover_most(outcomes));
	json_object_foreach(output, call, outcomes)
		json_array_append_new(rows, cover_heat_row(call, outcomes, columns, most));
	return json_pack("{s:o, s:o}", "columns", columns, "rows", rows);
}

/* ---- all ---- */

static json_t *cover_tool_view(const struct cover_tools *t, size_t tool)
{
	json_t *coverage = t->coverages[tool], *exact = json_object_get(coverage, "exact");
	json_t *untested = json_object_get(coverage, "untested"), *list = json_array(), *line;
	size_t i;

	json_array_foreach(untested, i, line) if (json_is_string(line))
		json_array_append(list, line);
	return json_pack("{s:s, s:i, s:I, s:I, s:I, s:I, s:b, s:I, s:o}", "tool", t->names[tool],
			 "colour", (int)(tool % COVER_COLOURS), "calls",
			 view_count(coverage, "calls"), "lost", view_count(coverage, "lost"),
			 "unattributed", view_count(coverage, "unattributed"), "unknown",
			 view_count(coverage, "unknown"), "exact", !exact || json_is_true(exact),
			 "untested_count", (json_int_t)json_array_size(list), "untested", list);
}

/* Calls that count for others, apart. */
static json_t *cover_variants(const struct cover_tools *t)
{
	json_t *list = json_array(), *variant, *output, *count;
	const char *name, *outcome;

	for (size_t i = 0; i < t->count; i++)
		json_object_foreach(json_object_get(t->coverages[i], "variants"), name, variant)
		{
			json_int_t sum = 0;

			output = json_object_get(variant, "output");
			json_object_foreach(output, outcome, count) sum =
				view_sum(sum, json_integer_value(count));
			json_array_append_new(list, json_pack("{s:s, s:s, s:I}", "variant", name,
							      "tool", t->names[i], "times", sum));
		}
	return list;
}

static json_t *cover_view(const struct cover_tools *t, bool traced)
{
	json_t *all = cover_all_calls(t), *tools = json_array(), *view;

	for (size_t i = 0; i < t->count; i++)
		json_array_append_new(tools, cover_tool_view(t, i));
	view = json_pack("{s:o, s:o, s:o, s:b, s:b}", "tools", tools, "rows", cover_calls(t, all),
			 "variants", cover_variants(t), "traced", traced, "compared", t->count > 1);
	json_object_set_new(view, "has_variants",
			    json_boolean(json_array_size(json_object_get(view, "variants"))));
	if (t->count == 1)
		json_object_set_new(view, "heat",
				    cover_heat(json_object_get(t->coverages[0], "output")));
	else
		json_object_set_new(view, "heat", json_string(""));
	json_decref(all);
	return view;
}

json_t *view_cover(const char *dir, const json_t *run)
{
	json_t *compared = json_object_get(run, "tools"), *coverage = NULL, *view = NULL;
	bool traced = !strcmp(json_text(run, "command"), "cover");
	struct cover_tools t = { .count = 0 };
	char path[PATH_MAX];
	const char *name;
	json_t *tool;

	json_object_foreach(compared, name, tool) if (t.count < COVER_TOOLS)
	{
		t.names[t.count] = name;
		t.coverages[t.count++] = tool;
	}
	if (!t.count) {
		snprintf(path, sizeof(path), "%.4000s/coverage.json", dir);
		coverage = json_load_file(path, 0, NULL);
		t.names[0] = json_text(run, "target");
		t.coverages[0] = coverage;
		t.count = json_is_object(coverage);
	}
	if (t.count)
		view = cover_view(&t, traced);
	json_decref(coverage);
	return view;
}
