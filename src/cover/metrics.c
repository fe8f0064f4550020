/* metrics.c -- fractions, balance and gaps of coverage. */
#include "cover/metrics.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/must.h"
#include "cover/syscalls.h"
#include "op/kind.h"

static const struct {
	const char *call, *names;
} errors[] = {
#define ERRORS(call, names) { #call, names },
#include "cover/errors.def"
#undef ERRORS
};

struct metric metric_of(const json_t *counts, double target)
{
	struct metric m = { 0 };
	double total = 0, off, sum = 0;
	const char *partition;
	json_t *count;

	json_object_foreach((json_t *)counts, partition, count)
	{
		if (!partition_is_wanted(partition))
			continue;
		m.partitions++;
		m.covered += json_integer_value(count) > 0;
		total += (double)json_integer_value(count);
	}
	if (!m.partitions)
		return m;
	target = fmax(target > 0 ? target : total / (double)m.partitions, 1);
	json_object_foreach((json_t *)counts, partition, count)
	{
		if (!partition_is_wanted(partition))
			continue;
		off = log10(fmax((double)json_integer_value(count), 1)) - log10(target);
		sum += off * off;
	}
	m.deviation = sqrt(sum / (double)m.partitions);
	return m;
}

static json_t *metric_json(const struct metric *m)
{
	return json_pack("{s:I, s:I, s:f, s:f}", "partitions", (json_int_t)m->partitions, "covered",
			 (json_int_t)m->covered, "fraction",
			 (double)m->covered / (double)m->partitions, "deviation", m->deviation);
}

/* Of a call's arguments, and, where they are several, of all their partitions together. */
static json_t *call_metrics(json_t *arguments, double target)
{
	json_t *of_call = json_object(), *counts;
	struct metric m, all = { 0 };
	const char *argument;
	double squares = 0;

	json_object_foreach(arguments, argument, counts)
	{
		m = metric_of(counts, target);
		if (!m.partitions)
			continue;
		json_object_set_new(of_call, argument, metric_json(&m));
		all.partitions += m.partitions;
		all.covered += m.covered;
		squares += m.deviation * m.deviation * (double)m.partitions;
	}
	if (json_object_size(of_call) > 1) {
		all.deviation = sqrt(squares / (double)all.partitions);
		json_object_set_new(of_call, "(all)", metric_json(&all));
	}
	return of_call;
}

static json_t *metrics_json(json_t *input, double target)
{
	json_t *all = json_object(), *arguments;
	const char *call;

	json_object_foreach(input, call, arguments)
		json_object_set_new(all, call, call_metrics(arguments, target));
	return all;
}

/* Gaps of one call's argument. Numbers that follow one another are one gap. */
struct gap_lines {
	json_t *untested;
	const char *call, *argument;
	const char *first, *last; /* of numbers so far */
};

static void add_line(json_t *untested, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void add_line(json_t *untested, const char *format, ...)
{
	struct buf line = BUF_INIT;
	va_list args;

	va_start(args, format);
	buf_vaddf(&line, format, args);
	va_end(args);
	json_array_append_new(untested, json_string(buf_str(&line)));
	buf_free(&line);
}

static void end_numbers(struct gap_lines *g)
{
	if (g->first && g->first == g->last)
		add_line(g->untested, "%s %s %s never", g->call, g->argument, g->first);
	else if (g->first)
		add_line(g->untested, "%s %s %s ... %s never", g->call, g->argument, g->first,
			 g->last);
	g->first = NULL;
}

static void gaps_add(struct gap_lines *g, json_t *counts)
{
	const char *partition;
	bool number, gap;
	json_t *count;

	json_object_foreach(counts, partition, count)
	{
		number = !strncmp(partition, "2^", 2);
		gap = !json_integer_value(count) && partition_is_wanted(partition);
		if (!number || !gap)
			end_numbers(g);
		if (gap && number) {
			g->first = g->first ? g->first : partition;
			g->last = partition;
		} else if (gap) {
			add_line(g->untested, "%s %s %s never", g->call, g->argument, partition);
		}
	}
	end_numbers(g);
}

const char *metrics_errors(const char *call)
{
	for (size_t i = 0; i < ARRAY_LEN(errors); i++)
		if (!strcmp(errors[i].call, call))
			return errors[i].names;
	return "";
}

static void add_errors(json_t *untested, const char *call, const json_t *outcomes)
{
	char name[32];
	int len;

	for (const char *p = metrics_errors(call); sscanf(p, " %31s%n", name, &len) == 1; p += len)
		if (!json_integer_value(json_object_get(outcomes, name)))
			add_line(untested, "%s from %s never", name, call);
}

/* Base calls that a trace can show, each once, in the order of the table. */
static bool is_first_of_base(const struct syscall *s)
{
	const struct syscall *rows = syscall_rows();

	for (const struct syscall *before = rows; before < s; before++)
		if (op_table[before->op].base == op_table[s->op].base)
			return false;
	return true;
}

static json_t *untested_json(const json_t *input, const json_t *output)
{
	const struct syscall *rows = syscall_rows();
	json_t *untested = json_array(), *arguments, *counts;
	const char *argument;

	for (const struct syscall *s = rows; s < rows + syscall_count; s++) {
		struct gap_lines gaps = { untested, op_table[op_table[s->op].base].name, NULL, NULL,
					  NULL };

		if (!is_first_of_base(s))
			continue;
		if (!json_object_get(output, gaps.call) && !json_object_get(input, gaps.call)) {
			add_line(untested, "%s never", gaps.call);
			continue;
		}
		arguments = json_object_get(input, gaps.call);
		json_object_foreach(arguments, argument, counts)
		{
			gaps.argument = argument;
			gaps_add(&gaps, counts);
		}
		add_errors(untested, gaps.call, json_object_get(output, gaps.call));
	}
	return untested;
}

void metrics_add(json_t *coverage, double target)
{
	json_t *input = json_object_get(coverage, "input");

	json_object_set_new(coverage, "metrics", metrics_json(input, target));
	json_object_set_new(coverage, "untested",
			    untested_json(input, json_object_get(coverage, "output")));
}

/* What is exact is so in both; what is cut, in one of them. */
static bool merged_bool(const char *key, const json_t *a, const json_t *b)
{
	return strcmp(key, "exact") ? json_is_true(a) || json_is_true(b)
				    : json_is_true(a) && json_is_true(b);
}

void metrics_merge(json_t *a, const json_t *b)
{
	const char *key;
	json_t *theirs, *ours;

	json_object_foreach((json_t *)b, key, theirs)
	{
		ours = json_object_get(a, key);
		if (!ours)
			json_object_set(a, key, theirs);
		else if (json_is_object(ours) && json_is_object(theirs))
			metrics_merge(ours, theirs);
		else if (json_is_integer(ours) && json_is_integer(theirs))
			json_integer_set(ours,
					 json_integer_value(ours) + json_integer_value(theirs));
		else if (json_is_boolean(ours) && json_is_boolean(theirs))
			json_object_set_new(a, key, json_boolean(merged_bool(key, ours, theirs)));
	}
}
