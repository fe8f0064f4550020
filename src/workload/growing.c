/* growing.c -- a workload that is made call by call, beside the model. */
#include "workload/growing.h"

#include <fcntl.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "trace/script.h"
#include "tree/list.h"

enum { LINE_MAX_BYTES = 512 };

void growing_begin(struct growing *g, const struct model *model, const struct state *start,
		   size_t cap, uint64_t seed, struct arena *arena)
{
	*g = (struct growing){
		.model = model, .state = state_copy(start), .arena = arena, .cap = cap
	};
	g->calls = arena_alloc(arena, cap * sizeof(*g->calls));
	rng_seed(&g->rng, seed);
}

void growing_end(struct growing *g)
{
	state_free(&g->state);
}

struct outcome growing_add(struct growing *g, const struct call *c)
{
	struct outcome outcome;

	must(g->count < g->cap);
	model_run(g->model, &g->state, c, &outcome);
	g->calls[g->count++] = *c;
	return outcome;
}

bool growing_add_lines(struct growing *g, const char *lines)
{
	struct state before = state_copy(&g->state);
	size_t count = g->count, len;
	bool succeeded = true;

	for (; succeeded && (len = strcspn(lines, "\n")) > 0; lines += len + 1) {
		struct call c;
		struct err err = { 0 };
		char line[LINE_MAX_BYTES];

		must(len < sizeof(line));
		memcpy(line, lines, len);
		line[len] = '\0';
		must(!call_parse(&c, line, g->arena, &err));
		c.pid = 1;
		succeeded = !growing_add(g, &c).error;
	}
	if (succeeded) {
		state_free(&before);
	} else {
		state_free(&g->state);
		g->state = before;
		g->count = count;
	}
	return succeeded;
}

/* One of the files and directories, of those that are not as in `before` where there are any; 0 if
 * none can be synced. A file that was renamed is as before. */
static size_t growing_choose_object(struct growing *g, const struct path_list *list,
				    const struct tree *before)
{
	size_t chosen = 0, seen = 0;

	for (int changed = before != NULL; changed >= 0 && !seen; changed--)
		for (size_t i = 0; i < list->count; i++) {
			const struct inode *inode = list->items[i].inode;

			if ((!S_ISREG(inode->mode) && !S_ISDIR(inode->mode)) ||
			    (changed && tree_inode(before, inode->ino) == inode))
				continue;
			if (!rng_below(&g->rng, ++seen))
				chosen = i;
		}
	return chosen;
}

/* Of an object in the list of all. */
static void growing_sync_item(struct growing *g, const struct path_list *list, size_t object,
			      bool datasync)
{
	struct call open = { .op = OP_open, .pid = 1 }, close = { .op = OP_close, .pid = 1 };
	struct call sync = { .op = OP_fsync, .pid = 1 };
	struct buf path = BUF_INIT;
	struct outcome opened;

	add_item_path(&path, list, object);
	open.open.path = (struct arg){ .text = arena_strdup(g->arena, path.data),
				       .len = (uint32_t)path.len };
	open.open.flags.num = OPEN_RDONLY;
	if (S_ISDIR(list->items[object].inode->mode))
		open.open.flags.num |= O_DIRECTORY;
	open.open.mode.num = MODE_ABSENT;
	buf_free(&path);
	opened = growing_add(g, &open);
	if (opened.error) {
		g->count--;
		return;
	}
	sync.fsync.fd.num = close.close.fd.num = opened.num;
	if (datasync) {
		sync.op = OP_fdatasync;
		sync.fdatasync.fd = sync.fsync.fd;
	}
	growing_add(g, &sync);
	growing_add(g, &close);
}

void growing_sync_object(struct growing *g, const struct tree *before)
{
	struct path_list list;
	size_t object;

	path_list_make(&list, &g->state.tree);
	object = growing_choose_object(g, &list, before);
	growing_sync_item(g, &list, object, rng_chance(&g->rng, 1, 2));
	path_list_free(&list);
}

bool growing_sync_path(struct growing *g, const char *path)
{
	return growing_sync_path_by(g, path, rng_chance(&g->rng, 1, 2));
}

bool growing_sync_path_by(struct growing *g, const char *path, bool datasync)
{
	struct path_list list;
	struct buf found = BUF_INIT;
	bool is_there = false;

	path_list_make(&list, &g->state.tree);
	for (size_t i = 0; i < list.count && !is_there; i++) {
		unsigned mode = list.items[i].inode->mode;

		buf_clear(&found);
		add_item_path(&found, &list, i);
		is_there = (S_ISREG(mode) || S_ISDIR(mode)) && !strcmp(buf_str(&found), path);
		if (is_there)
			growing_sync_item(g, &list, i, datasync);
	}
	buf_free(&found);
	path_list_free(&list);
	return is_there;
}
