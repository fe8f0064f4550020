/* entry.c -- what is asked of a directory before an entry in it is made or removed.
 *
 * The order is that of Linux's may_create and may_delete. */
#include "model/entry.h"

#include <linux/fs.h>

void refuse_way(struct step *x, const struct where *w)
{
	if (!w->reached)
		refuse_where(x, w);
}

void refuse_last(struct step *x, const struct where *w)
{
	if (w->reached)
		refuse_where(x, w);
}

void refuse_read_only(struct step *x)
{
	if (x->state->read_only)
		refuse(x, RULE_read_only);
}

void refuse_write(struct step *x, uint64_t dir)
{
	const struct inode *inode = tree_inode(&x->state->tree, dir);

	if (inode->flags & FS_IMMUTABLE_FL)
		refuse(x, RULE_directory_immutable);
	refuse_denied(x, inode, MAY_WRITE | MAY_EXEC, RULE_directory_write_denied);
}

void refuse_taken(struct step *x)
{
	refuse(x, RULE_name_exists_slash);
	refuse(x, RULE_name_exists_slash_posix);
}

void refuse_removed(struct step *x, const struct where *w)
{
	if (w->kind == WHERE_NONE && !tree_inode(&x->state->tree, w->parent)->nlink)
		refuse(x, RULE_dir_removed);
}

static void refuse_victim(struct step *x, uint64_t dir, const struct inode *victim)
{
	const struct inode *inode = tree_inode(&x->state->tree, dir);

	if (inode->flags & FS_APPEND_FL)
		refuse(x, RULE_directory_append_only);
	if (sticky_forbids(x, inode, victim)) {
		refuse(x, RULE_sticky);
		refuse(x, RULE_sticky_access);
	}
	if (victim->flags & (FS_IMMUTABLE_FL | FS_APPEND_FL))
		refuse(x, RULE_victim_flags);
}

void refuse_removal(struct step *x, uint64_t dir, const struct inode *victim)
{
	refuse_write(x, dir);
	refuse_victim(x, dir, victim);
}

bool dir_is_empty(const struct step *x, uint64_t dir)
{
	return !tree_inode(&x->state->tree, dir)->dir.entries.count;
}

void ignore_slash(struct step *x, struct where *w, enum rule rule)
{
	if (w->kind != WHERE_ERROR || !w->blocked || !holds(x, rule))
		return;
	w->kind = WHERE_FILE;
	w->ino = w->blocked;
	w->error = 0;
}

void add_name(struct step *x, const struct where *w, uint64_t ino)
{
	tree_link(&x->state->tree, w->parent, w->name, w->name_len, ino);
	touch_change(x, ino);
	touch_modify(x, w->parent);
	streams_added(x, w->parent, w->name, w->name_len);
}

void leave_hidden(struct step *x, const struct inode *victim)
{
	const struct traits *traits = &x->model->traits;

	if (!victim->holds || refused(x))
		return;
	if (traits->hides_open_files && !S_ISDIR(victim->mode))
		leave_undefined(x, RULE_unlink_hides);
	if (traits->forgets_removed_dirs && S_ISDIR(victim->mode))
		leave_undefined(x, RULE_rmdir_forgets);
}

void remove_name(struct step *x, const struct where *w)
{
	streams_removed(x, w->parent, w->name, w->name_len);
	touch_change(x, w->ino);
	tree_unlink(&x->state->tree, w->parent, w->name, w->name_len);
	touch_modify(x, w->parent);
}
