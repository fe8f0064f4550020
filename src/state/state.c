/* state.c -- processes, descriptors and open files, around a tree. */
#include "state/state.h"

#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "tree/inode.h"

static void *copy_of(const void *object, size_t size)
{
	void *copy = must_alloc(size);

	memcpy(copy, object, size);
	((struct ref *)copy)->count = 1;
	return copy;
}

static void free_plain(struct ref *object)
{
	free(object);
}

static struct ref *copy_slot(const struct ref *object)
{
	return copy_of(object, sizeof(struct fd_slot));
}

static const struct pmap_type slot_type = { copy_slot, free_plain };

static struct ref *open_file_copy(const struct ref *object)
{
	return copy_of(object, sizeof(struct open_file));
}

static const struct pmap_type file_type = { open_file_copy, free_plain };

static struct ref *copy_groups(const struct ref *object)
{
	return copy_of(object, sizeof(struct group_list));
}

static const struct pmap_type group_type = { copy_groups, free_plain };

static struct ref *copy_stream(const struct ref *object)
{
	struct dir_stream *copy = copy_of(object, sizeof(*copy));

	copy->must->ref.count++;
	copy->may->ref.count++;
	copy->read->ref.count++;
	return &copy->ref;
}

static void free_stream(struct ref *object)
{
	struct dir_stream *stream = (struct dir_stream *)object;

	blob_drop(stream->must);
	blob_drop(stream->may);
	blob_drop(stream->read);
	free(stream);
}

static const struct pmap_type stream_type = { copy_stream, free_stream };

static struct ref *copy_map_page(const struct ref *object)
{
	return copy_of(object, sizeof(struct map_page));
}

static const struct pmap_type map_page_type = { copy_map_page, free_plain };

static struct ref *copy_mapping(const struct ref *object)
{
	struct mapping *copy = copy_of(object, sizeof(*copy));

	copy->pages = pmap_share(&copy->pages);
	return &copy->ref;
}

static void free_mapping(struct ref *object)
{
	pmap_drop(&((struct mapping *)object)->pages, &map_page_type);
	free(object);
}

static const struct pmap_type mapping_type = { copy_mapping, free_mapping };

static struct ref *copy_tail(const struct ref *object)
{
	return copy_of(object, sizeof(struct map_tail));
}

static const struct pmap_type tail_type = { copy_tail, free_plain };

static struct ref *copy_process(const struct ref *object)
{
	struct process *copy = copy_of(object, sizeof(*copy));

	copy->fds = pmap_share(&copy->fds);
	copy->streams = pmap_share(&copy->streams);
	copy->maps = pmap_share(&copy->maps);
	return &copy->ref;
}

static void process_free(struct ref *object)
{
	struct process *process = (struct process *)object;

	pmap_drop(&process->fds, &slot_type);
	pmap_drop(&process->streams, &stream_type);
	pmap_drop(&process->maps, &mapping_type);
	free(process);
}

static const struct pmap_type process_type = { copy_process, process_free };

void state_init(struct state *s, const struct state_options *options)
{
	bool own = options->owner_1;

	*s = (struct state){ .next_file = 1 };
	tree_init(&s->tree, options->fields, options->hashed, options->root_mode,
		  own ? options->uid : 0, own ? options->gid : 0);
	state_create_process(s, 1, options->uid, options->gid);
	tree_settle(&s->tree);
}

struct state state_copy(const struct state *s)
{
	struct state copy = *s;

	copy.tree = tree_copy(&s->tree);
	copy.processes = pmap_share(&s->processes);
	copy.files = pmap_share(&s->files);
	copy.groups = pmap_share(&s->groups);
	copy.tails = pmap_share(&s->tails);
	if (s->watches_sync)
		copy.synced = tree_copy(&s->synced);
	return copy;
}

