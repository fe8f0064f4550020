/* data.c -- the contents of files: blocks, holes, reading and writing.
 *
 * A block that is present is allocated. Its blob ends at its last byte that is not zero, so that
 * equal contents have equal blobs however they came about, and an allocated block of zeros is an
 * empty blob. Bytes beyond the size are always zero. */
#include "tree/data.h"

#include <string.h>

#include "base/must.h"
#include "tree/inode.h"

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

struct block_walk block_walk(const struct pmap *blocks, uint64_t from, uint64_t to)
{
	uint64_t first = from / TREE_BLOCK;
	uint64_t end = from < to ? (to - 1) / TREE_BLOCK + 1 : first;

	return (struct block_walk){
		.blocks = blocks,
		.next = first,
		.first = first,
		.end = end,
		.by_index = end - first <= blocks->count,
	};
}

const struct blob *block_next(struct block_walk *w)
{
	struct ref *object;

	if (w->by_index) {
		while (w->next < w->end) {
			w->index = w->next++;
			if ((object = pmap_get(w->blocks, w->index)))
				return (const struct blob *)object;
		}
		return NULL;
	}
	while ((object = pmap_next(w->blocks, !w->started, &w->index))) {
		w->started = true;
		if (w->index >= w->first && w->index < w->end)
			return (const struct blob *)object;
	}
	return NULL;
}

static struct hash block_term(uint64_t index, const struct blob *blob)
{
	struct {
		struct hash hash;
		uint64_t index;
	} block = { blob->hash, index };

	if (!blob->len)
		return (struct hash){ 0, 0 };
	return hash128(&block, sizeof(block), SEED_BLOCK);
}

void block_put(struct tree *t, struct inode *file, uint64_t index, struct blob *blob)
{
	const struct blob *old = (const struct blob *)pmap_get(&file->file.blocks, index);
	struct hash *sum = &file->file.data;

	if (t->hashed) {
		if (old)
			*sum = hash_sub(*sum, block_term(index, old));
		if (blob)
			*sum = hash_add(*sum, block_term(index, blob));
	}
	t->blocks += !!blob;
	t->blocks -= !!old;
	if (blob)
		pmap_put(&file->file.blocks, &blob_type, index, &blob->ref);
	else
		pmap_remove(&file->file.blocks, &blob_type, index);
}

/* The length without zeros at the end: most blocks of sparse files are nothing else, so that many
 * are looked at at once. */
static size_t trim_zeros(const char *bytes, size_t len)
{
	uint64_t words[8], any = 0;

	for (; len >= sizeof(words); len -= sizeof(words)) {
		memcpy(words, bytes + len - sizeof(words), sizeof(words));
		for (size_t i = 0; i < ARRAY_LEN(words); i++)
			any |= words[i];
		if (any)
			break;
	}
	while (len && !bytes[len - 1])
		len--;
	return len;
}

static struct blob *block_make(const struct tree *t, const char *bytes, size_t len)
{
	return blob_make(bytes, trim_zeros(bytes, len), t->hashed);
}

/* Writes within one block. */
static void block_write(struct tree *t, struct inode *file, uint64_t index, size_t from,
			const char *data, size_t len)
{
	const struct blob *old = (const struct blob *)pmap_get(&file->file.blocks, index);
	size_t stored = old ? old->len : 0, end = from + len > stored ? from + len : stored;
	char bytes[TREE_BLOCK];

	if (end == len) {
		block_put(t, file, index, block_make(t, data, len));
		return;
	}
	if (stored && blob_read(old, bytes) != bytes)
		memcpy(bytes, old->bytes, stored);
	if (stored < from)
		memset(bytes + stored, 0, from - stored);
	memcpy(bytes + from, data, len);
	block_put(t, file, index, block_make(t, bytes, end));
}

/* Whether the whole block has these bytes, and zeros behind them. */
static bool block_has(const struct inode *file, uint64_t index, const char *data, size_t len)
{
	const struct blob *blob = (const struct blob *)pmap_get(&file->file.blocks, index);
	char made[TREE_BLOCK];

	return blob && blob->len <= len && !memcmp(blob_read(blob, made), data, blob->len) &&
	       !trim_zeros(data + blob->len, len - blob->len);
}

void data_renew(struct tree *t, struct inode *file, uint64_t offset, const char *data, size_t len)
{
	while (len) {
		size_t from = offset % TREE_BLOCK, part = min_u64(len, TREE_BLOCK - from);

		if (from || !block_has(file, offset / TREE_BLOCK, data, part))
			block_write(t, file, offset / TREE_BLOCK, from, data, part);
		offset += part;
		data += part;
		len -= part;
	}
}

