/* touched.c -- what a call can have touched: objects first, then all names they have or had.
 *
 * Mostly the call itself says where they are: by the names on its way, of which a directory or a
 * file with one link has no others. Else the whole tree is walked, which takes as long as it is
 * large.
 *
 * The model says what has changed, whether or not it was meant to; the arguments, what a file
 * system could have changed instead. A call that makes or removes no names touches no directory on
 * its way, one that neither writes nor syncs no data, and one that only reads nothing but times.
 * Whatever does not fit is a reason to look at everything. */
#include "plan/touched.h"

#include <fcntl.h>
#include <string.h>

enum { OBJECTS_MAX = 16, TEXT_MAX = 2048, PATH_LEN_MAX = 512, DEPTH_MAX = 32, LINKS_MAX = 8 };
enum { PLACES_MAX = 32, GONE_MAX = 8 };

/* Of a directory with more entries only those that the call names are looked at. */
enum { LISTED_MAX = 64 };

/* A name on the way of the call, or one that is gone. */
struct touched_place {
	uint64_t ino, dir;
	const char *name;
	size_t len;
};

struct touched {
	const struct state *before, *after;
	uint64_t objects[OBJECTS_MAX];
	unsigned object_count;
	struct touched_place places[PLACES_MAX], gone[GONE_MAX];
	unsigned place_count, gone_count;
	unsigned listed; /* a bit for each object */
	unsigned links;  /* followed so far */
	bool all;        /* it may be anything */
	bool names;      /* the call makes or removes names, */
	bool data;       /* reads contents from the disk or changes them, */
	bool attributes; /* or changes attributes */
	char path[PATH_LEN_MAX];
	size_t path_len;
	char text[TEXT_MAX]; /* paths, each with its NUL */
	size_t text_len, path_count;
};

static bool touched_has(const struct touched *x, uint64_t ino)
{
	for (unsigned i = 0; i < x->object_count; i++)
		if (x->objects[i] == ino)
			return true;
	return false;
}

static void touched_add(struct touched *x, uint64_t ino)
{
	if (touched_has(x, ino))
		return;
	if (x->object_count == OBJECTS_MAX)
		x->all = true;
	else
		x->objects[x->object_count++] = ino;
}

/* ---- objects ---- */

/* One too many is counted, but not kept. */
static void touched_add_place(struct touched_place *places, unsigned max, unsigned *count,
			      struct touched_place place)
{
	if (*count < max)
		places[*count] = place;
	*count += *count <= max;
}

struct touched_dir {
	struct touched *x;
	uint64_t ino;
};

static void touched_visit_entry(void *to, uint64_t key, const struct ref *before,
				const struct ref *after)
{
	const struct entry *entry = (const struct entry *)before;
	const struct touched_dir *dir = to;

	if (before && !after)
		touched_add_place(dir->x->gone, GONE_MAX, &dir->x->gone_count,
				  (struct touched_place){ entry->ino, dir->ino, entry->name,
							  entry->len });
}

static void touched_visit(void *to, uint64_t ino, const struct ref *in_before,
			  const struct ref *in_after)
{
	const struct inode *before = (const struct inode *)in_before,
			   *after = (const struct inode *)in_after;
	struct touched *x = to;

	touched_add(x, ino);
	if (!before || !after || !S_ISDIR(after->mode))
		return;
	/* All that is in it has other paths. */
	if (after->dir.entries.count && !hash_equal(before->places, after->places))
		x->all = true;
	pmap_diff(&before->dir.entries, &after->dir.entries, touched_visit_entry,
		  &(struct touched_dir){ x, ino });
}

static uint64_t touched_walk(struct touched *x, uint64_t dir, const char *path);

/* What has this name, before the call or behind it. */
static void touched_meet(struct touched *x, uint64_t dir, const char *name, size_t len)
{
	const struct tree *trees[] = { &x->before->tree, &x->after->tree };
	const struct entry *entry;

	for (size_t i = 0; i < 2; i++) {
		entry = tree_inode(trees[i], dir) ? tree_find(trees[i], dir, name, len) : NULL;
		if (entry)
			touched_add_place(x->places, PLACES_MAX, &x->place_count,
					  (struct touched_place){ entry->ino, dir, name, len });
	}
}

/* One name further; 0 if there is nothing. */
static uint64_t touched_step(struct touched *x, uint64_t dir, const char *name, size_t len,
			     bool is_last)
{
	const struct tree *t = &x->before->tree;
	const struct inode *inode = tree_inode(t, dir);
	const struct entry *entry;

	if (!inode || !S_ISDIR(inode->mode))
		return 0;
	if (!len || (len == 1 && name[0] == '.'))
		return dir;
	if (len == 2 && !memcmp(name, "..", 2))
		return inode->dir.parent;
	entry = tree_find(t, dir, name, len);
	touched_meet(x, dir, name, len);
	if (x->names && (is_last || !entry))
		touched_add(x, dir);
	if (!entry)
		return 0;
	inode = tree_inode(t, entry->ino);
	if (!S_ISLNK(inode->mode) || !inode->target || x->links == LINKS_MAX)
		return entry->ino;
	x->links++;
	touched_add(x, entry->ino);
	return touched_walk(x, dir, inode->target->bytes);
}

