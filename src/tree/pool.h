/* pool.h -- memory for the many small objects of trees.
 *
 * Free lists by size, one set for each thread, without a header: half the time of malloc(), and
 * it is a third of what a new state costs. Freed memory stays for reuse by that thread, and for
 * nothing else: right for a search, which ends, and wrong for a daemon with threads, which asks for
 * malloc() and free() instead. Built for sanitizers it is these, too, so that they see every
 * mistake. */
#ifndef TREE_POOL_H
#define TREE_POOL_H

#include <stddef.h>

void *pool_alloc(size_t size);             /* aligned to 8 bytes, not cleared */
void pool_free(void *memory, size_t size); /* the size it was allocated with */
/* The same contents, up to the smaller size, in memory of another size. */
void *pool_resize(void *memory, size_t old_size, size_t size);

/* From now on, and before the first object: every object by malloc() and free(), and counted. */
void pool_plain(void);
size_t pool_bytes(void);       /* of the objects there are */
size_t pool_bytes_given(void); /* of all that were freed */

#endif
