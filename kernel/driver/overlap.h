/* SPDX-License-Identifier: GPL-2.0 */
/*
 * overlap.h -- what the driver and the checker share about overlapping calls: the schedule that is
 * asked for, and what came of it. Both sides have it in memory as it is here.
 */
#ifndef ASSAY_OVERLAP_H
#define ASSAY_OVERLAP_H

enum {
	ASSAY_OVERLAP_PROCESSES = 3,
	ASSAY_OVERLAP_THREADS = ASSAY_OVERLAP_PROCESSES, /* all threads of the kernel, as one task */
	ASSAY_OVERLAP_TASKS,
	/* From this on: one of those that can continue, by the rest of the number. */
	ASSAY_OVERLAP_ANY = ASSAY_OVERLAP_TASKS,
	ASSAY_OVERLAP_SWITCHES = 8,
	ASSAY_OVERLAP_POINTS = 1 << 16,
	ASSAY_OVERLAP_ACCESSES = 1 << 17,
	ASSAY_OVERLAP_WORDS = 1 << 18, /* a power of two; at most half of them are used */
};

/* A place at which a task may be made to wait. */
struct assay_point {
	unsigned long code; /* address */
	unsigned char task;
	unsigned char others; /* bits of tasks that could go on instead */
};

/* An access to a word that several tasks use, one of them writing. */
struct assay_use {
	unsigned long word;
	unsigned int point; /* the last one before it */
	unsigned char task;
	unsigned char write;
};

enum { ASSAY_OVERLAP_LEARNS_SERIAL = 1, ASSAY_OVERLAP_LEARNS_STOPPED };

struct assay_overlap {
	/* The schedule: who begins, and at which points who else continues. */
	unsigned int first, switches, at[ASSAY_OVERLAP_SWITCHES];
	unsigned char to[ASSAY_OVERLAP_SWITCHES];
	/* Threads of the kernel can be continued at any point, what time brings about is due for them when
	 * the calls begin, and one of them carries out requests to the disk. */
	unsigned char background;
	/* Which words are used is learned: from tasks one behind the other, or from some that are
	 * stopped at words which are known by then. */
	unsigned char learns;
	/* There was no room for all of it. */
	unsigned char overflows;
	unsigned int points, uses, made;
	unsigned int uses_before[ASSAY_OVERLAP_SWITCHES]; /* each switch */
	unsigned long hash; /* of all points */
	unsigned int words; /* in the table */
	struct assay_point point[ASSAY_OVERLAP_POINTS];
	struct assay_use use[ASSAY_OVERLAP_ACCESSES];
	/* How words are used: 1 read, 2 written by the first task, 4 and 8 by the second, and so on. */
	unsigned long word[ASSAY_OVERLAP_WORDS];
	unsigned char word_use[ASSAY_OVERLAP_WORDS];
};

#ifdef __KERNEL__
struct task_struct;
void assay_overlap_begin(struct assay_overlap *board, struct task_struct **processes,
			 unsigned int count);
_Bool assay_overlap_has_disk(void); /* a thread carries out requests */
_Bool assay_overlap_rests(void); /* no thread of the kernel has anything to do */
void assay_overlap_call(_Bool returns); /* or begins */
void assay_overlap_ends(void); /* the present task has made its calls */
void assay_overlap_end(void);
#ifdef CONFIG_ASSAY_OVERLAP
void assay_overlap_data(const void *at, unsigned long size, _Bool write); /* is copied */
#else
static inline void assay_overlap_data(const void *at, unsigned long size, _Bool write)
{
}
#endif
#endif
#endif
