/* op_truncate.c -- truncate, ftruncate: the length of a file. */
#include "model/entry.h"
#include "model/io.h"

/* What both have in common once there is a file. ftruncate always sets times, but FUSE does not
 * tell a daemon which of the two it was (update_mtime in fs/fuse/dir.c). */
static void set_length(struct step *x, const struct inode *inode, int64_t length, bool always)
{
	uint64_t ino = inode->ino;
	bool changes = inode->size != (uint64_t)length;
	bool must_touch = changes || (always && !x->model->traits.times_cached);
	bool keeps_bits = !changes && !length && !inode->file.blocks.count && !always &&
			  x->model->traits.truncate_empty_keeps_bits;

	if (refuse_size(x, (uint64_t)length, RULE_truncate_too_large))
		return;
	if (!proceed(x))
		return;
	tree_truncate(&x->state->tree, ino, (uint64_t)length);
	if (keeps_bits)
		drop_capabilities(x, ino);
	else
		drop_privileges(x, ino);
	if (!must_touch)
		may_touch(x, ino, TIME_BIT_MODIFY | TIME_BIT_CHANGE);
	if (must_touch || x->model->traits.optional_times)
		touch_modify(x, ino);
}

/* Can the file at the end of the path be written to? */
static void check_truncate_file(struct step *x, const struct inode *inode)
{
	if (x->state->read_only)
		refuse(x, RULE_data_read_only);
	if (inode->flags & FS_IMMUTABLE_FL)
		refuse(x, RULE_truncate_immutable);
	refuse_denied(x, inode, MAY_WRITE, RULE_truncate_denied);
	if (inode->flags & FS_APPEND_FL)
		refuse(x, RULE_truncate_append);
}

void model_truncate(struct step *x)
{
	int64_t length = x->call->truncate.length.num;
	const struct inode *inode;
	struct where w;

	if (length < 0)
		refuse(x, RULE_truncate_negative);
	resolve(x, AT_FDCWD, &x->call->truncate.path, WALK_FOLLOW, NULL, &w);
	if (length >= 0)
		ignore_slash(x, &w, RULE_truncate_ignores_slash);
	if (refuse_where(x, &w))
		return;
	if (w.kind == WHERE_NONE) {
		refuse(x, RULE_truncate_missing);
		return;
	}
	inode = where_inode(x, &w);
	if (w.kind == WHERE_DIR) {
		refuse(x, RULE_truncate_directory);
		return;
	}
	if (!inode)
		return;
	if (!S_ISREG(inode->mode)) {
		refuse(x, RULE_truncate_special);
		leave_undefined(x, RULE_truncate_special_open);
		return;
	}
	check_truncate_file(x, inode);
	if (!refused(x))
		set_length(x, inode, length, false);
}

void model_ftruncate(struct step *x)
{
	int64_t length = x->call->ftruncate.length.num;
	const struct open_file *f;

	if (length < 0)
		refuse(x, RULE_truncate_negative);
	f = need_io(x, &x->call->ftruncate.fd);
	if (!f)
		return;
	if (!S_ISREG(file_inode(x, f)->mode)) {
		refuse(x, RULE_ftruncate_kind);
		return;
	}
	if (!is_writable(f)) {
		refuse(x, RULE_ftruncate_access);
		refuse(x, RULE_ftruncate_access_posix);
	}
	if (file_inode(x, f)->flags & FS_APPEND_FL)
		refuse(x, RULE_truncate_append);
	may_refuse_by_flags(x, file_inode(x, f));
	if (!refused(x))
		set_length(x, file_inode(x, f), length, true);
}
