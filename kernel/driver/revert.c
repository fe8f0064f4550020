// SPDX-License-Identifier: GPL-2.0
/*
 * revert.c -- makes a copy of a parked kernel what that kernel is, again: cheaper than another copy,
 * since no page has to be allocated, mapped and freed.
 *
 * The first time that a copy writes to a page, the host gives it one that no other process has, and
 * /proc/self/pagemap says so. What was there before is read from the origin, which stays parked, and
 * kept. Such pages are put back each time, whether they were written to again or not. As long as the
 * host counts no page fault, there are no others. What was mapped or unmapped since is undone, too.
 *
 * All of this is the host's. It has its own memory, which is not put back, where nothing else lies.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "assay.h"

#define REVERT_AT 0x7000000000UL
#define PAGE 4096UL

enum {
	REGIONS_MAX = 1024,
	MOVED_MAX = 8192,
	PAGES_MAX = 1 << 18, /* of all regions: 1 GiB. Debug kernels have more, and are copied. */
	KEPT_MAX = 1 << 14,
	BATCH = 512,
	MAPS_MAX = 256 << 10,
	STACK_BYTES = 64 << 10,
};

/* What the host says of a page. */
#define PAGEMAP_PRESENT (1UL << 63)
#define PAGEMAP_SWAPPED (1UL << 62)
#define PAGEMAP_FILE (1UL << 61)
#define PAGEMAP_EXCLUSIVE (1UL << 56)

struct range {
	unsigned long start, end;
};

/* Private memory that can be written to. */
struct region {
	struct range range;
	unsigned long first; /* the number of its first page, among those of all regions */
};

struct reverting {
	char bytes[KEPT_MAX][PAGE]; /* pages as they are in the origin, */
	unsigned long at[KEPT_MAX]; /* and where they lie */
	unsigned long kept;
	unsigned char is_kept[PAGES_MAX / 8];
	struct region regions[REGIONS_MAX]; /* as they were when this copy was made, in order */
	unsigned long region_count, page_count;
	struct range moved[MOVED_MAX]; /* mapped or unmapped since */
	unsigned long moved_count;
	_Bool usable;
	long faults; /* counted when this copy was last put back */
	int origin, pagemap_fd;
	unsigned long entries[BATCH];
	struct iovec here[BATCH], there[BATCH];
	char maps[MAPS_MAX];
	char stack[STACK_BYTES] __attribute__((aligned(16)));
};

static struct reverting *const reverting = (struct reverting *)REVERT_AT;
static struct range scratch;
static _Bool begun;

void assay_revert_skip(const void *memory, unsigned long size)
{
	scratch = (struct range){ (unsigned long)memory, (unsigned long)memory + size };
}

void assay_revert_allow(void)
{
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
}

/* ---- where its memory is ---- */

static struct range overlap(const struct range *a, const struct range *b)
{
	return (struct range){ a->start > b->start ? a->start : b->start,
			       a->end < b->end ? a->end : b->end };
}

static unsigned long read_hex(const char **text)
{
	unsigned long value = 0;

	for (;; ++*text) {
		char c = **text;

		if (c >= '0' && c <= '9')
			value = value * 16 + c - '0';
		else if (c >= 'a' && c <= 'f')
			value = value * 16 + c - 'a' + 10;
		else
			return value;
	}
}

static _Bool add_region(struct range range)
{
	unsigned long pages = (range.end - range.start) / PAGE;

	if (range.start >= range.end || range.start == REVERT_AT)
		return 1;
	if (reverting->region_count == REGIONS_MAX || pages > PAGES_MAX - reverting->page_count)
		return 0;
	reverting->regions[reverting->region_count++] =
		(struct region){ range, reverting->page_count };
	reverting->page_count += pages;
	return 1;
}

/* A line: "60000000-60013000 rw-p ...". The host merges mappings. */
static _Bool add_line(const char *line)
{
	struct range range, skipped;

	range.start = read_hex(&line);
	line++;
	range.end = read_hex(&line);
	if (line[2] != 'w' || line[4] != 'p')
		return 1;
	skipped = overlap(&range, &scratch);
	if (skipped.start >= skipped.end)
		return add_region(range);
	return add_region((struct range){ range.start, skipped.start }) &&
	       add_region((struct range){ skipped.end, range.end });
}

static _Bool find_regions(void)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	unsigned long len = 0;
	const char *line = reverting->maps;
	long n = 0;

	if (fd < 0)
		return 0;
	while (len < MAPS_MAX - 1 &&
	       (n = syscall(SYS_read, fd, reverting->maps + len, MAPS_MAX - 1 - len)) > 0)
		len += n;
	syscall(SYS_close, fd);
	if (n)
		return 0;
	for (; *line; line = strchr(line, '\n') + 1)
		if (!add_line(line))
			return 0;
	return 1;
}

static long count_faults(void)
{
	struct rusage usage;

	syscall(SYS_getrusage, RUSAGE_SELF, &usage);
	return usage.ru_minflt + usage.ru_majflt;
}

