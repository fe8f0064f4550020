// SPDX-License-Identifier: GPL-2.0
/* program.c -- a program of the host runs on the file systems of the kernel under test.
 *
 * It is an ordinary program in its own process. Each of its processes has a task in this
 * kernel, with its descriptors, directories and users, which makes its calls: with the very
 * arguments, since pointers of that task are those of the process (uaccess.c). A call that can
 * never return is never answered, as everywhere.
 *
 * The command that remounts is run by the host's shell and does nothing: when the shell is about
 * to start, we remount, and write into the command with what status it is to end. */
#include "program.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/must.h"
#include "kernel/driver/assay.h"
#include "op/op.h"
#include "supervise.h"

enum { TASKS_MAX = 16, OUTPUT_MAX = 64 << 10, STANDARD_FDS = 3 };

static const char remount_command[] = "exit 0 # unmounts and mounts again";
enum { STATUS_AT = sizeof("exit ") - 1 };

enum task_job { JOB_BEGIN, JOB_CALL, JOB_FORK };

struct program_task {
	int pid;      /* of the host; 0: none */
	bool outside; /* it executes another program, which is the host's affair */
	bool stuck;   /* in a call that can never return */
	struct assay_thread *thread;
	enum task_job job;
	const struct supervised_call *call;
	long result;
	struct program_task *child;
};

struct program_run {
	struct message *message;
	const struct program_host *host;
	struct supervised process;
	struct program_task tasks[TASKS_MAX]; /* the first is the program's first */
};

/* Only the standard descriptors are open. */
static void open_standard(void)
{
	syscall(SYS_close_range, 0L, (long)~0U, 0L);
	memfd_create("standard", 0);
	for (int fd = 1; fd < STANDARD_FDS; fd++)
		dup(0);
	umask(022);
}

static void task_take_turn(void *own)
{
	struct program_task *task = own;
	const struct supervised_call *c = task->call;

	switch (task->job) {
	case JOB_BEGIN:
		open_standard();
		break;
	case JOB_CALL:
		task->result = assay_call(c->number, c->args[0], c->args[1], c->args[2], c->args[3],
					  c->args[4], c->args[5]);
		break;
	case JOB_FORK: /* a task begins as a copy of the one that makes it */
		task->child->thread = assay_thread_new(task_take_turn, task->child);
		break;
	}
}

static bool task_run(struct program_task *task, enum task_job job)
{
	task->job = job;
	task->stuck = !assay_thread_try(task->thread);
	assay_settle();
	return !task->stuck;
}

static int program_begin(struct program_run *r, struct err *err)
{
	struct program_task *task = &r->tasks[0];

	task->thread = assay_thread_new(task_take_turn, task);
	if (!task->thread)
		return err_set(err, ENOMEM, "cannot make a process in the kernel");
	task_run(task, JOB_BEGIN);
	task->pid = r->process.pid;
	assay_thread_serve(task->thread, task->pid);
	return 0;
}

static struct program_task *program_find_task(struct program_run *r, int pid)
{
	for (size_t i = 0; i < TASKS_MAX; i++)
		if (r->tasks[i].pid == pid)
			return &r->tasks[i];
	return NULL;
}

/* A process that makes its first call was forked by the program's first. NULL: there are too many.
 */
static struct program_task *program_task_of(struct program_run *r, const struct supervised_call *c)
{
	struct program_task *task = program_find_task(r, c->pid), *first = &r->tasks[0];

	if (task)
		return task;
	task = program_find_task(r, 0);
	if (!task)
		return NULL;
	*task = (struct program_task){ .pid = c->pid, .outside = c->number == SYS_execve };
	if (task->outside)
		return task;
	first->child = task;
	if (first->stuck || !task_run(first, JOB_FORK) || !task->thread) {
		task->pid = 0;
		return NULL;
	}
	assay_thread_serve(task->thread, task->pid);
	return task;
}

/* `sh -c COMMAND`: remounts where it is ours. */
static void program_start_command(struct program_run *r, const struct supervised_call *c)
{
	char *argv[3] = { NULL }, command[sizeof(remount_command)];
	char status = '1';

	assay_host_read(c->pid, argv, (void *)c->args[1], sizeof(argv));
	assay_host_read(c->pid, command, argv[2], sizeof(command));
	command[STATUS_AT] = remount_command[STATUS_AT];
	if (memcmp(command, remount_command, sizeof(command)))
		return;
	if (r->host->remount && !r->host->remount(r->host->own))
		status = '0';
	assay_host_write(c->pid, argv[2] + STATUS_AT, &status, 1);
}