/* Links are followed to the end: calls that do not follow them have touched the link itself. */
static uint64_t touched_walk(struct touched *x, uint64_t dir, const char *path)
{
	size_t len;

	if (*path == '/')
		dir = TREE_ROOT;
	while (dir && *path) {
		path += strspn(path, "/");
		len = strcspn(path, "/");
		dir = touched_step(x, dir, path, len, !path[len + strspn(path + len, "/")]);
		path += len;
	}
	if (dir)
		touched_add(x, dir);
	return dir;
}

static void touched_add_file(struct touched *x, unsigned pid, int64_t fd)
{
	const struct open_file *file = state_file(x->before, pid, fd);

	if (file)
		touched_add(x, file->ino);
}

static uint64_t touched_start(const struct touched *x, unsigned pid, int64_t dirfd)
{
	const struct open_file *file = state_file(x->before, pid, dirfd);
	const struct process *process = state_process(x->before, pid);

	if (dirfd == AT_FDCWD)
		return process ? process->cwd : 0;
	return file ? file->ino : 0;
}

static void touched_add_arguments(struct touched *x, const struct call *c)
{
	const struct op_info *info = &op_table[c->op];
	const struct dir_stream *stream;
	const struct mapping *map;
	int64_t dirfd = AT_FDCWD;

	for (unsigned i = 0; i < info->args; i++)
		switch (info->arg[i].kind) {
		case KIND_DIRFD:
			dirfd = c->arg[i].num;
			touched_add_file(x, c->pid, dirfd);
			break;
		case KIND_PATH:
			x->links = 0;
			if (c->arg[i].text)
				touched_walk(x, touched_start(x, c->pid, dirfd), c->arg[i].text);
			break;
		case KIND_FD:
			touched_add_file(x, c->pid, c->arg[i].num);
			break;
		case KIND_MAP:
			map = state_mapping(x->before, c->pid, c->arg[i].num);
			if (map)
				touched_add(x, state_mapping_ino(x->before, map));
			break;
		case KIND_HANDLE:
			touched_add(x, x->before->handles[handle_slot(c->arg[i].num)]);
			break;
		case KIND_DH:
			stream = state_stream(x->before, c->pid, c->arg[i].num);
			if (stream)
				touched_add(x, stream->ino);
			break;
		default:
			break;
		}
}

/* ---- their names ---- */

/* How much of an object is not looked at, as SCAN_PART_LESS. */
static unsigned touched_less(const struct touched *x, uint64_t ino)
{
	const struct inode *inode = tree_inode(&x->after->tree, ino);
	bool lists = x->names && S_ISDIR(inode->mode) && inode->dir.entries.count <= LISTED_MAX;

	if (S_ISDIR(inode->mode) ? lists : x->data)
		return 0;
	return x->names || x->data || x->attributes ? 1 : 2;
}

/* Appends the path that the walk is at. */
static void touched_list(struct touched *x, unsigned less)
{
	const char *path = x->path_len ? x->path : ".";
	size_t len = x->path_len ? x->path_len : 1;

	if (x->path_count == SCAN_PART_MAX || x->text_len + less + len + 1 > TEXT_MAX) {
		x->all = true;
		return;
	}
	memset(x->text + x->text_len, SCAN_PART_LESS, less);
	x->text_len += less;
	memcpy(x->text + x->text_len, path, len);
	x->text_len += len;
	x->text[x->text_len++] = '\0';
	x->path_count++;
}

/* Goes down to an entry, unless its path is too long; returns the length to come back to. */
static size_t touched_enter(struct touched *x, const char *name, size_t len)
{
	size_t back = x->path_len;

	if (back + len + 2 > PATH_LEN_MAX) {
		x->all = true;
		return back;
	}
	if (back)
		x->path[x->path_len++] = '/';
	memcpy(x->path + x->path_len, name, len);
	x->path_len += len;
	return back;
}

/* The place where the call has met an object that is still there; NULL if it has not. */
static const struct touched_place *touched_place(const struct touched *x, uint64_t ino)
{
	const struct entry *entry;

	for (unsigned i = 0; i < x->place_count && i < PLACES_MAX; i++) {
		const struct touched_place *place = &x->places[i];

		if (place->ino != ino || !tree_inode(&x->after->tree, place->dir))
			continue;
		entry = tree_find(&x->after->tree, place->dir, place->name, place->len);
		if (entry && entry->ino == ino)
			return place;
	}
	return NULL;
}

/* Lists it, if it is touched and not listed yet. */
static void touched_list_object(struct touched *x, uint64_t ino)
{
	for (unsigned i = 0; i < x->object_count; i++)
		if (x->objects[i] == ino && !(x->listed >> i & 1)) {
			x->listed |= 1U << i;
			touched_list(x, touched_less(x, ino));
		}
}

