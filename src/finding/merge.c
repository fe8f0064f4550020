/* merge.c -- calls that only give an object another name or place, or make a process or descriptor
 * that another can replace, done without.
 *
 * After rename(a, b), link(a, b) or symlink(a, b), what follows can name a where it named b, or
 * what precedes can name b where it named a; after an exchange, what follows can name each where
 * it named the other. Without a directory, what was in it can be in the one above, under a name
 * that is not taken. Without a process, process 1 makes its calls; without a descriptor, those
 * opened later have smaller numbers, and the next opening of the file may have to make it. */
#include "finding/merge.h"

#include <fcntl.h>
#include <string.h>

#include "op/kind.h"

struct calls {
	struct call *calls;
	size_t count;
	struct arena *arena;
};

static bool is_path(const struct call *c, unsigned i)
{
	enum kind kind = op_table[c->op].arg[i].kind;

	return kind_table[kind]->is_path && c->arg[i].text;
}

/* The n-th path of a call, NULL if there is none. */
static const char *nth_path(const struct call *c, unsigned n)
{
	for (unsigned i = 0; i < op_table[c->op].args; i++)
		if (is_path(c, i) && n-- == 0)
			return c->arg[i].text;
	return NULL;
}

/* `path` with its beginning `from` read as `to`; NULL where it does not begin so. */
static const char *rebase(struct arena *arena, const char *path, const char *from, const char *to)
{
	size_t len = strlen(from), to_len = strlen(to), rest;
	char *text;

	if (strncmp(path, from, len) || (path[len] && path[len] != '/'))
		return NULL;
	rest = strlen(path + len);
	text = arena_alloc(arena, to_len + rest + 1);
	memcpy(text, to, to_len);
	memcpy(text + to_len, path + len, rest);
	return text;
}

/* In calls [first, last), whatever lies at or below `from` is named as if it lay at `to`. */
static void replace(struct calls *c, size_t first, size_t last, const char *from, const char *to)
{
	const char *text;

	for (size_t i = first; i < last; i++)
		for (unsigned j = 0; j < op_table[c->calls[i].op].args; j++) {
			struct arg *arg = &c->calls[i].arg[j];

			if (!is_path(&c->calls[i], j))
				continue;
			text = rebase(c->arena, arg->text, from, to);
			if (!text)
				continue;
			arg->text = text;
			arg->len = (uint32_t)strlen(text);
		}
}

static bool is_taken(const struct calls *c, const char *name)
{
	const char *path;

	for (size_t i = 0; i < c->count; i++)
		for (unsigned n = 0; (path = nth_path(&c->calls[i], n)); n++)
			if (strstr(path, name))
				return true;
	return false;
}

/* Everything in `dir` moves to the directory above, under names that are not taken. */
static void flatten(struct calls *c, const char *dir)
{
	size_t len = strlen(dir);
	const char *path;
	char name[2] = "f";

	for (size_t i = 0; i < c->count; i++)
		for (unsigned n = 0; (path = nth_path(&c->calls[i], n)); n++) {
			if (strncmp(path, dir, len) || path[len] != '/' ||
			    strchr(path + len + 1, '/'))
				continue;
			while (is_taken(c, name) && name[0] < 'z')
				name[0]++;
			replace(c, 0, c->count, path, arena_strdup(c->arena, name));
		}
}

static bool gives_a_name(enum op op)
{
	enum op base = op_table[op].base;

	return base == OP_rename || base == OP_link || base == OP_symlink;
}

/* What a symbolic link leads to: its contents, seen from the directory it lies in. */
static const char *resolve(struct arena *arena, const char *contents, const char *link)
{
	const char *slash = strrchr(link, '/');
	size_t dir = slash ? (size_t)(slash + 1 - link) : 0, len = strlen(contents);
	char *path;

	if (contents[0] == '/')
		return contents;
	path = arena_alloc(arena, dir + len + 1);
	memcpy(path, link, dir);
	memcpy(path + dir, contents, len);
	return path;
}

/* Process 1 makes the calls of another one. */
static void merge_processes(struct calls *c, size_t first, unsigned pid)
{
	for (size_t i = first; i < c->count; i++)
		if (c->calls[i].pid == pid)
			c->calls[i].pid = 1;
}

static bool is_descriptor(enum kind kind)
{
	return kind == KIND_FD || kind == KIND_DIRFD;
}

enum { DESCRIPTORS_MAX = 64, NO_DESCRIPTOR = -1 };

/* The descriptors of a process, if all its calls succeed: those that are free with and without one
 * of them, and what each is without it. */
struct renumbering {
	uint64_t unused_with, unused_without;
	int64_t without[DESCRIPTORS_MAX];
};

