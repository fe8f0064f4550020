/* resolve.c -- from a path to an object, to the place of a missing one, or to an error.
 *
 * The path is never copied. What is still to walk is a stack of pieces: the rest of the path
 * below, the rest of the target of each symbolic link being followed above it. Costs one lookup
 * a name. */
#include "model/internal.h"

#include <linux/openat2.h>

enum {
	LINKS_MAX = 40,
	LOOKUPS_MAX = 3, /* of one path: in RCU mode, out of it, and asking the file system */
};

struct path_walk {
	struct step *x;
	unsigned flags;   /* enum walk_flag */
	int64_t confined; /* RESOLVE_ flags of openat2 */
	uint64_t dir;     /* where the walk is */
	uint64_t start;   /* where it began: the root of a confined walk */
	bool rooted;      /* the root was met: by an absolute path, or by ".." */
	unsigned links;   /* followed so far */
	unsigned depth;
	const char *rest[LINKS_MAX + 2]; /* each NUL-terminated */
	struct where *ret;
};

static void where_fail(struct where *ret, enum rule rule)
{
	ret->kind = WHERE_ERROR;
	ret->rule = rule;
	ret->error = rule_table[rule].error;
}

/* Only slashes are left to walk. Says in *ret_slash whether there are any. */
static bool nothing_follows(const struct path_walk *w, bool *ret_slash)
{
	bool slash = false;

	for (unsigned i = w->depth + 1; i--;) {
		const char *at = w->rest[i];

		for (; *at == '/'; at++)
			slash = true;
		if (*at)
			return false;
	}
	*ret_slash = slash;
	return true;
}

static bool restart_at_root(struct path_walk *w)
{
	if (w->confined & RESOLVE_BENEATH) {
		where_fail(w->ret, RULE_beneath_absolute);
		return false;
	}
	w->rooted = true;
	w->dir = w->confined & RESOLVE_IN_ROOT ? w->start : TREE_ROOT;
	w->ret->parent = 0;
	w->ret->name_len = 0;
	w->ret->last_dot = w->ret->last_dotdot = false;
	return true;
}

static bool may_search(struct path_walk *w)
{
	/* A walk is in directories alone, and those root may search. */
	if (is_root(w->x) || may_access(w->x, tree_inode(&w->x->state->tree, w->dir), MAY_EXEC))
		return true;
	where_fail(w->ret, RULE_search_denied);
	return false;
}

/* ".." */
static bool walk_go_up(struct path_walk *w)
{
	const struct inode *dir = tree_inode(&w->x->state->tree, w->dir);

	if (w->confined & (RESOLVE_BENEATH | RESOLVE_IN_ROOT) && w->dir == w->start) {
		if (w->confined & RESOLVE_IN_ROOT)
			return true;
		where_fail(w->ret, RULE_beneath_escape);
		return false;
	}
	if (!tree_inode(&w->x->state->tree, dir->dir.parent)) {
		where_fail(w->ret, RULE_dir_removed);
		return false;
	}
	w->dir = dir->dir.parent;
	return true;
}

static bool walk_follows(struct path_walk *w, bool last, bool slash)
{
	if (!last || w->flags & WALK_FOLLOW)
		return true;
	if (!slash)
		return false;
	return holds(w->x, RULE_slash_follows) ||
	       (w->flags & WALK_KEEP_SLASH && holds(w->x, RULE_slash_follows_lookup));
}

/* Another user's link at the end of a path, in a world-writable sticky directory:
 * may_follow_link. Returns whether it ends the walk. */
static bool refuse_planted_link(struct path_walk *w, const struct inode *link)
{
	const struct inode *dir = tree_inode(&w->x->state->tree, w->dir);
	uint64_t setting = w->x->model->traits.protected_symlinks;

	if (!(dir->mode & S_ISVTX) || !(dir->mode & S_IWOTH) || link->uid == dir->uid ||
	    link->uid == w->x->process->uid || w->x->process->trusted)
		return false;
	if (setting >= SETTING_UNKNOWN)
		may_refuse(w->x, RULE_symlink_planted);
	if (!setting || setting >= SETTING_UNKNOWN || !holds(w->x, RULE_symlink_planted))
		return false;
	where_fail(w->ret, RULE_symlink_planted);
	return true;
}

