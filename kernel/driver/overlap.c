// SPDX-License-Identifier: GPL-2.0
/*
 * overlap.c -- decides at every point which of several overlapping calls continues.
 *
 * One task is chosen; the scheduler asks for it (kernel/sched/fair.c). It is preempted, not put to
 * sleep, so that its state and its RCU sections stay valid, at the points that the schedule names.
 * Threads of the kernel are one more task, whichever of them runs. If a process blocks, they run until
 * they rest; then that process continues if it can, or the one that was stopped last, or the first one.
 * None of that is a switch of the schedule. Threads also run until they rest when the calls have
 * returned. If no task can run, the idle task lets virtual time pass until the watch over calls says
 * that they never end.
 *
 * Points are before accesses to words that several tasks use, one of them writing. What is accessed
 * where a task cannot be preempted is behind the last point before that section, and has a point
 * behind it. Which words these are is learned from runs of one task behind the other, and from a few
 * in which one was stopped: what it has not finished, others may meet in no other run.
 */
#include <linux/bitops.h>
#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/string.h>

#include "assay.h"
#include "overlap.h"

/* Accesses, whether in conflict or not, after which calls will never end. */
enum { LIVELOCK = 8 << 20 };

/* Points in a row after which a task spins: it waits for another one that was stopped, and would
 * let it continue (cond_resched) if that were up to the kernel. */
enum { SPINS = 4096 };

/* Times in a row that the scheduler finds threads at work after which they spin: they yield to a
 * process that was stopped (JFS waits so for a commit to be ready). */
enum { YIELDS = 1024 };

/* Data is looked at in parts of this size. */
enum { PART_BYTES = 512 };

int assay_overlap_on;

static struct {
	struct assay_overlap *board;
	struct task_struct *process[ASSAY_OVERLAP_PROCESSES];
	struct task_struct *thread; /* of the kernel, that ran last; it may have ended */
	bool active[ASSAY_OVERLAP_PROCESSES];
	/* Since its last point, a task has used such words; it did so where it cannot be preempted. */
	bool used[ASSAY_OVERLAP_TASKS], touched[ASSAY_OVERLAP_TASKS];
	/* The one that continues; the process that waited before threads did, and the one that was
	 * stopped by the schedule. */
	int chosen, waits, stopped;
	unsigned int next; /* switch */
	unsigned int in_a_row; /* points of the present task */
	int last;              /* whose point the last one was */
	unsigned int yields;   /* times in a row that threads were asked for */
	unsigned long accesses;
	unsigned long returned[ASSAY_OVERLAP_PROCESSES]; /* words that stand for returns of a process */
} now;

void assay_overlap_switch(void);
struct task_struct *assay_overlap_choice(void);
bool assay_overlap_moves(const struct task_struct *task);
struct task_struct *assay_overlap_thread(const struct task_struct *rather);

/* A thread of the kernel that does the work of others. Those that only end grace periods and serve
 * interrupts run where no other task can. */
bool notrace assay_overlap_moves(const struct task_struct *task)
{
	return task->flags & PF_KTHREAD && strncmp(task->comm, "rcu", 3) &&
	       strncmp(task->comm, "ksoftirqd", 9);
}

static notrace struct task_struct *who_runs(int i)
{
	struct task_struct *task;

	if (i == ASSAY_OVERLAP_THREADS)
		return assay_overlap_thread(now.thread);
	task = now.active[i] ? now.process[i] : NULL;
	return task && task->on_rq && !task->se.sched_delayed ? task : NULL;
}

/* A process that can run while threads spin; -1: none. */
static notrace int who_is_spun_for(void)
{
	const int order[] = { now.stopped, now.waits, 0, 1, 2 };

	for (int i = 0; i < ARRAY_SIZE(order); i++)
		if (order[i] != ASSAY_OVERLAP_THREADS && who_runs(order[i]))
			return order[i];
	return -1;
}

/* Asked by the scheduler, which holds its lock. */
struct task_struct *assay_overlap_choice(void)
{
	const int order[] = { ASSAY_OVERLAP_THREADS, now.waits, now.stopped, 0, 1, 2 };
	struct task_struct *task;

