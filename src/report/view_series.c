/* view_series.c -- pictures of series.csv: what was done, how fast, what was reached and found. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "report/svg.h"
#include "report/view.h"

enum { CSV_MAX = 1 << 20, CSV_COLUMNS = 32, CSV_ROWS = 4096 };

/* The first column is the time. */
struct csv {
	char *names[CSV_COLUMNS];
	double *values[CSV_COLUMNS]; /* below zero: none */
	size_t columns, rows;
};

static void csv_free(struct csv *c)
{
	for (size_t i = 0; i < c->columns; i++) {
		free(c->names[i]);
		free(c->values[i]);
	}
}

static void csv_header(struct csv *c, char *line)
{
	char *rest = line, *name;

	while ((name = strsep(&rest, ",")) && c->columns < CSV_COLUMNS) {
		c->names[c->columns] = must_strdup(name);
		c->values[c->columns++] = must_alloc(CSV_ROWS * sizeof(double));
	}
}

/* A row whose time does not go on, or that was cut short, is left out. */
static void csv_row(struct csv *c, char *line)
{
	char *rest = line, *cell;
	size_t i = 0;

	for (; i < c->columns && (cell = strsep(&rest, ",")); i++) {
		char *end;
		double value = strtod(cell, &end);

		c->values[i][c->rows] =
			*cell && !*end && isfinite(value) && value >= 0 ? value : -1;
	}
	if (i == c->columns && c->values[0][c->rows] >= 0 &&
	    (!c->rows || c->values[0][c->rows] > c->values[0][c->rows - 1]))
		c->rows++;
}

static void csv_read(struct csv *c, const char *dir)
{
	struct buf text = BUF_INIT;
	struct err none = { 0 };
	char path[PATH_MAX], *rest, *line;

	*c = (struct csv){ .columns = 0 };
	snprintf(path, sizeof(path), "%.4000s/series.csv", dir);
	if (!buf_read_file(&text, path, CSV_MAX, &none) && text.len) {
		rest = text.data;
		csv_header(c, strsep(&rest, "\n"));
		while ((line = strsep(&rest, "\n")) && c->rows < CSV_ROWS)
			if (*line)
				csv_row(c, line);
	}
	buf_free(&text);
}

static const double *csv_column(const struct csv *c, const char *name)
{
	for (size_t i = 1; i < c->columns; i++)
		if (!strcmp(c->names[i], name))
			return c->values[i];
	return NULL;
}

/* Charts, each with the columns that it shows of those that there are. */
static const struct chart_row {
	const char *title;
	bool rate;                               /* by second, from one row to the next */
	const char *columns[SVG_SERIES_MAX + 2]; /* the last is NULL */
} chart_rows[] = {
	{ "States", false, { "states", "crash_states" } },
	{ "Work done", false, { "scripts", "workloads", "images", "checks", "rejected" } },
	{ "Per second", true, { "transitions", "states", "crash_states", "scripts" } },
	{ "Per second ", true, { "images", "checker_runs", "checks", "restarts" } },
	{ "Inputs and outcomes reached", false, { "inputs", "outcomes" } },
	{ "Code reached", false, { "code_points" } },
	{ "Findings", false, { "findings" } },
};

static double *chart_rates(const struct csv *c, const double *column)
{
	double *rates = must_alloc((c->rows + 1) * sizeof(*rates));
	const double *seconds = c->values[0];

	for (size_t i = 0; i < c->rows; i++) {
		double from = i ? column[i - 1] : 0, passed = seconds[i] - (i ? seconds[i - 1] : 0);

		rates[i] = column[i] >= from && passed > 0.01 ? (column[i] - from) / passed : -1;
	}
	return rates;
}

static json_t *chart_view(const struct csv *c, const struct chart_row *row)
{
	struct svg_series series[SVG_SERIES_MAX];
	double *rates[SVG_SERIES_MAX] = { NULL };
	struct buf svg = BUF_INIT;
	size_t count = 0;
	json_t *view = NULL;

	for (size_t i = 0; row->columns[i] && count < SVG_SERIES_MAX; i++) {
		const double *column = csv_column(c, row->columns[i]);

		if (!column)
			continue;
		if (row->rate)
			column = rates[count] = chart_rates(c, column);
		series[count++] = (struct svg_series){ row->columns[i], column };
	}
	if (count) {
		svg_chart(&svg, row->title, c->values[0], c->rows, series, count);
		view = json_pack("{s:s, s:s}", "chart", row->title, "svg", svg.data);
	}
	for (size_t i = 0; i < count; i++)
		free(rates[i]);
	buf_free(&svg);
	return view;
}

json_t *view_charts(const char *dir, json_t **ret_last)
{
	json_t *charts = json_array(), *chart;
	struct csv c;

	csv_read(&c, dir);
	*ret_last = json_object();
	for (size_t i = 1; i < c.columns && c.rows; i++)
		if (c.values[i][c.rows - 1] >= 0)
			json_object_set_new(*ret_last, c.names[i],
					    json_integer((json_int_t)c.values[i][c.rows - 1]));
	for (size_t i = 0; i < sizeof(chart_rows) / sizeof(*chart_rows) && c.rows > 1; i++) {
		chart = chart_view(&c, &chart_rows[i]);
		if (chart)
			json_array_append_new(charts, chart);
	}
	csv_free(&c);
	return charts;
}
