/* op_rename.c -- rename: a name moves, over another one if need be. */
#include "model/entry.h"

#include <linux/fs.h>

struct renaming {
	struct where from, to;
	const struct inode *source, *target; /* NULL where there is none */
	int64_t flags;
};

static bool rename_exchanges(const struct renaming *r)
{
	return r->flags & RENAME_EXCHANGE;
}

static bool refuse_rename_flags(struct step *x, int64_t flags)
{
	if (flags & ~(int64_t)(RENAME_NOREPLACE | RENAME_EXCHANGE | RENAME_WHITEOUT) ||
	    (flags & RENAME_EXCHANGE && flags & (RENAME_NOREPLACE | RENAME_WHITEOUT)))
		return refuse(x, RULE_rename_flags);
	if (flags & RENAME_WHITEOUT && !is_machine_root(x))
		refuse(x, RULE_rename_whiteout_denied);
	return false;
}

/* "/", "." and ".." are no names that could move. */
static void refuse_dots(struct step *x, const struct where *w, bool source)
{
	if (w->kind != WHERE_DIR || w->parent)
		return;
	if (w->last_dot || w->last_dotdot)
		refuse(x, RULE_rename_dots);
	may_refuse(x, RULE_rename_in_use);
	if (w->last_dot || w->last_dotdot || !source)
		refuse(x, RULE_rename_dots_busy);
	if (!w->is_root || !source)
		return;
	refuse(x, RULE_rename_root);
	refuse(x, RULE_rename_root_busy);
	refuse(x, RULE_rename_root_directory);
}

/* Is the new name inside the directory that moves? */
static bool goes_below(struct step *x, const struct renaming *r)
{
	uint64_t holder = r->to.kind == WHERE_DIR ? r->to.ino : r->to.parent;

	if (r->from.kind != WHERE_DIR || (r->to.kind == WHERE_ERROR && !r->to.blocked))
		return false;
	return holder && tree_is_ancestor(&x->state->tree, r->from.ino, holder);
}

/* Does the old name lie inside the directory that the new one names? */
static bool goes_above(struct step *x, const struct renaming *r)
{
	return r->to.kind == WHERE_DIR && r->from.parent &&
	       tree_is_ancestor(&x->state->tree, r->to.ino, r->from.parent);
}

static void refuse_slashes(struct step *x, const struct renaming *r)
{
	const struct where *from = &r->from, *to = &r->to;

	if ((from->is_symlink && from->slash) ||
	    (to->is_symlink && to->slash && (from->kind != WHERE_DIR || rename_exchanges(r))))
		refuse(x, RULE_symlink_slash);
	if (from->kind != WHERE_FILE || !to->slash)
		return;
	if (to->kind == WHERE_DIR && !rename_exchanges(r))
		refuse(x, RULE_rename_directory_slash);
	if (to->kind != WHERE_NONE)
		return;
	refuse(x, RULE_rename_file_slash);
	refuse(x, RULE_rename_file_slash_missing);
	if (!to->via_symlink)
		refuse(x, RULE_rename_file_slash_direct);
}

/* Permission to take the one entry away and to make, or take away, the other. */
static void refuse_entries(struct step *x, const struct renaming *r)
{
	if (r->source && r->from.parent)
		refuse_removal(x, r->from.parent, r->source);
	if (r->to.kind == WHERE_NONE)
		refuse_write(x, r->to.parent);
	else if (r->target && r->to.parent)
		refuse_removal(x, r->to.parent, r->target);
}

static void refuse_types(struct step *x, const struct renaming *r)
{
	if (rename_exchanges(r))
		return;
	if (r->from.kind == WHERE_FILE && r->to.kind == WHERE_DIR)
		refuse(x, RULE_rename_over_directory);
	if (r->from.kind == WHERE_DIR && r->to.kind == WHERE_FILE)
		refuse(x, RULE_rename_over_file);
	if (r->from.kind == WHERE_DIR && r->to.kind == WHERE_ERROR)
		refuse(x, RULE_rename_over_error);
}

/* A directory whose parent changes is written to: its "..". */
static void refuse_unwritable(struct step *x, bool moves)
{
	if (moves) {
		refuse(x, RULE_rename_parent_denied);
		return;
	}
	refuse(x, RULE_rename_directory_denied);
	may_refuse(x, RULE_rename_directory_needed);
}

