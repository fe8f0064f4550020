// SPDX-License-Identifier: GPL-2.0
/*
 * direct.c -- reading and writing past the page cache (O_DIRECT).
 *
 * The disk takes pages, and a caller without address space has none to give: it is lent some,
 * which begin as far into a page as its own memory does.
 */
#include <linux/bvec.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/slab.h>
#include <linux/syscalls.h>
#include <linux/uio.h>

#include "assay.h"

#ifndef fd_file
#define fd_file(f) ((f).file)
#endif

#define BYTES_MAX (8UL << 20) /* moved at once */

bool assay_is_direct(int number)
{
	struct fd f = fdget(number);
	bool direct = fd_file(f) && fd_file(f)->f_flags & O_DIRECT;

	fdput(f);
	return direct;
}

struct loan {
	struct bio_vec *parts;
	unsigned int count;
	size_t bytes;
};

static int lend(struct loan *loan, unsigned long at, size_t bytes)
{
	size_t offset = at % PAGE_SIZE;

	loan->parts = kvcalloc(DIV_ROUND_UP(offset + bytes, PAGE_SIZE) + 1, sizeof(*loan->parts),
			       GFP_KERNEL);
	if (!loan->parts)
		return -ENOMEM;
	for (; loan->bytes < bytes; offset = 0) {
		struct bio_vec *part = &loan->parts[loan->count];

		part->bv_page = alloc_page(GFP_KERNEL | __GFP_ZERO);
		if (!part->bv_page)
			return -ENOMEM;
		part->bv_offset = offset;
		part->bv_len = min(bytes - loan->bytes, PAGE_SIZE - offset);
		loan->bytes += part->bv_len;
		loan->count++;
	}
	return 0;
}

static void take_back(struct loan *loan)
{
	while (loan->count)
		__free_page(loan->parts[--loan->count].bv_page);
	kvfree(loan->parts);
}

/* Between the caller's memory and the lent pages; false where the caller has no such memory. */
static bool copy(const struct loan *loan, char __user *memory, size_t bytes, bool out)
{
	for (unsigned int i = 0; i < loan->count && bytes; i++) {
		struct bio_vec *part = &loan->parts[i];
		char *page = page_address(part->bv_page) + part->bv_offset;
		size_t len = min_t(size_t, bytes, part->bv_len);

		if (out ? assay_read_user(page, memory, len) : assay_write_user(memory, page, len))
			return false;
		memory += len;
		bytes -= len;
	}
	return true;
}

static ssize_t move_at(struct file *file, char __user *memory, size_t bytes, loff_t *pos, bool out)
{
	struct loan loan = { 0 };
	struct iov_iter iter;
	ssize_t done = lend(&loan, (unsigned long)memory, bytes);

	if (!done && out && !copy(&loan, memory, bytes, true))
		done = -EFAULT;
	if (!done) {
		iov_iter_bvec(&iter, out ? ITER_SOURCE : ITER_DEST, loan.parts, loan.count, bytes);
		done = out ? vfs_iter_write(file, &iter, pos, 0) : vfs_iter_read(file, &iter, pos, 0);
		if (!out && done > 0 && !copy(&loan, memory, done, false))
			done = -EFAULT;
	}
	take_back(&loan);
	return done;
}

/* What read, write, pread64 and pwrite64 do otherwise; pos NULL: at the file offset. */
long assay_direct(int number, void *memory, unsigned long bytes, const long *pos, bool out)
{
	struct fd f = fdget_pos(number);
	struct file *file = fd_file(f);
	loff_t at = pos ? *pos : file->f_pos;
	ssize_t done = -EINVAL;

	if (at >= 0 && (ssize_t)bytes >= 0)
		done = move_at(file, (char __user __force *)memory, min(bytes, BYTES_MAX), &at, out);
	if (!pos && done > 0)
		file->f_pos = at;
	fdput_pos(f);
	return done;
}
