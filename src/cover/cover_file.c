/* cover_file.c -- counts as JSON: by base call, and by variant; to files and back. */
#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "cover/cover.h"
#include "cover/nested.h"
#include "op/kind.h"

/* Partitions without a use are written only if `all` is set. */
static void add_input(json_t *argument, enum kind kind, const uint64_t *partitions, bool all)
{
	struct buf name = BUF_INIT;

	for (size_t p = 0; p < kind_partitions(kind); p++) {
		if (!partitions[p] && !all)
			continue;
		buf_clear(&name);
		kind_partition_name(kind, p, &name);
		nested_add(argument, buf_str(&name), partitions[p]);
	}
	buf_free(&name);
}

static void add_op_inputs(json_t *arguments, const struct cover *c, size_t op, bool all)
{
	const struct op_info *info = &op_table[op];

	for (unsigned i = 0; i < info->args; i++)
		if (c->inputs[op][i])
			add_input(nested(arguments, info->arg[i].name), info->arg[i].kind,
				  c->inputs[op][i], all);
}

/* A call without results has none of them. */
static void add_outputs(json_t *parent, const char *name, const struct cover *c, size_t op)
{
	for (int error = 0; error < COVER_ERRNOS; error++)
		if (c->outputs[op][error])
			nested_add(nested(parent, name), error ? errno_name(error) : "success",
				   c->outputs[op][error]);
}

static bool is_made(const struct cover *c, size_t op)
{
	for (int error = 0; error < COVER_ERRNOS; error++)
		if (c->outputs[op][error])
			return true;
	for (unsigned i = 0; i < op_table[op].args; i++)
		if (c->inputs[op][i])
			return true;
	return false;
}

json_t *cover_json(const struct cover *c)
{
	json_t *o = json_object(), *input = nested(o, "input"), *output = nested(o, "output");
	json_t *variants = nested(o, "variants"), *variant;
	const char *base;

	for (size_t op = 0; op < OP_COUNT; op++) {
		if (!is_made(c, op))
			continue;
		base = op_table[op_table[op].base].name;
		variant = nested(variants, op_table[op].name);
		if (op_table[op].args)
			add_op_inputs(nested(input, base), c, op, true);
		add_op_inputs(nested(variant, "input"), c, op, false);
		add_outputs(output, base, c, op);
		add_outputs(variant, "output", c, op);
	}
	return o;
}

json_t *cover_load(const char *path, struct err *err)
{
	json_error_t error;
	json_t *coverage = json_load_file(path, 0, &error);

	if (!coverage) {
		err_set(err, EINVAL, "%s: %s", path, error.text);
		return NULL;
	}
	if (!json_is_object(json_object_get(coverage, "input")) ||
	    !json_is_object(json_object_get(coverage, "output"))) {
		json_decref(coverage);
		err_set(err, EINVAL, "%s is not a coverage file", path);
		return NULL;
	}
	return coverage;
}

static void read_input(uint64_t **counts, enum kind kind, const json_t *argument)
{
	struct buf name = BUF_INIT;
	json_int_t times;

	if (!*counts)
		*counts = must_alloc(kind_partitions(kind) * sizeof(**counts));
	for (size_t p = 0; p < kind_partitions(kind); p++) {
		buf_clear(&name);
		kind_partition_name(kind, p, &name);
		times = json_integer_value(json_object_get(argument, buf_str(&name)));
		(*counts)[p] += times > 0 ? (uint64_t)times : 0;
	}
	buf_free(&name);
}

static void read_output(struct cover *c, size_t op, const json_t *results)
{
	json_int_t times;

	for (int error = 0; error < COVER_ERRNOS; error++) {
		times = json_integer_value(
			json_object_get(results, error ? errno_name(error) : "success"));
		cover_outcome(c, (enum op)op, error, times > 0 ? (uint64_t)times : 0);
	}
}

void cover_add_json(struct cover *c, const json_t *coverage)
{
	json_t *input = json_object_get(coverage, "input"), *arguments, *argument;
	json_t *output = json_object_get(coverage, "output"), *results;
	const struct op_info *info;
	const char *base;

	for (size_t op = 0; op < OP_COUNT; op++) {
		info = &op_table[op];
		base = op_table[info->base].name;
		arguments = json_object_get(input, base);
		for (unsigned i = 0; i < info->args; i++) {
			argument = json_object_get(arguments, info->arg[i].name);
			if (argument)
				read_input(&c->inputs[op][i], info->arg[i].kind, argument);
		}
		results = json_object_get(output, base);
		if (results)
			read_output(c, op, results);
	}
}

int cover_write(const json_t *coverage, const char *dir, struct err *err)
{
	struct buf path = BUF_INIT, text = BUF_INIT;
	char *dump = json_dumps(coverage, JSON_INDENT(1));
	int r;

	must(dump);
	buf_addf(&path, "%s/coverage.json", dir);
	buf_addf(&text, "%s\n", dump);
	r = buf_write_file(&text, buf_str(&path), err);
	free(dump);
	buf_free(&path);
	buf_free(&text);
	return r;
}
