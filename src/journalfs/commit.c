/* commit.c -- from a tree to a transaction: the inodes that differ from what was committed last.
 *
 * Blocks that become free may be used by the next transaction, not by this one: until it is
 * committed, recovery leads to what they were. */
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "journalfs/home.h"
#include "journalfs/journal.h"
#include "tree/inode.h"

struct committing {
	struct journalfs *fs;
	const struct tree *tree;
	enum commit_reason reason;
	uint64_t ino; /* of what fsync and fdatasync name */
	bool only;    /* nothing else is committed: the fault fsync_entry */
	struct transaction transaction;
	struct buf late; /* uint64_t: inodes of which something is left for later, by a fault */
};

static bool commit_has_fault(const struct committing *c, enum journal_fault fault)
{
	return c->fs->journal.fault == fault;
}

/* Removed objects that are still open are not on the disk. */
static const struct inode *commit_present(const struct ref *object)
{
	const struct inode *inode = (const struct inode *)object;

	return inode && inode->nlink && inode->mode & S_IFMT ? inode : NULL;
}

static void commit_free_block(struct committing *c, uint32_t block)
{
	buf_add(&c->transaction.freed, &block, sizeof(block));
}

/* ---- data ---- */

static void commit_free_data(struct committing *c, const struct home_data *data)
{
	for (uint16_t i = 0; i < data->count; i++) {
		if (commit_has_fault(c, JOURNAL_FAULT_free_early))
			home_release(c->fs, data->blocks[i]);
		else
			commit_free_block(c, data->blocks[i]);
	}
}

/* Of the old blocks, those that are not as they were. */
static void commit_free_changed(struct committing *c, const struct home *home,
				const struct inode *inode)
{
	const struct ref *data;
	uint64_t index = 0;

	if (!home)
		return;
	for (bool first = true; (data = pmap_next(&home->data, first, &index)); first = false) {
		const struct blob *blob = NULL;

		if (inode && S_ISREG(inode->mode))
			blob = (const struct blob *)pmap_get(&inode->file.blocks, index);
		if (!blob || !home_find_data(home, index, blob))
			commit_free_data(c, (const struct home_data *)data);
	}
}

static struct home_data *commit_place_block(struct committing *c, struct blob *blob)
{
	uint16_t blocks[LAYOUT_PIECES], count = record_pieces(blob->len);
	char made[TREE_BLOCK];
	const char *all = blob_read(blob, made);

	for (uint16_t i = 0; i < count; i++) {
		size_t from = (size_t)i * LAYOUT_BLOCK, len = blob->len - from;
		char bytes[LAYOUT_BLOCK] = { 0 };

		memcpy(bytes, all + from, len < LAYOUT_BLOCK ? len : LAYOUT_BLOCK);
		blocks[i] = home_allocate(c->fs);
		transaction_add(&c->transaction.data, blocks[i], false, bytes);
	}
	return home_data_new(blob, count, blocks);
}

static struct pmap commit_place_data(struct committing *c, const struct home *home,
				     const struct inode *inode)
{
	struct pmap places = PMAP_INIT;
	struct blob *blob;
	uint64_t index = 0;

	for (bool first = true;
	     (blob = (struct blob *)pmap_next(&inode->file.blocks, first, &index)); first = false) {
		struct home_data *data = home_find_data(home, index, blob);

		if (data)
			data->ref.count++;
		else
			data = commit_place_block(c, blob);
		pmap_put(&places, &home_data_type, index, &data->ref);
	}
	return places;
}

/* ---- records ---- */

static void commit_set_slot(struct committing *c, uint32_t slot, struct layout_slot value)
{
	const uint32_t block = LAYOUT_MAP + slot / LAYOUT_MAP_SLOTS;
	struct buf *list = &c->transaction.blocks;
	struct journal_block *blocks = (struct journal_block *)(void *)list->data;
	size_t i = 0, count = list->len / sizeof(*blocks);

	while (i < count && blocks[i].block != block)
		i++;
	if (i == count)
		transaction_add(list, block, false, journal_read(&c->fs->journal, block));
	blocks = (struct journal_block *)(void *)list->data;
	memcpy(blocks[i].bytes->bytes + slot % LAYOUT_MAP_SLOTS * sizeof(value), &value,
	       sizeof(value));
}

