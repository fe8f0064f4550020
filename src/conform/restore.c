/* restore.c -- what a script left, undone by calls that the model can predict.
 *
 * Whether they really restore everything is for the caller to see: an immutable file, say, stays,
 * and the state that the calls lead to is then not the one that was wanted. */
#include "conform/restore.h"

#include <string.h>
#include <sys/stat.h>

#include "base/map.h"
#include "base/must.h"

enum { UMASK_FIRST = 022, DEPTH_MAX = 64 };

static struct call *call_list_add(struct call_list *list, enum op op, unsigned pid)
{
	struct call *c;

	if (list->count == list->cap) {
		list->cap = list->cap ? 2 * list->cap : 64;
		list->items = must_realloc(list->items, list->cap * sizeof(*list->items));
	}
	c = &list->items[list->count++];
	*c = (struct call){ .op = (uint16_t)op, .pid = (uint16_t)pid };
	return c;
}

static struct arg call_text_arg(const char *text)
{
	return (struct arg){ .text = text, .len = (uint32_t)strlen(text) };
}

static void restore_process(const struct process *process, unsigned pid, struct call_list *list)
{
	uint64_t key;

	for (bool first = true; pmap_next(&process->fds, first, &key); first = false)
		if (key >= STATE_FD_FIRST)
			call_list_add(list, OP_close, pid)->close.fd.num = (int64_t)key;
	for (bool first = true; pmap_next(&process->streams, first, &key); first = false)
		call_list_add(list, OP_closedir, pid)->closedir.dh.num = (int64_t)key;
	for (bool first = true; pmap_next(&process->maps, first, &key); first = false)
		call_list_add(list, OP_munmap, pid)->munmap.map.num = (int64_t)key;
	if (process->cwd != TREE_ROOT)
		call_list_add(list, OP_chdir, pid)->chdir.path = call_text_arg("/");
	if (process->umask != UMASK_FIRST)
		call_list_add(list, OP_umask, pid)->umask.mask.num = UMASK_FIRST;
}

void restore_processes(const struct state *s, struct call_list *list, struct arena *arena)
{
	const struct process *process;
	uint64_t pid;

	for (bool first = true; (process = (void *)pmap_next(&s->processes, first, &pid));
	     first = false)
		restore_process(process, (unsigned)pid, list);
}

static const char *restore_join(const char *dir, const struct entry *entry, struct arena *arena)
{
	size_t len = strlen(dir);
	char *path = arena_alloc(arena, len + entry->len + 2);

	memcpy(path, dir, len);
	path[len] = '/';
	memcpy(path + len + 1, entry->name, entry->len);
	return path;
}

static void restore_remove_below(const struct tree *t, uint64_t dir, const char *path,
				 unsigned depth, struct call_list *list, struct arena *arena)
{
	const struct entry *entry;
	uint64_t cookie = 0;

	while (depth < DEPTH_MAX && (entry = tree_next_entry(t, dir, &cookie))) {
		const char *below = restore_join(path, entry, arena);

		if (S_ISDIR(tree_inode(t, entry->ino)->mode)) {
			restore_remove_below(t, entry->ino, below, depth + 1, list, arena);
			call_list_add(list, OP_rmdir, 1)->rmdir.path = call_text_arg(below);
		} else {
			call_list_add(list, OP_unlink, 1)->unlink.path = call_text_arg(below);
		}
	}
}

/* Counts the names of each object below, and of each directory those that lead to it. */
static bool tree_count_names(const struct tree *t, uint64_t dir, unsigned depth,
			     struct hash_map *names)
{
	const struct entry *entry;
	uint64_t cookie = 0, below = 2;

	while (depth < DEPTH_MAX && (entry = tree_next_entry(t, dir, &cookie))) {
		struct hash key = { entry->ino, 0 };

		++*hash_map_put(names, key, NULL);
		if (!S_ISDIR(tree_inode(t, entry->ino)->mode))
			continue;
		below++;
		if (!tree_count_names(t, entry->ino, depth + 1, names))
			return false;
	}
	return depth < DEPTH_MAX && tree_inode(t, dir)->nlink == below;
}

static bool tree_names_agree(const struct tree *t, uint64_t dir, const struct hash_map *names)
{
	const struct entry *entry;
	uint64_t cookie = 0;

	while ((entry = tree_next_entry(t, dir, &cookie))) {
		const struct inode *inode = tree_inode(t, entry->ino);
		struct hash key = { entry->ino, 0 };

		if (S_ISDIR(inode->mode) ? !tree_names_agree(t, entry->ino, names)
					 : *hash_map_get(names, key) != inode->nlink)
			return false;
	}
	return true;
}

bool tree_is_sound(const struct tree *t)
{
	struct hash_map names = HASH_MAP_INIT;
	bool sound =
		tree_count_names(t, TREE_ROOT, 0, &names) && tree_names_agree(t, TREE_ROOT, &names);

	hash_map_free(&names);
	return sound;
}

static void restore_root(const struct inode *root, const struct inode *initial,
			 struct call_list *list, struct arena *arena)
{
	const struct xattr *x;
	uint64_t cookie = 0;
	struct call *c;

	while ((x = tree_next_xattr(root, &cookie))) {
		if (tree_xattr(initial, x->bytes))
			continue;
		c = call_list_add(list, OP_removexattr, 1);
		c->removexattr.path = call_text_arg("/");
		c->removexattr.name = call_text_arg(arena_strdup(arena, x->bytes));
	}
	if (root->uid != initial->uid || root->gid != initial->gid) {
		c = call_list_add(list, OP_chown, 1);
		c->chown.path = call_text_arg("/");
		c->chown.uid.num = initial->uid;
		c->chown.gid.num = initial->gid;
	}
	if (root->mode != initial->mode || root->uid != initial->uid) {
		c = call_list_add(list, OP_chmod, 1);
		c->chmod.path = call_text_arg("/");
		c->chmod.mode.num = initial->mode & ~S_IFMT;
	}
}

void restore_tree(const struct state *s, const struct state *initial, struct call_list *list,
		  struct arena *arena)
{
	restore_remove_below(&s->tree, TREE_ROOT, "", 0, list, arena);
	restore_root(tree_inode(&s->tree, TREE_ROOT), tree_inode(&initial->tree, TREE_ROOT), list,
		     arena);
}
