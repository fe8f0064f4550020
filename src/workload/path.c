/* path.c -- the calls that lead to a state of a search, as a workload. */
#include "workload/path.h"

#include <fcntl.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/rng.h"
#include "tree/list.h"

/* Calls that are added at most: sync, open, fsync, close. */
enum { NAME_MAX_BYTES = 48, ADDED_MAX = 4 };

struct path_work {
	const struct model *model;
	struct state state; /* behind the last call */
	struct rng rng;
	struct arena *arena;
	struct call *calls;
	size_t count;
};

/* The call is one of the workload; its outcome. */
static struct outcome path_add(struct path_work *w, const struct call *c)
{
	struct outcome outcome;

	model_run(w->model, &w->state, c, &outcome);
	w->calls[w->count++] = *c;
	return outcome;
}

/* One of the files and directories, of those that are not as in `before` where there are any; 0 if
 * none can be synced. */
static size_t path_choose_object(struct path_work *w, const struct path_list *list,
				 const struct tree *before)
{
	size_t chosen = 0, seen = 0;

	for (int changed = 1; changed >= 0 && !seen; changed--)
		for (size_t i = 0; i < list->count; i++) {
			const struct inode *inode = list->items[i].inode;

			if ((!S_ISREG(inode->mode) && !S_ISDIR(inode->mode)) ||
			    (changed && tree_inode(before, inode->ino) == inode))
				continue;
			if (!rng_below(&w->rng, ++seen))
				chosen = i;
		}
	return chosen;
}

/* open, fsync or fdatasync, close. */
static void path_sync_object(struct path_work *w, const struct tree *before)
{
	struct call open = { .op = OP_open, .pid = 1 }, close = { .op = OP_close, .pid = 1 };
	struct call sync = { .op = OP_fsync, .pid = 1 };
	struct path_list list;
	struct buf path = BUF_INIT;
	struct outcome opened;
	size_t object;

	path_list_make(&list, &w->state.tree);
	object = path_choose_object(w, &list, before);
	add_item_path(&path, &list, object);
	open.open.path = (struct arg){ .text = arena_strdup(w->arena, path.data),
				       .len = (uint32_t)path.len };
	open.open.flags.num = OPEN_RDONLY;
	if (S_ISDIR(list.items[object].inode->mode))
		open.open.flags.num |= O_DIRECTORY;
	open.open.mode.num = MODE_ABSENT;
	path_list_free(&list);
	buf_free(&path);
	opened = path_add(w, &open);
	if (opened.error) {
		w->count--;
		return;
	}
	sync.fsync.fd.num = close.close.fd.num = opened.num;
	if (rng_chance(&w->rng, 1, 4)) {
		sync.op = OP_fdatasync;
		sync.fdatasync.fd = sync.fsync.fd;
	}
	path_add(w, &sync);
	path_add(w, &close);
}

/* What a crash is to find under way: mostly a promise about one object. */
static void path_end(struct path_work *w, const struct tree *before)
{
	struct call sync = { .op = OP_sync, .pid = 1 };
	uint64_t kind = rng_below(&w->rng, 8);

	if (!state_process(&w->state, 1))
		return;
	if (kind > 1)
		path_sync_object(w, before);
	else if (kind)
		path_add(w, &sync);
}

void path_workload(const struct model *model, const struct state *start, const struct call *calls,
		   size_t count, uint64_t number, struct arena *arena, struct workload *ret)
{
	struct path_work w = { .model = model, .arena = arena, .state = state_copy(start) };
	struct call sync = { .op = OP_sync, .pid = 1 };
	struct tree durable = tree_copy(&start->tree);
	char *name = arena_alloc(arena, NAME_MAX_BYTES);
	size_t synced;

	w.calls = arena_alloc(arena, (count + ADDED_MAX) * sizeof(*w.calls));
	rng_seed(&w.rng, number);
	synced = rng_chance(&w.rng, 1, 2) ? rng_below(&w.rng, count + 1) : 0;
	snprintf(name, NAME_MAX_BYTES, "path/%llu", (unsigned long long)number);
	*ret = (struct workload){ .name = name };
	for (size_t i = 0; i <= count; i++) {
		if (synced && i == synced) {
			path_add(&w, &sync);
			tree_free(&durable);
			durable = tree_copy(&w.state.tree);
			ret->setup_count = w.count;
		}
		if (i < count)
			path_add(&w, &calls[i]);
	}
	path_end(&w, &durable);
	ret->calls = w.calls;
	ret->count = w.count;
	tree_free(&durable);
	state_free(&w.state);
}