/* What it writes to its terminal. */
static long program_take_output(struct channel_area *output, const struct supervised_call *c)
{
	size_t room = OUTPUT_MAX - output->used, count = (size_t)c->args[2];

	output->used += assay_host_read(c->pid, output->at + output->used, (void *)c->args[1],
					count < room ? count : room);
	return c->args[2];
}

static bool is_sleep(long number)
{
	return number == SYS_nanosleep || number == SYS_clock_nanosleep;
}

/* For how long; false: not at all, until a time of the clock, or for longer than a day. A call that
 * takes so long in the kernel would be taken for one that never returns. */
static bool sleeps_for(const struct supervised_call *c, unsigned long *ret_ms)
{
	bool is_plain = c->number == SYS_nanosleep;
	struct timespec time;

	if (!is_sleep(c->number) || (!is_plain && c->args[1]) ||
	    assay_host_read(c->pid, &time, (void *)c->args[is_plain ? 0 : 2], sizeof(time)) !=
		    sizeof(time))
		return false;
	if (time.tv_sec < 0 || time.tv_sec > ADVANCE_MAX_MS / 1000 || time.tv_nsec < 0 ||
	    time.tv_nsec >= 1000000000)
		return false;
	*ret_ms = (unsigned long)(time.tv_sec * 1000 + (time.tv_nsec + 999999) / 1000000);
	return true;
}

static bool program_has_children(const struct program_run *r)
{
	for (size_t i = 1; i < TASKS_MAX; i++)
		if (r->tasks[i].pid && !r->tasks[i].outside)
			return true;
	return false;
}

static bool makes_process(long number)
{
	return number == SYS_clone || number == SYS_clone3 || number == SYS_fork ||
	       number == SYS_vfork;
}

/* Where several processes wait for one another, no time but the host's passes for all of them. */
static bool is_hosts(const struct program_run *r, const struct program_task *task,
		     const struct supervised_call *c)
{
	return task->outside || makes_process(c->number) || c->number == SYS_execve ||
	       (is_sleep(c->number) && program_has_children(r));
}

static void program_serve(struct program_run *r, const struct supervised_call *c)
{
	struct program_task *task = program_task_of(r, c);
	unsigned long ms;

	if (!task) {
		supervised_answer(&r->process, c, -EAGAIN);
		return;
	}
	if (c->number == SYS_execve)
		program_start_command(r, c);
	if (is_hosts(r, task, c)) {
		supervised_allow(&r->process, c);
	} else if (sleeps_for(c, &ms)) {
		assay_sleep_ms(ms);
		supervised_answer(&r->process, c, 0);
	} else if (c->number == SYS_mmap) { /* there are no mappings of files */
		supervised_answer(&r->process, c, -ENODEV);
	} else if (c->number == SYS_write && (c->args[0] == 1 || c->args[0] == 2)) {
		supervised_answer(&r->process, c,
				  program_take_output(&r->message->channel.data, c));
	} else {
		task->call = c;
		if (task_run(task, JOB_CALL))
			supervised_answer(&r->process, c, task->result);
	}
}

static void program_note_end(struct message *m, int status)
{
	m->program_fate = WIFEXITED(status) ? PROGRAM_EXITED : PROGRAM_KILLED;
	m->program_status = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
}

static void program_supervise(struct program_run *r)
{
	int64_t until_ms = supervise_now_ms() + (int64_t)(r->message->program_seconds * 1000);
	struct supervised_call call;
	int status;

	r->message->program_fate = PROGRAM_HUNG;
	while (supervise_now_ms() < until_ms)
		switch (supervised_next(&r->process, &call, &status)) {
		case SUPERVISED_CALLS:
			atomic_fetch_add(&r->message->progress, 1);
			program_serve(r, &call);
			break;
		case SUPERVISED_ENDED:
			program_note_end(r->message, status);
			return;
		case SUPERVISED_NOTHING:
			break;
		}
}

int program_run_here(struct message *m, const char *root, const struct program_host *host,
		     struct err *err)
{
	char *command = host->remount ? (char *)remount_command : NULL;
	char *argv[] = { (char *)"repro", (char *)root, command, NULL };
	struct program_run r = { .message = m, .host = host };
	int ret;

	ret = supervised_start(&r.process, m->channel.text.at, m->channel.text.used, argv);
	if (ret)
		return err_sys(err, -ret, "cannot start a program");
	ret = program_begin(&r, err);
	if (!ret)
		program_supervise(&r);
	supervised_end(&r.process);
	return ret;
}
