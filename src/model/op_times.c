/* op_times.c -- utimensat: times of last access and modification. */
#include "model/attr.h"
#include "model/io.h"

struct stamps {
	int64_t access, modify;
};

static void check_stamps(struct step *x, const struct inode *inode, const struct stamps *s)
{
	bool now = s->access == TIME_NOW && s->modify == TIME_NOW;

	if (x->state->read_only)
		refuse(x, RULE_attr_read_only);
	/* "Now" is what writing would set; who may write may set it. */
	if (now) {
		if (inode->flags & FS_IMMUTABLE_FL)
			refuse(x, RULE_attr_immutable);
		else if (inode->flags & FS_APPEND_FL)
			may_refuse(x, RULE_attr_immutable);
		if (x->model->traits.no_modes || !is_owner(x, inode))
			refuse_denied(x, inode, MAY_WRITE, RULE_times_now_denied);
		return;
	}
	if (inode->flags & (FS_IMMUTABLE_FL | FS_APPEND_FL))
		refuse(x, RULE_attr_immutable);
	refuse_stranger(x, inode, RULE_times_owner);
}

static void set_stamp(struct step *x, int64_t *to, int64_t value)
{
	if (value == TIME_NOW)
		*to = x->state->now;
	else if (value != TIME_OMIT)
		*to = value;
}

static const struct inode *find_object(struct step *x, int64_t flags)
{
	const struct arg *dirfd = &x->call->utimensat.dirfd, *path = &x->call->utimensat.path;

	/* Without a path the descriptor itself is meant, and flags mean nothing. */
	if (!path->text && dirfd->num != AT_FDCWD && holds(x, RULE_times_no_path)) {
		if (flags)
			refuse(x, RULE_at_flags);
		return need_open_object(x, dirfd, false);
	}
	if (flags & ~(int64_t)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) && refuse(x, RULE_at_flags))
		return NULL;
	return need_object(x, dirfd->num, path, walk_flags(flags));
}

void model_utimensat(struct step *x)
{
	struct stamps s = { x->call->utimensat.atime.num, x->call->utimensat.mtime.num };
	const struct inode *inode;
	struct inode *edited;

	if (s.access == TIME_OMIT && s.modify == TIME_OMIT && holds(x, RULE_times_both_omitted))
		return;
	inode = find_object(x, x->call->utimensat.flags.num);
	if (!inode)
		return;
	check_stamps(x, inode, &s);
	if (x->model->traits.no_utimens)
		refuse_unsupported(x, RULE_times_unsupported);
	if (!proceed(x))
		return;
	edited = tree_edit(&x->state->tree, inode->ino);
	set_stamp(x, &edited->times.access, s.access);
	set_stamp(x, &edited->times.modify, s.modify);
	touch_change(x, edited->ino);
}