void data_share(struct tree *t, struct inode *file, const struct inode *other)
{
	must(!file->file.blocks.count && t->hashed);
	file->file.blocks = pmap_share(&other->file.blocks);
	file->file.data = other->file.data;
	t->blocks += file->file.blocks.count;
	if (file->size < other->size)
		data_punch(t, file, file->size, DATA_END);
}

void data_write(struct tree *t, struct inode *file, uint64_t offset, const char *data, size_t len)
{
	while (len) {
		size_t from = offset % TREE_BLOCK, part = min_u64(len, TREE_BLOCK - from);

		block_write(t, file, offset / TREE_BLOCK, from, data, part);
		offset += part;
		data += part;
		len -= part;
	}
}

void tree_write(struct tree *t, uint64_t ino, uint64_t offset, const void *data, size_t len)
{
	struct inode *file = tree_edit(t, ino);

	data_write(t, file, offset, data, len);
	if (len && offset + len > file->size)
		file->size = offset + len;
}

struct blob *tree_block(struct blob_part part)
{
	char bytes[TREE_BLOCK];

	part.fill(part.seed, part.from, bytes, sizeof(bytes));
	return blob_of_part(part, bytes, trim_zeros(bytes, TREE_BLOCK));
}

void tree_write_block(struct tree *t, uint64_t ino, uint64_t index, struct blob *block)
{
	struct inode *file = tree_edit(t, ino);

	block->ref.count++;
	block_put(t, file, index, block);
	if ((index + 1) * TREE_BLOCK > file->size)
		file->size = (index + 1) * TREE_BLOCK;
}

size_t tree_read(const struct tree *t, uint64_t ino, uint64_t offset, void *to, size_t len)
{
	const struct inode *file = tree_inode(t, ino);
	char *out = to, bytes[TREE_BLOCK];

	if (offset >= file->size)
		return 0;
	len = min_u64(len, file->size - offset);
	for (size_t done = 0; done < len;) {
		uint64_t at = offset + done;
		size_t from = at % TREE_BLOCK, part = min_u64(len - done, TREE_BLOCK - from);
		const struct blob *blob =
			(const struct blob *)pmap_get(&file->file.blocks, at / TREE_BLOCK);
		size_t stored = blob && blob->len > from ? min_u64(part, blob->len - from) : 0;

		if (stored)
			memcpy(out + done, blob_read(blob, bytes) + from, stored);
		memset(out + done + stored, 0, part - stored);
		done += part;
	}
	return len;
}

/* Zeroes part of one block; a hole stays one. */
static void block_clear(struct tree *t, struct inode *file, uint64_t index, size_t from, size_t to)
{
	const struct blob *old = (const struct blob *)pmap_get(&file->file.blocks, index);
	char bytes[TREE_BLOCK];

	if (!old || old->len <= from)
		return;
	if (blob_read(old, bytes) != bytes)
		memcpy(bytes, old->bytes, old->len);
	memset(bytes + from, 0, min_u64(to, old->len) - from);
	block_put(t, file, index, block_make(t, bytes, old->len));
}

void data_punch(struct tree *t, struct inode *file, uint64_t from, uint64_t to)
{
	struct block_walk w = block_walk(&file->file.blocks, from, to);

	while (block_next(&w)) {
		uint64_t start = w.index * TREE_BLOCK;
		size_t first = start < from ? from - start : 0;
		size_t last = min_u64(to - start, TREE_BLOCK);

		if (first == 0 && last == TREE_BLOCK)
			block_put(t, file, w.index, NULL);
		else
			block_clear(t, file, w.index, first, last);
	}
}

void tree_truncate(struct tree *t, uint64_t ino, uint64_t size)
{
	struct inode *file = tree_edit(t, ino);
	uint64_t whole = (size + TREE_BLOCK - 1) / TREE_BLOCK * TREE_BLOCK;

	if (size < file->size) {
		data_punch(t, file, size, whole);
		data_punch(t, file, whole, DATA_END);
	}
	file->size = size;
}

void tree_allocate(struct tree *t, uint64_t ino, uint64_t offset, uint64_t len)
{
	struct inode *file = tree_edit(t, ino);
	uint64_t end = (offset + len + TREE_BLOCK - 1) / TREE_BLOCK;

	struct blob *zeros = block_make(t, NULL, 0); /* the same for all of them */

	for (uint64_t index = offset / TREE_BLOCK; len && index < end; index++) {
		if (pmap_get(&file->file.blocks, index))
			continue;
		zeros->ref.count++;
		block_put(t, file, index, zeros);
	}
	blob_drop(zeros);
}

