/* state_hash.c -- the hash of everything that a state is.
 *
 * The tree keeps its own; of processes, open files and the like it is made when it is asked for.
 * What most calls lead to differs from where they were made in the tree alone: there it follows
 * from the hash before. */
#include <string.h>

#include "state/state.h"
#include "tree/inode.h"

static struct hash hash_words(struct hash from, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	uint64_t words[6] = { from.lo, from.hi, a, b, c, d };

	return hash128(words, sizeof(words), 2);
}

/* The descriptors and mappings that refer to an open file: shared ones share their offset. */
static struct hash hash_users(const struct state *s, uint64_t key)
{
	struct hash none = { 0, 0 }, sum = none;
	const struct process *process;
	const struct fd_slot *slot;
	const struct mapping *map;
	struct pmap_walk walk, within;
	uint64_t pid, fd;

	pmap_walk(&walk, &s->processes);
	while ((process = (void *)pmap_walk_next(&walk, &pid))) {
		pmap_walk(&within, &process->fds);
		while ((slot = (void *)pmap_walk_next(&within, &fd)))
			if (slot->file == key)
				sum = hash_add(sum, hash_words(none, pid, fd, 0, 0));
		pmap_walk(&within, &process->maps);
		while ((map = (void *)pmap_walk_next(&within, &fd)))
			if (map->file == key)
				sum = hash_add(sum, hash_words(none, pid, fd, 3, 0));
	}
	return sum;
}

/* What a mapping shows besides the file. */
static struct hash hash_mapping(const struct mapping *map)
{
	struct hash none = { 0, 0 }, sum = none;
	const struct map_page *page;
	struct pmap_walk walk;
	uint64_t number;

	sum = hash_words(none, map->offset, map->length, map->prot, map->shared);
	pmap_walk(&walk, &map->pages);
	while ((page = (void *)pmap_walk_next(&walk, &number)))
		sum = hash_add(sum, hash_words(page->hash, number, page->doubtful, 4, 0));
	return sum;
}

/* All that keeps an inode alive: two descriptors of one removed file are not those of two alike. */
static struct hash hash_holders(const struct state *s, uint64_t ino)
{
	struct hash none = { 0, 0 }, sum = none;
	const struct process *process;
	const struct open_file *file;
	const struct dir_stream *stream;
	uint64_t pid, key;

	for (bool first = true; (file = (void *)pmap_next(&s->files, first, &key)); first = false)
		if (file->ino == ino)
			sum = hash_add(sum, hash_users(s, key));
	for (bool first = true; (process = (void *)pmap_next(&s->processes, first, &pid));
	     first = false) {
		if (process->cwd == ino)
			sum = hash_add(sum, hash_words(none, pid, 0, 1, 0));
		for (bool f = true; (stream = (void *)pmap_next(&process->streams, f, &key));
		     f = false)
			if (stream->ino == ino)
				sum = hash_add(sum, hash_words(none, pid, key, 2, 0));
	}
	return sum;
}

/* What a removed inode is: all that can still be known of it. A directory still leads to its
 * parent, which may be removed, too. */
static struct hash hash_removed(const struct state *s, const struct inode *inode)
{
	struct hash sum = hash_holders(s, inode->ino);

	for (;;) {
		struct hash term = inode_term(inode, s->tree.fields, inode->places);

		sum = hash_words(hash_add(sum, term), inode->mode, inode->size, inode->nlink, 1);
		if (inode->nlink || !S_ISDIR(inode->mode))
			return sum;
		inode = tree_inode(&s->tree, inode->dir.parent);
		sum = hash_add(sum, hash_holders(s, inode->ino));
	}
}

/* What an inode is, apart from its number: where it is, or what is left of it. */
static struct hash hash_identity(const struct state *s, uint64_t ino)
{
	const struct inode *inode = tree_inode(&s->tree, ino);
	struct {
		uint64_t mode, removed;
		struct hash places, rest;
	} about = { .mode = inode->mode, .removed = !inode->nlink };

	about.places = inode->places;
	if (!s->tree.hashed)
		about.places.lo = ino;
	if (about.removed)
		about.rest = hash_removed(s, inode);
	return hash128(&about, sizeof(about), 1);
}

static struct hash hash_process(const struct state *s, uint64_t pid, const struct process *process)
{
	struct hash sum = hash_words(hash_identity(s, process->cwd), pid, process->uid,
				     process->gid, process->umask);
	const struct dir_stream *stream;
	const struct mapping *map;
	struct pmap_walk walk;
	uint64_t key;

