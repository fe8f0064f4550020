// SPDX-License-Identifier: GPL-2.0
/* race.c -- calls that overlap by a schedule. */
#include "race.h"

#include "kernel/driver/assay.h"
#include "kernel/driver/overlap.h"
#include "snapshot/protocol.h"
#include "tasks.h"

/* The board is the same memory for the checker and the driver. */
#define SAME(ours, drivers) \
	_Static_assert(offsetof(struct schedule_board, ours) == \
			       offsetof(struct assay_overlap, drivers), \
		       "the board is one")
SAME(schedule.first, first);
SAME(schedule.count, switches);
SAME(schedule.at, at);
SAME(schedule.to, to);
SAME(background, background);
SAME(learns, learns);
SAME(overflows, overflows);
SAME(points, points);
SAME(uses, uses);
SAME(made, made);
SAME(uses_before, uses_before);
SAME(hash, hash);
SAME(words, words);
SAME(point, point);
SAME(use, use);
SAME(word, word);
SAME(word_use, word_use);
_Static_assert((int)SCHEDULE_PROCESSES_MAX == (int)ASSAY_OVERLAP_PROCESSES &&
		       (int)SCHEDULE_TASKS == (int)ASSAY_OVERLAP_TASKS,
	       "the tasks are the same");
_Static_assert((int)SCHEDULE_LEARNS_STOPPED == (int)ASSAY_OVERLAP_LEARNS_STOPPED,
	       "learning is the same");
_Static_assert(sizeof(struct schedule_board) == sizeof(struct assay_overlap), "the board is one");

/* The data of the channel is for the tree. */
static bool race_keep(void *own, struct outcome *outcome)
{
	struct channel *c = own;

	return channel_copy_outcome(c, &c->text, outcome, outcome);
}

int race_serve(struct tasks *tasks, struct kernel_shm *shm)
{
	struct message *m = &shm->message;
	struct call calls[TARGET_RACE_MAX];
	int failed;

	if (m->step_count > TARGET_RACE_MAX)
		return err_set(&m->channel.err, E2BIG, "the calls of a race are too many");
	for (size_t i = 0; i < m->step_count; i++)
		calls[i] = m->steps[i].call;
	failed = tasks_race(tasks, calls, m->step_count, (struct assay_overlap *)&shm->board,
			    m->races, race_keep, &m->channel, &m->channel.err);
	assay_settle();
	return failed;
}
