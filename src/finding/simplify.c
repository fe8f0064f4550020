/* simplify.c -- candidates for every kind of argument. */
#include "finding/simplify.h"

#include <fcntl.h>
#include <string.h>

#include "op/kind.h"

enum { LETTERS_MAX = 64 };

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

/* Smaller numbers, boldest first. False behind the last candidate, or if none is smaller. */
static bool smaller_number(int64_t num, size_t i, int64_t *ret)
{
	const int64_t candidates[] = { 0, 1, num / 4096 * 4096, num / 512 * 512, num / 2 };

	if (i >= sizeof(candidates) / sizeof(*candidates))
		return false;
	*ret = candidates[i];
	return true;
}

/* The i-th flag taken away; flags are tried from the highest bit down. */
static bool fewer_flags(int64_t num, size_t i, int64_t *ret)
{
	if (i >= 40)
		return false;
	*ret = num & ~((int64_t)1 << (39 - i));
	return true;
}

static bool usual_mode(enum op op, int64_t num, size_t i, int64_t *ret)
{
	if (i > 0 || num == MODE_ABSENT || num == 0755 || num == 0644)
		return false;
	*ret = op == OP_mkdir || op == OP_mkdirat ? 0755 : 0644;
	return true;
}

static bool simpler_number(enum op op, enum kind kind, int64_t num, size_t i, int64_t *ret)
{
	switch (kind) {
	case KIND_OPEN_FLAGS:
		if (!fewer_flags(num, i, ret))
			return false;
		*ret = (*ret & ~O_ACCMODE) | (num & O_ACCMODE);
		return true;
	case KIND_RESOLVE:
	case KIND_FALLOC_MODE:
	case KIND_RENAME_FLAGS:
	case KIND_AT_FLAGS:
	case KIND_ACCESS_FLAGS:
	case KIND_ACCESS_MODE:
	case KIND_XATTR_FLAGS:
	case KIND_STATX_MASK:
	case KIND_RWF_FLAGS:
	case KIND_INODE_FLAGS:
		return fewer_flags(num, i, ret);
	case KIND_MODE:
		return usual_mode(op, num, i, ret);
	case KIND_COUNT:
	case KIND_LENGTH:
	case KIND_OFFSET:
	case KIND_DURATION:
	case KIND_DEV:
		return num > 0 && smaller_number(num, i, ret);
	default:
		return false;
	}
}

/* A count that shrinks takes the data of its call along. */
static void fit_data(struct call *c, int64_t count)
{
	const struct op_info *info = &op_table[c->op];

	for (unsigned i = 0; i < info->args; i++)
		if (kind_table[info->arg[i].kind].form == FORM_DATA && c->arg[i].len > count)
			c->arg[i].len = (uint32_t)count;
}

/* Shorter paths: without the first component, or with the last name cut to its first letter. */
static bool shorter_path(struct simplify *s, const char *path, size_t i, const char **ret)
{
	size_t start = path[0] == '/', first = strcspn(path + start, "/");
	const char *last = strrchr(path, '/');
	size_t keep;

	if (i == 0) {
		*ret = path + start + first;
		if (!(*ret)[0] || !(*ret)[1])
			*ret = path;
		else if (!start)
			++*ret;
		return true;
	}
	keep = last ? (size_t)(last + 1 - path) + 1 : 1;
	if (i > 1 || keep >= strlen(path))
		return false;
	*ret = arena_copy(&s->arena, path, keep);
	return true;
}

/* The same path means the same object everywhere, so it changes everywhere. */
static bool replace_path(struct simplify *s, const char *from, const char *to)
{
	const struct op_info *info;
	struct arg *arg;

	if (!strcmp(from, to))
		return false;
	for (size_t i = 0; i < s->count; i++) {
		info = &op_table[s->calls[i].op];
		for (unsigned j = 0; j < info->args; j++) {
			arg = &s->calls[i].arg[j];
			if ((info->arg[j].kind != KIND_PATH && info->arg[j].kind != KIND_TARGET) ||
			    !arg->text || strcmp(arg->text, from))
				continue;
			arg->text = to;
			arg->len = (uint32_t)strlen(to);
		}
	}
	return true;
}

/* Generated data as plain letters; data that differ by seed still differ. */
static bool plainer_data(struct simplify *s, struct arg *arg)
{
	char *text;

	if (!arg->generated || arg->len > LETTERS_MAX)
		return false;
	text = arena_alloc(&s->arena, arg->len + 1);
	memset(text, 'a' + (int)(arg->seed % 26), arg->len);
	*arg = (struct arg){ .text = text, .len = arg->len };
	return true;
}

/* Applies candidate i of the present argument. Sets *ret_changed; false behind the last. */
static bool apply(struct simplify *s, size_t i, bool *ret_changed)
{
	struct call *c = &s->calls[s->call];
	enum kind kind = op_table[c->op].arg[s->arg].kind;
	struct arg *arg = &c->arg[s->arg];
	const char *path;
	int64_t num;

	*ret_changed = false;
	if (kind == KIND_PATH) {
		if (!arg->text || !shorter_path(s, arg->text, i, &path))
			return false;
		*ret_changed = replace_path(s, arg->text, path);
		return true;
	}
	if (kind_table[kind].form == FORM_DATA)
		return i == 0 && (*ret_changed = plainer_data(s, arg));
	if (kind_table[kind].form != FORM_NUM || !simpler_number(c->op, kind, arg->num, i, &num))
		return false;
	*ret_changed = num != arg->num;
	arg->num = num;
	if (kind == KIND_COUNT)
		fit_data(c, num);
	return true;
}

static bool next_argument(struct simplify *s)
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
		while (s->arg < op_table[s->base[s->call].op].args && apply(s, s->next, &changed)) {
			s->next++;
			if (changed)
				return true;
		}
	} while (next_argument(s));
	return false;
}
