// SPDX-License-Identifier: GPL-2.0
/*
 * medium.c -- what disk and flash memory have in common: their bytes, which pages of them differ from
 * the image, which sectors were read, and the record of what was asked for.
 *
 * All of it is memory that fork() saves, but for the sectors read, which the checker sees.
 */
#include <linux/bitmap.h>
#include <linux/blkdev.h>
#include <linux/mm.h>

#include "assay.h"
#include "medium.h"

static struct {
	u8 *data;
	unsigned long size;
	bool used;
	unsigned long *changed; /* a bit for each page that is not as in the image */
	unsigned long *written; /* for each sector: while reads are noted */
	unsigned long *read;	/* the checker's: sectors that were read and not written before */
} medium;

/* Memory is taken only where it is written. */
#define RECORD_MAX (192UL << 20)

static struct {
	u8 *data;
	unsigned long size;
	bool full;
} record;

int medium_begin(void)
{
	medium.data = assay_host_image(ASSAY_IMAGE_FD, &medium.size);
	if (!medium.data)
		return -ENOENT;
	medium.changed = bitmap_zalloc(medium.size >> PAGE_SHIFT, GFP_KERNEL);
	medium.written = bitmap_zalloc(medium.size >> SECTOR_SHIFT, GFP_KERNEL);
	return medium.changed && medium.written ? 0 : -ENOMEM;
}

unsigned long assay_medium_size(void)
{
	return medium.size;
}

u8 *medium_at(u64 offset)
{
	return medium.data + offset;
}

/* Bits of one word from `first` on, of those before `end`. */
static unsigned long word_mask(unsigned long word, unsigned long first, unsigned long end)
{
	unsigned long mask = ~0UL;

	if (word == first / BITS_PER_LONG)
		mask &= BITMAP_FIRST_WORD_MASK(first);
	if (word == (end - 1) / BITS_PER_LONG)
		mask &= BITMAP_LAST_WORD_MASK(end);
	return mask;
}

/* Looking comes before writing: memory that is only read costs a copy of the kernel less. */
static void note_sectors(unsigned long *bits, const unsigned long *but, u64 offset, u64 size)
{
	unsigned long first = offset >> SECTOR_SHIFT;
	unsigned long end = (offset + size + SECTOR_SIZE - 1) >> SECTOR_SHIFT;
	unsigned long word;

	for (word = first / BITS_PER_LONG; word * BITS_PER_LONG < end; word++) {
		unsigned long mask = word_mask(word, first, end) & ~(but ? but[word] : 0);

		if (mask & ~bits[word])
			bits[word] |= mask;
	}
}

void medium_reads(u64 offset, u64 size)
{
	medium.used = true;
	if (medium.read && size)
		note_sectors(medium.read, medium.written, offset, size);
}

void medium_changes(u64 offset, u64 size)
{
	medium.used = true;
	if (size)
		bitmap_set(medium.changed, offset >> PAGE_SHIFT,
			   ((offset + size - 1) >> PAGE_SHIFT) - (offset >> PAGE_SHIFT) + 1);
}

void medium_writes(u64 offset, u64 size)
{
	medium_changes(offset, size);
	if (medium.read && size)
		note_sectors(medium.written, NULL, offset, size);
}

/* ---- the record ---- */

static void *record_room(unsigned long size)
{
	void *room = record.data + record.size;

	if (record.full || size > RECORD_MAX - record.size) {
		record.full = true;
		return NULL;
	}
	record.size += size;
	return room;
}

void medium_record(unsigned int what, u64 offset, unsigned int size)
{
	struct assay_record *r;
	void *data;

	if (!record.data)
		return;
	r = record_room(sizeof(*r));
	if (!r)
		return;
	*r = (struct assay_record){ .offset = offset, .size = size, .what = what };
	if (!(what & ASSAY_RECORD_WRITE))
		return;
	data = record_room(size);
	if (data)
		memcpy(data, medium.data + offset, size);
}

int assay_medium_record(void)
{
	if (!record.data) {
		record.data = assay_host_memory(RECORD_MAX);
		assay_revert_skip(record.data, RECORD_MAX); /* it is only read where it was written */
	}
	record.size = 0;
	record.full = false;
	return record.data ? 0 : -ENOMEM;
}

void assay_medium_mark(void)
{
	medium_record(ASSAY_RECORD_MARK, 0, 0);
}

const void *assay_medium_recorded(unsigned long *ret_size)
{
	*ret_size = record.size;
	return record.full ? NULL : record.data;
}

/* ---- other contents ---- */

/* What was read before may be in a cache. */
int assay_medium_load(unsigned long page, const void *bytes)
{
	if (medium.used)
		return -EBUSY;
	if (page >= medium.size >> PAGE_SHIFT)
		return -ERANGE;
	memcpy(medium.data + (page << PAGE_SHIFT), bytes, PAGE_SIZE);
	set_bit(page, medium.changed);
	return 0;
}

int assay_medium_note_reads(void *bits, unsigned long limit)
{
	if (medium.size >> SECTOR_SHIFT > limit)
		return -EFBIG;
	medium.read = bits;
	return 0;
}

const void *assay_medium_changed(unsigned long *page)
{
	*page = find_next_bit(medium.changed, medium.size >> PAGE_SHIFT, *page);
	return *page < medium.size >> PAGE_SHIFT ? medium.data + (*page << PAGE_SHIFT) : NULL;
}
