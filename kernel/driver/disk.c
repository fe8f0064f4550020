// SPDX-License-Identifier: GPL-2.0
/*
 * disk.c -- a disk in memory with a volatile cache in front of it, as far as anyone can tell.
 *
 * It is a private mapping of an image, and so part of what fork() saves.
 */
#include <linux/blkdev.h>
#include <linux/syscalls.h>

#include "assay.h"

static struct {
	u8 *data;
	unsigned long size;
} disk;

static void transfer(struct bio *bio)
{
	u8 *at = disk.data + (bio->bi_iter.bi_sector << SECTOR_SHIFT);
	struct bvec_iter iter;
	struct bio_vec segment;

	bio_for_each_segment(segment, bio, iter) {
		void *page = bvec_kmap_local(&segment);

		if (op_is_write(bio_op(bio)))
			memcpy(at, page, segment.bv_len);
		else
			memcpy(page, at, segment.bv_len);
		kunmap_local(page);
		at += segment.bv_len;
	}
}

static void submit(struct bio *bio)
{
	u64 offset = (u64)bio->bi_iter.bi_sector << SECTOR_SHIFT;

	if (offset + bio->bi_iter.bi_size > disk.size) {
		bio_io_error(bio);
		return;
	}
	switch (bio_op(bio)) {
	case REQ_OP_READ:
	case REQ_OP_WRITE:
		transfer(bio);
		break;
	case REQ_OP_WRITE_ZEROES:
		memset(disk.data + offset, 0, bio->bi_iter.bi_size);
		break;
	case REQ_OP_FLUSH:
	case REQ_OP_DISCARD:
		break;
	default:
		bio->bi_status = BLK_STS_NOTSUPP;
	}
	bio_endio(bio);
}

static const struct block_device_operations operations = { .submit_bio = submit };

int assay_disk_add(void)
{
	struct queue_limits limits = {
		.logical_block_size = SECTOR_SIZE,
		.physical_block_size = PAGE_SIZE,
		.max_hw_discard_sectors = UINT_MAX,
		.discard_granularity = PAGE_SIZE,
		.max_write_zeroes_sectors = UINT_MAX,
		.features = BLK_FEAT_WRITE_CACHE | BLK_FEAT_FUA,
	};
	static char path[] = "/dev/disk";
	struct gendisk *g;
	int major, error;

	disk.data = assay_host_image(&disk.size);
	if (!disk.data)
		return 0;
	major = register_blkdev(0, "assay");
	g = blk_alloc_disk(&limits, NUMA_NO_NODE);
	if (major < 0 || IS_ERR(g))
		return -ENOMEM;
	g->major = major;
	g->minors = 1;
	g->flags |= GENHD_FL_NO_PART;
	g->fops = &operations;
	strscpy(g->disk_name, "disk", sizeof(g->disk_name));
	set_capacity(g, disk.size >> SECTOR_SHIFT);
	error = add_disk(g);
	if (error)
		return error;
	return sys_mknod((const char __user __force *)path, S_IFBLK | 0600,
			 new_encode_dev(MKDEV(major, 0)));
}
