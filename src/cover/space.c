/* space.c -- everything that could be tried, and which tool has tried what of it. */
#include "cover/space.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/map.h"
#include "cover/metrics.h"
#include "cover/nested.h"
#include "cover/syscalls.h"
#include "op/kind.h"

struct space_walk {
	const char *const *names;
	json_t *const *coverages;
	size_t count;
	struct str_map seen; /* variants of a call share their arguments */
	json_t *covered, *only, *neither;
	json_int_t partitions, all;
};

static bool has_tried(const json_t *coverage, const char *part, const char *call,
		      const char *argument, const char *partition)
{
	const json_t *counts = json_object_get(json_object_get(coverage, part), call);

	if (argument)
		counts = json_object_get(counts, argument);
	return json_integer_value(json_object_get(counts, partition)) > 0;
}

void space_gap_name(const char *call, const char *argument, const char *partition, struct buf *out)
{
	if (argument)
		buf_addf(out, "%s %s %s", call, argument, partition);
	else
		buf_addf(out, "%s from %s", partition, call);
}

/* One thing that could be tried; argument is NULL for an errno. */
static void space_visit(struct space_walk *w, const char *call, const char *argument,
			const char *partition)
{
	const char *part = argument ? "input" : "output";
	struct buf gap = BUF_INIT;
	size_t tried = 0, last = 0;
	bool new;

	space_gap_name(call, argument, partition, &gap);
	str_map_put(&w->seen, buf_str(&gap), &new);
	for (size_t i = 0; i < w->count && new; i++) {
		if (!has_tried(w->coverages[i], part, call, argument, partition))
			continue;
		nested_add(w->covered, w->names[i], 1);
		last = i;
		tried++;
	}
	if (new) {
		w->partitions++;
		w->all += tried == w->count;
		if (!tried)
			json_array_append_new(w->neither, json_string(buf_str(&gap)));
		else if (tried == 1 && w->count > 1)
			json_array_append_new(json_object_get(w->only, w->names[last]),
					      json_string(buf_str(&gap)));
	}
	buf_free(&gap);
}

static void space_visit_argument(struct space_walk *w, const char *call, const struct op_arg *arg)
{
	struct buf name = BUF_INIT;

	for (size_t p = 0; p < kind_partitions(arg->kind); p++) {
		buf_clear(&name);
		kind_partition_name(arg->kind, p, &name);
		if (partition_is_wanted(buf_str(&name)))
			space_visit(w, call, arg->name, buf_str(&name));
	}
	buf_free(&name);
}

static void space_visit_call(struct space_walk *w, const struct syscall *s)
{
	const char *call = op_table[op_table[s->op].base].name, *errors = metrics_errors(call);
	char name[32];
	int len;

	for (unsigned a = 0; a < s->row.args; a++)
		space_visit_argument(w, call, &op_table[s->op].arg[s->row.arg[a].to]);
	space_visit(w, call, NULL, "success");
	for (; sscanf(errors, " %31s%n", name, &len) == 1; errors += len)
		space_visit(w, call, NULL, name);
}

json_t *space_compare(const char *const *names, json_t *const *coverages, size_t count)
{
	const struct syscall *rows = syscall_rows();
	struct space_walk w = {
		.names = names,
		.coverages = coverages,
		.count = count,
		.seen = STR_MAP_INIT,
		.covered = json_object(),
		.only = json_object(),
		.neither = json_array(),
	};

	for (size_t i = 0; i < count; i++) {
		json_object_set_new(w.covered, names[i], json_integer(0));
		if (count > 1)
			json_object_set_new(w.only, names[i], json_array());
	}
	for (const struct syscall *s = rows; s < rows + syscall_count; s++)
		space_visit_call(&w, s);
	str_map_free(&w.seen);
	return json_pack("{s:I, s:o, s:o, s:I, s:o}", "partitions", w.partitions, "covered",
			 w.covered, "only", w.only, "all", w.all, "neither", w.neither);
}