static int64_t take_lowest(uint64_t *unused)
{
	int64_t fd = *unused ? __builtin_ctzll(*unused) : 0;

	*unused &= *unused - 1;
	return fd;
}

static bool is_numbered(int64_t fd)
{
	return fd >= 0 && fd < DESCRIPTORS_MAX;
}

/* False: it closes the one that is not there. */
static bool renumber_call(struct renumbering *r, struct call *c)
{
	const struct op_info *op = &op_table[c->op];

	for (unsigned i = 0; i < op->args; i++) {
		int64_t fd = c->arg[i].num;

		if (!is_descriptor(op->arg[i].kind) || !is_numbered(fd))
			continue;
		if (c->op == OP_close)
			r->unused_with |= 1ull << fd;
		if (r->without[fd] == NO_DESCRIPTOR)
			return c->op != OP_close;
		c->arg[i].num = r->without[fd];
		if (c->op == OP_close)
			r->unused_without |= 1ull << c->arg[i].num;
	}
	if (op->result == RESULT_FD && c->op != OP_dup2)
		r->without[take_lowest(&r->unused_with)] = take_lowest(&r->unused_without);
	return true;
}

/* The process of call i does without the descriptor that this would give. */
static void renumber_descriptors(struct calls *c, const struct call *calls, size_t count, size_t i)
{
	struct renumbering r = { ~7ull, ~7ull, { 0 } }; /* those below are the process's own */

	for (int64_t fd = 0; fd < DESCRIPTORS_MAX; fd++)
		r.without[fd] = fd;
	c->count = 0;
	for (size_t j = 0; j < count; j++) {
		struct call call = calls[j];

		if (j == i)
			r.without[take_lowest(&r.unused_with)] = NO_DESCRIPTOR;
		else if (call.pid != calls[i].pid || renumber_call(&r, &call))
			c->calls[c->count++] = call;
	}
}

/* The flags that a call opens its path with; NULL: it opens none. */
static int64_t *open_flags(struct call *c)
{
	for (unsigned i = 0; i < op_table[c->op].args; i++)
		if (op_table[c->op].arg[i].kind == KIND_OPEN_FLAGS)
			return &c->arg[i].num;
	return NULL;
}

/* The next opening of a path makes the file. */
static bool make_later(struct calls *c, size_t first, const char *path)
{
	for (size_t i = first; i < c->count; i++) {
		const char *opened = nth_path(&c->calls[i], 0);
		int64_t *flags = open_flags(&c->calls[i]);

		if (!flags || !opened || strcmp(opened, path) != 0)
			continue;
		*flags |= O_CREAT;
		return true;
	}
	return false;
}

bool merge_call(const struct call *calls, size_t count, size_t i, unsigned way, struct call *ret,
		size_t *ret_count, struct arena *arena)
{
	struct calls c = { ret, count - 1, arena };
	const char *from = nth_path(&calls[i], 0), *to = nth_path(&calls[i], 1);

	if (i + 1 == count || (!from && way < MERGE_WITHOUT_PATHS))
		return false;
	memcpy(ret, calls, i * sizeof(*ret));
	memcpy(ret + i, calls + i + 1, (count - i - 1) * sizeof(*ret));
	*ret_count = c.count;
	if (to && op_table[calls[i].op].base == OP_symlink)
		from = resolve(arena, from, to);
	switch (way) {
	case 0:
		if (!gives_a_name(calls[i].op) || !to)
			return false;
		replace(&c, i, c.count, to, from);
		return true;
	case 1:
		if (!gives_a_name(calls[i].op) || !to)
			return false;
		replace(&c, 0, i, from, to);
		return true;
	case 2:
		if (op_table[calls[i].op].base != OP_mkdir)
			return false;
		flatten(&c, from);
		return true;
	case 3:
		if (op_table[calls[i].op].base != OP_rename || !to)
			return false;
		replace(&c, i, c.count, from, "\1");
		replace(&c, i, c.count, to, from);
		replace(&c, i, c.count, "\1", to);
		return true;
	case MERGE_WITHOUT_PATHS:
		if (calls[i].op != OP_create_process)
			return false;
		merge_processes(&c, i, calls[i].pid);
		return true;
	case MERGE_WITHOUT_PATHS + 1:
		if (op_table[calls[i].op].result != RESULT_FD)
			return false;
		renumber_descriptors(&c, calls, count, i);
		*ret_count = c.count;
		return true;
	case MERGE_WITHOUT_PATHS + 2:
		if (op_table[calls[i].op].result != RESULT_FD || !from)
			return false;
		renumber_descriptors(&c, calls, count, i);
		*ret_count = c.count;
		return make_later(&c, i, from);
	default:
		return false;
	}
}