static bool enter_link(struct path_walk *w, const struct inode *link, bool last)
{
	w->ret->via_symlink |= last;
	if (w->links++ >= LINKS_MAX) {
		where_fail(w->ret, RULE_symlinks_too_many);
		return false;
	}
	if (last && refuse_planted_link(w, link))
		return false;
	if (w->confined & RESOLVE_NO_SYMLINKS) {
		where_fail(w->ret, RULE_symlinks_refused);
		return false;
	}
	w->rest[++w->depth] = link->target->bytes;
	if (link->target->bytes[0] != '/')
		return true;
	if (w->confined & RESOLVE_NO_XDEV && !w->rooted) {
		where_fail(w->ret, RULE_xdev_absolute);
		return false;
	}
	return restart_at_root(w);
}

/* A name that exists. Returns whether the walk continues. */
static bool walk_enter(struct path_walk *w, uint64_t ino, bool last, bool slash)
{
	const struct inode *inode = tree_inode(&w->x->state->tree, ino);
	struct where *ret = w->ret;

	if (S_ISDIR(inode->mode)) {
		w->dir = ino;
		return true;
	}
	if (!(inode->mode & S_IFMT))
		leave_undefined(w->x, RULE_object_unreadable);
	if (S_ISLNK(inode->mode) && walk_follows(w, last, slash))
		return enter_link(w, inode, last);
	if (!last || (slash && !S_ISLNK(inode->mode))) {
		where_fail(ret, RULE_not_a_directory);
		ret->reached = last;
		ret->blocked = last ? ino : 0;
		return false;
	}
	ret->kind = WHERE_FILE;
	ret->ino = ino;
	ret->is_symlink = S_ISLNK(inode->mode);
	return false;
}

/* "." and ".." */
static bool walk_dots(struct path_walk *w, bool up)
{
	w->ret->parent = 0;
	w->ret->name_len = 0;
	w->ret->last_dot = !up;
	w->ret->last_dotdot = up;
	w->rooted |= up;
	if (up && !walk_go_up(w))
		return false;
	if (up && w->confined & (RESOLVE_BENEATH | RESOLVE_IN_ROOT))
		may_refuse(w->x, RULE_beneath_raced);
	return true;
}

/* One component. Returns whether the walk continues. */
static bool walk_name(struct path_walk *w, const char *name, size_t len)
{
	struct where *ret = w->ret;
	const struct entry *entry;
	bool last, slash = false;

	if (!may_search(w))
		return false;
	if (name[0] == '.' && (len == 1 || (len == 2 && name[1] == '.')))
		return walk_dots(w, len == 2);
	last = nothing_follows(w, &slash);
	ret->slash = last && slash;
	if (last && *w->rest[w->depth] == '/' && w->flags & WALK_OPEN_CREATE &&
	    holds(w->x, RULE_open_slash_first)) {
		where_fail(ret, RULE_open_slash_first);
		return false;
	}
	/* A removed directory is not even asked. */
	if (len > w->x->model->traits.name_max && tree_inode(&w->x->state->tree, w->dir)->nlink) {
		where_fail(ret, RULE_name_too_long);
		ret->reached = last;
		return false;
	}
	ret->last_dot = ret->last_dotdot = false;
	ret->parent = w->dir;
	ret->name = name;
	ret->name_len = len;
	entry = tree_find(&w->x->state->tree, w->dir, name, len);
	if (entry)
		return walk_enter(w, entry->ino, last, slash);
	if (!last)
		where_fail(ret, RULE_component_missing);
	else
		ret->kind = WHERE_NONE;
	return false;
}

