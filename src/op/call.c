/* call.c -- calls and outcomes as values: equal, copied. */
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "op/kind.h"
#include "op/op.h"

bool call_equal(const struct call *a, const struct call *b)
{
	const struct op_info *info = &op_table[a->op];

	if (a->op != b->op || a->pid != b->pid)
		return false;
	for (unsigned i = 0; i < info->args; i++)
		if (!arg_equal(&a->arg[i], &b->arg[i], info->arg[i].kind))
			return false;
	return true;
}

struct call call_copy(const struct call *c, struct arena *arena)
{
	const struct op_info *info = &op_table[c->op];
	struct call copy = *c;

	for (unsigned i = 0; i < info->args; i++)
		copy.arg[i] = arg_copy(&c->arg[i], info->arg[i].kind, arena);
	return copy;
}

uint64_t call_extent(const struct call *c)
{
	const struct op_info *info = &op_table[c->op];
	uint64_t sum = 0;

	for (unsigned i = 0; i < info->args; i++)
		if (kind_table[info->arg[i].kind]->is_extent && c->arg[i].num > 0 &&
		    __builtin_add_overflow(sum, (uint64_t)c->arg[i].num, &sum))
			return UINT64_MAX;
	return sum;
}

static bool stat_field_same(int64_t a, int64_t b)
{
	return a == b || a == STAT_UNKNOWN || b == STAT_UNKNOWN;
}

static bool modes_equal(uint32_t a, uint32_t b)
{
	return (a | b) & STAT_TYPE_ONLY ? (a & S_IFMT) == (b & S_IFMT) : a == b;
}

static bool stat_equal(const struct stat_result *a, const struct stat_result *b)
{
	bool device = S_ISCHR(a->mode) || S_ISBLK(a->mode);

	return modes_equal(a->mode, b->mode) && stat_field_same(a->nlink, b->nlink) &&
	       stat_field_same(a->uid, b->uid) && stat_field_same(a->gid, b->gid) &&
	       stat_field_same(a->size, b->size) && stat_field_same(a->blocks, b->blocks) &&
	       (!device || stat_field_same(a->rdev, b->rdev)) &&
	       stat_field_same(a->atime, b->atime) && stat_field_same(a->mtime, b->mtime) &&
	       stat_field_same(a->ctime, b->ctime) && stat_field_same(a->btime, b->btime);
}

static bool statfs_equal(const struct statfs_result *a, const struct statfs_result *b)
{
	return stat_field_same(a->bsize, b->bsize) && stat_field_same(a->blocks, b->blocks) &&
	       stat_field_same(a->bfree, b->bfree) && stat_field_same(a->bavail, b->bavail) &&
	       stat_field_same(a->files, b->files) && stat_field_same(a->ffree, b->ffree) &&
	       stat_field_same(a->namelen, b->namelen);
}

bool outcome_equal(const struct outcome *a, const struct outcome *b)
{
	if (a->error || b->error)
		return a->error == b->error;
	if (a->result != b->result)
		return false;
	switch (a->result) {
	case RESULT_NONE:
		return true;
	case RESULT_NUM:
	case RESULT_FD:
	case RESULT_PERM:
		return a->num == b->num;
	case RESULT_STAT:
		return stat_equal(&a->stat, &b->stat);
	case RESULT_STATFS:
		return statfs_equal(&a->statfs, &b->statfs);
	case RESULT_BYTES:
	case RESULT_NAME:
	case RESULT_NAMES:
	case RESULT_TARGET:
		break;
	}
	return a->end == b->end && a->len == b->len &&
	       (!a->len || !memcmp(a->bytes, b->bytes, a->len));
}

struct outcome outcome_copy(const struct outcome *o, struct arena *arena)
{
	struct outcome copy = *o;

	if (o->bytes)
		copy.bytes = arena_copy(arena, o->bytes, o->len);
	return copy;
}