static void refuse_directories(struct step *x, const struct renaming *r)
{
	bool moves = r->from.parent != r->to.parent;
	uint64_t link_max = x->model->traits.link_max;

	if (r->from.kind == WHERE_DIR && !may_access(x, r->source, MAY_WRITE))
		refuse_unwritable(x, moves);
	if (r->to.kind == WHERE_DIR && !may_access(x, r->target, MAY_WRITE))
		refuse_unwritable(x, moves && rename_exchanges(r));
	if (r->from.kind == WHERE_DIR && r->to.kind == WHERE_NONE && moves && link_max &&
	    tree_inode(&x->state->tree, r->to.parent)->nlink >= link_max)
		refuse(x, RULE_links_too_many);
}

static bool flags_are_unsupported(const struct step *x, int64_t flags)
{
	return (flags & RENAME_NOREPLACE && x->model->traits.no_noreplace) ||
	       (flags & RENAME_EXCHANGE && x->model->traits.no_exchange) ||
	       (flags & RENAME_WHITEOUT && x->model->traits.no_whiteout);
}

/* What the file system itself knows of flags is asked after all that Linux checks for it. */
static void refuse_unsupported_flags(struct step *x, int64_t flags)
{
	if (flags_are_unsupported(x, flags))
		refuse(x, RULE_rename_flags_unsupported);
}

/* Linux does not ask the file system where both names are of one inode (vfs_rename). Where FUSE has
 * an inode for each name, it does. */
static void may_refuse_unsupported_flags(struct step *x, const struct renaming *r)
{
	if (r->source->nlink > 1 && flags_are_unsupported(x, r->flags))
		may_refuse(x, RULE_rename_flags_unsupported);
}

static void refuse_contents(struct step *x, const struct renaming *r)
{
	bool directory = r->from.kind == WHERE_DIR;

	if (rename_exchanges(r) || r->to.kind != WHERE_DIR || dir_is_empty(x, r->to.ino))
		return;
	may_refuse(x, directory ? RULE_not_empty_exists : RULE_rename_not_empty_exists);
	refuse(x, directory ? RULE_not_empty : RULE_rename_not_empty);
}

/* Both names are of one object: nothing to do, and nothing more to ask. */
static bool same_object(const struct renaming *r)
{
	return r->source && r->source == r->target && r->from.parent && r->to.parent;
}

/* When a path turns out wrong: on the way to its last name, with that name, or with the object
 * of that name. Each is checked for both paths before the next. */
enum stage { STAGE_WAY, STAGE_NAME, STAGE_OBJECT };

static void refuse_path(struct step *x, const struct where *w, enum stage stage)
{
	enum stage own = w->blocked ? STAGE_OBJECT : w->reached ? STAGE_NAME : STAGE_WAY;

	if (own == stage)
		refuse_where(x, w);
}

static void refuse_names(struct step *x, const struct renaming *r)
{
	refuse_path(x, &r->from, STAGE_WAY);
	refuse_path(x, &r->to, STAGE_WAY);
	refuse_dots(x, &r->from, true);
	if (r->flags & RENAME_NOREPLACE && r->to.kind == WHERE_DIR && !r->to.parent)
		refuse(x, RULE_rename_noreplace);
	refuse_dots(x, &r->to, false);
	refuse_read_only(x);
	refuse_path(x, &r->from, STAGE_NAME);
	if (r->from.kind == WHERE_NONE)
		refuse(x, RULE_name_missing);
	refuse_path(x, &r->to, STAGE_NAME);
	refuse_removed(x, &r->to);
	if (r->to.kind == WHERE_NONE && rename_exchanges(r))
		refuse(x, RULE_name_missing);
	if (r->flags & RENAME_NOREPLACE && (r->target || r->to.blocked))
		refuse(x, RULE_rename_noreplace);
	refuse_path(x, &r->from, STAGE_OBJECT);
	refuse_path(x, &r->to, STAGE_OBJECT);
}

static void leave_target_hidden(struct step *x, const struct renaming *r)
{
	if (r->target && !rename_exchanges(r))
		leave_hidden(x, r->target);
}

static void refuse_renaming(struct step *x, const struct renaming *r)
{
	refuse_names(x, r);
	if (same_object(r) && r->from.kind == WHERE_DIR)
		return;
	refuse_slashes(x, r);
	if (goes_below(x, r))
		refuse(x, RULE_rename_below);
	if (goes_above(x, r))
		refuse(x, rename_exchanges(r) ? RULE_rename_below : RULE_rename_above);
	if (same_object(r)) {
		may_refuse_unsupported_flags(x, r);
		leave_target_hidden(x, r);
		return;
	}
	refuse_entries(x, r);
	refuse_types(x, r);
	refuse_directories(x, r);
	if (r->flags & RENAME_WHITEOUT) /* libfuse hides the file before the flag is refused */
		leave_target_hidden(x, r);
	refuse_unsupported_flags(x, r->flags);
	refuse_contents(x, r);
	leave_target_hidden(x, r);
}

