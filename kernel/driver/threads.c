// SPDX-License-Identifier: GPL-2.0
/*
 * threads.c -- further processes of a script: tasks with their own files, directories and users, and
 * without user memory. One at a time runs; the others wait.
 */
#include <linux/completion.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "assay.h"
#include "overlap.h"

struct assay_thread {
	void (*turn)(void *arg);
	void *arg;
	struct completion called, done;
	bool ends;
	pid_t pid;
	struct task_struct *task;
	int host_pid;
	struct list_head served; /* among those that others' calls are made by */
};

static LIST_HEAD(all_served);

static int live(void *own)
{
	struct assay_thread *t = own;

	t->task = current;
	for (;;) {
		wait_for_completion(&t->called);
		if (t->ends) {
			assay_space_end();
			do_exit(0);
		}
		t->turn(t->arg);
		if (IS_ENABLED(CONFIG_ASSAY_OVERLAP))
			assay_overlap_ends();
		complete(&t->done);
	}
}

struct assay_thread *assay_thread_new(void (*turn)(void *arg), void *arg)
{
	struct assay_thread *t = kzalloc(sizeof(*t), GFP_KERNEL);

	if (!t)
		return NULL;
	t->turn = turn;
	t->arg = arg;
	INIT_LIST_HEAD(&t->served);
	init_completion(&t->called);
	init_completion(&t->done);
	t->pid = user_mode_thread(live, t, SIGCHLD);
	if (t->pid > 0)
		return t;
	kfree(t);
	return NULL;
}

void assay_thread_run(struct assay_thread *t)
{
	complete(&t->called);
	wait_for_completion(&t->done);
}

#ifdef CONFIG_ASSAY_OVERLAP
/* What time brings about in the kernel's threads comes to pass in that many seconds: commits of
 * journals, and writing back what is 30 seconds old. */
enum { DUE_SECONDS = 40 };

void assay_time_jump(unsigned long long ns);

/* None of them runs before all can. */
int assay_threads_overlap(struct assay_thread **threads, unsigned int count,
			  struct assay_overlap *board)
{
	struct task_struct *tasks[ASSAY_OVERLAP_PROCESSES];

	for (unsigned int i = 0; i < count; i++)
		tasks[i] = threads[i]->task;
	preempt_disable();
	if (board->background)
		assay_time_jump(DUE_SECONDS * NSEC_PER_SEC);
	for (unsigned int i = 0; i < count; i++)
		complete(&threads[i]->called);
	/* Not earlier: where one wakes up, the scheduler asks already who is to continue. */
	assay_overlap_begin(board, tasks, count);
	preempt_enable();
	for (unsigned int i = 0; i < count; i++)
		wait_for_completion(&threads[i]->done);
	while (!assay_overlap_rests())
		schedule();
	assay_overlap_end();
	return 0;
}

void assay_thread_calls(_Bool returns)
{
	assay_overlap_call(returns);
}
#else
int assay_threads_overlap(struct assay_thread **threads, unsigned int count,
			  struct assay_overlap *board)
{
	return -ENOSYS;
}

void assay_thread_calls(_Bool returns)
{
}
#endif

_Bool assay_thread_try(struct assay_thread *t)
{
	complete(&t->called);
	return wait_for_completion_timeout(&t->done, ASSAY_DEADLOCK_SECONDS * HZ);
}

void assay_thread_serve(struct assay_thread *t, int host_pid)
{
	t->host_pid = host_pid;
	list_add(&t->served, &all_served);
}

int assay_thread_host_pid(void)
{
	struct assay_thread *t;

	list_for_each_entry(t, &all_served, served)
		if (t->pid == current->pid)
			return t->host_pid;
	return 0;
}

void assay_thread_end(struct assay_thread *t)
{
	list_del(&t->served);
	t->ends = true;
	complete(&t->called);
	kernel_wait(t->pid, NULL);
	kfree(t);
}

/* ---- threads of the kernel's own ---- */

struct writing {
	struct file *file;
	const char *data;
	unsigned long len;
	long result;
	struct completion done;
};

static int write_alone(void *own)
{
	struct writing *w = own;
	loff_t at = 0;

	w->result = w->file->f_op->write(w->file, (const char __user __force *)w->data, w->len, &at);
	complete(&w->done);
	return 0;
}

long assay_write_apart(int fd, const char *data, unsigned long len)
{
	struct writing w = { .file = fget(fd), .data = data, .len = len, .result = -EBADF };
	struct task_struct *task;

	if (!w.file)
		return -EBADF;
	init_completion(&w.done);
	task = kthread_run(write_alone, &w, "assay");
	if (!IS_ERR(task))
		wait_for_completion(&w.done);
	fput(w.file);
	return w.result;
}
