/* cover.c -- counting partitions. */
#include "cover/cover.h"

#include <fcntl.h>
#include <stdlib.h>

#include "base/must.h"
#include "op/kind.h"

void cover_init(struct cover *c)
{
	*c = (struct cover){ 0 };
}

void cover_free(struct cover *c)
{
	for (size_t op = 0; op < OP_COUNT; op++)
		for (size_t i = 0; i < OP_ARGS_MAX; i++)
			free(c->inputs[op][i]);
	cover_init(c);
}

struct counting {
	uint64_t *partitions;
	uint64_t times;
};

static void cover_count_partition(void *to, size_t partition)
{
	struct counting *counting = to;

	counting->partitions[partition] += counting->times;
}

void cover_value(uint64_t **counts, enum kind kind, const struct arg *value, uint64_t times)
{
	struct counting counting = { .times = times };

	if (!*counts)
		*counts = must_alloc(kind_partitions(kind) * sizeof(**counts));
	counting.partitions = *counts;
	kind_visit_partitions(kind, value, cover_count_partition, &counting);
}

void cover_call(struct cover *c, const struct call *call, uint64_t times)
{
	const struct op_info *info = &op_table[call->op];

	for (unsigned i = 0; i < info->args; i++)
		cover_value(&c->inputs[call->op][i], info->arg[i].kind, &call->arg[i], times);
}

void cover_add(struct cover *c, const struct cover *other)
{
	for (int op = 0; op < OP_COUNT; op++) {
		for (unsigned i = 0; i < op_table[op].args; i++) {
			const uint64_t *counts = other->inputs[op][i];
			size_t partitions = kind_partitions(op_table[op].arg[i].kind);

			if (counts && !c->inputs[op][i])
				c->inputs[op][i] = must_alloc(partitions * sizeof(*counts));
			for (size_t p = 0; counts && p < partitions; p++)
				c->inputs[op][i][p] += counts[p];
		}
		for (int error = 0; error < COVER_ERRNOS; error++)
			c->outputs[op][error] += other->outputs[op][error];
	}
}

uint64_t cover_inputs(const struct cover *c)
{
	uint64_t count = 0;

	for (int op = 0; op < OP_COUNT; op++)
		for (unsigned i = 0; i < op_table[op].args; i++)
			for (size_t p = 0;
			     c->inputs[op][i] && p < kind_partitions(op_table[op].arg[i].kind); p++)
				count += c->inputs[op][i][p] > 0;
	return count;
}

uint64_t cover_outcomes(const struct cover *c)
{
	uint64_t count = 0;

	for (int op = 0; op < OP_COUNT; op++)
		for (int error = 0; error < COVER_ERRNOS; error++)
			count += c->outputs[op][error] > 0;
	return count;
}

enum op cover_result(const struct call *call)
{
	bool removes = call->op == OP_unlinkat && call->arg[2].num == AT_REMOVEDIR;

	return removes ? OP_rmdir : call->op;
}

void cover_outcome(struct cover *c, enum op op, int error, uint64_t times)
{
	if (error >= 0 && error < COVER_ERRNOS)
		c->outputs[op][error] += times;
}
