/* cover.c -- counting partitions, and telling the counts by base call. */
#include "cover/cover.h"

#include <stdlib.h>

#include "base/buf.h"
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

struct count {
	uint64_t *partitions;
	uint64_t times;
};

static void count_partition(void *to, size_t partition)
{
	struct count *count = to;

	count->partitions[partition] += count->times;
}

void cover_call(struct cover *c, const struct call *call, uint64_t times)
{
	const struct op_info *info = &op_table[call->op];
	struct count count = { .times = times };
	uint64_t **slot;

	for (unsigned i = 0; i < info->args; i++) {
		slot = &c->inputs[call->op][i];
		if (!*slot)
			*slot = must_alloc(kind_partitions(info->arg[i].kind) * sizeof(**slot));
		count.partitions = *slot;
		kind_visit_partitions(info->arg[i].kind, &call->arg[i], count_partition, &count);
	}
}

void cover_outcome(struct cover *c, enum op op, int error, uint64_t times)
{
	if (error >= 0 && error < COVER_ERRNOS)
		c->outputs[op][error] += times;
}

/* The member object of that name, made where absent. */
static json_t *member(json_t *parent, const char *name)
{
	json_t *child = json_object_get(parent, name);

	if (!child) {
		child = json_object();
		json_object_set_new(parent, name, child);
	}
	return child;
}

static void add_to(json_t *object, const char *key, uint64_t count)
{
	json_int_t before = json_integer_value(json_object_get(object, key));

	json_object_set_new(object, key, json_integer(before + (json_int_t)count));
}

static void add_input(json_t *argument, enum kind kind, const uint64_t *partitions)
{
	struct buf name = BUF_INIT;

	for (size_t p = 0; p < kind_partitions(kind); p++) {
		buf_clear(&name);
		kind_partition_name(kind, p, &name);
		add_to(argument, buf_str(&name), partitions[p]);
	}
	buf_free(&name);
}

json_t *cover_json(const struct cover *c)
{
	json_t *o = json_object(), *input = member(o, "input"), *output = member(o, "output");
	const struct op_info *info;
	const char *base;

	for (size_t op = 0; op < OP_COUNT; op++) {
		info = &op_table[op];
		base = op_table[info->base].name;
		for (unsigned i = 0; i < info->args; i++)
			if (c->inputs[op][i])
				add_input(member(member(input, base), info->arg[i].name),
					  info->arg[i].kind, c->inputs[op][i]);
		for (int error = 0; error < COVER_ERRNOS; error++)
			if (c->outputs[op][error])
				add_to(member(output, base), error ? errno_name(error) : "success",
				       c->outputs[op][error]);
	}
	return o;
}
