/* cover_text.c -- coverage as tables for a terminal. */
#include "report/cover_text.h"

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"

enum { LINE_MAX_COLUMNS = 100, GAPS_COLUMN = 44, SPACE_LINES_MAX = 12 };

static long long metric_count(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* The untested values of an argument, as many as fit the line: "O_TMPFILE, O_DIRECT, ...". */
static void add_gaps_line(struct buf *out, json_t *untested, const char *call, const char *argument)
{
	struct buf prefix = BUF_INIT;
	size_t i, len, room = LINE_MAX_COLUMNS - GAPS_COLUMN, gap_len;
	const char *gap, *separator = "";
	json_t *line;

	buf_addf(&prefix, "%s %s ", call, argument);
	len = prefix.len;
	json_array_foreach(untested, i, line)
	{
		gap = json_string_value(line);
		if (strncmp(gap, buf_str(&prefix), len))
			continue;
		gap_len = strlen(gap + len) - strlen(" never");
		if (gap_len + 7 > room) {
			buf_addf(out, "%s...", separator);
			break;
		}
		buf_addf(out, "%s%.*s", separator, (int)gap_len, gap + len);
		room -= gap_len + 2;
		separator = ", ";
	}
	buf_free(&prefix);
}

static void add_tool_inputs(struct buf *out, const struct cover_tool *tool)
{
	json_t *untested = json_object_get(tool->coverage, "untested");
	json_t *metrics = json_object_get(tool->coverage, "metrics"), *arguments, *metric;
	const char *call, *argument;

	buf_addf(out, "%-16s %-10s %9s  %s\n", "CALL", "ARGUMENT", "COVERED", "DEV   NEVER");
	json_object_foreach(metrics, call, arguments)
		json_object_foreach(arguments, argument, metric)
	{
		buf_addf(out, "%-16s %-10s %3lld of %-3lld %4.2f  ", call, argument,
			 metric_count(metric, "covered"), metric_count(metric, "partitions"),
			 json_real_value(json_object_get(metric, "deviation")));
		add_gaps_line(out, untested, call, argument);
		buf_addch(out, '\n');
	}
}

static void add_results(struct buf *out, const struct cover_tool *tool)
{
	json_t *output = json_object_get(tool->coverage, "output"), *results, *count;
	const char *call, *result;

	buf_addf(out, "\n%-16s %s\n", "CALL", "RESULTS");
	json_object_foreach(output, call, results)
	{
		buf_addf(out, "%-16s", call);
		json_object_foreach(results, result, count)
			buf_addf(out, " %s %lld", result, (long long)json_integer_value(count));
		buf_addch(out, '\n');
	}
}

/* The system calls themselves: "openat 12, creat 3". */
static void add_variants(struct buf *out, const struct cover_tool *tool)
{
	json_t *calls = json_object_get(tool->coverage, "syscalls"), *count;
	const char *call, *separator = "";

	if (!json_object_size(calls))
		return;
	buf_addf(out, "\n%-16s ", "MADE AS");
	json_object_foreach(calls, call, count)
	{
		buf_addf(out, "%s%s %lld", separator, call, (long long)json_integer_value(count));
		separator = ", ";
	}
	buf_addch(out, '\n');
}

/* How far to trust the counts. Our other instruments make the calls themselves, and write none of
 * this. */
static void add_trust(struct buf *out, const json_t *c)
{
	buf_addch(out, '\n');
	if (json_object_get(c, "calls"))
		buf_addf(out, "%lld calls, %lld lost, %lld unattributed; %s; ",
			 metric_count(c, "calls"), metric_count(c, "lost"),
			 metric_count(c, "unattributed"),
			 json_is_true(json_object_get(c, "exact"))
				 ? "exact"
				 : "descriptors exact, paths attributed by their names");
	buf_addf(out, "%zu untested\n", json_array_size(json_object_get(c, "untested")));
}

void cover_text(struct buf *out, const struct cover_tool *tool)
{
	json_t *c = tool->coverage;

	add_tool_inputs(out, tool);
	add_results(out, tool);
	add_variants(out, tool);
	add_trust(out, c);
	if (json_is_true(json_object_get(c, "cut")))
		buf_adds(out, "The trace ends in the middle: what came before is counted.\n");
}

static json_t *metric_at(const struct cover_tool *tool, const char *call, const char *argument)
{
	json_t *metrics = json_object_get(tool->coverage, "metrics");

	return json_object_get(json_object_get(metrics, call), argument);
}

/* No sum is printed for a call with one argument. */
static long long covered_by(const struct cover_tool *tool, const char *call, const char *argument)
{
	json_t *metrics = json_object_get(tool->coverage, "metrics"), *metric;
	json_t *arguments = json_object_get(metrics, call);
	const char *name;
	long long sum = 0;

	if (strcmp(argument, "(all)") || json_object_get(arguments, argument))
		return metric_count(json_object_get(arguments, argument), "covered");
	json_object_foreach(arguments, name, metric) sum += metric_count(metric, "covered");
	return sum;
}

/* Of a call's arguments together, a tool may have used more than another. */
static long long most_partitions(const struct cover_tool *tools, size_t count, const char *call,
				 const char *argument)
{
	long long most = 0, n;

	for (size_t i = 0; i < count; i++) {
		n = metric_count(metric_at(&tools[i], call, argument), "partitions");
		most = n > most ? n : most;
	}
	return most;
}

static long long different_errors(const struct cover_tool *tool)
{
	json_t *output = json_object_get(tool->coverage, "output"), *results;
	const char *call;
	long long n = 0;

	json_object_foreach(output, call, results) n +=
		(long long)json_object_size(results) -
		(json_object_get(results, "success") != NULL);
	return n;
}

static void add_totals(struct buf *out, const struct cover_tool *tools, size_t count)
{
	buf_addf(out, "%-27s", "different errors, by call");
	for (size_t i = 0; i < count; i++)
		buf_addf(out, "  %4lld        ", different_errors(&tools[i]));
	buf_addf(out, "\n%-27s", "untested");
	for (size_t i = 0; i < count; i++)
		buf_addf(out, "  %4zu        ",
			 json_array_size(json_object_get(tools[i].coverage, "untested")));
	buf_addch(out, '\n');
}

void cover_text_compare(struct buf *out, const struct cover_tool *tools, size_t count)
{
	json_t *all = json_object(), *arguments, *metric;
	const char *call, *argument;

	for (size_t i = 0; i < count; i++) {
		arguments = json_deep_copy(json_object_get(tools[i].coverage, "metrics"));
		json_object_update_recursive(all, arguments);
		json_decref(arguments);
	}
	buf_addf(out, "%-16s %-10s", "CALL", "ARGUMENT");
	for (size_t i = 0; i < count; i++)
		buf_addf(out, " %12.12s", tools[i].name);
	buf_addch(out, '\n');
	json_object_foreach(all, call, arguments) json_object_foreach(arguments, argument, metric)
	{
		buf_addf(out, "%-16s %-10s", call, argument);
		for (size_t i = 0; i < count; i++)
			buf_addf(out, "  %4lld of %-4lld", covered_by(&tools[i], call, argument),
				 most_partitions(tools, count, call, argument));
		buf_addch(out, '\n');
	}
	json_decref(all);
	add_totals(out, tools, count);
}

/* The first of them, a line each; run.json has all. */
static void add_gap_list(struct buf *out, const char *title, json_t *gaps)
{
	size_t count = json_array_size(gaps);

	buf_addf(out, "%s: %zu\n", title, count);
	for (size_t i = 0; i < count && i < SPACE_LINES_MAX; i++)
		buf_addf(out, "  %s\n", json_string_value(json_array_get(gaps, i)));
	if (count > SPACE_LINES_MAX)
		buf_addf(out, "  ... and %zu more (space in run.json)\n", count - SPACE_LINES_MAX);
}

void cover_text_space(struct buf *out, json_t *space)
{
	json_t *covered = json_object_get(space, "covered"), *only = json_object_get(space, "only");
	long long partitions = metric_count(space, "partitions");
	bool several = json_object_size(covered) > 1;
	struct buf title = BUF_INIT;
	const char *name;
	json_t *value;

	json_object_foreach(covered, name, value)
		buf_addf(out, "%s%s%lld of all %lld inputs and results tried\n",
			 several ? name : "", several ? ": " : "",
			 (long long)json_integer_value(value), partitions);
	if (!several)
		return;
	buf_addf(out, "by all of them: %lld\n", metric_count(space, "all"));
	json_object_foreach(only, name, value)
	{
		buf_clear(&title);
		buf_addf(&title, "only %s", name);
		add_gap_list(out, buf_str(&title), value);
	}
	add_gap_list(out, json_object_size(covered) == 2 ? "neither" : "none of them",
		     json_object_get(space, "neither"));
	buf_free(&title);
}
