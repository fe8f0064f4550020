/* gaps.c -- the gaps of coverage by number, and which of them a call fills. */
#include "suggest/gaps.h"

#include <fcntl.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/must.h"
#include "cover/space.h"

static int gap_find(const struct gaps *g, const char *call, const char *argument,
		    const char *partition)
{
	struct buf name = BUF_INIT;
	const uint64_t *number;
	int found;

	space_gap_name(call, argument, partition, &name);
	number = str_map_get(&g->names, buf_str(&name));
	found = number ? (int)*number : GAP_NONE;
	buf_free(&name);
	return found;
}

struct gaps *gaps_new(const json_t *names)
{
	struct gaps *g = must_alloc(sizeof(*g));

	for (size_t i = 0; i < json_array_size(names); i++)
		*str_map_put(&g->names, json_string_value(json_array_get(names, i)), NULL) = i;
	g->count = g->names.count;
	g->list = must_alloc((g->count + 1) * sizeof(*g->list));
	for (int op = 0; op < OP_COUNT; op++)
		for (int error = 0; error < COVER_ERRNOS; error++)
			g->output[op][error] = gap_find(g, op_table[op].name, NULL,
							error ? errno_name(error) : "success");
	return g;
}

void gaps_free(struct gaps *g)
{
	str_map_free(&g->names);
	free(g->list);
	free(g);
}

const char *gaps_name(const struct gaps *g, size_t i)
{
	return g->names.entries[i].key;
}

void gaps_select(struct gaps *g, const struct syscall *row)
{
	const struct op_info *info = &op_table[row->op];
	const char *base = op_table[info->base].name;
	struct buf name = BUF_INIT;

	g->row = row;
	for (unsigned a = 0; a < OP_ARGS_MAX; a++)
		for (unsigned p = 0; p < PARTITIONS_MAX; p++)
			g->input[a][p] = GAP_NONE;
	for (unsigned a = 0; a < row->row.args; a++) {
		unsigned to = row->row.arg[a].to;
		const struct op_arg *arg = &info->arg[to];

		for (size_t p = 0; p < kind_partitions(arg->kind); p++) {
			buf_clear(&name);
			kind_partition_name(arg->kind, p, &name);
			g->input[to][p] = gap_find(g, base, arg->name, buf_str(&name));
		}
	}
	buf_free(&name);
}

static bool gap_is_open(const struct gaps *g, int gap)
{
	return gap != GAP_NONE && !g->list[gap].filled;
}

bool gaps_are_open(const struct gaps *g)
{
	const int *output = g->output[op_table[g->row->result].base];

	for (int error = 0; error < COVER_ERRNOS; error++)
		if (gap_is_open(g, output[error]))
			return true;
	for (unsigned a = 0; a < OP_ARGS_MAX; a++)
		for (unsigned p = 0; p < PARTITIONS_MAX; p++)
			if (gap_is_open(g, g->input[a][p]))
				return true;
	return false;
}

struct value_wanted {
	const struct gaps *gaps;
	unsigned argument;
	bool wanted;
};

static void value_look(void *to, size_t partition)
{
	struct value_wanted *w = to;

	w->wanted |= gap_is_open(w->gaps, w->gaps->input[w->argument][partition]);
}

bool gaps_want_value(const struct gaps *g, unsigned argument, const struct arg *value)
{
	struct value_wanted w = { .gaps = g, .argument = argument };

	kind_visit_partitions(op_table[g->row->op].arg[argument].kind, value, value_look, &w);
	return w.wanted;
}

struct gaps_visitor {
	struct gaps *gaps;
	unsigned argument;
	void (*visit)(void *to, struct gap *gap);
	void *to;
};

static void visit_gap(struct gaps_visitor *v, int gap)
{
	if (gap_is_open(v->gaps, gap))
		v->visit(v->to, &v->gaps->list[gap]);
}

static void visit_partition(void *to, size_t partition)
{
	struct gaps_visitor *v = to;

	visit_gap(v, v->gaps->input[v->argument][partition]);
}

/* Without a file to be made, the mode means nothing, and the tracer does not count it. */
static bool argument_counts(const struct syscall *row, const struct call *call, unsigned a)
{
	const int64_t makes = O_CREAT | (O_TMPFILE & ~O_DIRECTORY);

	return !row->row.makes || a != 1 || call->arg[row->row.arg[0].to].num & makes;
}

void gaps_visit(struct gaps *g, const struct call *call, int error, int argument,
		void (*visit)(void *to, struct gap *gap), void *to)
{
	struct gaps_visitor v = { .gaps = g, .visit = visit, .to = to };

	if (error < COVER_ERRNOS)
		visit_gap(&v, g->output[op_table[cover_result(call)].base][error]);
	for (unsigned a = 0; a < g->row->row.args; a++) {
		v.argument = g->row->row.arg[a].to;
		if ((argument == GAP_ALL_ARGUMENTS || argument == (int)v.argument) &&
		    argument_counts(g->row, call, a))
			kind_visit_partitions(op_table[call->op].arg[v.argument].kind,
					      &call->arg[v.argument], visit_partition, &v);
	}
}
