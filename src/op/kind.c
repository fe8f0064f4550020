/* kind.c -- the table of kinds, and what follows from the form of a kind. */
#include "op/kind.h"

#include <string.h>

#include "base/arena.h"
#include "base/lexer.h"
#include "base/must.h"
#include "op/kind_functions.h"

#define KIND(NAME, name) extern const struct kind_info kind_##name;
#include "op/kinds.def"
#undef KIND

#define KIND(NAME, name) &kind_##name,
const struct kind_info *const kind_table[KIND_COUNT_] = {
#include "op/kinds.def"
};
#undef KIND

int kind_find(const char *name)
{
	for (int kind = 0; kind < KIND_COUNT_; kind++)
		if (!strcmp(kind_table[kind]->name, name))
			return kind;
	return -1;
}

int arg_parse(struct arg *ret, enum kind kind, const char *text, struct arena *arena,
	      struct err *err)
{
	struct lexer l;
	int ret_code;

	lex_init(&l, kind_table[kind]->name, arena_strdup(arena, text), err);
	ret_code = arg_lex(&l, kind, ret);
	return ret_code ? ret_code : lex_end(&l);
}

bool arg_equal(const struct arg *a, const struct arg *b, enum kind kind)
{
	if (kind_table[kind]->form == FORM_NUM)
		return a->num == b->num;
	if (a->len != b->len || a->generated != b->generated)
		return false;
	if (a->generated)
		return a->seed == b->seed;
	if (!a->text || !b->text)
		return a->text == b->text;
	return !memcmp(a->text, b->text, a->len);
}

struct arg arg_copy(const struct arg *arg, enum kind kind, struct arena *arena)
{
	struct arg copy = *arg;

	if (kind_table[kind]->form != FORM_NUM && !arg->generated && arg->text)
		copy.text = arena_copy(arena, arg->text, arg->len);
	return copy;
}

bool kind_boundary(enum kind kind, size_t i, bool near, struct arg *ret)
{
	const struct kind_info *info = kind_table[kind];
	int64_t num;

	if (!info->boundary || !info->boundary(info, i, near, &num))
		return false;
	*ret = (struct arg){ .num = num };
	return true;
}

size_t kind_partitions(enum kind kind)
{
	return kind_table[kind]->partitions->count(kind_table[kind]);
}

void kind_partition_name(enum kind kind, size_t partition, struct buf *out)
{
	must(partition < kind_partitions(kind));
	kind_table[kind]->partitions->name(kind_table[kind], partition, out);
}

void kind_visit_partitions(enum kind kind, const struct arg *arg,
			   void (*visit)(void *to, size_t partition), void *to)
{
	kind_table[kind]->partitions->visit(kind_table[kind], arg, visit, to);
}

bool partition_is_wanted(const char *name)
{
	const struct kind_name *row;

	if (!strcmp(name, PARTITION_UNKNOWN))
		return false;
	for (int kind = 0; kind < KIND_COUNT_; kind++) {
		row = name_find(kind_names((enum kind)kind), name, strlen(name));
		if (row && row->foreign)
			return false;
	}
	return true;
}
