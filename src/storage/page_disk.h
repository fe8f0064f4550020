/* page_disk.h -- disks that differ in some pages from one image, and share all others.
 *
 * A disk is the list of the pages that differ. Pages are kept once, by content, so that thousands
 * of crash disks of one workload cost what differs between them. The hash of a disk follows from
 * its content alone: two disks with the same hash are the same disk. */
#ifndef STORAGE_PAGE_DISK_H
#define STORAGE_PAGE_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"

enum { PAGE_DISK_PAGE = 4096 };

/* The image, and all pages of disks that are not as there. */
struct page_store {
	const char *image; /* the caller's; it does not change */
	uint64_t size;     /* whole pages */
	struct hash_map pages;
	struct arena arena;
};

struct stored_page {
	struct hash hash;
	char bytes[PAGE_DISK_PAGE];
};

struct disk_difference {
	uint64_t page; /* its number */
	const struct stored_page *content;
};

struct page_disk {
	struct disk_difference *differences; /* by number of the page */
	size_t count, cap;
	struct hash hash; /* {0, 0}: the image */
};

void page_store_init(struct page_store *s, const char *image, uint64_t size);
void page_store_free(struct page_store *s);

/* All zero is the image itself. */
struct page_disk page_disk_copy(const struct page_disk *d);
void page_disk_free(struct page_disk *d);
/* Bytes from `data`. What lies beyond the end is ignored. */
void page_disk_write(struct page_store *s, struct page_disk *d, uint64_t offset, const void *data,
		     uint64_t len);
/* The same with one byte again and again. */
void page_disk_fill(struct page_store *s, struct page_disk *d, uint64_t offset, char byte,
		    uint64_t len);
void page_disk_read(const struct page_store *s, const struct page_disk *d, uint64_t offset,
		    void *to, uint64_t len);
/* The content of a page. */
const char *page_disk_page(const struct page_store *s, const struct page_disk *d, uint64_t page);

#endif