	now.yields = now.chosen == ASSAY_OVERLAP_THREADS ? now.yields + 1 : 0;
	if (now.yields > YIELDS && who_is_spun_for() >= 0) {
		now.chosen = who_is_spun_for();
		now.yields = 0;
	}
	task = who_runs(now.chosen);
	if (!task && now.chosen != ASSAY_OVERLAP_THREADS)
		now.waits = now.chosen;
	for (int i = 0; i < ARRAY_SIZE(order) && !task; i++) {
		task = who_runs(order[i]);
		if (task)
			now.chosen = order[i];
	}
	if (task && now.chosen == ASSAY_OVERLAP_THREADS)
		now.thread = task;
	return task;
}

bool assay_overlap_has_disk(void)
{
	return assay_overlap_on && now.board->background;
}

bool assay_overlap_rests(void)
{
	return !assay_overlap_thread(NULL);
}

static __always_inline int which(void)
{
	if (!in_task())
		return -1;
	for (int i = 0; i < ASSAY_OVERLAP_PROCESSES; i++)
		if (current == now.process[i])
			return now.active[i] ? i : -1;
	return current == now.thread && now.board->background ? ASSAY_OVERLAP_THREADS : -1;
}

static unsigned long mix(unsigned long hash, unsigned long x)
{
	hash = (hash ^ x) * 0x9e3779b97f4a7c15UL;
	return hash ^ hash >> 29;
}

static notrace unsigned int others_of(int me)
{
	unsigned int others = 0;

	for (int i = 0; i < ASSAY_OVERLAP_PROCESSES; i++)
		if (i != me && who_runs(i))
			others |= 1U << i;
	if (now.board->background && me != ASSAY_OVERLAP_THREADS && who_runs(ASSAY_OVERLAP_THREADS))
		others |= 1U << ASSAY_OVERLAP_THREADS;
	return others;
}

/* Whether the schedule has another task continue here. It may leave open which one: then at the first
 * point from that one on at which another can, and the board says where that was and who. */
static notrace bool is_switch(struct assay_overlap *b, unsigned int n, unsigned int others)
{
	unsigned int skipped;

	if (now.next == b->switches || !others)
		return false;
	if (b->to[now.next] < ASSAY_OVERLAP_ANY)
		return b->at[now.next] == n && others >> b->to[now.next] & 1;
	if (n < b->at[now.next])
		return false;
	skipped = (b->to[now.next] - ASSAY_OVERLAP_ANY) % hweight32(others);
	while (skipped--)
		others &= others - 1;
	b->at[now.next] = n;
	b->to[now.next] = __builtin_ctz(others);
	return true;
}

static noinline notrace void make_point(int me, unsigned long code)
{
	struct assay_overlap *b = now.board;
	unsigned int others, n = b->points;

	now.used[me] = now.touched[me] = false;
	if (b->learns == ASSAY_OVERLAP_LEARNS_SERIAL)
		return;
	if (n == ASSAY_OVERLAP_POINTS) {
		b->overflows = 1;
		return;
	}
	others = others_of(me);
	b->point[n] = (struct assay_point){ code, me, others };
	b->hash = mix(b->hash, (code * ASSAY_OVERLAP_TASKS + me) << ASSAY_OVERLAP_TASKS | others);
	b->points++;
	now.in_a_row = now.last == me ? now.in_a_row + 1 : 0;
	now.last = me;
	if (now.in_a_row == SPINS && others) {
		now.chosen = __builtin_ctz(others);
		now.in_a_row = 0;
		assay_overlap_switch();
		return;
	}
	if (!is_switch(b, n, others))
		return;
	now.stopped = now.waits = me;
	now.chosen = b->to[now.next];
	b->uses_before[now.next++] = b->uses;
	b->made++;
	assay_overlap_switch();
}

static notrace unsigned long slot_of(const struct assay_overlap *b, unsigned long word)
{
	unsigned long i = (word * 0x9e3779b97f4a7c15UL) >> 46;

	while (b->word[i] && b->word[i] != word)
		i = (i + 1) % ASSAY_OVERLAP_WORDS;
	return i;
}

static notrace void learn(struct assay_overlap *b, unsigned long word, int me, int write)
{
	unsigned long i = slot_of(b, word);

	if (!b->word[i]) {
		if (b->words == ASSAY_OVERLAP_WORDS / 2) {
			b->overflows = 1;
			return;
		}
		b->word[i] = word;
		b->words++;
	}
	b->word_use[i] |= (write ? 2 : 1) << me * 2;
}