/* Huge pages would be written to without a fault where they have come later. */
void assay_revert_begin(int origin)
{
	if (mmap(reverting, sizeof(*reverting), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1,
		 0) != reverting)
		return;
	reverting->origin = origin;
	reverting->pagemap_fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	reverting->usable = reverting->pagemap_fd >= 0 && find_regions() &&
			    !prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	begun = 1;
}

/* ---- what has changed ---- */

void assay_revert_moved(const void *memory, unsigned long size)
{
	struct range range = { (unsigned long)memory, (unsigned long)memory + size };

	if (!begun || !reverting->usable)
		return;
	if (reverting->moved_count == MOVED_MAX)
		reverting->usable = 0;
	else
		reverting->moved[reverting->moved_count++] = range;
}

/* These pages of the origin, behind those that are kept. */
static _Bool keep(unsigned long count)
{
	unsigned long i;

	for (i = 0; i < count; i++) {
		reverting->here[i] = (struct iovec){ reverting->bytes[reverting->kept + i], PAGE };
		reverting->there[i] =
			(struct iovec){ (void *)reverting->at[reverting->kept + i], PAGE };
	}
	if (count && syscall(SYS_process_vm_readv, reverting->origin, reverting->here, count,
			     reverting->there, count, 0UL) != (long)(count * PAGE))
		return 0;
	reverting->kept += count;
	return 1;
}

/* Of some pages of a region those that are wanted. */
static _Bool keep_pages(const struct region *r, unsigned long start, unsigned long pages,
			_Bool (*is_wanted)(unsigned long entry))
{
	unsigned long i, number = r->first + (start - r->range.start) / PAGE, count = 0;

	for (i = 0; i < pages; i++, number++) {
		unsigned char bit = 1 << number % 8;

		if (reverting->is_kept[number / 8] & bit || !is_wanted(reverting->entries[i]))
			continue;
		if (reverting->kept + count == KEPT_MAX)
			return 0;
		reverting->is_kept[number / 8] |= bit;
		reverting->at[reverting->kept + count++] = start + i * PAGE;
	}
	return keep(count);
}

static _Bool is_own(unsigned long entry)
{
	return (entry & PAGEMAP_PRESENT && entry & PAGEMAP_EXCLUSIVE && !(entry & PAGEMAP_FILE)) ||
	       entry & PAGEMAP_SWAPPED;
}

static _Bool is_any(unsigned long entry)
{
	return 1;
}

static _Bool keep_written(const struct region *r)
{
	unsigned long at, pages;

	for (at = r->range.start; at < r->range.end; at += pages * PAGE) {
		pages = (r->range.end - at) / PAGE < BATCH ? (r->range.end - at) / PAGE : BATCH;
		if (syscall(SYS_pread64, reverting->pagemap_fd, reverting->entries, pages * 8,
			    at / PAGE * 8) != (long)(pages * 8) ||
		    !keep_pages(r, at, pages, is_own))
			return 0;
	}
	return 1;
}

static _Bool keep_moved(const struct region *r, const struct range *moved)
{
	struct range common = overlap(&r->range, moved);
	unsigned long at, pages;

	for (at = common.start; at < common.end; at += pages * PAGE) {
		pages = (common.end - at) / PAGE < BATCH ? (common.end - at) / PAGE : BATCH;
		if (!keep_pages(r, at, pages, is_any))
			return 0;
	}
	return 1;
}

static _Bool keep_changes(void)
{
	_Bool faults = count_faults() != reverting->faults;
	unsigned long i, k;

	for (i = 0; i < reverting->region_count; i++) {
		if (faults && !keep_written(&reverting->regions[i]))
			return 0;
		for (k = 0; k < reverting->moved_count; k++)
			if (!keep_moved(&reverting->regions[i], &reverting->moved[k]))
				return 0;
	}
	return 1;
}

/* ---- putting it back ---- */

static void undo_move(const struct range *moved)
{
	unsigned long i;

	munmap((void *)moved->start, moved->end - moved->start);
	for (i = 0; i < reverting->region_count; i++) {
		struct range common = overlap(&reverting->regions[i].range, moved);

		if (common.start < common.end &&
		    mmap((void *)common.start, common.end - common.start,
			 PROT_READ | PROT_WRITE | PROT_EXEC,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
			assay_host_exit(ASSAY_EXIT_BROKEN);
	}
}

/* The kernel's memcpy() is that of the oldest processors. */
static void copy_page(void *to, const void *from)
{
	unsigned long n = PAGE;

	asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

/* On the stack that is not put back. */
static void __attribute__((noreturn)) put_back(void **parked)
{
	unsigned long i;

	for (i = 0; i < reverting->moved_count; i++)
		undo_move(&reverting->moved[i]);
	reverting->moved_count = 0;
	for (i = 0; i < reverting->kept; i++)
		copy_page((void *)reverting->at[i], reverting->bytes[i]);
	begun = 1;
	reverting->faults = count_faults();
	__builtin_longjmp(parked, 1);
}

void assay_revert(void **parked)
{
	if (!begun || !reverting->usable || !keep_changes())
		return;
	asm volatile("mov %0, %%rsp\n\txor %%ebp, %%ebp\n\tcall *%1"
		     :
		     : "r"(reverting->stack + STACK_BYTES), "r"(put_back), "D"(parked)
		     : "memory");
	__builtin_unreachable();
}
