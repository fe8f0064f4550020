/* op_fallocate.c -- fallocate: space ahead of data, holes, and ranges put in or taken out. */
#include "model/mapping.h"

#include <linux/falloc.h>

#include "op/capability.h"

/* What older system headers do not know. */
enum { FALLOC_FL_WRITE_ZEROES_ = 0x80 };

enum {
	KEEP = FALLOC_FL_KEEP_SIZE,
	PUNCH = FALLOC_FL_PUNCH_HOLE,
	COLLAPSE = FALLOC_FL_COLLAPSE_RANGE,
	ZERO = FALLOC_FL_ZERO_RANGE,
	INSERT = FALLOC_FL_INSERT_RANGE,
	UNSHARE = FALLOC_FL_UNSHARE_RANGE,
	WRITE_ZEROES = FALLOC_FL_WRITE_ZEROES_,
};

struct fallocate_range {
	int64_t mode;
	int64_t offset, length;
};

/* One of the modes at a time, and only some of them keep the size. */
static bool is_mode(int64_t mode)
{
	switch (mode & ~(int64_t)KEEP) {
	case 0:
	case UNSHARE:
	case ZERO:
		return true;
	case PUNCH:
		return mode & KEEP;
	case COLLAPSE:
	case INSERT:
	case WRITE_ZEROES:
		return !(mode & KEEP);
	default:
		return false;
	}
}

static bool is_supported(const struct traits *traits, int64_t mode)
{
	if (traits->no_fallocate)
		return false;
	switch (mode & ~(int64_t)KEEP) {
	case 0:
		return !traits->no_preallocate && !(mode & KEEP && traits->no_keep_size);
	case PUNCH:
		return !traits->no_punch_hole;
	case ZERO:
		return !traits->no_zero_range;
	case COLLAPSE:
		return !traits->no_collapse_range;
	case INSERT:
		return !traits->no_insert_range;
	case UNSHARE:
		return !traits->no_unshare_range;
	case WRITE_ZEROES:
		return !traits->no_write_zeroes;
	default:
		return true;
	}
}

static void check_fallocate_file(struct step *x, const struct open_file *f, int64_t mode)
{
	const struct inode *inode = file_inode(x, f);

	if (!is_writable(f))
		refuse(x, RULE_fallocate_access);
	/* The kernel does not know the flags of what a FUSE daemon serves, but refuses modes. */
	if (x->model->traits.times_cached && !is_supported(&x->model->traits, mode))
		may_end_with(x, RULE_fallocate_unsupported);
	if (mode & ~(int64_t)KEEP && inode->flags & FS_APPEND_FL)
		refuse(x, RULE_fallocate_append);
	if (inode->flags & FS_IMMUTABLE_FL)
		refuse(x, RULE_fallocate_immutable);
	/* Directories are never open for writing. */
	if (S_ISFIFO(inode->mode))
		refuse(x, RULE_fallocate_pipe);
	else if (is_special(inode))
		leave_undefined(x, RULE_special_contents);
}

/* Collapsing and inserting move whole blocks, and stay within the file. */
static void check_shift(struct step *x, const struct inode *inode, const struct fallocate_range *r)
{
	uint64_t block = x->model->traits.block_size, end;
	bool inserts = r->mode == INSERT;

	if ((uint64_t)(r->offset | r->length) & (block - 1))
		refuse(x, RULE_shift_unaligned);
	end = (uint64_t)(inserts ? r->offset : r->offset + r->length);
	if (end >= inode->size)
		refuse(x, inserts ? RULE_insert_beyond : RULE_collapse_beyond);
	else if (inserts)
		refuse_size(x, inode->size + (uint64_t)r->length, RULE_insert_too_large);
}

static bool refuse_range_end(struct step *x, const struct fallocate_range *r)
{
	uint64_t max = x->model->traits.range_end_max;
	int64_t end;

	if (__builtin_add_overflow(r->offset, r->length, &end))
		return refuse(x, RULE_fallocate_too_far);
	if (max)
		return (uint64_t)end > max && refuse(x, RULE_fallocate_too_far);
	return refuse_size(x, (uint64_t)end, RULE_fallocate_too_far);
}

/* The model remembers every block: an allocation that no disk of a test has room for would cost it
 * more memory than there is. What it leads to is not known; RefFS says ENOSPC. */
static void refuse_huge(struct step *x, const struct fallocate_range *r)
{
	const int64_t allocated_max = 1 << 30;

	if (r->mode & (PUNCH | COLLAPSE | INSERT) || r->length <= allocated_max)
		return;
	leave_open(x, RULE_fallocate_huge);
	refuse(x, RULE_fallocate_full);
}

