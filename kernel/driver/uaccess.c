// SPDX-License-Identifier: GPL-2.0
/*
 * uaccess.c -- the memory of callers, for copy_from_user() and the like.
 *
 * It is plain memory of this process, or that of another process of the host whose calls are made
 * here, or a mapping of a file (space.c). A bad pointer gives EFAULT, as it does everywhere: each access to plain memory is one
 * instruction, and a fault at it ends it there (assay_host_catch).
 */
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "assay.h"
#include "overlap.h"

#define CHUNK_BYTES 256

/* Bytes left: none, unless there was a fault. */
static noinline unsigned long read_plain(void *to, const void *from, unsigned long n)
{
	asm volatile(".globl assay_reads\nassay_reads: rep movsb"
		     : "+D"(to), "+S"(from), "+c"(n) : : "memory");
	return n;
}

static noinline unsigned long write_plain(void *to, const void *from, unsigned long n)
{
	asm volatile(".globl assay_writes\nassay_writes: rep movsb"
		     : "+D"(to), "+S"(from), "+c"(n) : : "memory");
	return n;
}

static noinline unsigned long clear_plain(void *to, unsigned long n)
{
	asm volatile(".globl assay_clears\nassay_clears: rep stosb"
		     : "+D"(to), "+c"(n) : "a"(0) : "memory");
	return n;
}

static noinline unsigned long scan_plain(const char *text, unsigned long n)
{
	asm volatile(".globl assay_scans\nassay_scans: repne scasb"
		     : "+D"(text), "+c"(n) : "a"(0) : "memory", "cc");
	return n;
}

/* Pages of the kernel's own may be mapped when they are first used. */
_Bool assay_maps_late(unsigned long address)
{
	return find_vm_area((void *)address) != NULL;
}

unsigned long assay_read_user(void *to, const void __user *from, unsigned long n)
{
	const void *plain = (const void __force *)from;
	int pid, signal;

	assay_overlap_data(to, n, true);
	if (assay_in_space((unsigned long)from))
		return n - assay_space_move(to, (unsigned long)from, n, false, &signal);
	pid = assay_thread_host_pid();
	return pid ? n - assay_host_read(pid, to, plain, n) : read_plain(to, plain, n);
}

unsigned long assay_write_user(void __user *to, const void *from, unsigned long n)
{
	void *plain = (void __force *)to;
	int pid, signal;

	assay_overlap_data(from, n, false);
	if (assay_in_space((unsigned long)to))
		return n - assay_space_move((void *)from, (unsigned long)to, n, true, &signal);
	pid = assay_thread_host_pid();
	return pid ? n - assay_host_write(pid, plain, from, n) : write_plain(plain, from, n);
}

unsigned long assay_clear_user(void __user *to, unsigned long n)
{
	static const char zeros[CHUNK_BYTES];
	unsigned long part;

	if (!assay_thread_host_pid() && !assay_in_space((unsigned long)to))
		return clear_plain((void __force *)to, n);
	for (; n; n -= part, to += part) {
		part = min_t(unsigned long, n, CHUNK_BYTES);
		if (assay_write_user(to, zeros, part))
			break;
	}
	return n;
}

/* No chunk reaches into the next page: that may not be there. */
static long measure_elsewhere(const char __user *text, long max)
{
	char chunk[CHUNK_BYTES];
	long len = 0, part, found;

	for (; len < max; len += part) {
		part = min_t(long, max - len, CHUNK_BYTES - (unsigned long)(text + len) % CHUNK_BYTES);
		if (assay_read_user(chunk, text + len, part))
			return -EFAULT;
		found = strnlen(chunk, part);
		if (found < part)
			return len + found;
	}
	return max;
}

long assay_measure_user(const char __user *text, long max)
{
	const char *plain = (const char __force *)text;
	unsigned long left, seen;

	if (assay_thread_host_pid())
		return measure_elsewhere(text, max);
	left = scan_plain(plain, max);
	seen = max - left;
	if (seen && !plain[seen - 1])
		return seen - 1;
	return left ? -EFAULT : max;
}
