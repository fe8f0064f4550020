/* move.c -- file contents that change their place: collapse, insert, clone.
 *
 * What moves are blocks; where source and destination lie differently in their blocks, pieces
 * of them are written. Holes move by being left out, so that their length costs nothing. */
#include <string.h>

#include "tree/data.h"
#include "tree/inode.h"

/* Puts bytes [from, to) of a block at offset. */
static void put_piece(struct tree *t, struct inode *file, const struct blob *blob, size_t from,
		      size_t to, uint64_t offset)
{
	char bytes[TREE_BLOCK];

	if (from == 0 && to == TREE_BLOCK && offset % TREE_BLOCK == 0) {
		struct blob *shared = (struct blob *)blob;

		shared->ref.count++;
		block_put(t, file, offset / TREE_BLOCK, shared);
		return;
	}
	if (blob_read(blob, bytes) != bytes)
		memcpy(bytes, blob->bytes, blob->len);
	memset(bytes + blob->len, 0, TREE_BLOCK - blob->len);
	data_write(t, file, offset, bytes + from, to - from);
}

/* Puts the blocks in [from, end) so that from comes to lie at offset. */
static void put_range(struct tree *t, struct inode *file, const struct pmap *blocks, uint64_t from,
		      uint64_t end, uint64_t offset)
{
	struct block_walk w = block_walk(blocks, from, end);
	const struct blob *blob;

	while ((blob = block_next(&w))) {
		uint64_t start = w.index * TREE_BLOCK;
		size_t first = start < from ? from - start : 0;
		size_t last = end - start < TREE_BLOCK ? end - start : TREE_BLOCK;

		put_piece(t, file, blob, first, last, start + first - from + offset);
	}
}

/* Moves all from `from` on to `to`, over or away from what is there. */
static void move_tail(struct tree *t, struct inode *file, uint64_t from, uint64_t to)
{
	struct pmap before = pmap_share(&file->file.blocks);

	data_punch(t, file, from < to ? from : to, DATA_END);
	put_range(t, file, &before, from, DATA_END, to);
	pmap_drop(&before, &blob_type);
	file->size = file->size - from + to;
}

void tree_collapse(struct tree *t, uint64_t ino, uint64_t offset, uint64_t len)
{
	move_tail(t, tree_edit(t, ino), offset + len, offset);
}

void tree_insert(struct tree *t, uint64_t ino, uint64_t offset, uint64_t len)
{
	move_tail(t, tree_edit(t, ino), offset, offset + len);
}

void tree_clone(struct tree *t, uint64_t from, uint64_t from_offset, uint64_t to,
		uint64_t to_offset, uint64_t len)
{
	struct pmap source = pmap_share(&tree_inode(t, from)->file.blocks);
	struct inode *file = tree_edit(t, to);

	data_punch(t, file, to_offset, to_offset + len);
	put_range(t, file, &source, from_offset, from_offset + len, to_offset);
	pmap_drop(&source, &blob_type);
	if (len && to_offset + len > file->size)
		file->size = to_offset + len;
}
