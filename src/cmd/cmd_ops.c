/* cmd_ops.c -- `assay ops`: the table of operations. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/must.h"
#include "cli/command.h"
#include "op/kind.h"
#include "op/op.h"

static struct {
	bool json;
} settings;

static const struct opt opts[] = {
	{ .name = "json",
	  .type = OPT_FLAG,
	  .offset = offsetof(typeof(settings), json),
	  .help = "prints an array of objects" },
	OPT_END,
};

static const char *const result_names[] = {
	[RESULT_NONE] = "none",     [RESULT_NUM] = "num",       [RESULT_FD] = "fd",
	[RESULT_BYTES] = "bytes",   [RESULT_STAT] = "stat",     [RESULT_NAME] = "name",
	[RESULT_PERM] = "perm",     [RESULT_STATFS] = "statfs", [RESULT_NAMES] = "names",
	[RESULT_TARGET] = "target",
};

static const char *const trait_names[] = {
	"names", "data", "attr", "alloc", "sync", "opens", "env", "proc", "meta",
};

static json_t *op_traits_json(unsigned traits)
{
	json_t *array = json_array();

	for (size_t i = 0; i < ARRAY_LEN(trait_names); i++)
		if (traits & 1u << i)
			json_array_append_new(array, json_string(trait_names[i]));
	return array;
}

static json_t *args_json(const struct op_info *info)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < info->args; i++)
		json_array_append_new(array,
				      json_pack("{s:s, s:s}", "name", info->arg[i].name, "kind",
						kind_table[info->arg[i].kind]->name));
	return array;
}

static void print_json(void)
{
	json_t *array = json_array(), *object;

	for (const struct op_info *info = op_table; info < op_table + OP_COUNT; info++) {
		object = json_pack("{s:s, s:s, s:s, s:o, s:o}", "name", info->name, "base",
				   op_table[info->base].name, "result", result_names[info->result],
				   "traits", op_traits_json(info->traits), "args", args_json(info));
		json_array_append_new(array, object);
	}
	json_dumpf(array, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(array);
}

static void print_op_row(const struct op_info *info, struct buf *out)
{
	const char *separator = "";

	buf_addf(out, "%-18s %-18s %-8s ", info->name, op_table[info->base].name,
		 result_names[info->result]);
	for (size_t i = 0; i < ARRAY_LEN(trait_names); i++) {
		if (!(info->traits & 1u << i))
			continue;
		buf_addf(out, "%s%s", separator, trait_names[i]);
		separator = ",";
	}
	buf_adds(out, *separator ? "  (" : "-  (");
	for (unsigned i = 0; i < info->args; i++)
		buf_addf(out, "%s%s %s", i ? ", " : "", kind_table[info->arg[i].kind]->name,
			 info->arg[i].name);
	buf_adds(out, ")\n");
}

static void print_op_table(void)
{
	struct buf out = BUF_INIT;

	buf_addf(&out, "%-18s %-18s %-8s %s\n", "NAME", "BASE", "RESULT", "TRAITS  (ARGUMENTS)");
	for (const struct op_info *info = op_table; info < op_table + OP_COUNT; info++)
		print_op_row(info, &out);
	fputs(out.data, stdout);
	buf_free(&out);
}

static int run_ops(int argc, char **argv, struct err *err)
{
	if (argc > 1) {
		err_set(err, EINVAL, "%s: unexpected operand", argv[1]);
		return EXIT_USAGE;
	}
	if (settings.json)
		print_json();
	else
		print_op_table();
	return EXIT_CLEAN;
}

const struct command command_ops = {
	.name = "ops",
	.usage = "",
	.summary = "list the operations",
	.text = "Lists every operation of scripts and searches: the call that its coverage\n"
		"counts for, its result, its traits, and its arguments with their kinds.",
	.opts = opts,
	.settings = &settings,
	.reads_only = true,
	.run = run_ops,
};
