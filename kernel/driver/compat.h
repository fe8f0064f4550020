/* SPDX-License-Identifier: GPL-2.0 */
/* compat.h -- what the driver needs and versions of Linux, from 6.1 on, do not agree on. */
#ifndef ASSAY_COMPAT_H
#define ASSAY_COMPAT_H

#include <linux/blkdev.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0)

static inline struct gendisk *compat_alloc_disk(void)
{
	struct queue_limits limits = {
		.logical_block_size = SECTOR_SIZE,
		.physical_block_size = PAGE_SIZE,
		.max_hw_discard_sectors = UINT_MAX,
		.discard_granularity = PAGE_SIZE,
		.max_write_zeroes_sectors = UINT_MAX,
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
		.features = BLK_FEAT_WRITE_CACHE | BLK_FEAT_FUA,
#endif
	};
	struct gendisk *g = blk_alloc_disk(&limits, NUMA_NO_NODE);

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
	if (!IS_ERR(g))
		blk_queue_write_cache(g->queue, true, true);
#endif
	return g;
}

#else

/* The same limits, each set by itself. */
static inline struct gendisk *compat_alloc_disk(void)
{
	struct gendisk *g = blk_alloc_disk(NUMA_NO_NODE);

	if (!g)
		return ERR_PTR(-ENOMEM);
	blk_queue_logical_block_size(g->queue, SECTOR_SIZE);
	blk_queue_physical_block_size(g->queue, PAGE_SIZE);
	blk_queue_max_discard_sectors(g->queue, UINT_MAX);
	g->queue->limits.discard_granularity = PAGE_SIZE;
	blk_queue_max_write_zeroes_sectors(g->queue, UINT_MAX);
	blk_queue_write_cache(g->queue, true, true);
	return g;
}

#endif

#endif