static notrace bool in_conflict(const struct assay_overlap *b, unsigned long word, int me, int write)
{
	unsigned char others = b->word_use[slot_of(b, word)] & ~(3 << me * 2);

	return write ? others : others & 0xaa;
}

static noinline notrace void livelock(void)
{
	assay_overlap_on = 0;
	pr_err("overlapping calls did not end in %d accesses to memory: livelock\n", LIVELOCK);
	assay_host_exit(ASSAY_EXIT_DEADLOCK);
}

/* Whoever uses these bytes is stopped before the first of them, if at all: `stopped` says that it
 * had its point. Returns whether there is no need of another one. */
static notrace bool use_word(int me, unsigned long word, int write, unsigned long code, bool stopped)
{
	struct assay_overlap *b = now.board;

	if (word - (unsigned long)task_stack_page(current) < THREAD_SIZE)
		return stopped;
	if (++now.accesses > LIVELOCK)
		livelock();
	if (b->learns)
		learn(b, word, me, write);
	if (b->learns == ASSAY_OVERLAP_LEARNS_SERIAL || !in_conflict(b, word, me, write))
		return stopped;
	if (!preemptible())
		now.touched[me] = true;
	else if (!stopped)
		make_point(me, code);
	now.used[me] = true;
	if (b->uses == ASSAY_OVERLAP_ACCESSES || !b->points)
		b->overflows |= b->points != 0;
	else
		b->use[b->uses++] = (struct assay_use){ word, b->points - 1, me, write };
	return true;
}

/* Words of 8 bytes. */
static notrace bool use_words(int me, const volatile void *at, unsigned long size, int write,
			      unsigned long code, bool stopped)
{
	unsigned long word = (unsigned long)at & ~7UL;

	for (; word < (unsigned long)at + size; word += 8)
		stopped = use_word(me, word, write, code, stopped);
	return stopped;
}

/* Parts of data, which differ from other words. */
static notrace bool use_parts(int me, const void *at, unsigned long size, int write,
			      unsigned long code, bool stopped)
{
	unsigned long part = (unsigned long)at & ~(PART_BYTES - 1UL);

	for (; part < (unsigned long)at + size; part += PART_BYTES)
		stopped = use_word(me, part | 1, write, code, stopped);
	return stopped;
}

/* Memory that is set, copied or compared at once: it may be data, or not. */
static notrace bool use_memory(int me, const void *at, unsigned long size, int write,
			       unsigned long code, bool stopped)
{
	if (size <= PAGE_SIZE)
		stopped = use_words(me, at, size, write, code, stopped);
	return use_parts(me, at, size, write, code, stopped);
}

/* What was used before and what is used in the section can be distinguished. */
void notrace assay_overlap_enter(void)
{
	int me = which();

	if (me >= 0 && now.used[me] && preemptible())
		make_point(me, (unsigned long)__builtin_return_address(0));
}

void notrace assay_overlap_leave(void)
{
	int me = which();

	if (me >= 0 && now.touched[me] && preemptible())
		make_point(me, (unsigned long)__builtin_return_address(0));
}

void notrace assay_overlap_access(const volatile void *at, unsigned long size, int write)
{
	int me = which();

	if (me >= 0)
		use_words(me, at, size, write, (unsigned long)__builtin_return_address(0), false);
}

/* Data of files, of which there is more than of anything else. */
void notrace assay_overlap_data(const void *at, unsigned long size, bool write)
{
	int me = unlikely(assay_overlap_on) ? which() : -1;

	if (me >= 0)
		use_parts(me, at, size, write, (unsigned long)__builtin_return_address(0), false);
}

/* ---- what is called instead of functions whose work the compiler does not report ---- */

void *assay_overlap_memcpy(void *to, const void *from, size_t size);
void *notrace assay_overlap_memcpy(void *to, const void *from, size_t size)
{
	int me = unlikely(assay_overlap_on) ? which() : -1;
	unsigned long code = (unsigned long)__builtin_return_address(0);

	if (me >= 0)
		use_memory(me, to, size, 1, code, use_memory(me, from, size, 0, code, false));
	return memcpy(to, from, size);
}

