// SPDX-License-Identifier: GPL-2.0
/* tasks.c -- the processes of a script, as tasks of the kernel under test.
 *
 * Process 1 is the agent's own task, others are threads of the driver. As with workers on the
 * host, real and effective ids are the script's and the saved user stays 0: joining a group later
 * needs the way back, and no check of a file system looks at it. */
#include "tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/must.h"
#include "channel/request.h"
#include "channel/schedule.h"
#include "kernel/driver/assay.h"

enum { GROUPINGS_MAX = 256, UMASK_FIRST = 022, FD_FIRST = 3 };

/* Calls that overlap; time is the number of calls and returns. */
struct task_race {
	const struct call *calls;
	size_t count;
	struct race_outcome *outcomes;
	bool (*keep)(void *own, struct outcome *outcome);
	void *own;
	int64_t now;
	bool lost; /* not everything could be kept */
};

struct script_task {
	bool exists;
	uint32_t uid, gid;
	mode_t mask;
	struct assay_thread *thread; /* NULL: the agent's own task */
	struct caller *self;         /* NULL: it has yet to enter the root */
	bool leaves, groups_stale;
	const struct call *call;
	struct outcome *outcome;
	struct task_race *race; /* NULL: one call at a time */
	struct tasks *tasks;
};

struct task_group {
	uint32_t uid, gid;
};

struct tasks {
	int root_fd;
	struct script_task members[SYSCALL_PIDS_MAX + 1]; /* by number; the first is 1 */
	struct task_group groupings[GROUPINGS_MAX];
	size_t grouping_count;
};

struct tasks *tasks_new(void)
{
	struct tasks *p = must_alloc(sizeof(*p));

	for (unsigned pid = 1; pid <= SYSCALL_PIDS_MAX; pid++)
		p->members[pid] = (struct script_task){ .tasks = p, .mask = UMASK_FIRST };
	p->members[1].exists = true;
	return p;
}

static int set_users(uid_t real, uid_t effective, uid_t saved)
{
	return (int)syscall(SYS_setresuid, (long)real, (long)effective, (long)saved);
}

/* Closes what the task inherited: it belongs to another process. */
static void task_enter(struct script_task *task)
{
	int root_fd = task->tasks->root_fd;

	if (task->thread) {
		must(!root_fd || !syscall(SYS_close_range, 0L, (long)root_fd - 1, 0L));
		must(!syscall(SYS_close_range, (long)root_fd + 1, (long)~0U, 0L));
	}
	task->self = caller_new(root_fd);
	must(task->self);
	umask(task->mask);
	if (!task->thread)
		return;
	must(!syscall(SYS_setgroups, 0L, 0L));
	must(!syscall(SYS_setresgid, (long)task->gid, (long)task->gid, (long)task->gid));
	must(!set_users(task->uid, task->uid, 0));
}

/* Root for the moment it takes. */
static void task_join_groups(const struct script_task *task)
{
	const struct tasks *p = task->tasks;
	gid_t groups[GROUPINGS_MAX];
	size_t count = 0;

	for (size_t i = 0; i < p->grouping_count; i++)
		if (p->groupings[i].uid == task->uid)
			groups[count++] = p->groupings[i].gid;
	must(!set_users((uid_t)-1, 0, (uid_t)-1));
	must(!syscall(SYS_setgroups, (long)count, groups));
	must(!set_users((uid_t)-1, task->uid, (uid_t)-1));
}

static void task_race(struct script_task *task)
{
	struct task_race *r = task->race;

	for (size_t i = 0; i < r->count; i++) {
		struct race_outcome *raced = &r->outcomes[i];

		if (&task->tasks->members[r->calls[i].pid] != task)
			continue;
		raced->outcome =
			(struct outcome){ .result = op_table[r->calls[i].op].result, .bytes = "" };
		assay_thread_calls(false);
		raced->called_ns = ++r->now;
		caller_call(task->self, &r->calls[i], &raced->outcome);
		assay_thread_calls(true);
		raced->returned_ns = ++r->now;
		r->lost |= !r->keep(r->own, &raced->outcome);
	}
}

static void task_take_turn(void *arg)
{
	struct script_task *task = arg;

	if (task->leaves) {
		caller_free(task->self);
		task->self = NULL;
		return;
	}
	if (!task->self)
		task_enter(task);
	if (task->groups_stale)
		task_join_groups(task);
	task->groups_stale = false;
	if (task->race)
		task_race(task);
	else if (task->call)
		caller_call(task->self, task->call, task->outcome);
}

static void task_run(struct script_task *task, const struct call *c, struct outcome *ret)
{
	task->call = c;
	task->outcome = ret;
	if (task->thread)
		assay_thread_run(task->thread);
	else
		task_take_turn(task);
}

static bool has_groups(const struct tasks *p, uint32_t uid)
{
	for (size_t i = 0; i < p->grouping_count; i++)
		if (p->groupings[i].uid == uid)
			return true;
	return false;
}

/* A task begins in the root directory of the agent. */
static int task_begin(struct tasks *p, struct script_task *task, bool own)
{
	if (!own) {
		task->thread = assay_thread_new(task_take_turn, task);
		if (!task->thread)
			return -ENOMEM;
	}
	task->leaves = false;
	task->groups_stale = has_groups(p, task->uid);
	task_run(task, NULL, NULL);
	return 0;
}

