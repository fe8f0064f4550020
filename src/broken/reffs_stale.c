/* reffs_stale.c -- a RefFS with a cache of attributes that is not kept up to date.
 *
 * The cache has one entry, which another file takes over unless it is out of date. The memory has
 * the file, the size that is cached, and by which name it was asked for; of a fault that shows
 * late, whether it was waited for. */
#include "broken/reffs_stale.h"

#include <string.h>

#include "base/hash.h"
#include "base/must.h"

const struct stale_fault stale_fault_table[] = {
	{ .name = "stale_link",
	  .text = "stat by a name does not see a change by another name until a listing",
	  .fills = STALE_LOOK_STAT,
	  .shows = STALE_LOOK_STAT,
	  .cures = STALE_LOOK_LIST,
	  .by_other_name = true },
	{ .name = "stale_stat",
	  .text = "stat does not see changes since the last stat until a listing",
	  .fills = STALE_LOOK_STAT,
	  .shows = STALE_LOOK_STAT,
	  .cures = STALE_LOOK_LIST },
	{ .name = "stale_list",
	  .text = "stat does not see changes since a listing until the file is opened",
	  .fills = STALE_LOOK_LIST,
	  .shows = STALE_LOOK_STAT,
	  .cures = STALE_LOOK_OPEN },
	{ .name = "stale_open",
	  .text = "stat does not see changes since the last stat until the file is opened",
	  .fills = STALE_LOOK_STAT,
	  .shows = STALE_LOOK_STAT,
	  .cures = STALE_LOOK_OPEN },
	{ .name = "stale_fstat",
	  .text = "fstat does not see changes since the file was opened until stat does",
	  .fills = STALE_LOOK_OPEN,
	  .shows = STALE_LOOK_FSTAT,
	  .cures = STALE_LOOK_STAT },
	{ .name = "stale_late",
	  .text = "stat returns the size of the last stat again after a second",
	  .fills = STALE_LOOK_STAT,
	  .shows = STALE_LOOK_STAT,
	  .cures = STALE_LOOK_LIST | STALE_LOOK_OPEN,
	  .late = true },
	{ .name = "stale_twice",
	  .text = "stat does not see the second of two changes without a look in between",
	  .fills = STALE_LOOK_CHANGE,
	  .shows = STALE_LOOK_STAT,
	  .cures = STALE_LOOK_STAT | STALE_LOOK_FSTAT | STALE_LOOK_LIST },
};
const size_t stale_fault_count = ARRAY_LEN(stale_fault_table);

const struct stale_fault *stale_fault_find(const char *name)
{
	for (size_t i = 0; i < stale_fault_count; i++)
		if (!strcmp(stale_fault_table[i].name, name))
			return &stale_fault_table[i];
	return NULL;
}

static unsigned stale_look_of(const struct call *c)
{
	switch (c->op) {
	case OP_stat:
	case OP_lstat:
	case OP_statx:
		return STALE_LOOK_STAT;
	case OP_fstat:
		return STALE_LOOK_FSTAT;
	case OP_list_dir:
	case OP_readdir:
		return STALE_LOOK_LIST;
	case OP_wait:
		return STALE_LOOK_WAIT;
	case OP_read_file:
	case OP_write_file:
	case OP_inspect_file:
		return STALE_LOOK_OPEN;
	default:
		return call_is(c, OP_open) ? STALE_LOOK_OPEN : 0;
	}
}

/* A number for the name that the call uses, 0 for a descriptor. */
static uint64_t stale_name(const struct call *c)
{
	struct call copy = *c;
	const struct arg *path = call_arg(&copy, KIND_PATH);

	return path && path->text ? hash128(path->text, strlen(path->text), 0).lo | 1 : 0;
}

static uint64_t stale_size(const struct faulty *f, uint64_t ino)
{
	return fault_is_file(f, ino) ? fault_inode(f, ino)->size : 0;
}

static void stale_show(const struct stale_fault *fault, struct faulty *f, struct outcome *ret,
		       uint64_t name)
{
	const struct fault_memory *memory = f->memory;

	if (ret->result != RESULT_STAT || (fault->late && memory->to != STALE_LOOK_WAIT) ||
	    (fault->by_other_name && memory->to != name))
		return;
	ret->stat.size = (int64_t)memory->from;
}

/* After a call that was looked by at what is cached, or by which that was changed. */
static void stale_update(const struct stale_fault *fault, struct faulty *f, const struct call *c,
			 unsigned look, bool changed)
{
	struct fault_memory *memory = f->memory;
	uint64_t ino = look == STALE_LOOK_LIST ? fault_next_file(f, 0) : call_subject(f, c);
	bool about = ino && ino == memory->ino;

	if (changed)
		look |= STALE_LOOK_CHANGE;
	if ((about && look & fault->cures && !changed) ||
	    (about && changed && fault->by_other_name && memory->to == stale_name(c)) ||
	    !fault_is_file(f, memory->ino))
		*memory = (struct fault_memory){ 0 };
	if (look & fault->fills && fault_is_file(f, ino) &&
	    memory->from == stale_size(f, memory->ino))
		*memory = (struct fault_memory){ ino, stale_size(f, ino), stale_name(c) };
	if (look & STALE_LOOK_WAIT && fault->late)
		memory->to = STALE_LOOK_WAIT;
}

void stale_fault_run(const struct stale_fault *fault, struct faulty *f, const struct call *c,
		     struct outcome *ret)
{
	uint64_t ino = call_subject(f, c), before = stale_size(f, ino);
	unsigned look = stale_look_of(c);

	fault_pass(f, c, ret);
	if (ret->error)
		return;
	if (ino && ino == f->memory->ino && look & fault->shows)
		stale_show(fault, f, ret, stale_name(c));
	stale_update(fault, f, c, look, ino && stale_size(f, ino) != before);
}
