/* reffs_times.c -- a RefFS whose times are wrong. */
#include "broken/reffs_times.h"

#include <string.h>

#include "base/must.h"

const struct time_fault time_fault_table[] = {
	{ "time_chmod", "chmod leaves the change time", OP_chmod, false, false, TIME_BIT_CHANGE },
	{ "time_write", "write leaves the modification time", OP_write, false, false,
	  TIME_BIT_MODIFY },
	{ "time_truncate", "truncate leaves the modification and change times", OP_truncate, false,
	  false, TIME_BIT_MODIFY | TIME_BIT_CHANGE },
	{ "time_link", "link leaves the change time of the file", OP_link, false, false,
	  TIME_BIT_CHANGE },
	{ "time_unlink", "unlink leaves the times of the directory", OP_unlink, true, false,
	  TIME_BIT_MODIFY | TIME_BIT_CHANGE },
	{ "time_mkdir", "mkdir leaves the modification time of the directory", OP_mkdir, true,
	  false, TIME_BIT_MODIFY },
	{ "time_read", "read sets the modification time", OP_read, false, true, TIME_BIT_MODIFY },
	{ "time_setxattr", "setxattr sets the modification time", OP_setxattr, false, true,
	  TIME_BIT_MODIFY },
};
const size_t time_fault_count = ARRAY_LEN(time_fault_table);

const struct time_fault *time_fault_find(const char *name)
{
	for (size_t i = 0; i < time_fault_count; i++)
		if (!strcmp(time_fault_table[i].name, name))
			return &time_fault_table[i];
	return NULL;
}

static void put_times(struct faulty *f, uint64_t ino, unsigned which,
		      const struct inode_times *times)
{
	struct inode *inode = fault_edit(f, ino);

	if (which & TIME_BIT_ACCESS)
		inode->times.access = times->access;
	if (which & TIME_BIT_MODIFY)
		inode->times.modify = times->modify;
	if (which & TIME_BIT_CHANGE)
		inode->times.change = times->change;
	fault_settle(f);
}

void time_fault_run(const struct time_fault *fault, struct faulty *f, const struct call *c,
		    struct outcome *ret)
{
	struct inode_times times = { 0 };
	uint64_t ino = 0;

	if (call_is(c, fault->base))
		ino = fault->of_directory ? call_place(f, c, 0).dir : call_subject(f, c);
	if (fault_inode(f, ino))
		times = fault_inode(f, ino)->times;
	fault_pass(f, c, ret);
	if (ret->error || !fault_inode(f, ino))
		return;
	if (fault->sets)
		times = (struct inode_times){ f->state->now, f->state->now, f->state->now,
					      f->state->now };
	put_times(f, ino, fault->times, &times);
}
