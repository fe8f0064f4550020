/* compare_page.c -- runs side by side as one self-contained page: curves over time, findings,
 * figures.
 *
 * A run is a letter and a colour everywhere on the page; its time series is read from its
 * directory. */
#include "report/compare_page.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/must.h"
#include "report/formats.h"
#include "report/report.h"
#include "report/series_csv.h"
#include "report/svg.h"
#include "report/template.h"

static const char compare_template[] =
#define EMBEDDED(name, text) text
#include "gen/embedded_compare.h"
#undef EMBEDDED
	;

enum { LETTER_MAX = 24 };

/* A, B, ... Z, then numbers. */
static void compare_letter(size_t number, char ret[LETTER_MAX])
{
	if (number < 26)
		snprintf(ret, LETTER_MAX, "%c", 'A' + (int)number);
	else
		snprintf(ret, LETTER_MAX, "%zu", number + 1);
}

/* ---- charts ---- */

static const struct compare_chart {
	const char *title, *column;
} compare_charts[] = {
	{ "States", "states" },
	{ "Transitions", "transitions" },
	{ "Crash states", "crash_states" },
	{ "Scripts", "scripts" },
	{ "Damaged disks", "images" },
	{ "Inputs reached", "inputs" },
	{ "Outcomes reached", "outcomes" },
	{ "Code reached", "code_points" },
	{ "Findings", "findings" },
};

/* NULL: no run has two values or more of it. */
static json_t *compare_chart_view(const struct series_csv *all, size_t count,
				  const struct compare_chart *row)
{
	struct svg_series series[SVG_SERIES_MAX];
	char letters[SVG_SERIES_MAX][LETTER_MAX];
	struct buf svg = BUF_INIT;
	bool any = false;
	json_t *view;

	for (size_t i = 0; i < count; i++) {
		const double *column = series_csv_column(&all[i], row->column);

		compare_letter(i, letters[i]);
		series[i] = (struct svg_series){ letters[i], all[i].values[0], column,
						 column ? all[i].rows : 0 };
		any |= series[i].count > 1;
	}
	if (!any)
		return NULL;
	svg_chart(&svg, row->title, series, count);
	view = json_pack("{s:s, s:s}", "chart", row->title, "svg", buf_str(&svg));
	buf_free(&svg);
	return view;
}

static json_t *compare_chart_views(const struct report_run *runs, size_t count)
{
	struct series_csv all[SVG_SERIES_MAX];
	json_t *charts = json_array(), *chart;

	count = count < SVG_SERIES_MAX ? count : SVG_SERIES_MAX;
	for (size_t i = 0; i < count; i++)
		series_csv_read(&all[i], runs[i].dir);
	for (size_t i = 0; i < ARRAY_LEN(compare_charts); i++) {
		chart = compare_chart_view(all, count, &compare_charts[i]);
		if (chart)
			json_array_append_new(charts, chart);
	}
	for (size_t i = 0; i < count; i++)
		series_csv_free(&all[i]);
	return charts;
}

/* ---- tables ---- */

static json_t *compare_run_view(const struct report_run *run, size_t number)
{
	static const char *const texts[] = { "command", "target", "strategy", "seed", "verdict" };
	size_t findings = json_array_size(json_object_get(run->summary, "findings"));
	char letter[LETTER_MAX], colour[8] = "";
	json_t *view;

	compare_letter(number, letter);
	if (number < SVG_SERIES_MAX)
		snprintf(colour, sizeof(colour), "c%zu", number);
	view = json_pack("{s:s, s:s, s:s, s:I}", "letter", letter, "colour", colour, "run",
			 run->dir, "findings", (json_int_t)findings);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		json_object_set_new(view, texts[i], json_string(json_text(run->summary, texts[i])));
	return view;
}

static bool list_has(const json_t *list, const char *text)
{
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		if (!strcmp(json_string_value(item), text))
			return true;
	}
	return false;
}

/* Which runs have each of them. */
static void compare_mark_findings(json_t *findings, const struct report_run *runs, size_t count)
{
	json_t *row, *cells;
	size_t i;

	json_array_foreach(findings, i, row)
	{
		cells = json_array();
		for (size_t r = 0; r < count; r++)
			json_array_append_new(
				cells,
				json_pack("{s:s, s:b}", "run", runs[r].dir, "here",
					  list_has(json_object_get(row, "runs"), runs[r].dir)));
		json_object_set_new(row, "cells", cells);
	}
}

void compare_page(const struct report_run *runs, size_t count, json_t *findings, json_t *figures,
		  const char *version, struct buf *out)
{
	size_t left_out = count > SVG_SERIES_MAX ? count - SVG_SERIES_MAX : 0;
	struct buf style = BUF_INIT;
	json_t *rows = json_array(), *view;

	for (size_t i = 0; i < count; i++)
		json_array_append_new(rows, compare_run_view(&runs[i], i));
	compare_mark_findings(findings, runs, count);
	report_style(&style);
	view = json_pack("{s:I, s:s, s:s, s:I, s:I, s:b, s:o, s:o, s:o, s:o}", "count",
			 (json_int_t)count, "style", buf_str(&style), "version", version, "shown",
			 (json_int_t)SVG_SERIES_MAX, "left_out", (json_int_t)left_out, "has_found",
			 json_array_size(findings) > 0, "runs", rows, "charts",
			 compare_chart_views(runs, count), "found", findings, "figures", figures);
	must(view);
	template_render(out, compare_template, view);
	json_decref(view);
	buf_free(&style);
}
