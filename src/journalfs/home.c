/* home.c -- where inodes lie on the disk, and which blocks are free. */
#include "journalfs/home.h"

#include <stdlib.h>

#include "base/must.h"

static void home_free(struct ref *object)
{
	struct home *home = (struct home *)object;

	pmap_drop(&home->data, &home_data_type);
	free(home);
}

const struct pmap_type home_type = { .free = home_free };

struct home *home_new(uint32_t count)
{
	struct home *home = must_alloc(sizeof(*home) + count * sizeof(home->chain[0]));

	home->ref.count = 1;
	home->count = count;
	return home;
}

void home_drop(struct home *home)
{
	if (--home->ref.count == 0)
		home_free(&home->ref);
}

const struct home *home_find(const struct journalfs *fs, uint64_t ino)
{
	return (const struct home *)pmap_get(&fs->homes, ino);
}

/* Equal bytes are the same however they came about: a blob ends at its last byte that is not zero.
 */
struct home_data *home_find_data(const struct home *home, uint64_t index, const struct blob *bytes)
{
	struct home_data *data = home ? (struct home_data *)pmap_get(&home->data, index) : NULL;

	if (!data || data->count != record_pieces(bytes->len) || data->bytes->len != bytes->len ||
	    !hash_equal(data->bytes->hash, bytes->hash))
		return NULL;
	return data;
}

bool home_claim(struct journalfs *fs, uint32_t block)
{
	if (block < LAYOUT_HOME || block >= LAYOUT_BLOCKS || bit_get(fs->used, block))
		return false;
	bit_set(fs->used, block, true);
	fs->free_blocks--;
	return true;
}

uint16_t home_allocate(struct journalfs *fs)
{
	uint32_t block = LAYOUT_HOME;

	while (!home_claim(fs, block))
		must(++block < LAYOUT_BLOCKS);
	return (uint16_t)block;
}

void home_release(struct journalfs *fs, uint32_t block)
{
	must(bit_get(fs->used, block));
	bit_set(fs->used, block, false);
	fs->free_blocks++;
}

uint16_t home_take_slot(struct journalfs *fs)
{
	uint32_t slot = 0;

	while (bit_get(fs->slots, slot))
		must(++slot < LAYOUT_SLOTS);
	bit_set(fs->slots, slot, true);
	return (uint16_t)slot;
}

uint32_t home_chain_blocks(size_t record_len)
{
	const size_t part = sizeof(((struct layout_chain *)NULL)->bytes);

	return (uint32_t)((record_len + part - 1) / part);
}