/* The blocks of the old chain, as far as they reach. */
static void commit_place_chain(struct committing *c, const struct home *old, struct home *home)
{
	uint32_t kept = 0;

	for (; old && kept < old->count && kept < home->count; kept++)
		home->chain[kept] = old->chain[kept];
	for (uint32_t i = kept; i < home->count; i++)
		home->chain[i] = home_allocate(c->fs);
	for (uint32_t i = kept; old && i < old->count; i++)
		commit_free_block(c, old->chain[i]);
}

/* What is in its place already is not written. */
static void commit_write_chain(struct committing *c, uint64_t ino, const struct home *old,
			       const struct home *home, const struct buf *record)
{
	const struct journal *j = &c->fs->journal;

	for (uint32_t i = 0; i < home->count; i++) {
		struct layout_chain part = {
			.magic = LAYOUT_MAGIC_CHAIN,
			.ino = (uint32_t)ino,
			.index = (uint16_t)i,
			.next = i + 1 < home->count ? home->chain[i + 1] : 0,
		};
		size_t from = i * sizeof(part.bytes), len = record->len - from;
		bool is_old = old && i < old->count;

		part.length = (uint16_t)(len < sizeof(part.bytes) ? len : sizeof(part.bytes));
		memcpy(part.bytes, record->data + from, part.length);
		if (!is_old || memcmp(&part, journal_read(j, home->chain[i]), sizeof(part)) != 0)
			transaction_add(&c->transaction.blocks, home->chain[i],
					!i && old && commit_has_fault(c, JOURNAL_FAULT_replay_adds),
					&part);
	}
}

/* With what a fault leaves for later as it was. */
static void commit_choose_values(struct committing *c, const struct inode *inode,
				 const struct home *old, uint32_t *ret_nlink, uint64_t *ret_size)
{
	*ret_nlink = inode->nlink;
	*ret_size = inode->size;
	if (commit_has_fault(c, JOURNAL_FAULT_link_count_late) && old &&
	    c->reason != COMMIT_UNMOUNT)
		*ret_nlink = old->nlink;
	if (commit_has_fault(c, JOURNAL_FAULT_fdatasync_size) && inode->ino == c->ino &&
	    c->reason == COMMIT_FDATASYNC)
		*ret_size = old ? old->size : 0;
	if (*ret_nlink != inode->nlink || *ret_size != inode->size)
		buf_add(&c->late, &inode->ino, sizeof(inode->ino));
}

static void commit_inode(struct committing *c, const struct inode *inode, const struct home *old)
{
	struct pmap places = PMAP_INIT;
	struct buf record = BUF_INIT;
	struct home *home;
	uint32_t nlink;
	uint64_t size;

	commit_choose_values(c, inode, old, &nlink, &size);
	commit_free_changed(c, old, inode);
	if (S_ISREG(inode->mode))
		places = commit_place_data(c, old, inode);
	record_pack(inode, nlink, size, &places, &record);
	home = home_new(home_chain_blocks(record.len));
	home->slot = old ? old->slot : home_take_slot(c->fs);
	home->nlink = nlink;
	home->size = size;
	home->data = places;
	commit_place_chain(c, old, home);
	commit_write_chain(c, inode->ino, old, home, &record);
	if (!old)
		commit_set_slot(c, home->slot,
				(struct layout_slot){ (uint32_t)inode->ino, home->chain[0], 0 });
	pmap_put(&c->fs->homes, &home_type, inode->ino, &home->ref);
	buf_free(&record);
}

static void commit_removal(struct committing *c, uint64_t ino, const struct home *old)
{
	commit_free_changed(c, old, NULL);
	for (uint32_t i = 0; i < old->count; i++)
		commit_free_block(c, old->chain[i]);
	commit_set_slot(c, old->slot, (struct layout_slot){ 0 });
	bit_set(c->fs->slots, old->slot, false);
	pmap_remove(&c->fs->homes, &home_type, ino);
}

/* ---- transactions ---- */

static void commit_visit(void *to, uint64_t ino, const struct ref *before, const struct ref *now)
{
	struct committing *c = to;
	const struct inode *inode = commit_present(now);
	const struct home *old = home_find(c->fs, ino);

	if (c->only && ino != c->ino)
		return;
	if (inode)
		commit_inode(c, inode, old);
	else if (old)
		commit_removal(c, ino, old);
}

