/* op_lseek.c -- lseek: positions, and where the holes are.
 *
 * A file system may report a hole as data, and zeros as a hole; it may not hide data. So
 * SEEK_DATA may answer any position that no data lies before, and SEEK_HOLE the end of the file
 * or any position that zeros follow. */
#include "model/io.h"

/* The first position from offset on that does not hold a zero, or the end of the file. */
static uint64_t first_nonzero(const struct step *x, const struct inode *inode, uint64_t offset)
{
	uint64_t at = tree_seek(&x->state->tree, inode->ino, offset, true), block, from;
	char bytes[TREE_BLOCK];
	size_t len;

	while (at < inode->size) {
		len = tree_read(&x->state->tree, inode->ino, at, bytes,
				TREE_BLOCK - at % TREE_BLOCK);
		for (size_t i = 0; i < len; i++)
			if (bytes[i])
				return at + i;
		from = at + len;
		block = tree_seek(&x->state->tree, inode->ino, from, true);
		at = block > from ? block : from;
	}
	return inode->size;
}

static bool hole_at(const struct step *x, const struct inode *inode, uint64_t at)
{
	uint64_t end = at - at % SECTOR + SECTOR;

	return at < inode->size &&
	       tree_is_zero(&x->state->tree, inode->ino, at, end < inode->size ? end : inode->size);
}

/* The first position from offset on where a hole may be: there, or at a border of sectors. */
static uint64_t first_hole(const struct step *x, const struct inode *inode, uint64_t offset)
{
	while (offset < inode->size && !hole_at(x, inode, offset))
		offset += SECTOR - offset % SECTOR;
	return offset < inode->size ? offset : inode->size;
}

static int64_t seek_data(struct step *x, const struct inode *inode, int64_t offset)
{
	uint64_t data;

	if (offset < 0 || (uint64_t)offset >= inode->size) {
		refuse(x, RULE_seek_beyond);
		return -1;
	}
	data = first_nonzero(x, inode, (uint64_t)offset);
	if (data == inode->size) {
		may_refuse(x, RULE_seek_no_data);
		data--;
	}
	return proceed(x) ? give_range(x, offset, (int64_t)data) : -1;
}

static int64_t seek_hole(struct step *x, const struct inode *inode, int64_t offset)
{
	int64_t least;

	if (offset < 0 || (uint64_t)offset >= inode->size) {
		refuse(x, RULE_seek_beyond);
		return -1;
	}
	if (!proceed(x))
		return -1;
	least = (int64_t)first_hole(x, inode, (uint64_t)offset);
	/* Not every position between is one: a value that was seen is judged by itself. */
	if (x->seen && x->seen->num >= least && !hole_at(x, inode, (uint64_t)x->seen->num))
		least = (int64_t)inode->size;
	return give_range(x, least, (int64_t)inode->size);
}

static bool is_known_whence(struct step *x, int64_t whence)
{
	if (whence == SEEK_DATA || whence == SEEK_HOLE)
		return !holds(x, RULE_seek_no_holes);
	return whence == SEEK_SET || whence == SEEK_CUR || whence == SEEK_END;
}

static int64_t seek_to(struct step *x, int64_t base, int64_t offset, uint64_t max)
{
	int64_t to;

	if (__builtin_add_overflow(base, offset, &to)) {
		refuse(x, RULE_seek_overflow);
		refuse(x, RULE_seek_overflow_posix);
		to = -1;
	} else if (to < 0 || (uint64_t)to > max) {
		refuse(x, RULE_seek_range);
	}
	return proceed(x) ? give_range(x, to, to) : -1;
}

/* Positions in directories are the file system's own; only those that were set are known. */
static int64_t seek_directory(struct step *x, int64_t base, int64_t offset, int64_t whence)
{
	const int64_t any_max = INT32_MAX;

	if (whence == SEEK_END &&
	    (refuse(x, RULE_seek_directory_end) || refuse(x, RULE_seek_directory_end_posix)))
		return -1;
	may_refuse(x, RULE_seek_directory);
	may_refuse(x, RULE_seek_directory_posix);
	if (whence == SEEK_SET || whence == SEEK_CUR) {
		if (offset >= any_max)
			may_refuse(x, RULE_seek_range);
		return seek_to(x, whence == SEEK_SET ? 0 : base, offset, INT64_MAX);
	}
	may_refuse(x, RULE_seek_range);
	may_refuse(x, RULE_seek_beyond);
	return proceed(x) ? give_range(x, 0, INT64_MAX) : -1;
}

/* Where SEEK_DATA and SEEK_HOLE begin. */
static int64_t sparse_offset(struct step *x, int64_t offset)
{
	if (offset >= 0 || !x->model->traits.seek_negative)
		return offset;
	may_refuse(x, RULE_seek_beyond);
	return 0;
}

static int64_t seek_regular(struct step *x, const struct open_file *f, int64_t offset,
			    int64_t whence)
{
	const struct inode *inode = file_inode(x, f);
	uint64_t max = x->model->traits.file_size_max;

	switch (whence) {
	case SEEK_DATA:
		return seek_data(x, inode, sparse_offset(x, offset));
	case SEEK_HOLE:
		return seek_hole(x, inode, sparse_offset(x, offset));
	case SEEK_END:
		return seek_to(x, (int64_t)inode->size, offset, max);
	case SEEK_CUR:
		return seek_to(x, f->offset, offset, max);
	default:
		return seek_to(x, 0, offset, max);
	}
}

void model_lseek(struct step *x)
{
	int64_t offset = x->call->lseek.offset.num, whence = x->call->lseek.whence.num;
	const struct open_file *f = need_io(x, &x->call->lseek.fd);
	int64_t to = -1;

	if (!is_known_whence(x, whence))
		refuse(x, RULE_seek_whence);
	if (!f || refused(x))
		return;
	if (S_ISFIFO(file_inode(x, f)->mode))
		refuse(x, RULE_seek_pipe);
	else if (is_special(file_inode(x, f)))
		leave_undefined(x, RULE_special_contents);
	else if (S_ISDIR(file_inode(x, f)->mode))
		to = seek_directory(x, f->offset, offset, whence);
	else
		to = seek_regular(x, f, offset, whence);
	if (to >= 0 && proceed(x))
		state_edit_file(x->state, x->pid, x->call->lseek.fd.num)->offset = to;
}
