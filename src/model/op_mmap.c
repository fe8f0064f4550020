/* op_mmap.c -- mmap_write: a shared mapping, the file extended to where the data ends, a copy.
 *
 * Writing through a mapping leaves the privilege bits alone; extending the file does not. */
#include "model/io.h"

/* Mappings are of whole pages. Only regular files have a maximum offset. */
static bool maps_too_far(const struct inode *inode, uint64_t count, uint64_t offset)
{
	const uint64_t page = TREE_BLOCK;
	uint64_t max = S_ISREG(inode->mode) ? INT64_MAX : UINT64_MAX;
	uint64_t length = (offset % page + count + page - 1) / page * page;

	return length > max || offset / page > (max - length) / page;
}

static void check_file_mapping(struct step *x, const struct open_file *f, int64_t count,
			       int64_t offset)
{
	if (!count)
		refuse(x, RULE_map_empty);
	if (maps_too_far(file_inode(x, f), (uint64_t)count, (uint64_t)offset))
		refuse(x, RULE_map_offset);
	if (!is_writable(f) || !is_readable(f) || file_inode(x, f)->flags & FS_APPEND_FL)
		refuse(x, RULE_map_access);
	else if (!S_ISREG(file_inode(x, f)->mode))
		refuse(x, RULE_map_kind);
}

static void check_extension(struct step *x, const struct inode *inode, int64_t count,
			    int64_t offset)
{
	uint64_t end = (uint64_t)count + (uint64_t)offset;

	may_refuse_by_flags(x, inode);
	if (inode->flags & FS_IMMUTABLE_FL || x->space_may_end)
		may_refuse(x, RULE_map_fault);
	if (end > inode->size)
		refuse_size(x, end, RULE_truncate_too_large);
}

void model_mmap_write(struct step *x)
{
	int64_t count = x->call->mmap_write.count.num, offset = x->call->mmap_write.offset.num;
	const int64_t address_space = (int64_t)1 << 47;
	uint64_t end = (uint64_t)offset + (uint64_t)count;
	const struct open_file *f;

	if (count < 0)
		refuse(x, RULE_map_too_large);
	f = need_io(x, &x->call->mmap_write.fd);
	if (!f)
		return;
	if (count >= address_space)
		refuse(x, RULE_map_too_large);
	check_file_mapping(x, f, count, offset);
	if (refused(x) || !S_ISREG(file_inode(x, f)->mode))
		return;
	check_extension(x, file_inode(x, f), count, offset);
	if (!proceed(x))
		return;
	if (file_inode(x, f)->size < end) {
		tree_truncate(&x->state->tree, f->ino, end);
		drop_privilege_bits(x, f->ino);
	}
	put_data(x, f->ino, &x->call->mmap_write.data, (uint64_t)offset, (uint64_t)count);
	touch_modify(x, f->ino);
	give_num(x, RESULT_NUM, count);
}
