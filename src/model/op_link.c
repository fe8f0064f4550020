/* op_link.c -- link: one more name for an object; readlink. */
#include "model/entry.h"

#include <linux/fs.h>

#include "base/must.h"

/* Hard links to what one could not read and write oneself help attackers:
 * fs.protected_hardlinks. */
static bool link_is_risky(struct step *x, const struct inode *inode)
{
	if (is_owner(x, inode))
		return false;
	return !S_ISREG(inode->mode) || inode->mode & S_ISUID ||
	       (inode->mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) ||
	       !may_access(x, inode, MAY_READ | MAY_WRITE);
}

static void refuse_source(struct step *x, struct where *from)
{
	if (from->via_symlink)
		ignore_slash(x, from, RULE_link_ignores_slash);
	refuse_where(x, from);
	if (from->kind == WHERE_NONE)
		refuse(x, RULE_name_missing);
	if (from->via_symlink && from->slash) {
		refuse(x, RULE_link_symlink_slash_directory);
		refuse(x, RULE_link_symlink_slash_denied);
		refuse(x, RULE_link_symlink_slash_missing);
	}
}

static void refuse_destination(struct step *x, const struct where *from, const struct where *to)
{
	if (to->kind == WHERE_DIR || to->kind == WHERE_FILE)
		refuse(x, RULE_name_exists);
	else if (to->kind == WHERE_ERROR && to->blocked)
		refuse_taken(x);
	refuse_where(x, to);
	refuse_removed(x, to);
	if (to->kind != WHERE_NONE || !to->slash)
		return;
	refuse(x, RULE_link_slash);
	refuse(x, RULE_make_slash_posix);
	if (!to->via_symlink)
		refuse(x, RULE_link_slash_direct);
	if (from->kind == WHERE_FILE)
		refuse(x, RULE_link_slash_file);
}

/* What is wrong with giving this object another name. */
static void refuse_linking(struct step *x, const struct inode *inode)
{
	uint64_t link_max = x->model->traits.link_max;

	if (inode->flags & (FS_IMMUTABLE_FL | FS_APPEND_FL))
		refuse(x, RULE_link_flags);
	if (x->model->traits.links_apart)
		leave_undefined(x, RULE_links_apart);
	if (x->model->traits.no_hardlink ||
	    (x->model->traits.hardlink_files_only && !S_ISREG(inode->mode)))
		refuse_unsupported(x, RULE_link_unsupported);
	if (S_ISDIR(inode->mode))
		refuse(x, RULE_link_directory);
	else if (!inode->nlink && !(inode->flags & INODE_LINKABLE))
		refuse(x, RULE_link_removed);
	if (link_max && inode->nlink >= link_max && !S_ISDIR(inode->mode))
		refuse(x, RULE_links_too_many);
}

static void make_link(struct step *x, int64_t fromfd, const struct arg *from_path, unsigned follow,
		      int64_t tofd, const struct arg *to_path)
{
	const struct inode *inode;
	struct where from, to;

	resolve(x, fromfd, from_path, WALK_KEEP_SLASH | follow, NULL, &from);
	refuse_source(x, &from);
	resolve(x, tofd, to_path, 0, NULL, &to);
	refuse_destination(x, &from, &to);
	refuse_read_only(x);
	inode = where_inode(x, &from);
	if (inode && link_is_risky(x, inode))
		refuse_by_setting(x, x->model->traits.protected_hardlinks, 1, RULE_link_protected);
	if (to.kind == WHERE_NONE)
		refuse_write(x, to.parent);
	if (inode)
		refuse_linking(x, inode);
	if (!proceed(x))
		return;
	tree_edit(&x->state->tree, from.ino)->flags &= ~INODE_LINKABLE;
	add_name(x, &to, from.ino);
}

void model_link(struct step *x)
{
	const struct call *c = x->call;
	unsigned follow = holds(x, RULE_link_follows) ? WALK_FOLLOW : 0;

	make_link(x, AT_FDCWD, &c->link.from, follow, AT_FDCWD, &c->link.to);
}

void model_linkat(struct step *x)
{
	const struct call *c = x->call;
	int64_t flags = c->linkat.flags.num;
	unsigned how = 0;

	if (flags & ~(int64_t)(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH)) {
		refuse(x, RULE_at_flags);
		return;
	}
	if (flags & AT_EMPTY_PATH && !is_machine_root(x))
		refuse(x, RULE_linkat_empty_denied);
	if (flags & AT_EMPTY_PATH && !is_root(x))
		may_refuse(x, RULE_linkat_empty_other);
	if (flags & AT_SYMLINK_FOLLOW)
		how |= WALK_FOLLOW;
	if (flags & AT_EMPTY_PATH)
		how |= WALK_EMPTY;
	make_link(x, c->linkat.fromfd.num, &c->linkat.from, how, c->linkat.tofd.num, &c->linkat.to);
}

static void read_target(struct step *x, int64_t dirfd, const struct arg *path, unsigned flags)
{
	const struct inode *inode;
	struct where w;

	resolve(x, dirfd, path, WALK_KEEP_SLASH | flags, NULL, &w);
	refuse_where(x, &w);
	if (w.kind == WHERE_NONE)
		refuse(x, RULE_name_missing);
	inode = where_inode(x, &w);
	if (inode && !S_ISLNK(inode->mode))
		refuse(x, path->len ? RULE_readlink_other : RULE_readlink_empty);
	if (!proceed(x))
		return;
	must(inode && inode->target);
	memcpy(give_bytes(x, RESULT_TARGET, inode->target->len, inode->target->len),
	       inode->target->bytes, inode->target->len);
	touch_access(x, w.ino);
}

void model_readlink(struct step *x)
{
	read_target(x, AT_FDCWD, &x->call->readlink.path, 0);
}

void model_readlinkat(struct step *x)
{
	const struct call *c = x->call;

	read_target(x, c->readlinkat.dirfd.num, &c->readlinkat.path, WALK_EMPTY);
}