/* What is compared with next time. */
static void commit_remember(struct committing *c)
{
	struct journalfs *fs = c->fs;
	struct ref *inode = pmap_get(&c->tree->inodes, c->ino);

	if (c->only && inode) {
		inode->count++;
		pmap_put(&fs->committed, &inode_type, c->ino, inode);
	} else if (!c->only) {
		pmap_drop(&fs->committed, &inode_type);
		fs->committed = pmap_share(&c->tree->inodes);
	}
	for (size_t at = 0; at < c->late.len; at += sizeof(uint64_t))
		pmap_remove(&fs->committed, &inode_type, *(uint64_t *)(void *)(c->late.data + at));
}

static void commit_finish(struct committing *c)
{
	const struct buf *freed = &c->transaction.freed;

	if (c->transaction.blocks.len || c->transaction.data.len)
		journal_commit(&c->fs->journal, &c->transaction);
	for (size_t at = 0; at < freed->len; at += sizeof(uint32_t))
		home_release(c->fs, *(const uint32_t *)(const void *)(freed->data + at));
	commit_remember(c);
	transaction_free(&c->transaction);
	buf_free(&c->late);
}

int journalfs_commit(struct journalfs *fs, const struct tree *tree, enum commit_reason reason,
		     uint64_t ino)
{
	struct committing c = { .fs = fs, .tree = tree, .reason = reason, .ino = ino };
	const struct inode *named = ino ? tree_inode(tree, ino) : NULL;
	bool is_fsync = named && (reason == COMMIT_FSYNC || reason == COMMIT_FDATASYNC);

	must(tree->hashed);
	if (is_fsync && S_ISDIR(named->mode) && commit_has_fault(&c, JOURNAL_FAULT_fsync_directory))
		return 0;
	if (!journalfs_fits(fs, tree))
		return ENOSPC;
	c.only =
		is_fsync && S_ISREG(named->mode) && commit_has_fault(&c, JOURNAL_FAULT_fsync_entry);
	c.transaction.unawaited = reason == COMMIT_UNAWAITED;
	pmap_diff(&fs->committed, &tree->inodes, commit_visit, &c);
	commit_finish(&c);
	return 0;
}

int journalfs_unmount(struct journalfs *fs, const struct tree *tree)
{
	int error;

	fs->journal.volatile_writes = fs->journal.fault == JOURNAL_FAULT_unmount_volatile;
	error = journalfs_commit(fs, tree, COMMIT_UNMOUNT, 0);
	if (!error)
		journal_checkpoint(&fs->journal);
	fs->journal.volatile_writes = false;
	return error;
}

/* ---- space ---- */

/* Blocks that committing a tree takes at most. */
struct space_need {
	const struct journalfs *fs;
	struct buf record;
	uint64_t blocks, journaled, slots;
	bool beyond; /* a number is too large for the disk */
};

static void space_visit(void *to, uint64_t ino, const struct ref *before, const struct ref *now)
{
	struct space_need *need = to;
	const struct inode *inode = commit_present(now);
	const struct home *old = home_find(need->fs, ino);
	const struct blob *blob;
	uint64_t index = 0;
	uint32_t chain;

	if (!inode)
		return;
	buf_clear(&need->record);
	record_pack(inode, inode->nlink, inode->size, NULL, &need->record);
	chain = home_chain_blocks(need->record.len);
	need->journaled += chain;
	need->blocks += !old ? chain : chain > old->count ? chain - old->count : 0;
	need->slots += !old;
	need->beyond |= ino > UINT32_MAX;
	for (bool first = true;
	     S_ISREG(inode->mode) &&
	     (blob = (const struct blob *)pmap_next(&inode->file.blocks, first, &index));
	     first = false)
		if (!home_find_data(old, index, blob))
			need->blocks += record_pieces(blob->len);
}

bool journalfs_fits(const struct journalfs *fs, const struct tree *tree)
{
	struct space_need need = { .fs = fs };

	pmap_diff(&fs->committed, &tree->inodes, space_visit, &need);
	buf_free(&need.record);
	return !need.beyond && need.blocks <= fs->free_blocks &&
	       need.journaled + LAYOUT_MAP_BLOCKS <= TRANSACTION_BLOCKS_MAX &&
	       fs->homes.count + need.slots <= LAYOUT_SLOTS;
}
