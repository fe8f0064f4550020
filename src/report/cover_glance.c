/* cover_glance.c -- coverage at a glance: every partition of every argument as one small mark.
 *
 * A mark is the darker the more often the partition was tried, by the logarithm; empty is never. */
#include "report/cover_glance.h"

#include <math.h>

#include "base/buf.h"
#include "op/kind.h"
#include "report/page.h"

static const char style[] =
	"<style>"
	".glance th{font:.8rem ui-monospace,monospace;padding:.15rem 1rem .15rem 0}"
	".glance td{padding:.15rem 0;white-space:nowrap;line-height:.8rem}"
	".strip{display:inline-flex;width:32rem;margin-right:.6rem;vertical-align:middle}"
	".strip i{flex:1;height:.65rem;min-width:1px;border:0 solid var(--paper);"
	"border-right-width:1px}.strip .z{background:var(--line)}"
	"</style>\n";

static long long count_total(json_t *counts)
{
	const char *key;
	json_t *count;
	long long sum = 0;

	json_object_foreach(counts, key, count) sum += json_integer_value(count);
	return sum;
}

static double highest_count(json_t *counts)
{
	const char *key;
	json_t *count;
	double most = 1;

	json_object_foreach(counts, key, count) most = fmax(most, json_number_value(count));
	return most;
}

/* One tool's marks for an argument, and how many of them are not empty. */
static void add_strip(struct buf *out, json_t *counts, size_t tool)
{
	double most = log10(highest_count(counts) + 1);
	size_t tried = 0, all = 0;
	const char *partition;
	json_t *count;

	buf_adds(out, "<div><span class=strip>");
	json_object_foreach(counts, partition, count)
	{
		long long n = json_integer_value(count);

		if (!n && !partition_is_wanted(partition))
			continue;
		all += partition_is_wanted(partition);
		tried += n > 0 && partition_is_wanted(partition);
		if (n)
			buf_addf(out, "<i class=t%zu style=\"opacity:%.2f\" title=\"",
				 tool % COVER_COLORS, 0.35 + 0.65 * log10((double)n + 1) / most);
		else
			buf_adds(out, "<i class=z title=\"");
		page_text(out, partition);
		buf_addf(out, ": %lld\"></i>", n);
	}
	buf_addf(out, "</span><span class=n>%zu of %zu</span></div>", tried, all);
}

static void add_glance_row(struct buf *out, const struct cover_tool *tools, size_t count,
			   const char *call, const char *argument)
{
	json_t *counts;

	buf_adds(out, "<tr><th>");
	page_text(out, call);
	buf_addch(out, ' ');
	page_text(out, argument);
	buf_adds(out, "</th><td>");
	for (size_t i = 0; i < count; i++) {
		counts = json_object_get(json_object_get(tools[i].coverage, "input"), call);
		counts = json_object_get(counts, argument);
		if (counts)
			add_strip(out, counts, i);
		else
			buf_adds(out, "<div><span class=never>never</span></div>");
	}
	buf_adds(out, "</td></tr>\n");
}

void cover_glance(struct buf *out, const struct cover_tool *tools, size_t count, json_t *calls)
{
	const char *call, *argument;
	json_t *arguments, *counts;

	page_heading(out, "At a glance");
	buf_adds(out, style);
	cover_key(out, tools, count);
	buf_adds(out, "<table class=glance>\n");
	json_object_foreach(calls, call, arguments)
		json_object_foreach(arguments, argument, counts) if (json_object_size(counts))
			add_glance_row(out, tools, count, call, argument);
	buf_adds(out, "</table>\n");
}

static void add_variant(struct buf *out, const char *tool, const char *name, json_t *variant)
{
	const char *argument;
	json_t *counts;

	buf_adds(out, "<tr><th>");
	page_text(out, name);
	buf_adds(out, "</th><td>");
	page_text(out, tool);
	buf_adds(out, "</td><td class=n>");
	page_count(out, count_total(json_object_get(variant, "output")));
	buf_adds(out, "</td><td>");
	json_object_foreach(json_object_get(variant, "input"), argument, counts)
	{
		const char *partition;
		json_t *n;

		buf_adds(out, "<details><summary>");
		page_text(out, argument);
		buf_addf(out, ": %zu</summary>", json_object_size(counts));
		json_object_foreach(counts, partition, n)
		{
			buf_adds(out, "<span class=part>");
			page_text(out, partition);
			buf_addf(out, " %lld</span>", (long long)json_integer_value(n));
		}
		buf_adds(out, "</details>");
	}
	buf_adds(out, "</td></tr>\n");
}

void cover_variants(struct buf *out, const struct cover_tool *tools, size_t count)
{
	const char *name;
	json_t *variant;

	page_heading(out, "Variants");
	buf_adds(out, "<table class=glance>\n");
	for (size_t i = 0; i < count; i++)
		json_object_foreach(json_object_get(tools[i].coverage, "variants"), name, variant)
			add_variant(out, tools[i].name, name, variant);
	buf_adds(out, "</table>\n");
}
