/* svg.c -- pictures within a page. */
#include "report/svg.h"

#include <math.h>
#include <stdio.h>

#include "base/buf.h"
#include "report/html.h"

void svg_begin(struct buf *out, int width, int height, const char *label)
{
	buf_addf(out,
		 "<svg viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" "
		 "aria-label=\"",
		 width, height, width, height);
	html_text(out, label);
	buf_adds(out, "\">");
}

void svg_end(struct buf *out)
{
	buf_adds(out, "</svg>");
}

void svg_text(struct buf *out, double x, double y, const char *anchor, const char *class,
	      const char *text)
{
	buf_addf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" class=\"%s\">", x, y, anchor,
		 class);
	html_text(out, text);
	buf_adds(out, "</text>");
}

void svg_rect(struct buf *out, double x, double y, double width, double height, const char *class,
	      const char *title)
{
	buf_addf(out,
		 "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"2\" "
		 "class=\"%s\">",
		 x, y, width, height, class);
	if (*title) {
		buf_adds(out, "<title>");
		html_text(out, title);
		buf_adds(out, "</title>");
	}
	buf_adds(out, "</rect>");
}

void svg_line(struct buf *out, double x1, double y1, double x2, double y2, const char *class)
{
	buf_addf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>", x1,
		 y1, x2, y2, class);
}

/* ---- charts ---- */

enum {
	CHART_WIDTH = 480,
	CHART_HEIGHT = 200,
	CHART_LEFT = 46,
	CHART_RIGHT = 12,
	CHART_TOP = 30,
	CHART_BOTTOM = 26,
	LEGEND_STEP = 130
};

/* "12.3k", "4.5M". */
static void svg_short(char *ret, size_t size, double value)
{
	static const char units[] = { ' ', 'k', 'M', 'G', 'T' };
	size_t unit = 0;

	for (; value >= 9999.5 && unit + 1 < sizeof(units); unit++)
		value /= 1000;
	if (unit)
		snprintf(ret, size, "%.*f%c", value < 100, value, units[unit]);
	else
		snprintf(ret, size, "%.0f", value);
}

/* The next greater one of 1, 2, 5, 10, ... */
static double svg_round_up(double value)
{
	static const double steps[] = { 1, 2, 3, 4, 5, 6, 8, 10 };
	double power = value > 1 ? pow(10, floor(log10(value))) : 1;

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		if (value <= steps[i] * power)
			return steps[i] * power;
	return value;
}

static double svg_most(const struct svg_series *series, size_t series_count)
{
	double most = 0;

	for (size_t s = 0; s < series_count; s++)
		for (size_t i = 0; i < series[s].count; i++)
			most = fmax(most, series[s].values[i]);
	return svg_round_up(fmax(most, 1));
}

static double svg_last_second(const struct svg_series *series, size_t series_count)
{
	double last = 0;

	for (size_t s = 0; s < series_count; s++)
		if (series[s].count)
			last = fmax(last, series[s].seconds[series[s].count - 1]);
	return last > 0 ? last : 1;
}

static void svg_axes(struct buf *out, double most, double end)
{
	double right = CHART_WIDTH - CHART_RIGHT, bottom = CHART_HEIGHT - CHART_BOTTOM;
	char text[32];

	for (int i = 0; i <= 2; i++) {
		double y = bottom - (bottom - CHART_TOP) * i / 2;

		svg_line(out, CHART_LEFT, y, right, y, i ? "grid" : "axis");
		svg_short(text, sizeof(text), most * i / 2);
		if (i != 1 || most >= 2)
			svg_text(out, CHART_LEFT - 6, y + 4, "end", "tick", text);
	}
	svg_text(out, CHART_LEFT, CHART_HEIGHT - 8, "middle", "tick", "0");
	if (end >= 7200)
		snprintf(text, sizeof(text), "%.1f h", end / 3600);
	else if (end >= 120)
		snprintf(text, sizeof(text), "%.1f min", end / 60);
	else
		snprintf(text, sizeof(text), "%.*f s", end < 10, end);
	svg_text(out, right, CHART_HEIGHT - 8, "end", "tick", text);
}

static void svg_curve(struct buf *out, const struct svg_series *series, double most, double end,
		      size_t number)
{
	double width = CHART_WIDTH - CHART_LEFT - CHART_RIGHT;
	double height = CHART_HEIGHT - CHART_TOP - CHART_BOTTOM;

	buf_addf(out, "<polyline class=\"curve s%zu\" points=\"", number);
	for (size_t i = 0; i < series->count; i++)
		if (series->values[i] >= 0)
			buf_addf(out, "%.1f,%.1f ", CHART_LEFT + width * series->seconds[i] / end,
				 CHART_TOP + height * (1 - series->values[i] / most));
	buf_adds(out, "\"/>");
}

void svg_chart(struct buf *out, const char *label, const struct svg_series *series,
	       size_t series_count)
{
	double most = svg_most(series, series_count), x = CHART_LEFT;
	double end = svg_last_second(series, series_count);
	double step = fmin(LEGEND_STEP, (double)(CHART_WIDTH - CHART_LEFT) / (double)series_count);

	svg_begin(out, CHART_WIDTH, CHART_HEIGHT, label);
	svg_axes(out, most, end);
	for (size_t s = 0; s < series_count; s++) {
		size_t count = series[s].count;
		char class[32], last[32], name[96];

		svg_curve(out, &series[s], most, end, s);
		snprintf(class, sizeof(class), "dot s%zu", s);
		svg_rect(out, x, 9, 9, 9, class, "");
		svg_short(last, sizeof(last), count ? fmax(series[s].values[count - 1], 0) : 0);
		snprintf(name, sizeof(name), "%.60s: %s", series[s].name, count ? last : "-");
		svg_text(out, x + 14, 18, "start", "legend", name);
		x += step;
	}
	svg_end(out);
}
