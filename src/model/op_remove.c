/* op_remove.c -- rmdir, unlink: names that go. */
#include "model/entry.h"

/* "/", "." and ".." */
static void refuse_unnamed(struct step *x, const struct where *w)
{
	if (w->is_root && leave_undefined(x, RULE_rmdir_root_undefined))
		return;
	if (w->is_root && holds(x, RULE_rmdir_root_first))
		refuse(x, RULE_rmdir_root);
	else if (w->last_dot)
		refuse(x, RULE_rmdir_dot);
	else if (w->last_dotdot)
		refuse(x, RULE_rmdir_dotdot);
	else
		refuse(x, RULE_rmdir_root);
}

static void step_remove_directory(struct step *x, int64_t dirfd, const struct arg *path)
{
	const struct inode *victim;
	struct where w;

	resolve(x, dirfd, path, 0, NULL, &w);
	ignore_slash(x, &w, RULE_rmdir_ignores_slash);
	refuse_way(x, &w);
	if (w.kind == WHERE_DIR && !w.parent)
		refuse_unnamed(x, &w);
	refuse_read_only(x);
	refuse_last(x, &w);
	if (w.kind == WHERE_NONE)
		refuse(x, RULE_name_missing);
	victim = where_inode(x, &w);
	if (victim && w.parent)
		refuse_removal(x, w.parent, victim);
	if (w.kind == WHERE_FILE)
		refuse(x, RULE_rmdir_file);
	if (w.kind == WHERE_DIR && w.parent && !dir_is_empty(x, w.ino)) {
		may_refuse(x, RULE_not_empty_exists);
		refuse(x, RULE_not_empty);
	}
	if (victim)
		leave_hidden(x, victim);
	if (proceed(x))
		remove_name(x, &w);
}

void model_rmdir(struct step *x)
{
	step_remove_directory(x, AT_FDCWD, &x->call->rmdir.path);
}

static void refuse_directory(struct step *x)
{
	refuse(x, RULE_unlink_directory);
	refuse(x, RULE_unlink_directory_denied);
}

static void remove_file(struct step *x, int64_t dirfd, const struct arg *path)
{
	const struct inode *victim;
	struct where w;

	resolve(x, dirfd, path, 0, NULL, &w);
	ignore_slash(x, &w, RULE_unlink_ignores_slash);
	refuse_way(x, &w);
	/* Dots and "/" are refused before the directory is locked, the rest after its
	 * permissions. */
	if (w.kind == WHERE_DIR && !w.parent)
		refuse_directory(x);
	refuse_read_only(x);
	refuse_last(x, &w);
	if (w.kind == WHERE_DIR && w.slash)
		refuse_directory(x);
	if (w.kind == WHERE_NONE) {
		refuse(x, RULE_name_missing);
		if (w.slash)
			refuse(x, RULE_unlink_missing_slash);
	}
	if (w.kind == WHERE_FILE && w.is_symlink && w.slash)
		refuse(x, RULE_symlink_slash);
	victim = where_inode(x, &w);
	if (victim && w.parent)
		refuse_removal(x, w.parent, victim);
	if (w.kind == WHERE_DIR)
		refuse_directory(x);
	if (victim)
		leave_hidden(x, victim);
	if (proceed(x))
		remove_name(x, &w);
}

void model_unlink(struct step *x)
{
	remove_file(x, AT_FDCWD, &x->call->unlink.path);
}

void model_unlinkat(struct step *x)
{
	const struct call *c = x->call;
	int64_t flags = c->unlinkat.flags.num;

	if (flags & ~(int64_t)AT_REMOVEDIR) {
		refuse(x, RULE_at_flags);
		return;
	}
	if (flags & AT_REMOVEDIR)
		step_remove_directory(x, c->unlinkat.dirfd.num, &c->unlinkat.path);
	else
		remove_file(x, c->unlinkat.dirfd.num, &c->unlinkat.path);
}
