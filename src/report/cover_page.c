/* cover_page.c -- bar charts on a log scale: for every argument and result one, with all tools.
 *
 * The arguments that papers show come first: flags of open, sizes of write. Of numbers, only the
 * range that anyone tried is drawn. */
#include "report/cover_page.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "op/kind.h"
#include "report/cover_glance.h"
#include "report/page.h"

static const char style[] =
	"<style>"
	".bars{border-spacing:0;width:100%}.bars th{font:.8rem ui-monospace,monospace;width:14rem;"
	"padding:.1rem 1rem .1rem 0}.bars td{padding:.1rem 0}"
	".bar{display:inline-block;height:.7rem;min-width:1px;vertical-align:middle;"
	"border-radius:0 .15rem .15rem 0}"
	".n{font-size:.75rem;padding-left:.4rem;font-variant-numeric:tabular-nums}"
	".never{color:var(--bad);font-size:.75rem}"
	".t0{background:#3b6ea8}.t1{background:#c8742c}.t2{background:#4c9a5b}.t3{background:#"
	"8d5fa8}"
	".t4{background:#b3495d}.t5{background:#5f8f93}.key{margin-right:1.2rem}"
	"</style>\n";

static long long partition_count(const json_t *counts, const char *partition)
{
	return json_integer_value(json_object_get(counts, partition));
}

/* Uses of a partition by all tools. */
static long long total_at(json_t *const *counts, size_t tools, const char *partition)
{
	long long total = 0;

	for (size_t i = 0; i < tools; i++)
		total += partition_count(counts[i], partition);
	return total;
}

static void add_bar(struct buf *out, size_t tool, long long count, double scale)
{
	buf_adds(out, "<div>");
	if (count) {
		buf_addf(out,
			 "<span class=\"bar t%zu\" style=\"width:%.1f%%\"></span><span class=n>",
			 tool % COVER_COLORS, 80 * log10((double)count + 1) / scale);
		page_count(out, count);
		buf_adds(out, "</span>");
	} else {
		buf_adds(out, "<span class=never>never</span>");
	}
	buf_adds(out, "</div>");
}

static bool is_number(const char *partition)
{
	return !strncmp(partition, "2^", 2);
}

/* The first and the last number that anyone tried. */
struct partition_range {
	const char *first, *last;
};

static struct partition_range tried_range(json_t *const *counts, size_t tools, json_t *partitions)
{
	struct partition_range range = { NULL, NULL };
	const char *partition;
	json_t *unused;

	json_object_foreach(partitions, partition, unused)
	{
		if (!is_number(partition) || !total_at(counts, tools, partition))
			continue;
		range.first = range.first ? range.first : partition;
		range.last = partition;
	}
	return range;
}

static void add_chart(struct buf *out, json_t *const *counts, size_t tools, json_t *partitions)
{
	struct partition_range range = tried_range(counts, tools, partitions);
	bool within = false, number;
	const char *partition;
	long long most = 1;
	json_t *unused;

	json_object_foreach(partitions, partition,
			    unused) for (size_t i = 0; i < tools;
					 i++) if (partition_count(counts[i], partition) > most)
		most = partition_count(counts[i], partition);
	buf_adds(out, "<table class=bars>\n");
	json_object_foreach(partitions, partition, unused)
	{
		if (!partition_is_wanted(partition) && !total_at(counts, tools, partition))
			continue;
		number = is_number(partition);
		within |= partition == range.first;
		if (number && !within)
			continue;
		if (partition == range.last)
			within = false;
		buf_adds(out, "<tr><th>");
		page_text(out, partition);
		buf_adds(out, "</th><td>");
		for (size_t i = 0; i < tools; i++)
			add_bar(out, i, partition_count(counts[i], partition),
				log10((double)most + 1));
		buf_adds(out, "</td></tr>\n");
	}
	buf_adds(out, "</table>\n");
}

/* "open flags: 7 of 19 covered, deviation 1.94" for each tool. */
static void add_metrics(struct buf *out, const struct cover_tool *tools, size_t count,
			const char *call, const char *argument)
{
	json_t *metric;

	buf_adds(out, "<p>");
	for (size_t i = 0; i < count; i++) {
		metric = json_object_get(json_object_get(tools[i].coverage, "metrics"), call);
		metric = json_object_get(metric, argument);
		cover_swatch(out, i);
		page_text(out, tools[i].name);
		if (metric)
			buf_addf(out, ": %lld of %lld, deviation %.2f",
				 partition_count(metric, "covered"),
				 partition_count(metric, "partitions"),
				 json_real_value(json_object_get(metric, "deviation")));
		buf_adds(out, "</span>");
	}
	buf_adds(out, "</p>\n");
}

