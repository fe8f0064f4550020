/* checker_disk.h -- the disk of a session: in shared memory, restored at the cost of what changed.
 */
#ifndef CHECKER_CHECKER_DISK_H
#define CHECKER_CHECKER_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct control;
struct err;
struct image;

struct checker_pages {
	int fd;
	uint8_t *bytes; /* mapped up to its capacity; readable up to its size */
	uint64_t size, capacity;
	uint8_t *base; /* as it was at the beginning */
	uint64_t base_size;
	uint8_t *touched; /* by page: may differ from the base */
	uint64_t *list;   /* the touched ones */
	size_t count;
	uint64_t *changed; /* those that do differ */
	uint8_t *before;   /* as it was before a run whose writes are not seen */
	uint64_t before_size;
};

int checker_pages_make(struct checker_pages *d, const struct image *base, struct err *err);
void checker_pages_free(struct checker_pages *d); /* also of one that was never made: all zero */

void checker_pages_write(struct checker_pages *d, uint64_t at, const void *bytes, size_t len);
void checker_pages_restore(struct checker_pages *d);
const uint64_t *checker_pages_changed(struct checker_pages *d, size_t *ret_count);

/* Before a run that lists the pages that it writes to. */
void checker_pages_begin(struct checker_pages *d);
/* After a run that has listed the pages it wrote to. Whether the disk is not as before it.
 * ret_unseen: it has also written past the list. */
bool checker_pages_take(struct checker_pages *d, struct control *c, bool *ret_unseen);
/* For one that has not: before and after it. */
void checker_pages_remember(struct checker_pages *d);
bool checker_pages_compare(struct checker_pages *d, struct control *c);
/* Instead: as it was before. */
void checker_pages_put_back(struct checker_pages *d, struct control *c);

#endif