/* Where the walk begins. False: *ret is an error, or already the answer. */
static bool walk_begin(struct path_walk *w, int64_t dirfd, const struct arg *path)
{
	const struct open_file *file;
	struct step *x = w->x;

	if (!path->text) {
		leave_open(x, RULE_path_null_open);
		where_fail(w->ret, RULE_path_null);
		return false;
	}
	if (path->len >= x->model->traits.path_max) {
		where_fail(w->ret, RULE_path_too_long);
		return false;
	}
	if (!path->len && !(w->flags & WALK_EMPTY)) {
		where_fail(w->ret, RULE_path_empty);
		return false;
	}
	w->dir = w->start = x->process->cwd;
	if (dirfd == AT_FDCWD || (path->text[0] == '/' && !(w->confined & RESOLVE_IN_ROOT)))
		return true;
	file = state_file(x->state, x->pid, dirfd);
	if (!file) {
		where_fail(w->ret, RULE_dirfd_bad);
		return false;
	}
	w->dir = w->start = file->ino;
	if (path->len && !S_ISDIR(tree_inode(&x->state->tree, file->ino)->mode)) {
		where_fail(w->ret, RULE_dirfd_not_directory);
		return false;
	}
	return true;
}

/* "" with AT_EMPTY_PATH: what the descriptor refers to. */
static void answer_start(struct path_walk *w)
{
	const struct inode *inode = tree_inode(&w->x->state->tree, w->dir);

	w->ret->kind = S_ISDIR(inode->mode) ? WHERE_DIR : WHERE_FILE;
	w->ret->ino = w->dir;
	w->ret->is_symlink = S_ISLNK(inode->mode);
	w->ret->is_root = w->dir == TREE_ROOT;
}

static void walk_all(struct path_walk *w)
{
	for (;;) {
		const char *name = w->rest[w->depth];
		size_t len;

		while (*name == '/')
			name++;
		for (len = 0; name[len] && name[len] != '/';)
			len++;
		if (!len) {
			if (!w->depth)
				return;
			w->depth--;
			continue;
		}
		w->rest[w->depth] = name + len;
		if (!walk_name(w, name, len))
			return;
	}
}

/* The walk ended in a directory. */
static void walk_arrive(struct path_walk *w)
{
	w->ret->ino = w->dir;
	w->ret->is_root = w->dir == TREE_ROOT;
	if (w->ret->slash && holds(w->x, RULE_slash_searches))
		may_search(w);
}

void resolve(struct step *x, int64_t dirfd, const struct arg *path, unsigned flags,
	     const int64_t *openat2_resolve, struct where *ret)
{
	struct path_walk w;

	w.x = x;
	w.flags = flags;
	w.confined = openat2_resolve ? *openat2_resolve : 0;
	w.rooted = w.confined & RESOLVE_IN_ROOT;
	w.links = w.depth = 0;
	w.ret = ret;
	*ret = (struct where){ .kind = WHERE_DIR };
	if (!walk_begin(&w, dirfd, path))
		return;
	if (!path->len) {
		answer_start(&w);
		return;
	}
	w.rest[0] = path->text;
	if (path->text[0] == '/' && !restart_at_root(&w))
		return;
	walk_all(&w);
	if (w.links > LINKS_MAX / LOOKUPS_MAX)
		may_refuse(x, RULE_symlinks_counted_again);
	ret->slash |= path->text[path->len - 1] == '/';
	if (ret->kind == WHERE_DIR)
		walk_arrive(&w);
}

bool refuse_where(struct step *x, const struct where *w)
{
	return w->kind == WHERE_ERROR && refuse(x, w->rule);
}

const struct inode *where_inode(const struct step *x, const struct where *w)
{
	if (w->kind != WHERE_DIR && w->kind != WHERE_FILE)
		return NULL;
	return tree_inode(&x->state->tree, w->ino);
}
