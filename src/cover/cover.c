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
