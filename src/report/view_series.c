/* view_series.c -- pictures of series.csv: what was done, how fast, what was reached and found. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/must.h"
#include "report/series_csv.h"
#include "report/svg.h"
#include "report/view.h"

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
	{ "Code reached", false, { "code_points", "branches" } },
	{ "Ways of a checker", false, { "behaviours", "paths" } },
	{ "Findings", false, { "findings" } },
};

static double *chart_rates(const struct series_csv *c, const double *column)
{
	double *rates = must_alloc((c->rows + 1) * sizeof(*rates));
	const double *seconds = c->values[0];

	for (size_t i = 0; i < c->rows; i++) {
		double from = i ? column[i - 1] : 0, passed = seconds[i] - (i ? seconds[i - 1] : 0);

		rates[i] = column[i] >= from && passed > 0.01 ? (column[i] - from) / passed : -1;
	}
	return rates;
}

/* A curve has two points at least. */
static bool chart_has_curve(const struct svg_series *series, size_t count)
{
	size_t points;

	for (size_t s = 0; s < count; s++) {
		points = 0;
		for (size_t i = 0; i < series[s].count; i++)
			points += series[s].values[i] >= 0;
		if (points > 1)
			return true;
	}
	return false;
}

static json_t *chart_view(const struct series_csv *c, const struct chart_row *row)
{
	struct svg_series series[SVG_SERIES_MAX];
	double *rates[SVG_SERIES_MAX] = { NULL };
	struct buf svg = BUF_INIT;
	size_t count = 0;
	json_t *view = NULL;

	for (size_t i = 0; row->columns[i] && count < SVG_SERIES_MAX; i++) {
		const double *column = series_csv_column(c, row->columns[i]);

		if (!column)
			continue;
		if (row->rate)
			column = rates[count] = chart_rates(c, column);
		series[count++] =
			(struct svg_series){ row->columns[i], c->values[0], column, c->rows };
	}
	if (chart_has_curve(series, count)) {
		svg_chart(&svg, row->title, series, count);
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
	struct series_csv c;

	series_csv_read(&c, dir);
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
	series_csv_free(&c);
	return charts;
}
