/* control.h -- what a session and the process of a checker share: whose turn it is, how a run
 * ended, and which pages of the disk it wrote to.
 *
 * Behind the structure, in the same memory, lie a byte for each page of the disk that is not 0
 * where the page was written to, the numbers of these pages in the order of their first writes, and
 * the pages as they were before. */
#ifndef CHECKER_PRELOAD_CONTROL_H
#define CHECKER_PRELOAD_CONTROL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The descriptors that a checker starts with, besides the usual three. */
enum { CONTROL_DISK_FD = 3, CONTROL_FD = 4, CONTROL_PRELOAD_FD = 5, CONTROL_FDS };

#define CONTROL_DISK_PATH "/proc/self/fd/3"
#define CONTROL_PRELOAD_PATH "/proc/self/fd/5"
#define CONTROL_ENVIRONMENT "ASSAY_CHECKER_CONTROL" /* set where there is one */

enum {
	CONTROL_PAGE = 4096,
	CONTROL_HEADER = 4096,      /* bytes that the structure may take */
	CONTROL_PROCESSES_MAX = 64, /* that a run may start */
};

enum control_turn {
	CONTROL_STARTING, /* the program has not opened the disk yet */
	CONTROL_READY,    /* it has stopped there, and serves runs */
	CONTROL_RUN,      /* the session wants one */
	CONTROL_DONE,     /* it has ended */
	CONTROL_END,      /* the session wants no more */
	CONTROL_GONE,     /* the program itself has ended, and can serve none */
};

struct control {
	/* For the program, set before it starts. */
	uint64_t capacity; /* most that the disk can grow to, whole pages */
	int64_t now;       /* seconds since 1970 */
	uint32_t cpu_seconds_max;
	bool serves;     /* stops at its first open of the disk */
	int32_t program; /* its process; one that it starts, and that opens the disk, is only a part
			  */

	_Atomic uint32_t turn; /* enum control_turn; a futex */
	uint64_t disk_size;    /* both ways */

	bool busy;        /* the copy is at work; otherwise its end is not that of a run */
	uint64_t rewound; /* runs whose copy lived on */

	/* Of the last run. */
	int32_t status; /* of wait4() */
	int32_t caught; /* a signal by which it failed, and which it caught; 0: none */
	uint64_t cpu_us;
	uint64_t max_rss_kb;
	bool left_processes; /* that still run */
	int32_t failure;     /* of ours, before the program started: errno */
	_Atomic uint32_t processes;
	_Atomic uint32_t lock; /* of what follows, and of writes to the disk */
	uint64_t writes;       /* calls that write to the disk */
	uint64_t pages_written;
	bool unseen; /* the program may have written past us; all pages count as written */
};

static inline uint64_t control_pages(const struct control *c)
{
	return c->capacity / CONTROL_PAGE;
}

static inline uint64_t control_round_up(uint64_t size)
{
	return (size + CONTROL_PAGE - 1) / CONTROL_PAGE * CONTROL_PAGE;
}

static inline uint8_t *control_written(const struct control *c)
{
	return (uint8_t *)c + CONTROL_HEADER;
}

static inline uint32_t *control_list(const struct control *c)
{
	return (uint32_t *)(control_written(c) + control_round_up(control_pages(c)));
}

static inline uint8_t *control_before(const struct control *c, uint64_t page)
{
	return (uint8_t *)control_list(c) + control_round_up(control_pages(c) * sizeof(uint32_t)) +
	       page * CONTROL_PAGE;
}

static inline uint64_t control_bytes(uint64_t capacity)
{
	uint64_t pages = capacity / CONTROL_PAGE;

	return CONTROL_HEADER + control_round_up(pages) +
	       control_round_up(pages * sizeof(uint32_t)) + capacity;
}

#endif