void state_free(struct state *s)
{
	pmap_drop(&s->processes, &process_type);
	pmap_drop(&s->files, &file_type);
	pmap_drop(&s->groups, &group_type);
	pmap_drop(&s->tails, &tail_type);
	tree_free(&s->tree);
	if (s->watches_sync)
		tree_free(&s->synced);
}

const struct process *state_process(const struct state *s, unsigned pid)
{
	return (const struct process *)pmap_get(&s->processes, pid);
}

struct process *state_edit_process(struct state *s, unsigned pid)
{
	return (struct process *)pmap_edit(&s->processes, &process_type, pid);
}

static const struct fd_slot *find_fd_slot(const struct state *s, unsigned pid, int64_t fd)
{
	const struct process *process = state_process(s, pid);

	if (!process || fd < 0)
		return NULL;
	return (const struct fd_slot *)pmap_get(&process->fds, (uint64_t)fd);
}

const struct open_file *state_file(const struct state *s, unsigned pid, int64_t fd)
{
	const struct fd_slot *slot = find_fd_slot(s, pid, fd);

	return slot ? (const struct open_file *)pmap_get(&s->files, slot->file) : NULL;
}

struct open_file *state_edit_file(struct state *s, unsigned pid, int64_t fd)
{
	const struct fd_slot *slot = find_fd_slot(s, pid, fd);

	return slot ? (struct open_file *)pmap_edit(&s->files, &file_type, slot->file) : NULL;
}

/* Refers from a descriptor to an open file; the smallest free descriptor where fd is negative. */
static int put_slot(struct state *s, unsigned pid, int64_t fd, uint64_t file)
{
	struct process *process = state_edit_process(s, pid);
	struct fd_slot *slot = must_alloc(sizeof(*slot));

	if (fd < 0)
		for (fd = STATE_FD_FIRST; pmap_get(&process->fds, (uint64_t)fd);)
			fd++;
	*slot = (struct fd_slot){ .ref.count = 1, .file = file };
	pmap_put(&process->fds, &slot_type, (uint64_t)fd, &slot->ref);
	return (int)fd;
}

int state_open(struct state *s, unsigned pid, uint64_t ino, int64_t flags)
{
	struct open_file *file = must_alloc(sizeof(*file));
	uint64_t key = s->next_file++;

	*file = (struct open_file){ .ref.count = 1, .ino = ino, .flags = flags, .slots = 1 };
	tree_hold(&s->tree, ino);
	pmap_put(&s->files, &file_type, key, &file->ref);
	return put_slot(s, pid, -1, key);
}

/* One descriptor less for an open file; the last one lets go of it. */
static void release_file(struct state *s, uint64_t key)
{
	struct open_file *file = (struct open_file *)pmap_edit(&s->files, &file_type, key);
	uint64_t ino = file->ino;

	if (--file->slots)
		return;
	pmap_remove(&s->files, &file_type, key);
	tree_unhold(&s->tree, ino);
}

static bool process_has_descriptor(const struct process *process, uint64_t key)
{
	const struct fd_slot *slot;
	uint64_t fd;

	for (bool first = true;
	     (slot = (const struct fd_slot *)pmap_next(&process->fds, first, &fd)); first = false)
		if (slot->file == key)
			return true;
	return false;
}

bool state_has_descriptor(const struct state *s, uint64_t key)
{
	const struct process *process;
	uint64_t pid;

	for (bool first = true;
	     (process = (const struct process *)pmap_next(&s->processes, first, &pid));
	     first = false)
		if (process_has_descriptor(process, key))
			return true;
	return false;
}

bool state_close(struct state *s, unsigned pid, int64_t fd)
{
	const struct fd_slot *slot = find_fd_slot(s, pid, fd);
	uint64_t key;

	if (!slot)
		return false;
	key = slot->file;
	pmap_remove(&state_edit_process(s, pid)->fds, &slot_type, (uint64_t)fd);
	release_file(s, key);
	return true;
}