void *assay_overlap_memmove(void *to, const void *from, size_t size);
void *notrace assay_overlap_memmove(void *to, const void *from, size_t size)
{
	int me = unlikely(assay_overlap_on) ? which() : -1;
	unsigned long code = (unsigned long)__builtin_return_address(0);

	if (me >= 0)
		use_memory(me, to, size, 1, code, use_memory(me, from, size, 0, code, false));
	return memmove(to, from, size);
}

void *assay_overlap_memset(void *at, int byte, size_t size);
void *notrace assay_overlap_memset(void *at, int byte, size_t size)
{
	int me = unlikely(assay_overlap_on) ? which() : -1;

	if (me >= 0)
		use_memory(me, at, size, 1, (unsigned long)__builtin_return_address(0), false);
	return memset(at, byte, size);
}

int assay_overlap_memcmp(const void *a, const void *b, size_t size);
int notrace assay_overlap_memcmp(const void *a, const void *b, size_t size)
{
	int me = unlikely(assay_overlap_on) ? which() : -1;
	unsigned long code = (unsigned long)__builtin_return_address(0);

	if (me >= 0)
		use_memory(me, b, size, 0, code, use_memory(me, a, size, 0, code, false));
	return memcmp(a, b, size);
}

/* ---- what the compiler puts before every access (-fsanitize=thread) ---- */

#define CALLBACK(name, writes) \
	void name(void *at); \
	void notrace name(void *at) \
	{ \
		int me = unlikely(assay_overlap_on) ? which() : -1; \
\
		if (me >= 0) \
			use_word(me, (unsigned long)at & ~7UL, writes, \
				 (unsigned long)__builtin_return_address(0), false); \
	}
#define CALLBACKS(size) \
	CALLBACK(__tsan_read##size, 0) \
	CALLBACK(__tsan_write##size, 1) \
	CALLBACK(__tsan_unaligned_read##size, 0) \
	CALLBACK(__tsan_unaligned_write##size, 1) \
	CALLBACK(__tsan_volatile_read##size, 0) \
	CALLBACK(__tsan_volatile_write##size, 1) \
	CALLBACK(__tsan_unaligned_volatile_read##size, 0) \
	CALLBACK(__tsan_unaligned_volatile_write##size, 1)

CALLBACKS(1)
CALLBACKS(2)
CALLBACKS(4)
CALLBACKS(8)
CALLBACKS(16)

#define CALLBACK_RANGE(name, writes) \
	void name(void *at, unsigned long size); \
	void notrace name(void *at, unsigned long size) \
	{ \
		int me = unlikely(assay_overlap_on) ? which() : -1; \
\
		if (me >= 0) \
			use_words(me, at, size, writes, \
				  (unsigned long)__builtin_return_address(0), false); \
	}

CALLBACK_RANGE(__tsan_read_range, 0)
CALLBACK_RANGE(__tsan_write_range, 1)

void __tsan_init(void);
void __tsan_init(void)
{
}

void __tsan_func_entry(void *at);
void __tsan_func_entry(void *at)
{
}

void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}

/* ---- the tasks ---- */

void assay_overlap_begin(struct assay_overlap *board, struct task_struct **processes,
			 unsigned int count)
{
	memset(&now, 0, sizeof(now));
	now.board = board;
	for (unsigned int i = 0; i < count; i++) {
		now.process[i] = processes[i];
		now.active[i] = true;
	}
	now.chosen = board->first;
	board->points = board->uses = board->made = 0;
	board->overflows = 0;
	board->hash = 0;
	assay_overlap_on = 1;
}

/* Of a process that has made its calls. */
void assay_overlap_ends(void)
{
	int me = which();

	if (me >= 0)
		now.active[me] = false;
}

void assay_overlap_end(void)
{
	assay_overlap_on = 0;
}

/* Whether one has returned before the other one calls matters; the order of calls, and that of
 * returns, does not. */
void assay_overlap_call(_Bool returns)
{
	int me = assay_overlap_on ? which() : -1;
	bool stopped = false;

	if (me < 0)
		return;
	for (int i = 0; i < ASSAY_OVERLAP_PROCESSES; i++)
		if (now.process[i] && (i == me) == returns)
			stopped = use_word(me, (unsigned long)&now.returned[i], returns, 0, stopped);
}