static void leave_whiteout(struct step *x, const struct where *from)
{
	uint64_t ino = make_unnamed(x, from->parent, S_IFCHR);

	tree_link(&x->state->tree, from->parent, from->name, from->name_len, ino);
	streams_added(x, from->parent, from->name, from->name_len);
}

/* To those who read the directory, a name of something else is another name. */
static void renew_name(struct step *x, const struct where *w)
{
	streams_removed(x, w->parent, w->name, w->name_len);
	streams_added(x, w->parent, w->name, w->name_len);
}

/* Exchanging names sets the change times of what they name, or not; and so does rename, by POSIX. A
 * directory that moves gets another "..", which modifies it; some file systems write that also
 * where it stays in the same one (nilfs_set_link, minix_set_link). */
static void may_touch_moved(struct step *x, const struct renaming *r, uint64_t ino)
{
	bool free = rename_exchanges(r) || x->model->traits.rename_keeps_ctime;
	unsigned fields = free ? TIME_BIT_CHANGE : 0;

	if (S_ISDIR(tree_inode(&x->state->tree, ino)->mode) &&
	    (rename_exchanges(r) || !x->model->traits.moved_dir_keeps_mtime))
		fields |= TIME_BIT_MODIFY;
	if (fields)
		may_touch(x, ino, fields);
}

static void rename_carry_out(struct step *x, const struct renaming *r)
{
	const struct where *from = &r->from, *to = &r->to;
	struct tree *tree = &x->state->tree;

	touch_modify(x, from->parent);
	touch_modify(x, to->parent);
	may_touch_moved(x, r, from->ino);
	if (rename_exchanges(r))
		may_touch_moved(x, r, to->ino);
	if (!rename_exchanges(r) || x->model->traits.optional_times) {
		touch_change(x, from->ino);
		if (r->target)
			touch_change(x, to->ino);
	}
	if (rename_exchanges(r)) {
		renew_name(x, from);
		renew_name(x, to);
		tree_exchange(tree, from->parent, from->name, from->name_len, to->parent, to->name,
			      to->name_len);
		return;
	}
	if (r->target)
		streams_removed(x, to->parent, to->name, to->name_len);
	streams_removed(x, from->parent, from->name, from->name_len);
	tree_rename(tree, from->parent, from->name, from->name_len, to->parent, to->name,
		    to->name_len);
	streams_added(x, to->parent, to->name, to->name_len);
	if (r->flags & RENAME_WHITEOUT)
		leave_whiteout(x, from);
}

static void rename_object(struct step *x, int64_t fromfd, const struct arg *from, int64_t tofd,
			  const struct arg *to, int64_t flags)
{
	struct renaming r = { .flags = flags };

	if (refuse_rename_flags(x, flags))
		return;
	resolve(x, fromfd, from, 0, NULL, &r.from);
	resolve(x, tofd, to, 0, NULL, &r.to);
	if (r.from.via_symlink)
		ignore_slash(x, &r.from, RULE_rename_ignores_slash);
	if (r.to.via_symlink)
		ignore_slash(x, &r.to, RULE_rename_ignores_slash);
	if (r.from.kind == WHERE_DIR && !rename_exchanges(&r))
		ignore_slash(x, &r.to, RULE_rename_slash_later);
	r.source = where_inode(x, &r.from);
	r.target = where_inode(x, &r.to);
	if (r.source && flags & RENAME_WHITEOUT && x->model->traits.whiteout_sets_times)
		may_touch(x, r.from.parent, TIME_BIT_MODIFY | TIME_BIT_CHANGE);
	refuse_renaming(x, &r);
	if (proceed(x) && !same_object(&r))
		rename_carry_out(x, &r);
}

void model_rename(struct step *x)
{
	const struct call *c = x->call;

	rename_object(x, AT_FDCWD, &c->rename.from, AT_FDCWD, &c->rename.to, 0);
}

void model_renameat(struct step *x)
{
	const struct call *c = x->call;

	rename_object(x, c->renameat.fromfd.num, &c->renameat.from, c->renameat.tofd.num,
		      &c->renameat.to, 0);
}

void model_renameat2(struct step *x)
{
	const struct call *c = x->call;

	leave_open(x, RULE_call_of_linux);
	rename_object(x, c->renameat2.fromfd.num, &c->renameat2.from, c->renameat2.tofd.num,
		      &c->renameat2.to, c->renameat2.flags.num);
}