int state_dup(struct state *s, unsigned pid, int64_t fd, int64_t newfd)
{
	const struct fd_slot *slot = find_fd_slot(s, pid, fd);
	uint64_t key = slot->file;

	if (fd == newfd)
		return (int)newfd;
	((struct open_file *)pmap_edit(&s->files, &file_type, key))->slots++;
	if (newfd >= 0)
		state_close(s, pid, newfd);
	return put_slot(s, pid, newfd, key);
}

bool state_in_group(const struct state *s, uint32_t uid, uint32_t gid)
{
	const struct group_list *list = (const struct group_list *)pmap_get(&s->groups, uid);

	for (uint32_t i = 0; list && i < list->count; i++)
		if (list->gids[i] == gid)
			return true;
	return false;
}

static struct group_list *edit_groups(struct state *s, uint32_t uid)
{
	struct group_list *list = (struct group_list *)pmap_edit(&s->groups, &group_type, uid);

	if (!list) {
		list = must_alloc(sizeof(*list));
		list->ref.count = 1;
		pmap_put(&s->groups, &group_type, uid, &list->ref);
	}
	return list;
}

void state_set_groups(struct state *s, uint32_t uid, const uint32_t *gids, size_t count)
{
	struct group_list *list = edit_groups(s, uid);

	list->count = count < STATE_GROUPS_MAX ? (uint32_t)count : STATE_GROUPS_MAX;
	memcpy(list->gids, gids, list->count * sizeof(*gids));
}

bool state_add_group(struct state *s, uint32_t uid, uint32_t gid)
{
	struct group_list *list;

	if (state_in_group(s, uid, gid))
		return true;
	list = edit_groups(s, uid);
	if (list->count == STATE_GROUPS_MAX)
		return false;
	list->gids[list->count++] = gid;
	return true;
}

void state_put_stream(struct state *s, unsigned pid, uint64_t handle, struct dir_stream *stream)
{
	struct process *process = state_edit_process(s, pid);

	if (!pmap_get(&process->streams, handle)) {
		tree_hold(&s->tree, stream->ino);
		s->streams++;
	}
	pmap_put(&process->streams, &stream_type, handle, &stream->ref);
}

const struct dir_stream *state_stream(const struct state *s, unsigned pid, int64_t handle)
{
	const struct process *process = state_process(s, pid);

	if (!process || handle < 0)
		return NULL;
	return (const struct dir_stream *)pmap_get(&process->streams, (uint64_t)handle);
}

bool state_close_stream(struct state *s, unsigned pid, int64_t handle)
{
	const struct dir_stream *stream = state_stream(s, pid, handle);
	uint64_t ino;

	if (!stream)
		return false;
	ino = stream->ino;
	pmap_remove(&state_edit_process(s, pid)->streams, &stream_type, (uint64_t)handle);
	s->streams--;
	tree_unhold(&s->tree, ino);
	return true;
}

const struct mapping *state_mapping(const struct state *s, unsigned pid, int64_t handle)
{
	const struct process *process = state_process(s, pid);

	if (!process || handle < 0)
		return NULL;
	return (const struct mapping *)pmap_get(&process->maps, (uint64_t)handle);
}

struct mapping *state_edit_mapping(struct state *s, unsigned pid, int64_t handle)
{
	return (struct mapping *)pmap_edit(&state_edit_process(s, pid)->maps, &mapping_type,
					   (uint64_t)handle);
}

uint64_t state_mapping_ino(const struct state *s, const struct mapping *map)
{
	return ((const struct open_file *)pmap_get(&s->files, map->file))->ino;
}

int64_t state_map(struct state *s, unsigned pid, int64_t fd, const struct mapping *map)
{
	struct mapping *made = must_alloc(sizeof(*made));
	uint64_t handle = 1;

	while (state_mapping(s, pid, (int64_t)handle))
		handle++;
	*made = *map;
	made->ref.count = 1;
	made->file = find_fd_slot(s, pid, fd)->file;
	((struct open_file *)pmap_edit(&s->files, &file_type, made->file))->slots++;
	pmap_put(&state_edit_process(s, pid)->maps, &mapping_type, handle, &made->ref);
	s->maps++;
	return (int64_t)handle;
}

