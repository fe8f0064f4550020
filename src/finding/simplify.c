/* simplify.c -- applies the candidates that a kind has for a simpler value. */
#include "finding/simplify.h"

#include <string.h>

#include "op/kind.h"

void simplify_start(struct simplify *s, const struct call *base, size_t count)
{
	s->base = base;
	s->count = count;
	s->calls = arena_alloc(&s->arena, (count + 1) * sizeof(*s->calls));
}

void simplify_end(struct simplify *s)
{
	arena_free(&s->arena);
}

/* A count that shrinks takes the data of its call along. */
static void simplify_fit_data(struct call *c, int64_t count)
{
	const struct op_info *info = &op_table[c->op];

	for (unsigned i = 0; i < info->args; i++)
		if (kind_table[info->arg[i].kind]->form == FORM_DATA && c->arg[i].len > count)
			c->arg[i].len = (uint32_t)count;
}

/* The same path means the same object everywhere, so it changes everywhere. */
static void simplify_replace_path(struct simplify *s, const char *from, const struct arg *to)
{
	const struct op_info *info;
	struct arg *arg;

	for (size_t i = 0; i < s->count; i++) {
		info = &op_table[s->calls[i].op];
		for (unsigned j = 0; j < info->args; j++) {
			arg = &s->calls[i].arg[j];
			if (kind_table[info->arg[j].kind]->is_path && arg->text &&
			    !strcmp(arg->text, from))
				*arg = *to;
		}
	}
}

/* Applies candidate i of the present argument. Sets *ret_changed; false beyond the last. */
static bool simplify_apply(struct simplify *s, size_t i, bool *ret_changed)
{
	struct call *c = &s->calls[s->call];
	enum kind kind = op_table[c->op].arg[s->arg].kind;
	const struct kind_info *info = kind_table[kind];
	const struct arg before = c->arg[s->arg];
	struct arg simpler = { 0 };

	if (!info->simpler || !info->simpler(info, c->op, &before, i, &s->arena, &simpler))
		return false;
	*ret_changed = !arg_equal(&before, &simpler, kind);
	if (info->is_path)
		simplify_replace_path(s, before.text, &simpler);
	c->arg[s->arg] = simpler;
	if (info->sizes_data)
		simplify_fit_data(c, simpler.num);
	return true;
}

static bool simplify_next_argument(struct simplify *s)
{
	s->next = 0;
	if (s->call < s->count && s->arg + 1 < op_table[s->base[s->call].op].args) {
		s->arg++;
		return true;
	}
	s->arg = 0;
	while (++s->call < s->count)
		if (op_table[s->base[s->call].op].args)
			return true;
	return false;
}

bool simplify_next(struct simplify *s)
{
	bool changed;

	if (s->call >= s->count)
		return false;
	do {
		memcpy(s->calls, s->base, s->count * sizeof(*s->calls));
		while (s->arg < op_table[s->base[s->call].op].args &&
		       simplify_apply(s, s->next, &changed)) {
			s->next++;
			if (changed)
				return true;
		}
	} while (simplify_next_argument(s));
	return false;
}