void tree_zero(struct tree *t, uint64_t ino, uint64_t offset, uint64_t len, bool allocated)
{
	data_punch(t, tree_edit(t, ino), offset, offset + len);
	if (allocated)
		tree_allocate(t, ino, offset, len);
}

bool tree_is_zero(const struct tree *t, uint64_t ino, uint64_t from, uint64_t to)
{
	const struct inode *file = tree_inode(t, ino);
	struct block_walk w = block_walk(&file->file.blocks, from, to);
	const struct blob *blob;
	char made[TREE_BLOCK];

	while ((blob = block_next(&w))) {
		const char *bytes = blob_read(blob, made);
		uint64_t start = w.index * TREE_BLOCK;
		size_t end = min_u64(to - start, blob->len);

		for (size_t i = start < from ? from - start : 0; i < end; i++) {
			if (bytes[i])
				return false;
		}
	}
	return true;
}

struct hash data_hash(const struct tree *t, const struct inode *file)
{
	struct block_walk w = block_walk(&file->file.blocks, 0, DATA_END);
	struct hash sum = { 0, 0 };
	const struct blob *blob;
	char made[TREE_BLOCK];

	if (t->hashed)
		return file->file.data;
	while ((blob = block_next(&w))) {
		struct blob *hashed = blob_make(blob_read(blob, made), blob->len, true);

		sum = hash_add(sum, block_term(w.index, hashed));
		blob_drop(hashed);
	}
	return sum;
}

/* The first byte where a block differs from one that may be absent; TREE_BLOCK if nowhere. */
static size_t block_difference(const struct blob *a, const struct blob *b)
{
	size_t a_len = a->len, b_len = b ? b->len : 0, both = min_u64(a_len, b_len);
	char made_a[TREE_BLOCK], made_b[TREE_BLOCK];
	const char *in_a = blob_read(a, made_a), *in_b = b ? blob_read(b, made_b) : NULL;

	for (size_t i = 0; i < both; i++) {
		if (in_a[i] != in_b[i])
			return i;
	}
	if (a_len == b_len)
		return TREE_BLOCK;
	while (!(a_len > b_len ? in_a : in_b)[both])
		both++;
	return both;
}

uint64_t data_difference(const struct inode *a, const struct inode *b)
{
	uint64_t least = DATA_END;

	for (int turn = 0; turn < 2; turn++) {
		const struct pmap *mine = turn ? &b->file.blocks : &a->file.blocks;
		const struct pmap *other = turn ? &a->file.blocks : &b->file.blocks;
		struct block_walk w = block_walk(mine, 0, DATA_END);
		const struct blob *blob;

		while (!pmap_same(mine, other) && (blob = block_next(&w))) {
			const struct blob *counterpart =
				(const struct blob *)pmap_get(other, w.index);
			size_t at = block_difference(blob, counterpart);

			if (at < TREE_BLOCK)
				least = min_u64(least, w.index * TREE_BLOCK + at);
		}
	}
	return least;
}

/* The smallest index of a block at or behind `from` and within the size; DATA_END / TREE_BLOCK if
 * there is none. */
static uint64_t first_block(const struct inode *file, uint64_t from)
{
	struct block_walk w = block_walk(&file->file.blocks, from * TREE_BLOCK, file->size);
	uint64_t least = DATA_END / TREE_BLOCK;

	if (pmap_get(&file->file.blocks, from))
		return from;
	while (block_next(&w)) {
		if (w.by_index)
			return w.index;
		if (w.index < least)
			least = w.index;
	}
	return least;
}

uint64_t tree_seek(const struct tree *t, uint64_t ino, uint64_t offset, bool data)
{
	const struct inode *file = tree_inode(t, ino);
	uint64_t index = offset / TREE_BLOCK, start;

	if (offset >= file->size)
		return file->size;
	if (data) {
		index = first_block(file, index);
	} else {
		while (pmap_get(&file->file.blocks, index))
			index++;
	}
	start = index * TREE_BLOCK;
	return start < offset ? offset : min_u64(start, file->size);
}

uint64_t tree_blocks(const struct inode *inode)
{
	return S_ISREG(inode->mode) ? inode->file.blocks.count : 0;
}
