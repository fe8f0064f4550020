/* read_memo.h -- results that are known from what was read.
 *
 * Recovery is deterministic: of two disks that are equal in every sector that the recovery of the
 * first has read, the second gives the same result. Sets of sectors that were read repeat, so there
 * are few of them, and a disk is compared with all at the cost of its differences from the image.
 */
#ifndef CRASH_READ_MEMO_H
#define CRASH_READ_MEMO_H

#include "base/map.h"
#include "storage/page_disk.h"

enum { READ_SETS_MAX = 64 };

struct read_page {
	uint64_t page;
	uint8_t sectors;  /* a bit for each of 512 bytes */
	struct hash base; /* of these sectors, in the image */
};

struct read_set {
	struct hash name; /* of the sectors, not of their content */
	struct read_page *pages;
	size_t count;
	struct hash base; /* sum over all */
};

struct read_memo {
	struct read_set sets[READ_SETS_MAX];
	size_t count, next; /* the next one to be replaced */
	struct hash_map results;
};

void read_memo_free(struct read_memo *m);
/* What was put for a disk that is the same in the sectors that were read; 0: none is known. */
uint64_t read_memo_get(const struct read_memo *m, const struct page_store *s,
		       const struct page_disk *d);
/* sectors: a bit for each sector of the disk, the lowest of a byte first. Value: not 0. */
void read_memo_put(struct read_memo *m, const struct page_store *s, const struct page_disk *d,
		   const unsigned char *sectors, size_t bytes, uint64_t value);

#endif