	pmap_walk(&walk, &process->maps);
	while ((map = (void *)pmap_walk_next(&walk, &key)))
		sum = hash_add(sum, hash_words(hash_mapping(map), pid, key, 0, 5));
	pmap_walk(&walk, &process->streams);
	while ((stream = (void *)pmap_walk_next(&walk, &key))) {
		struct hash about = hash_identity(s, stream->ino);

		about = hash_words(about, pid, key, stream->must->hash.lo, stream->may->hash.lo);
		sum = hash_add(sum, hash_words(about, stream->read->hash.lo, 0, 0, 0));
	}
	return sum;
}

/* What file handles mean: an object, or one that is no more. */
static struct hash hash_handles(const struct state *s)
{
	struct hash none = { 0, 0 }, sum = none;

	for (unsigned i = 0; i < HANDLES_MAX; i++) {
		uint64_t ino = s->handles[i];
		bool there = ino && tree_inode(&s->tree, ino);

		if (ino)
			sum = hash_add(sum, hash_words(there ? hash_identity(s, ino) : none, i,
						       there, 7, 0));
	}
	return sum;
}

struct hash state_hash(const struct state *s)
{
	struct hash sum = hash_add(tree_hash(&s->tree), hash_handles(s));
	const struct process *process;
	const struct open_file *file;
	const struct map_tail *tail;
	struct pmap_walk walk;
	uint64_t key;

	pmap_walk(&walk, &s->processes);
	while ((process = (void *)pmap_walk_next(&walk, &key)))
		sum = hash_add(sum, hash_process(s, key, process));
	pmap_walk(&walk, &s->files);
	while ((file = (void *)pmap_walk_next(&walk, &key))) {
		struct hash about = hash_add(hash_identity(s, file->ino), hash_users(s, key));

		sum = hash_add(sum, hash_words(about, (uint64_t)file->flags, (uint64_t)file->offset,
					       file->lock, 0));
	}
	pmap_walk(&walk, &s->tails);
	while ((tail = (void *)pmap_walk_next(&walk, &key)))
		if (tree_inode(&s->tree, key))
			sum = hash_add(sum, hash_words(hash_identity(s, key), tail->page, 6, 0, 0));
	/* What it may answer besides does not make it another state; what it has to, does. */
	if (s->health == HEALTH_GIVEN_UP)
		sum = hash_add(sum, hash_words(sum, HEALTH_GIVEN_UP, 0, 0, 0));
	if (state_failures(s))
		sum = hash_add(sum, hash128(s->failing, sizeof(s->failing), 3));
	return sum;
}

/* ---- from the hash before ---- */

/* Do processes, open files and what else has its own part have what they had? */
static bool state_holds_the_same(const struct state *a, const struct state *b)
{
	return pmap_same(&a->processes, &b->processes) && pmap_same(&a->files, &b->files) &&
	       !a->tails.count && !b->tails.count && a->health == b->health &&
	       a->health != HEALTH_GIVEN_UP && !state_has_handles(a) && !state_has_handles(b) &&
	       !memcmp(a->failing, b->failing, sizeof(a->failing));
}

/* Does more of the inode than its places take part where it is held: as it has no name, or as the
 * parent of one that has none? */
static bool inode_is_held_whole(const struct inode *inode)
{
	return !inode->nlink || (S_ISDIR(inode->mode) && inode->dir.orphans);
}

static void held_compare(void *to, uint64_t ino, const struct ref *before, const struct ref *after)
{
	const struct inode *a = (const struct inode *)before, *b = (const struct inode *)after;
	bool *differs = to;

	/* What came or went was not held, or the holder would be another. */
	if (!a || !b)
		return;
	*differs |= inode_is_held_whole(a) || inode_is_held_whole(b) ||
		    (b->holds && (a->mode != b->mode || !hash_equal(a->places, b->places)));
}

struct hash state_hash_after(const struct state *before, struct hash hash,
			     const struct state *after)
{
	bool differs = false;

	if (!after->tree.hashed || !state_holds_the_same(before, after))
		return state_hash(after);
	pmap_diff(&before->tree.inodes, &after->tree.inodes, held_compare, &differs);
	if (differs)
		return state_hash(after);
	return hash_add(tree_hash(&after->tree), hash_sub(hash, tree_hash(&before->tree)));
}
