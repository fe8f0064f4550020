/* mapping.c -- loads and stores, and what changes of a file do to its mappings. */
#include "model/mapping.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = TREE_BLOCK };

static uint64_t page_round(uint64_t length)
{
	return (length + PAGE - 1) / PAGE * PAGE;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static const struct inode *map_inode(const struct step *x, const struct mapping *map)
{
	return tree_inode(&x->state->tree, state_mapping_ino(x->state, map));
}

/* What is left of a page from a position on. */
static size_t page_part(uint64_t at, uint64_t left)
{
	return (size_t)least(PAGE - at % PAGE, left);
}

uint64_t map_reach(const struct step *x, const struct mapping *map, uint64_t offset, uint64_t count)
{
	uint64_t pages = page_round(map_inode(x, map)->size);
	uint64_t shown = pages > map->offset ? pages - map->offset : 0;
	uint64_t end = least(map->length, shown);

	return offset < end ? least(count, end - offset) : 0;
}

static bool tail_is_stored(const struct step *x, uint64_t ino, uint64_t page)
{
	const struct map_tail *tail = (const struct map_tail *)pmap_get(&x->state->tails, ino);

	return tail && tail->page == page;
}

/* A part of one page of the file, as the page cache has it. */
static bool cached_bytes(const struct step *x, uint64_t ino, uint64_t at, char *to, size_t count)
{
	size_t known = tree_read(&x->state->tree, ino, at, to, count);

	memset(to + known, 0, count - known);
	return known == count || !tail_is_stored(x, ino, at / PAGE);
}

bool map_bytes(const struct step *x, const struct mapping *map, uint64_t offset, char *to,
	       size_t count)
{
	uint64_t ino = state_mapping_ino(x->state, map), at = map->offset + offset;
	const struct map_page *page;
	bool known = true;
	size_t part;

	for (; count; count -= part, at += part, to += part) {
		part = page_part(at, count);
		page = (const struct map_page *)pmap_get(&map->pages, at / PAGE);
		if (page)
			memcpy(to, page->bytes + at % PAGE, part);
		known &= page ? !page->doubtful : cached_bytes(x, ino, at, to, part);
	}
	return known;
}

/* Something may go wrong that is not the caller's doing. */
static bool may_fault(struct step *x, const struct inode *inode, bool store)
{
	bool immutable = store && inode->flags & FS_IMMUTABLE_FL;

	if (!immutable && !x->space_may_end && !state_failures(x->state) &&
	    x->state->health == HEALTH_SOUND)
		return false;
	return may_refuse(x, RULE_map_fault);
}

/* The mapping that an access of at least one byte goes to; NULL after refusing. */
static const struct mapping *need_mapping(struct step *x, int64_t handle, int64_t offset, int prot)
{
	const struct mapping *map = state_mapping(x->state, x->pid, handle);

	if (!map || (uint64_t)offset >= map->length) {
		refuse(x, RULE_map_outside);
		return NULL;
	}
	if (!(map->prot & (uint32_t)prot))
		refuse(x, RULE_map_protected);
	else if (!map_reach(x, map, (uint64_t)offset, 1))
		refuse(x, RULE_map_beyond);
	return refused(x) ? NULL : map;
}

/* On most processors, what can be written or executed can be read. */
void map_load(struct step *x, int64_t handle, int64_t count, int64_t offset)
{
	const struct mapping *map;
	bool faults, known;
	size_t reach;
	char *bytes;

	if (!count) {
		if (proceed(x))
			give_bytes(x, RESULT_BYTES, 0, 0);
		return;
	}
	map = need_mapping(x, handle, offset, PROT_READ | PROT_WRITE | PROT_EXEC);
	if (!map)
		return;
	if (!map->shared)
		leave_undefined(x, RULE_map_private_posix);
	faults = may_fault(x, map_inode(x, map), false);
	reach = (size_t)least(map_reach(x, map, (uint64_t)offset, (uint64_t)count), MAP_MOVED_MAX);
	bytes = must_alloc(reach);
	known = map_bytes(x, map, (uint64_t)offset, bytes, reach);
	if (!known)
		leave_undefined(x, map->shared ? RULE_map_tail_stored : RULE_map_private_shifted);
	if (proceed(x))
		memcpy(give_bytes(x, RESULT_BYTES, reach, faults ? 1 : reach), bytes, reach);
	free(bytes);
}

/* The file's page as the mapping shows it, for the mapping to keep. */
static struct map_page *page_copied(const struct step *x, const struct mapping *map,
				    uint64_t number)
{
	const struct map_page *own = (const struct map_page *)pmap_get(&map->pages, number);
	struct map_page *page = must_alloc(sizeof(*page));

	page->ref.count = 1;
	page->doubtful = own && own->doubtful;
	if (!map_bytes(x, map, number * PAGE - map->offset, page->bytes, PAGE))
		page->doubtful = true;
	return page;
}

void map_populate(struct step *x, int64_t handle)
{
	struct mapping *map = state_edit_mapping(x->state, x->pid, handle);
	uint64_t reach = least(map_reach(x, map, 0, map->length), MAP_MOVED_MAX);
	bool may_stop = state_failures(x->state) || x->state->health != HEALTH_SOUND;
	struct map_page *page;

	for (uint64_t done = 0; done < reach; done += PAGE) {
		page = page_copied(x, map, (map->offset + done) / PAGE);
		page->doubtful |= may_stop;
		state_put_map_page(map, page, (map->offset + done) / PAGE);
	}
}

static void store_private(struct step *x, int64_t handle, const struct arg *data, uint64_t offset,
			  uint64_t count)
{
	struct mapping *map = state_edit_mapping(x->state, x->pid, handle);
	uint64_t at = map->offset + offset, done = 0;
	struct map_page *page;
	size_t part;

	for (; done < count; done += part) {
		part = page_part(at + done, count - done);
		page = page_copied(x, map, (at + done) / PAGE);
		data_bytes(data, done, page->bytes + (at + done) % PAGE, part);
		state_put_map_page(map, page, (at + done) / PAGE);
	}
}

/* Does the store have to set times? XSH mmap: at some point before the next msync. Linux sets them
 * when a page becomes writable, not by later stores. */
static bool store_sets_times(const struct step *x, uint64_t inside)
{
	return inside && x->call->op == OP_map_write_file && x->model->traits.map_sets_times;
}

/* What lies behind the end of the file does not become part of it. */
static void store_shared(struct step *x, const struct mapping *map, const struct arg *data,
			 uint64_t offset, uint64_t count)
{
	uint64_t ino = state_mapping_ino(x->state, map), at = map->offset + offset;
	uint64_t size = map_inode(x, map)->size;
	uint64_t inside = at < size ? least(count, size - at) : 0;

	if (inside)
		put_data(x, ino, data, at, inside);
	if (inside < count)
		state_put_tail(x->state, ino, size / PAGE);
	touch_modify(x, ino);
	if (!store_sets_times(x, inside))
		may_touch(x, ino, TIME_BIT_MODIFY | TIME_BIT_CHANGE);
}

void map_store(struct step *x, int64_t handle, const struct arg *data, int64_t count,
	       int64_t offset)
{
	const struct mapping *map;
	uint64_t reach;
	bool faults;

	if (!count) {
		if (proceed(x))
			give_range(x, 0, 0);
		return;
	}
	map = need_mapping(x, handle, offset, PROT_WRITE);
	if (!map)
		return;
	faults = may_fault(x, map_inode(x, map), true);
	reach = least(map_reach(x, map, (uint64_t)offset, (uint64_t)count), MAP_MOVED_MAX);
	if (map->shared && x->model->traits.map_tail_kept &&
	    map->offset + (uint64_t)offset + reach > map_inode(x, map)->size)
		leave_undefined(x, RULE_map_tail_kept);
	if (!proceed(x))
		return;
	reach = (uint64_t)give_range(x, faults ? 1 : (int64_t)reach, (int64_t)reach);
	if (map->shared)
		store_shared(x, map, data, (uint64_t)offset, reach);
	else
		store_private(x, handle, data, (uint64_t)offset, reach);
}

/* The next mapping of all processes; handle and pid start at 0. */
static const struct mapping *next_mapping(const struct state *s, uint64_t *pid, uint64_t *handle)
{
	const struct process *process = state_process(s, (unsigned)*pid);
	const struct mapping *map = NULL;

	if (process)
		map = (const struct mapping *)pmap_next(&process->maps, !*handle, handle);
	while (!map) {
		process = (const struct process *)pmap_next(&s->processes, !*pid, pid);
		if (!process)
			return NULL;
		map = (const struct mapping *)pmap_next(&process->maps, true, handle);
	}
	return map;
}

/* Private copies from a page on: dropped, or no longer known. */
static void copies_lose(struct mapping *map, uint64_t from, bool drop)
{
	const struct map_page *page;
	struct map_page *doubtful;
	uint64_t number;

	for (bool first = true;
	     (page = (const struct map_page *)pmap_next(&map->pages, first, &number));
	     first = false) {
		if (number < from || (!drop && page->doubtful))
			continue;
		if (drop) {
			state_drop_map_page(map, number);
			first = true;
			number = 0;
			continue;
		}
		doubtful = must_alloc(sizeof(*doubtful));
		*doubtful = *page;
		doubtful->ref.count = 1;
		doubtful->doubtful = true;
		state_put_map_page(map, doubtful, number);
	}
}

void maps_shifted(struct step *x, uint64_t ino, uint64_t offset)
{
	uint64_t pid = 0, handle = 0;
	const struct mapping *map;

	while (x->state->maps && (map = next_mapping(x->state, &pid, &handle)))
		if (map->pages.count && state_mapping_ino(x->state, map) == ino)
			copies_lose(state_edit_mapping(x->state, (unsigned)pid, (int64_t)handle),
				    offset / PAGE, false);
}

/* Pages behind the new end of a file are taken from private mappings, too: truncate_pagecache. */
static void map_follow(struct state *s, unsigned pid, int64_t handle, uint64_t size)
{
	struct mapping *map = state_edit_mapping(s, pid, handle);

	if (size < map->size_seen)
		copies_lose(map, page_round(size) / PAGE, true);
	map->size_seen = size;
}

static void tails_follow(struct state *s)
{
	const struct map_tail *tail;
	const struct inode *inode;
	uint64_t ino;

	for (bool first = true;
	     (tail = (const struct map_tail *)pmap_next(&s->tails, first, &ino));) {
		first = false;
		inode = tree_inode(&s->tree, ino);
		if (inode && inode->size / PAGE == tail->page)
			continue;
		state_drop_tail(s, ino);
		first = true;
	}
}

void maps_follow(struct state *s)
{
	uint64_t pid = 0, handle = 0, size;
	const struct mapping *map;

	while (s->maps && (map = next_mapping(s, &pid, &handle))) {
		size = tree_inode(&s->tree, state_mapping_ino(s, map))->size;
		if (size != map->size_seen)
			map_follow(s, (unsigned)pid, (int64_t)handle, size);
	}
	if (s->tails.count)
		tails_follow(s);
}
