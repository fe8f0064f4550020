/* schedule.h -- calls that overlap by a schedule, in a kernel in a process, and what came of it.
 *
 * Two or three processes make their calls; the threads of the kernel together are one more task.
 * One task runs until a point at which the schedule has another one continue, or until it has to
 * wait or is through: then threads continue until they have nothing to do, and then that process,
 * or the one that was stopped last, or the first that can run. Points are before accesses to memory
 * that several tasks use, one of them writing; they are counted from 0 over the whole run. */
#ifndef CHANNEL_SCHEDULE_H
#define CHANNEL_SCHEDULE_H

#include <stdint.h>

enum {
	SCHEDULE_PROCESSES_MAX = 3,
	SCHEDULE_THREADS = SCHEDULE_PROCESSES_MAX, /* the task that the kernel's threads are */
	SCHEDULE_TASKS,
	SCHEDULE_ANY = SCHEDULE_TASKS, /* see `to` */
	SCHEDULE_SWITCHES_MAX = 8,
	SCHEDULE_POINTS_MAX = 1 << 16,
	SCHEDULE_USES_MAX = 1 << 17,
	SCHEDULE_WORDS_MAX = 1 << 18,
};

struct schedule {
	uint32_t first; /* which process begins: 0 the one of the first call, 1 the next one */
	uint32_t count;
	uint32_t at[SCHEDULE_SWITCHES_MAX]; /* points, in order, */
	/* and the task that continues there. From SCHEDULE_ANY on, the number says which of those
	 * that can, at the first point from `at` on at which one can; the board then has both. */
	uint8_t to[SCHEDULE_SWITCHES_MAX];
};

struct schedule_point {
	uint64_t code; /* address in the kernel; 0: a call begins or returns */
	uint8_t task;
	uint8_t others; /* bits of tasks that could have continued instead */
};

/* An access to such memory. */
struct schedule_use {
	uint64_t word;
	uint32_t point; /* the last one before it */
	uint8_t task;
	uint8_t write;
};

enum schedule_learns {
	SCHEDULE_LEARNS_SERIAL = 1, /* the tasks run one behind the other, without points */
	SCHEDULE_LEARNS_STOPPED,    /* tasks are stopped at what is known by then */
};

/* Shared with the kernel (struct assay_overlap of kernel/driver/overlap.h). */
struct schedule_board {
	struct schedule schedule;
	/* Threads can be continued at any point, what time brings about is due for them at the
	 * start, and one of them carries out requests to the disk. */
	uint8_t background;
	uint8_t learns;    /* what memory is used is learned (enum schedule_learns) */
	uint8_t overflows; /* there was no room for all points, uses or words */
	uint32_t points, uses, made;
	uint32_t uses_before[SCHEDULE_SWITCHES_MAX]; /* each switch that was made */
	uint64_t hash;                               /* of all points: the same run has the same */
	uint32_t words;
	struct schedule_point point[SCHEDULE_POINTS_MAX];
	struct schedule_use use[SCHEDULE_USES_MAX];
	/* A table of the words that are used, and how: 1 read, 2 written by the first; 4, 8 by the
	 * second, and so on. */
	uint64_t word[SCHEDULE_WORDS_MAX];
	uint8_t word_use[SCHEDULE_WORDS_MAX];
};

#endif
