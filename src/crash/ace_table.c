/* ace_table.c -- the rows of ace.def, and all uses of operations that follow from them. */
#include "crash/ace_table.h"

#include <linux/falloc.h>

#include "base/must.h"

const struct ace_path_info ace_paths[ACE_PATHS] = {
#define ACE_PATH(NAME, text, PARENT, SIBLING, roles, nested) \
	{ text, ACE_##PARENT, ACE_##SIBLING, roles, nested },
#include "crash/ace.def"
};

const struct ace_op_info ace_ops[ACE_OPS] = {
#define ACE_OP(name, first, second, modes, ranges, align, needs) \
	{ #name, first, second, SET_##modes, SET_##ranges, align, needs },
#include "crash/ace.def"
};

static const struct ace_mode ace_modes[] = {
#define ACE_MODE(SET, name, mode) { SET_##SET, name, mode },
#include "crash/ace.def"
};

static const struct ace_range ace_ranges[] = {
#define ACE_RANGE(SET, name, from_end, shift, length, needs, drawn) \
	{ SET_##SET, name, from_end, shift, length, needs, DRAWN_##drawn },
#include "crash/ace.def"
};

struct use_list {
	struct ace_use *uses;
	size_t count;
};

bool ace_is_dir(enum ace_path path)
{
	return path == ACE_ROOT || ace_paths[path].roles & (DIR_1 | DIR_2);
}

static void uses_add(struct use_list *list, const struct ace_use *use)
{
	must(list->count < ACE_USES_MAX);
	list->uses[list->count++] = *use;
}

static void uses_add_ranges(struct use_list *list, struct ace_use use)
{
	enum ace_set set = ace_ops[use.op].ranges;

	if (set == SET_NONE)
		uses_add(list, &use);
	for (size_t i = 0; i < ARRAY_LEN(ace_ranges); i++) {
		use.range = &ace_ranges[i];
		if (use.range->set == set)
			uses_add(list, &use);
	}
}

static void uses_add_modes(struct use_list *list, struct ace_use use)
{
	enum ace_set set = ace_ops[use.op].modes;

	if (set == SET_NONE)
		uses_add_ranges(list, use);
	for (size_t i = 0; i < ARRAY_LEN(ace_modes); i++) {
		use.mode = &ace_modes[i];
		if (use.mode->set == set)
			uses_add_ranges(list, use);
	}
}

/* No directory can move into itself. */
static bool path_lies_in(enum ace_path path, enum ace_path dir)
{
	for (; path != ACE_ROOT; path = ace_paths[path].parent)
		if (path == dir)
			return true;
	return false;
}

static bool path_is_operand(enum ace_path path, unsigned roles, bool nested)
{
	return ace_paths[path].roles & roles && (nested || !ace_paths[path].nested);
}

static void uses_add_pairs(struct use_list *list, struct ace_use use, bool nested)
{
	enum ace_path first = use.paths[0];

	for (enum ace_path path = 0; path < ACE_PATHS; path++) {
		if (!path_is_operand(path, ace_ops[use.op].second, nested) ||
		    ace_is_dir(path) != ace_is_dir(first) || path_lies_in(path, first))
			continue;
		use.paths[1] = path;
		uses_add_modes(list, use);
	}
}

size_t ace_uses(bool nested, struct ace_use ret[ACE_USES_MAX])
{
	struct use_list list = { .uses = ret };

	for (enum ace_op op = 0; op < ACE_OPS; op++) {
		for (enum ace_path path = 0; path < ACE_PATHS; path++) {
			struct ace_use use = { .op = op, .paths = { path, ACE_NO_PATH } };

			if (!path_is_operand(path, ace_ops[op].first, nested))
				continue;
			if (ace_ops[op].second)
				uses_add_pairs(&list, use, nested);
			else
				uses_add_modes(&list, use);
		}
	}
	return list.count;
}