static void task_end(struct script_task *task)
{
	task->leaves = true;
	task_run(task, NULL, NULL);
	if (task->thread)
		assay_thread_end(task->thread);
	task->thread = NULL;
}

int tasks_enter(struct tasks *p, int root_fd)
{
	int ret = 0;

	p->root_fd = root_fd;
	for (unsigned pid = 1; pid <= SYSCALL_PIDS_MAX && !ret; pid++)
		if (p->members[pid].exists)
			ret = task_begin(p, &p->members[pid], pid == 1);
	return ret;
}

void tasks_leave(struct tasks *p)
{
	for (unsigned pid = SYSCALL_PIDS_MAX; pid >= 1; pid--)
		if (p->members[pid].exists)
			task_end(&p->members[pid]);
}

static bool is_id(int64_t id)
{
	return id >= 0 && id < UINT32_MAX;
}

static int tasks_create(struct tasks *p, const struct call *c, struct outcome *ret)
{
	struct script_task *task = &p->members[c->pid];
	int64_t uid = c->create_process.uid.num, gid = c->create_process.gid.num;

	if (task->exists)
		ret->error = EEXIST;
	else if (!is_id(uid) || !is_id(gid))
		ret->error = EINVAL;
	if (ret->error)
		return 0;
	*task = (struct script_task){
		.tasks = p,
		.exists = true,
		.mask = UMASK_FIRST,
		.uid = (uint32_t)uid,
		.gid = (uint32_t)gid,
	};
	return task_begin(p, task, false);
}

static int add_to_group(struct tasks *p, const struct call *c, struct outcome *ret)
{
	int64_t uid = c->add_user_to_group.uid.num, gid = c->add_user_to_group.gid.num;

	if (!is_id(uid) || !is_id(gid)) {
		ret->error = EINVAL;
		return 0;
	}
	for (size_t i = 0; i < p->grouping_count; i++)
		if (p->groupings[i].uid == uid && p->groupings[i].gid == gid)
			return 0;
	if (p->grouping_count == GROUPINGS_MAX)
		return -E2BIG;
	p->groupings[p->grouping_count++] = (struct task_group){ (uint32_t)uid, (uint32_t)gid };
	for (unsigned pid = 1; pid <= SYSCALL_PIDS_MAX; pid++)
		p->members[pid].groups_stale |= p->members[pid].uid == uid;
	return 0;
}

/* The processes of these calls, in the order of their first ones. */
static int find_racers(struct tasks *p, const struct call *calls, size_t count,
		       struct script_task *ret[SCHEDULE_PROCESSES_MAX], unsigned *ret_count,
		       struct err *err)
{
	unsigned found = 0;

	for (size_t i = 0; i < count; i++) {
		unsigned pid = calls[i].pid, at = 0;

		if (pid < 2 || pid > SYSCALL_PIDS_MAX || !p->members[pid].exists)
			return err_set(err, ESRCH, "process %u cannot take part in a race", pid);
		while (at < found && ret[at] != &p->members[pid])
			at++;
		if (at == SCHEDULE_PROCESSES_MAX)
			return err_set(err, E2BIG, "a schedule is one of %d processes at most",
				       SCHEDULE_PROCESSES_MAX);
		ret[at] = &p->members[pid];
		found = at == found ? found + 1 : found;
	}
	*ret_count = found;
	return 0;
}

int tasks_race(struct tasks *p, const struct call *calls, size_t count, struct assay_overlap *board,
	       struct race_outcome *ret, bool (*keep)(void *own, struct outcome *outcome),
	       void *own, struct err *err)
{
	struct task_race race = { calls, count, ret, keep, own, 0, false };
	struct script_task *racers[SCHEDULE_PROCESSES_MAX];
	struct assay_thread *threads[SCHEDULE_PROCESSES_MAX];
	unsigned found;
	int failed = find_racers(p, calls, count, racers, &found, err);

	if (failed)
		return failed;
	for (unsigned i = 0; i < found; i++) {
		racers[i]->race = &race;
		threads[i] = racers[i]->thread;
	}
	failed = assay_threads_overlap(threads, found, board);
	for (unsigned i = 0; i < found; i++)
		racers[i]->race = NULL;
	if (failed)
		return err_set(err, -failed, "this kernel is not built to be given schedules");
	return race.lost ? err_set(err, E2BIG, "the calls of a race gave too many bytes") : 0;
}

int tasks_call(struct tasks *p, const struct call *c, struct outcome *ret, struct err *err)
{
	struct script_task *task = &p->members[c->pid];
	int failed = 0;

	if (c->pid < 1 || c->pid > SYSCALL_PIDS_MAX)
		return err_set(err, ESRCH, "there can be no process %u", c->pid);
	if (c->op == OP_create_process) {
		failed = tasks_create(p, c, ret);
	} else if (c->op == OP_add_user_to_group) {
		failed = add_to_group(p, c, ret);
	} else if (!task->exists) {
		if (c->op != OP_destroy_process)
			return err_set(err, ESRCH, "there is no process %u", c->pid);
		ret->error = ESRCH;
	} else if (c->op == OP_destroy_process) {
		task_end(task);
		task->exists = false;
	} else {
		task_run(task, c, ret);
		if (c->op == OP_umask && !ret->error)
			task->mask = (mode_t)c->umask.mask.num & 0777;
	}
	return failed ? err_set(err, -failed, "cannot make a process in the kernel") : 0;
}