static void change_data(struct step *x, const struct inode *inode, const struct fallocate_range *r)
{
	struct tree *t = &x->state->tree;
	uint64_t ino = inode->ino, offset = (uint64_t)r->offset, length = (uint64_t)r->length;
	uint64_t size = inode->size;

	switch (r->mode & ~(int64_t)KEEP) {
	case PUNCH:
		tree_zero(t, ino, offset, length, false);
		return;
	case COLLAPSE:
		maps_shifted(x, ino, offset);
		tree_collapse(t, ino, offset, length);
		return;
	case INSERT:
		maps_shifted(x, ino, offset);
		tree_insert(t, ino, offset, length);
		return;
	}
	if (!(r->mode & KEEP) && offset + length > size)
		tree_truncate(t, ino, offset + length);
	if (r->mode & (ZERO | WRITE_ZEROES))
		tree_zero(t, ino, offset, length, true);
	else
		tree_allocate(t, ino, offset, length);
}

static bool punches_nothing(const struct step *x, const struct inode *inode,
			    const struct fallocate_range *r)
{
	uint64_t offset = (uint64_t)r->offset, data;

	if ((r->mode & ~(int64_t)KEEP) != PUNCH)
		return false;
	data = offset < inode->size ? tree_seek(&x->state->tree, inode->ino, offset, true) : offset;
	return data >= inode->size || data >= offset + (uint64_t)r->length;
}

static bool has_privileges(struct step *x, const struct inode *inode)
{
	return privilege_bits(x, inode) ||
	       (inode->xattrs.count && tree_xattr(inode, NAME_OF_CAPABILITY));
}

/* Where the checks come behind file_modified() or file_remove_privs(), a call that fails has
 * changed the file nevertheless. */
static void modify_early(struct step *x, const struct inode *inode)
{
	drop_privileges(x, inode->ino);
	may_touch(x, inode->ino, TIME_BIT_MODIFY | TIME_BIT_CHANGE);
}

static void allocate_range(struct step *x, const struct inode *inode,
			   const struct fallocate_range *r)
{
	uint64_t ino = inode->ino, size;
	struct hash data;

	if (!is_supported(&x->model->traits, r->mode)) {
		refuse(x, RULE_fallocate_unsupported);
		if (x->model->traits.fallocate_drops_refused && fails_with(x, EOPNOTSUPP))
			modify_early(x, inode);
		return;
	}
	if (r->mode == COLLAPSE || r->mode == INSERT)
		check_shift(x, inode, r);
	if (x->model->traits.fallocate_drops_early && fails_with(x, EINVAL))
		modify_early(x, inode);
	may_refuse_by_flags(x, inode);
	refuse_huge(x, r);
	if (x->model->traits.empty_punch_keeps_bits && has_privileges(x, inode) &&
	    punches_nothing(x, inode, r))
		leave_undefined(x, RULE_fallocate_empty_punch);
	if (!proceed(x))
		return;
	size = inode->size;
	data = inode->file.data;
	change_data(x, inode, r);
	drop_privileges(x, ino);
	touch_modify(x, ino);
	inode = tree_inode(&x->state->tree, ino);
	/* No page says that it sets times where there is nothing to change; btrfs_punch_hole() does
	 * not in a hole. */
	if (inode->size == size && hash_equal(inode->file.data, data))
		may_touch(x, ino, TIME_BIT_MODIFY | TIME_BIT_CHANGE);
}

void model_fallocate(struct step *x)
{
	struct fallocate_range r = {
		.mode = x->call->fallocate.mode.num,
		.offset = x->call->fallocate.offset.num,
		.length = x->call->fallocate.length.num,
	};
	const struct open_file *f;

	if (leave_open(x, RULE_call_of_linux))
		return;
	f = need_io(x, &x->call->fallocate.fd);
	if (r.offset < 0 || r.length <= 0)
		refuse(x, RULE_fallocate_range);
	if (!is_mode(r.mode))
		refuse(x, RULE_fallocate_mode);
	if (r.mode & WRITE_ZEROES)
		refuse(x, RULE_fallocate_mode_unknown);
	if (!f)
		return;
	check_fallocate_file(x, f, r.mode);
	if (!refused(x) && !refuse_range_end(x, &r) && S_ISREG(file_inode(x, f)->mode))
		allocate_range(x, file_inode(x, f), &r);
}