/* Walks to an object from the root, and lists what is touched on the way. False if the way is not
 * known. */
static bool touched_go_to(struct touched *x, uint64_t ino, unsigned depth)
{
	const struct touched_place *place;

	if (ino == TREE_ROOT) {
		x->path_len = 0;
	} else {
		place = depth == DEPTH_MAX ? NULL : touched_place(x, ino);
		if (!place || !touched_go_to(x, place->dir, depth + 1))
			return false;
		touched_enter(x, place->name, place->len);
	}
	touched_list_object(x, ino);
	return true;
}

/* Lists the names that are gone, with the directories that they were in, and then what is there.
 * False if the call does not say where all of it is. */
static bool touched_list_known(struct touched *x)
{
	const struct inode *inode;

	if (x->gone_count > GONE_MAX)
		return false;
	for (unsigned i = 0; i < x->gone_count; i++) {
		if (!touched_go_to(x, x->gone[i].dir, 0))
			return false;
		touched_enter(x, x->gone[i].name, x->gone[i].len);
		touched_list(x, 0);
	}
	for (unsigned i = 0; i < x->object_count; i++) {
		inode = tree_inode(&x->after->tree, x->objects[i]);
		if (!inode || !inode->nlink)
			continue;
		if ((!S_ISDIR(inode->mode) && inode->nlink > 1) ||
		    !touched_go_to(x, x->objects[i], 0))
			return false;
	}
	return true;
}

/* Names that are there, or names that are gone. */
static void touched_list_names(struct touched *x, uint64_t dir, bool gone, unsigned depth)
{
	const struct tree *t = gone ? &x->before->tree : &x->after->tree;
	const struct entry *entry, *there;
	uint64_t cookie = 0;
	size_t back;

	x->all |= depth == DEPTH_MAX;
	if (!gone && touched_has(x, dir))
		touched_list(x, touched_less(x, dir));
	while (!x->all && (entry = tree_next_entry(t, dir, &cookie))) {
		there = gone ? tree_find(&x->after->tree, dir, entry->name, entry->len) : entry;
		back = touched_enter(x, entry->name, entry->len);
		if (S_ISDIR(tree_inode(t, entry->ino)->mode) && there && there->ino == entry->ino)
			touched_list_names(x, entry->ino, gone, depth + 1);
		else if (touched_has(x, entry->ino) && !(gone && there))
			touched_list(x, gone ? 0 : touched_less(x, entry->ino));
		x->path_len = back;
	}
}

static void touched_list_all_names(struct touched *x)
{
	x->text_len = x->path_count = x->path_len = 0;
	touched_list_names(x, TREE_ROOT, true, 0);
	if (!x->all)
		touched_list_names(x, TREE_ROOT, false, 0);
}

/* The flags that a call opens something with, or those of one that does all that opening can. */
static int64_t call_open_flags(const struct call *c)
{
	const struct op_info *info = &op_table[c->op];

	for (unsigned i = 0; i < info->args; i++)
		if (info->arg[i].kind == KIND_OPEN_FLAGS)
			return c->arg[i].num | (c->op == OP_create_file ? O_CREAT : 0);
	return O_CREAT | O_TRUNC;
}

/* What a call can do at all, whatever it returns. */
static void touched_begin(struct touched *x, const struct state *before, const struct state *after,
			  const struct call *c)
{
	unsigned traits = op_table[c->op].traits;
	int64_t flags = call_open_flags(c);

	x->before = before;
	x->after = after;
	x->object_count = x->place_count = x->gone_count = 0;
	x->listed = 0;
	x->all = false;
	x->names = traits & TRAIT_NAMES && flags & (O_CREAT | O_TMPFILE);
	x->data = traits & TRAIT_SYNC ||
		  (traits & TRAIT_DATA && (op_table[c->op].base != OP_open || flags & O_TRUNC));
	x->attributes = traits & TRAIT_ATTR;
	x->path_len = x->text_len = x->path_count = 0;
}

/* Whether the call acts on more than its arguments say. */
static bool call_acts_on_all(const struct state *before, const struct state *after,
			     const struct call *c, const struct times_expected *times)
{
	return op_table[c->op].traits & TRAIT_ENV || c->op == OP_sync || c->op == OP_syncfs ||
	       times->may_all & TIME_BIT_MODIFY || after->health != HEALTH_SOUND ||
	       state_failures(before) || before->space_ended;
}

const char *touched_paths(const struct state *before, const struct state *after,
			  const struct call *c, const struct times_expected *times,
			  struct arena *arena, size_t *ret_len)
{
	struct touched x;

	if (call_acts_on_all(before, after, c, times))
		return NULL;
	touched_begin(&x, before, after, c);
	pmap_diff(&before->tree.inodes, &after->tree.inodes, touched_visit, &x);
	touched_add_arguments(&x, c);
	if (!x.all && !touched_list_known(&x))
		touched_list_all_names(&x);
	if (x.all)
		return NULL;
	*ret_len = x.text_len;
	return arena_copy(arena, x.text, x.text_len);
}
