// SPDX-License-Identifier: GPL-2.0
/*
 * disk.c -- a disk in memory with a volatile cache in front of it. It answers at once, unless calls
 * overlap by a schedule.
 */
#include <linux/blkdev.h>
#include <linux/kthread.h>
#include <linux/syscalls.h>

#include "assay.h"
#include "compat.h"
#include "medium.h"
#include "overlap.h"

static void transfer(struct bio *bio, u8 *at)
{
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

	if (size)
		what = bio_op(bio) == REQ_OP_WRITE	  ? ASSAY_RECORD_WRITE :
		       bio_op(bio) == REQ_OP_WRITE_ZEROES ? ASSAY_RECORD_ZEROES :
							    ASSAY_RECORD_DISCARD;
	if (bio->bi_opf & REQ_PREFLUSH || bio_op(bio) == REQ_OP_FLUSH)
		what |= ASSAY_RECORD_FLUSH;
	if (bio->bi_opf & REQ_FUA)
		what |= ASSAY_RECORD_FUA;
	medium_record(what, offset, size);
}

/* What is discarded stays. */
static void carry_out(struct bio *bio)
{
	u64 offset = (u64)bio->bi_iter.bi_sector << SECTOR_SHIFT;
	u64 size = bio->bi_iter.bi_size;

	if (offset + size > assay_medium_size() || assay_request_fails(op_is_write(bio_op(bio)))) {
		bio_io_error(bio);
		return;
	}
	switch (bio_op(bio)) {
	case REQ_OP_READ:
		medium_reads(offset, size);
		transfer(bio, medium_at(offset));
		break;
	case REQ_OP_WRITE:
		medium_writes(offset, size);
		transfer(bio, medium_at(offset));
		break;
	case REQ_OP_WRITE_ZEROES:
		medium_writes(offset, size);
		memset(medium_at(offset), 0, size);
		break;
	case REQ_OP_FLUSH:
	case REQ_OP_DISCARD:
		break;
	default:
		bio->bi_status = BLK_STS_NOTSUPP;
	}
	if (op_is_write(bio_op(bio)) && !bio->bi_status)
		record_bio(bio, offset);
	bio_endio(bio);
}

#ifdef CONFIG_ASSAY_OVERLAP
/* Requests of calls that overlap by a schedule: a thread of the kernel carries them out, which the
 * schedule can make wait. */
static struct bio_list waiting;
static DEFINE_SPINLOCK(waiting_lock);
static struct task_struct *server;

static int serve(void *unused)
{
	struct bio *bio;

	for (;;) {
		spin_lock(&waiting_lock);
		bio = bio_list_pop(&waiting);
		if (!bio)
			__set_current_state(TASK_IDLE);
		spin_unlock(&waiting_lock);
		if (bio)
			carry_out(bio);
		else
			schedule();
	}
}

static int serve_begin(void)
{
	server = kthread_run(serve, NULL, "disk");
	return PTR_ERR_OR_ZERO(server);
}

static void submit(struct bio *bio)
{
	if (!assay_overlap_has_disk()) {
		carry_out(bio);
		return;
	}
	spin_lock(&waiting_lock);
	bio_list_add(&waiting, bio);
	spin_unlock(&waiting_lock);
	wake_up_process(server);
}
#else
static int serve_begin(void)
{
	return 0;
}

static void submit(struct bio *bio)
{
	carry_out(bio);
}
#endif

static const struct block_device_operations operations = { .submit_bio = submit };

int assay_disk_add(void)
{
	static char path[] = "/dev/disk";
	struct gendisk *g;
	int major, error = medium_begin();

	if (!error)
		error = serve_begin();
	if (error)
		return error == -ENOENT ? 0 : error;
	major = register_blkdev(0, "assay");
	g = compat_alloc_disk();
	if (major < 0 || IS_ERR(g))
		return -ENOMEM;
	g->major = major;
	g->minors = 1;
	g->flags |= GENHD_FL_NO_PART;
	g->fops = &operations;
	strscpy(g->disk_name, "disk", sizeof(g->disk_name));
	set_capacity(g, assay_medium_size() >> SECTOR_SHIFT);
	error = add_disk(g);
	if (error)
		return error;
	return sys_mknod((const char __user __force *)path, S_IFBLK | 0600,
			 new_encode_dev(MKDEV(major, 0)));
}
