/* op_rename.c -- rename: a name moves, over another one if need be. */
#include "model/entry.h"

#include <linux/fs.h>

struct renaming {
	struct where from, to;
	const struct inode *source, *target; /* NULL where there is none */
	int64_t flags;
};

static bool exchange(const struct renaming *r)
{
	return r->flags & RENAME_EXCHANGE;
}

static bool refuse_flags(struct step *x, int64_t flags)
{
	if (flags & ~(int64_t)(RENAME_NOREPLACE | RENAME_EXCHANGE | RENAME_WHITEOUT) ||
	    (flags & RENAME_EXCHANGE && flags & (RENAME_NOREPLACE | RENAME_WHITEOUT)))
		return refuse(x, RULE_rename_flags);
	if (flags & RENAME_WHITEOUT && !is_root(x))
		refuse(x, RULE_rename_whiteout_denied);
	if ((flags & RENAME_EXCHANGE && x->model->traits.no_exchange) ||
	    (flags & RENAME_WHITEOUT && x->model->traits.no_whiteout))
		refuse(x, RULE_rename_flags_unsupported);
	return false;
}

/* "/", "." and ".." are no names that could move. */
static void refuse_dots(struct step *x, const struct where *w, bool source)
{
	if (w->kind != WHERE_DIR || w->parent)
		return;
	if (w->last_dot || w->last_dotdot)
		refuse(x, RULE_rename_dots);
	if (w->last_dot || w->last_dotdot || !source)
		refuse(x, RULE_rename_dots_busy);
	if (!w->is_root || !source)
		return;
	refuse(x, RULE_rename_root);
	refuse(x, RULE_root_busy);
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

	if ((from->is_symlink && from->slash) || (to->is_symlink && to->slash))
		refuse(x, RULE_symlink_slash);
	if (from->kind != WHERE_FILE || !to->slash)
		return;
	if (to->kind == WHERE_DIR && !exchange(r))
		refuse(x, RULE_rename_directory_slash);
	if (to->kind != WHERE_NONE)
		return;
	refuse(x, RULE_rename_file_slash);
	refuse(x, RULE_rename_file_slash_missing);
	if (!to->via_symlink)
		refuse(x, RULE_rename_file_slash_direct);
}

static void refuse_existing(struct step *x, const struct renaming *r)
{
	const struct where *from = &r->from, *to = &r->to;

	if (from->kind == WHERE_FILE && to->kind == WHERE_DIR)
		refuse(x, RULE_rename_over_directory);
	if (from->kind == WHERE_DIR && to->kind == WHERE_FILE)
		refuse(x, RULE_rename_over_file);
	if (from->kind == WHERE_DIR && to->kind == WHERE_ERROR)
		refuse(x, RULE_rename_over_error);
	if (to->kind != WHERE_DIR || dir_is_empty(x, to->ino))
		return;
	refuse(x, from->kind == WHERE_DIR ? RULE_not_empty : RULE_rename_not_empty);
	refuse(x, from->kind == WHERE_DIR ? RULE_not_empty_exists : RULE_rename_not_empty_exists);
}

static void refuse_permissions(struct step *x, const struct renaming *r)
{
	const struct where *from = &r->from, *to = &r->to;
	bool moves = from->parent != to->parent;

	if (r->source && from->parent)
		refuse_removal(x, from->parent, r->source);
	if (to->kind == WHERE_NONE)
		refuse_new(x, to);
	else if (r->target && to->parent)
		refuse_removal(x, to->parent, r->target);
	if (from->kind == WHERE_DIR && !may_access(x, r->source, MAY_WRITE))
		refuse(x, moves ? RULE_rename_parent_denied : RULE_rename_directory_denied);
	if (to->kind == WHERE_DIR && !may_access(x, r->target, MAY_WRITE))
		refuse(x, moves && exchange(r) ? RULE_rename_parent_denied :
						 RULE_rename_directory_denied);
}

static void refuse_links(struct step *x, const struct renaming *r)
{
	uint64_t link_max = x->model->traits.link_max;

	if (r->from.kind == WHERE_DIR && r->to.kind == WHERE_NONE && link_max &&
	    r->from.parent != r->to.parent &&
	    tree_inode(&x->state->tree, r->to.parent)->nlink >= link_max)
		refuse(x, RULE_links_too_many);
}

/* Both names are of one object: nothing to do, and nothing more to ask. */
static bool same_object(const struct renaming *r)
{
	return r->source && r->source == r->target && r->from.parent && r->to.parent;
}

/* A name that cannot be reached is an error at once; "file/" only when both names are known. */
static void refuse_path(struct step *x, const struct where *w, bool reached)
{
	if (!!w->blocked == reached)
		refuse_where(x, w);
}

static void refuse_renaming(struct step *x, const struct renaming *r)
{
	refuse_path(x, &r->from, false);
	refuse_path(x, &r->to, false);
	refuse_dots(x, &r->from, true);
	refuse_dots(x, &r->to, false);
	refuse_read_only(x);
	if (r->from.kind == WHERE_NONE || (r->to.kind == WHERE_NONE && exchange(r)))
		refuse(x, RULE_name_missing);
	if (r->flags & RENAME_NOREPLACE && (r->target || r->to.blocked))
		refuse(x, RULE_rename_noreplace);
	refuse_path(x, &r->from, true);
	refuse_path(x, &r->to, true);
	if (same_object(r) && r->from.kind == WHERE_DIR)
		return;
	refuse_slashes(x, r);
	if (goes_below(x, r))
		refuse(x, RULE_rename_below);
	if (goes_above(x, r))
		refuse(x, exchange(r) ? RULE_rename_below : RULE_rename_above);
	if (same_object(r))
		return;
	refuse_permissions(x, r);
	refuse_links(x, r);
	if (!exchange(r))
		refuse_existing(x, r);
}

static void leave_whiteout(struct step *x, const struct where *from)
{
	uint64_t ino = tree_new(&x->state->tree, S_IFCHR, x->process->uid, x->process->gid,
				x->state->now);

	tree_link(&x->state->tree, from->parent, from->name, from->name_len, ino);
	streams_added(x, from->parent, from->name, from->name_len);
}

static void carry_out(struct step *x, const struct renaming *r)
{
	const struct where *from = &r->from, *to = &r->to;
	struct tree *tree = &x->state->tree;

	touch_change(x, from->ino);
	touch_modify(x, from->parent);
	touch_modify(x, to->parent);
	if (r->target)
		touch_change(x, to->ino);
	if (exchange(r)) {
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

	if (refuse_flags(x, flags))
		return;
	resolve(x, fromfd, from, 0, NULL, &r.from);
	resolve(x, tofd, to, RESOLVE_CREATE, NULL, &r.to);
	if (r.from.via_symlink)
		ignore_slash(x, &r.from, RULE_rename_ignores_slash);
	if (r.to.via_symlink)
		ignore_slash(x, &r.to, RULE_rename_ignores_slash);
	r.source = where_inode(x, &r.from);
	r.target = where_inode(x, &r.to);
	refuse_renaming(x, &r);
	if (proceed(x) && !same_object(&r))
		carry_out(x, &r);
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

	rename_object(x, c->renameat2.fromfd.num, &c->renameat2.from, c->renameat2.tofd.num,
		      &c->renameat2.to, c->renameat2.flags.num);
}
