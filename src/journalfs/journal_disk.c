/* journal_disk.c -- the state of a journal, and its requests to the disk. */
#include "journalfs/journal_disk.h"

#include "base/hash.h"
#include "journalfs/layout.h"
#include "tree/inode.h"

struct journal journal_copy(const struct journal *j)
{
	struct journal copy = *j;

	copy.disk = ramdisk_copy(&j->disk);
	copy.waiting = pmap_share(&j->waiting);
	return copy;
}

void journal_free(struct journal *j)
{
	ramdisk_free(&j->disk);
	pmap_drop(&j->waiting, &blob_type);
}

const char *journal_read(const struct journal *j, uint32_t block)
{
	const struct blob *waiting = (const struct blob *)pmap_get(&j->waiting, block);

	return waiting ? waiting->bytes : ramdisk_read(&j->disk, block);
}

uint32_t journal_place(uint32_t position)
{
	return LAYOUT_JOURNAL + position % LAYOUT_JOURNAL_BLOCKS;
}

void journal_write(struct journal *j, uint32_t block, struct blob *bytes, unsigned what)
{
	/* What follows a failed write would not be whole: a commit record above all. */
	if (!j->disk.failed || j->fault == JOURNAL_FAULT_error_ignored)
		ramdisk_write(&j->disk, block, bytes, j->volatile_writes ? 0 : what);
}

void journal_write_bytes(struct journal *j, uint32_t block, const void *bytes, unsigned what)
{
	struct blob *blob = blob_make(bytes, LAYOUT_BLOCK, false);

	journal_write(j, block, blob, what);
	blob_drop(blob);
}

void journal_flush(struct journal *j)
{
	if (!j->volatile_writes)
		ramdisk_flush(&j->disk);
}

void journal_write_super(struct journal *j)
{
	struct layout_super super = {
		.magic = LAYOUT_MAGIC_SUPER,
		.generation = ++j->generation,
		.tail_sequence = j->sequence,
		.tail = j->head,
		.blocks = LAYOUT_BLOCKS,
		.generation_again = j->generation,
	};
	uint32_t block = (uint32_t)(j->generation % LAYOUT_SUPERBLOCKS);

	if (j->fault == JOURNAL_FAULT_super_single)
		block = 0;
	super.check = hash64(&super, sizeof(super), 0);
	journal_write_bytes(j, block, &super, RECORD_FUA);
}
