/* memory.h -- memory of the daemon goes back to the system when files and states go.
 *
 * The allocator keeps what is freed. Nothing else would ever take it back: a daemon lives on. */
#ifndef REFFS_MEMORY_H
#define REFFS_MEMORY_H

/* Before the first thread and the first tree. */
void memory_init(void);
/* Between requests, without the core's lock: gives back, now and then, what has been freed. */
void memory_settle(void);

#endif