/* What a tool counted for an argument, or, without one, for the results of a call. */
static json_t *counts_of(const struct cover_tool *tool, const char *call, const char *argument)
{
	json_t *of_call = json_object_get(
		json_object_get(tool->coverage, argument ? "input" : "output"), call);

	return argument ? json_object_get(of_call, argument) : of_call;
}

static void add_argument(struct buf *out, const struct cover_tool *tools, size_t count,
			 const char *call, const char *argument)
{
	json_t *counts[COVER_TOOLS_MAX], *partitions = json_object();

	for (size_t i = 0; i < count; i++) {
		counts[i] = counts_of(&tools[i], call, argument);
		if (counts[i])
			json_object_update(partitions, counts[i]);
	}
	if (json_object_size(partitions)) {
		buf_adds(out, "<h3>");
		page_text(out, call);
		buf_adds(out, argument ? " " : " results");
		page_text(out, argument ? argument : "");
		buf_adds(out, "</h3>\n");
		add_metrics(out, tools, count, call, argument ? argument : "");
		add_chart(out, counts, count, partitions);
	}
	json_decref(partitions);
}

/* All calls that any tool made, with their arguments. */
static json_t *all_calls(const struct cover_tool *tools, size_t count)
{
	json_t *all = json_object(), *calls, *arguments;
	const char *call;

	for (size_t i = 0; i < count; i++) {
		calls = json_object_get(tools[i].coverage, "output");
		json_object_foreach(calls, call, arguments) if (!json_object_get(all, call))
			json_object_set_new(all, call, json_object());
		calls = json_object_get(tools[i].coverage, "input");
		json_object_foreach(calls, call, arguments)
		{
			if (!json_object_get(all, call))
				json_object_set_new(all, call, json_object());
			json_object_update(json_object_get(all, call), arguments);
		}
	}
	return all;
}

static bool is_famous(const char *call, const char *argument)
{
	return (!strcmp(call, "open") && !strcmp(argument, "flags")) ||
	       (!strcmp(call, "write") && !strcmp(argument, "count"));
}

static void add_charts(struct buf *out, const struct cover_tool *tools, size_t count, json_t *all)
{
	const char *call, *argument;
	json_t *arguments, *unused;

	page_heading(out, "Inputs");
	add_argument(out, tools, count, "open", "flags");
	add_argument(out, tools, count, "write", "count");
	json_object_foreach(all, call, arguments)
		json_object_foreach(arguments, argument, unused) if (!is_famous(call, argument))
			add_argument(out, tools, count, call, argument);
	page_heading(out, "Results");
	json_object_foreach(all, call, arguments) add_argument(out, tools, count, call, NULL);
}

static void add_cover_figures(struct buf *out, const struct cover_tool *tools, size_t count)
{
	static const char *const figures[] = { "calls", "lost", "unattributed", "unknown" };
	json_t *exact;

	buf_adds(out, "<table class=figures><tr><th></th>");
	for (size_t f = 0; f < sizeof(figures) / sizeof(figures[0]); f++)
		buf_addf(out, "<th>%s</th>", figures[f]);
	buf_adds(out, "<th>exact</th><th>untested</th></tr>\n");
	for (size_t i = 0; i < count; i++) {
		buf_adds(out, "<tr><th>");
		page_text(out, tools[i].name);
		buf_adds(out, "</th>");
		for (size_t f = 0; f < sizeof(figures) / sizeof(figures[0]); f++) {
			buf_adds(out, "<td>");
			page_count(out, partition_count(tools[i].coverage, figures[f]));
			buf_adds(out, "</td>");
		}
		exact = json_object_get(tools[i].coverage, "exact");
		buf_addf(out, "<td>%s</td><td>%zu</td></tr>\n",
			 !exact || json_is_true(exact) ? "yes" : "no",
			 json_array_size(json_object_get(tools[i].coverage, "untested")));
	}
	buf_adds(out, "</table>\n");
}

static void add_untested(struct buf *out, const struct cover_tool *tool)
{
	json_t *line;
	size_t i;

	buf_adds(out, "<details><summary>");
	page_text(out, tool->name);
	buf_adds(out, "</summary>\n");
	json_array_foreach(json_object_get(tool->coverage, "untested"), i, line)
	{
		buf_adds(out, "<span class=part>");
		page_text(out, json_string_value(line));
		buf_adds(out, "</span>\n");
	}
	buf_adds(out, "</details>\n");
}

void cover_page(struct buf *out, const struct cover_tool *tools, size_t count)
{
	json_t *all = all_calls(tools, count);

	page_begin(out, "cover", count == 1 ? tools[0].name : "compared", "ok");
	buf_adds(out, style);
	add_cover_figures(out, tools, count);
	cover_glance(out, tools, count, all);
	page_heading(out, "Untested");
	for (size_t i = 0; i < count; i++)
		add_untested(out, &tools[i]);
	add_charts(out, tools, count, all);
	cover_variants(out, tools, count);
	page_end(out);
	json_decref(all);
}
