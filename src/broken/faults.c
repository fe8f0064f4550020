/* faults.c -- the table of faults, and what they are made with. */
#include "broken/faults.h"

#include <fcntl.h>
#include <string.h>

#include "base/must.h"

const struct fault_info fault_table[] = {
#define FAULT(name, text, script) { #name, text, script, fault_##name },
#include "broken/faults.def"
#undef FAULT
};
const size_t fault_count = ARRAY_LEN(fault_table);

const struct fault_info *fault_find(const char *name)
{
	for (size_t i = 0; i < fault_count; i++)
		if (!strcmp(fault_table[i].name, name))
			return &fault_table[i];
	return NULL;
}

void fault_pass(struct faulty *f, const struct call *c, struct outcome *ret)
{
	model_run(f->model, f->state, c, ret);
}

void fault_pass_undone(struct faulty *f, const struct call *c, struct outcome *ret, bool undone)
{
	struct state before = state_copy(f->state);

	fault_pass(f, c, ret);
	if (undone && !ret->error) {
		state_free(f->state);
		*f->state = before;
	} else {
		state_free(&before);
	}
}

void fault_confuse(struct faulty *f, const struct call *c, struct outcome *ret, enum op base,
		   int right, int wrong)
{
	fault_pass(f, c, ret);
	if (call_is(c, base) && ret->error == right)
		ret->error = wrong;
}

void fault_settle(struct faulty *f)
{
	tree_settle(&f->state->tree);
}

bool call_is(const struct call *c, enum op base)
{
	return op_table[c->op].base == base;
}

/* Position of the nth argument of this kind, -1 if there is none. */
static int find_arg(const struct call *c, enum kind kind, unsigned nth)
{
	const struct op_info *op = &op_table[c->op];

	for (unsigned i = 0; i < op->args; i++)
		if (op->arg[i].kind == kind && nth-- == 0)
			return (int)i;
	return -1;
}

struct arg *call_arg(struct call *c, enum kind kind)
{
	int at = find_arg(c, kind, 0);

	return at < 0 ? NULL : &c->arg[at];
}

int64_t call_num(const struct call *c, enum kind kind)
{
	int at = find_arg(c, kind, 0);

	return at < 0 ? 0 : c->arg[at].num;
}

struct call call_without(const struct call *c, enum kind kind, int64_t bits)
{
	struct call changed = *c;
	struct arg *arg = call_arg(&changed, kind);

	if (arg)
		arg->num &= ~bits;
	return changed;
}

/* Asks the model itself, on a copy, so that resolution is the real one. */
static uint64_t lookup(struct faulty *f, unsigned pid, int64_t dirfd, struct arg path, bool follow)
{
	struct call c = { .op = OP_statx, .pid = (uint16_t)pid };
	struct state copy = state_copy(f->state);
	struct outcome seen;
	uint64_t ino;

	c.statx.dirfd.num = dirfd;
	c.statx.path = path;
	c.statx.flags.num = follow ? 0 : AT_SYMLINK_NOFOLLOW;
	c.statx.mask.num = STATX_BASIC_STATS;
	model_run(f->model, &copy, &c, &seen);
	ino = seen.error ? 0 : (uint64_t)seen.stat.ino;
	state_free(&copy);
	return ino;
}

static int64_t dirfd_of(const struct call *c, int path_at)
{
	const struct op_info *op = &op_table[c->op];

	if (path_at > 0 && op->arg[path_at - 1].kind == KIND_DIRFD)
		return c->arg[path_at - 1].num;
	return AT_FDCWD;
}

uint64_t call_names(struct faulty *f, const struct call *c, unsigned nth, bool follow)
{
	int at = find_arg(c, KIND_PATH, nth);

	if (at < 0 || !c->arg[at].text)
		return 0;
	return lookup(f, c->pid, dirfd_of(c, at), c->arg[at], follow);
}

uint64_t call_subject(struct faulty *f, const struct call *c)
{
	int at = find_arg(c, KIND_FD, 0);
	const struct open_file *file;

	if (at < 0)
		return call_names(f, c, 0, true);
	file = state_file(f->state, c->pid, c->arg[at].num);
	return file ? file->ino : 0;
}

struct place call_place(struct faulty *f, const struct call *c, unsigned nth)
{
	int at = find_arg(c, KIND_PATH, nth);
	struct place place = { 0 };
	struct arg parent = { .text = ".", .len = 1 };
	const char *text = at < 0 ? NULL : c->arg[at].text, *slash;
	const struct inode *directory_inode;
	char directory[4096];

	if (!text || !*text || text[strlen(text) - 1] == '/' || strlen(text) >= sizeof(directory))
		return place;
	slash = strrchr(text, '/');
	place.name = slash ? slash + 1 : text;
	place.len = strlen(place.name);
	if (slash) {
		memcpy(directory, text, (size_t)(place.name - text));
		directory[place.name - text] = '\0';
		parent = (struct arg){ .text = directory, .len = (uint32_t)(place.name - text) };
	}
	place.dir = lookup(f, c->pid, dirfd_of(c, at), parent, true);
	directory_inode = fault_inode(f, place.dir);
	if (!directory_inode || !S_ISDIR(directory_inode->mode))
		place.dir = 0;
	return place;
}

struct inode *fault_edit(struct faulty *f, uint64_t ino)
{
	return tree_edit(&f->state->tree, ino);
}

const struct inode *fault_inode(const struct faulty *f, uint64_t ino)
{
	return ino ? tree_inode(&f->state->tree, ino) : NULL;
}

bool fault_is_file(const struct faulty *f, uint64_t ino)
{
	const struct inode *inode = fault_inode(f, ino);

	return inode && S_ISREG(inode->mode);
}

uint64_t fault_next_file(const struct faulty *f, uint64_t ino)
{
	while (++ino < f->state->tree.next_ino)
		if (fault_is_file(f, ino) && fault_inode(f, ino)->nlink)
			return ino;
	return 0;
}