bool state_unmap(struct state *s, unsigned pid, int64_t handle)
{
	const struct mapping *map = state_mapping(s, pid, handle);
	uint64_t file;

	if (!map)
		return false;
	file = map->file;
	pmap_remove(&state_edit_process(s, pid)->maps, &mapping_type, (uint64_t)handle);
	s->maps--;
	release_file(s, file);
	return true;
}

void state_put_map_page(struct mapping *map, struct map_page *page, uint64_t number)
{
	page->hash = hash128(page->bytes, sizeof(page->bytes), 5);
	pmap_put(&map->pages, &map_page_type, number, &page->ref);
}

void state_drop_map_page(struct mapping *map, uint64_t number)
{
	pmap_remove(&map->pages, &map_page_type, number);
}

void state_put_tail(struct state *s, uint64_t ino, uint64_t page)
{
	struct map_tail *tail = must_alloc(sizeof(*tail));

	*tail = (struct map_tail){ .ref.count = 1, .page = page };
	pmap_put(&s->tails, &tail_type, ino, &tail->ref);
}

void state_drop_tail(struct state *s, uint64_t ino)
{
	pmap_remove(&s->tails, &tail_type, ino);
}

void state_drop_tails(struct state *s)
{
	pmap_drop(&s->tails, &tail_type);
	s->tails = (struct pmap){ 0 };
}

void state_create_process(struct state *s, unsigned pid, uint32_t uid, uint32_t gid)
{
	struct process *process = must_alloc(sizeof(*process));

	*process = (struct process){
		.ref.count = 1,
		.uid = uid,
		.gid = gid,
		.umask = 022,
		.cwd = TREE_ROOT,
	};
	tree_hold(&s->tree, TREE_ROOT);
	pmap_put(&s->processes, &process_type, pid, &process->ref);
}

static void process_close_everything(struct state *s, unsigned pid)
{
	const struct process *process;
	uint64_t key;

	while (process = state_process(s, pid), pmap_next(&process->fds, true, &key))
		state_close(s, pid, (int64_t)key);
	while (process = state_process(s, pid), pmap_next(&process->streams, true, &key))
		state_close_stream(s, pid, (int64_t)key);
	while (process = state_process(s, pid), pmap_next(&process->maps, true, &key))
		state_unmap(s, pid, (int64_t)key);
}

void state_destroy_process(struct state *s, unsigned pid)
{
	uint64_t cwd = state_process(s, pid)->cwd;

	process_close_everything(s, pid);
	pmap_remove(&s->processes, &process_type, pid);
	tree_unhold(&s->tree, cwd);
}

void state_set_cwd(struct state *s, unsigned pid, uint64_t ino)
{
	struct process *process = state_edit_process(s, pid);

	tree_hold(&s->tree, ino);
	tree_unhold(&s->tree, process->cwd);
	process->cwd = ino;
}

void state_reset_process(struct state *s, unsigned pid)
{
	process_close_everything(s, pid);
	state_set_cwd(s, pid, TREE_ROOT);
}

void state_pass_time(struct state *s, int64_t ticks)
{
	if (__builtin_add_overflow(s->now, ticks, &s->now))
		s->now = INT64_MAX;
}

unsigned state_failures(const struct state *s)
{
	unsigned count = 0;

	for (unsigned i = 0; i < STATE_FAILURES * STATE_FAILURES_MAX; i++)
		count += s->failing[i / STATE_FAILURES_MAX][i % STATE_FAILURES_MAX] != 0;
	return count;
}

uint64_t *state_handle(struct state *s, int64_t number)
{
	return &s->handles[handle_slot(number)];
}

bool state_has_handles(const struct state *s)
{
	for (unsigned i = 0; i < HANDLES_MAX; i++)
		if (s->handles[i])
			return true;
	return false;
}
