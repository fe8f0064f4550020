// SPDX-License-Identifier: GPL-2.0
/*
 * disk.c -- a disk in memory with a volatile cache in front of it.
 *
 * It is a private mapping of an image, and so part of what fork() saves. So is the record of what
 * it was asked for.
 */
#include <linux/blkdev.h>
#include <linux/syscalls.h>
#include <linux/task_work.h>

#include "assay.h"
#include "compat.h"

static struct {
	u8 *data;
	unsigned long size;
	unsigned long *changed; /* a bit for each page that was written to since the image */
} disk;

/* Memory is taken only where it is written. */
#define RECORD_MAX (192UL << 20)

static struct {
	u8 *data;
	unsigned long size;
	bool full;
} record;

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

static struct assay_record *record_add(unsigned int what, u64 offset, unsigned int size)
{
	struct assay_record *r = record_room(sizeof(*r));

	if (r)
		*r = (struct assay_record){ .offset = offset, .size = size, .what = what };
	return r;
}

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

static void record_bio(const struct bio *bio, u64 offset)
{
	unsigned int size = bio->bi_iter.bi_size, what = 0;
	void *data;

	if (size)
		what = bio_op(bio) == REQ_OP_WRITE	  ? ASSAY_RECORD_WRITE :
		       bio_op(bio) == REQ_OP_WRITE_ZEROES ? ASSAY_RECORD_ZEROES :
							    ASSAY_RECORD_DISCARD;
	if (bio->bi_opf & REQ_PREFLUSH || bio_op(bio) == REQ_OP_FLUSH)
		what |= ASSAY_RECORD_FLUSH;
	if (bio->bi_opf & REQ_FUA)
		what |= ASSAY_RECORD_FUA;
	if (!record_add(what, offset, size) || !(what & ASSAY_RECORD_WRITE))
		return;
	data = record_room(size);
	if (data)
		memcpy(data, disk.data + offset, size);
}

static void note_changed(u64 offset, u64 size)
{
	if (size)
		bitmap_set(disk.changed, offset >> PAGE_SHIFT,
			   ((offset + size - 1) >> PAGE_SHIFT) - (offset >> PAGE_SHIFT) + 1);
}

static void submit(struct bio *bio)
{
	u64 offset = (u64)bio->bi_iter.bi_sector << SECTOR_SHIFT;
	u64 size = bio->bi_iter.bi_size;

	if (offset + size > disk.size || assay_request_fails(op_is_write(bio_op(bio)))) {
		bio_io_error(bio);
		return;
	}
	if (op_is_write(bio_op(bio)))
		note_changed(offset, size);
	switch (bio_op(bio)) {
	case REQ_OP_READ:
	case REQ_OP_WRITE:
		transfer(bio);
		break;
	case REQ_OP_WRITE_ZEROES:
		memset(disk.data + offset, 0, size);
		break;
	case REQ_OP_FLUSH:
	case REQ_OP_DISCARD:
		break;
	default:
		bio->bi_status = BLK_STS_NOTSUPP;
	}
	if (record.data && op_is_write(bio_op(bio)) && !bio->bi_status)
		record_bio(bio, offset);
	bio_endio(bio);
}

static const struct block_device_operations operations = { .submit_bio = submit };

int assay_disk_add(void)
{
	static char path[] = "/dev/disk";
	struct gendisk *g;
	int major, error;

	disk.data = assay_host_image(ASSAY_IMAGE_FD, &disk.size);
	if (!disk.data)
		return 0;
	disk.changed = bitmap_zalloc(disk.size >> PAGE_SHIFT, GFP_KERNEL);
	major = register_blkdev(0, "assay");
	g = compat_alloc_disk();
	if (!disk.changed || major < 0 || IS_ERR(g))
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

/* Of the same size. What was read of the old one is forgotten. */
int assay_disk_load(int fd)
{
	struct file *file = filp_open("/dev/disk", O_RDWR, 0);
	unsigned long size;
	void *data;

	if (IS_ERR(file))
		return PTR_ERR(file);
	invalidate_bdev(file_bdev(file));
	filp_close(file, NULL);
	task_work_run();
	data = assay_host_image(fd, &size);
	if (!data || size != disk.size)
		return -EINVAL;
	assay_host_unmap(disk.data, disk.size);
	disk.data = data;
	bitmap_fill(disk.changed, disk.size >> PAGE_SHIFT); /* it is not the first image any more */
	return 0;
}

const void *assay_disk_changed(unsigned long *page)
{
	*page = find_next_bit(disk.changed, disk.size >> PAGE_SHIFT, *page);
	return *page < disk.size >> PAGE_SHIFT ? disk.data + (*page << PAGE_SHIFT) : NULL;
}

int assay_disk_record(void)
{
	if (!record.data)
		record.data = assay_host_memory(RECORD_MAX);
	record.size = 0;
	record.full = false;
	return record.data ? 0 : -ENOMEM;
}

void assay_disk_mark(void)
{
	if (record.data)
		record_add(ASSAY_RECORD_MARK, 0, 0);
}

const void *assay_disk_recorded(unsigned long *ret_size)
{
	*ret_size = record.size;
	return record.full ? NULL : record.data;
}
