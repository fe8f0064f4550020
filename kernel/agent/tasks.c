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
#include "kernel/driver/assay.h"

enum { GROUPINGS_MAX = 256, UMASK_FIRST = 022, FD_FIRST = 3 };

struct person {
	bool exists;
	uint32_t uid, gid;
	mode_t mask;
	struct assay_thread *thread; /* NULL: the agent's own task */
	struct caller *self;         /* NULL: it has yet to take its place */
	bool leaves, groups_stale;
	const struct call *call;
	struct outcome *outcome;
	struct tasks *tasks;
};

struct grouping {
	uint32_t uid, gid;
};

struct tasks {
	int root_fd;
	struct person persons[SYSCALL_PIDS_MAX + 1]; /* by number; the first is 1 */
	struct grouping groupings[GROUPINGS_MAX];
	size_t grouping_count;
};

struct tasks *tasks_new(void)
{
	struct tasks *p = must_alloc(sizeof(*p));

	for (unsigned pid = 1; pid <= SYSCALL_PIDS_MAX; pid++)
		p->persons[pid] = (struct person){ .tasks = p, .mask = UMASK_FIRST };
	p->persons[1].exists = true;
	return p;
}

static int set_users(uid_t real, uid_t effective, uid_t saved)
{
	return (int)syscall(SYS_setresuid, (long)real, (long)effective, (long)saved);
}

/* Closed is what the task inherited: it was somebody else's. */
static void take_place(struct person *person)
{
	int root_fd = person->tasks->root_fd;

	if (person->thread) {
		must(!root_fd || !syscall(SYS_close_range, 0L, (long)root_fd - 1, 0L));
		must(!syscall(SYS_close_range, (long)root_fd + 1, (long)~0U, 0L));
	}
	person->self = caller_new(root_fd);
	must(person->self);
	umask(person->mask);
	if (!person->thread)
		return;
	must(!syscall(SYS_setgroups, 0L, 0L));
	must(!syscall(SYS_setresgid, (long)person->gid, (long)person->gid, (long)person->gid));
	must(!set_users(person->uid, person->uid, 0));
}

/* Root for the moment it takes. */
static void join_groups(const struct person *person)
{
	const struct tasks *p = person->tasks;
	gid_t groups[GROUPINGS_MAX];
	size_t count = 0;

	for (size_t i = 0; i < p->grouping_count; i++)
		if (p->groupings[i].uid == person->uid)
			groups[count++] = p->groupings[i].gid;
	must(!set_users((uid_t)-1, 0, (uid_t)-1));
	must(!syscall(SYS_setgroups, (long)count, groups));
	must(!set_users((uid_t)-1, person->uid, (uid_t)-1));
}

static void take_turn(void *arg)
{
	struct person *person = arg;

	if (person->leaves) {
		caller_free(person->self);
		person->self = NULL;
		return;
	}
	if (!person->self)
		take_place(person);
	if (person->groups_stale)
		join_groups(person);
	person->groups_stale = false;
	if (person->call)
		caller_call(person->self, person->call, person->outcome);
}

static void run(struct person *person, const struct call *c, struct outcome *ret)
{
	person->call = c;
	person->outcome = ret;
	if (person->thread)
		assay_thread_run(person->thread);
	else
		take_turn(person);
}

static bool has_groups(const struct tasks *p, uint32_t uid)
{
	for (size_t i = 0; i < p->grouping_count; i++)
		if (p->groupings[i].uid == uid)
			return true;
	return false;
}

/* A task takes its place in the root of the agent's own. */
static int begin(struct tasks *p, struct person *person, bool own)
{
	if (!own) {
		person->thread = assay_thread_new(take_turn, person);
		if (!person->thread)
			return -ENOMEM;
	}
	person->leaves = false;
	person->groups_stale = has_groups(p, person->uid);
	run(person, NULL, NULL);
	return 0;
}

static void end(struct person *person)
{
	person->leaves = true;
	run(person, NULL, NULL);
	if (person->thread)
		assay_thread_end(person->thread);
	person->thread = NULL;
}

int tasks_enter(struct tasks *p, int root_fd)
{
	int ret = 0;

	p->root_fd = root_fd;
	for (unsigned pid = 1; pid <= SYSCALL_PIDS_MAX && !ret; pid++)
		if (p->persons[pid].exists)
			ret = begin(p, &p->persons[pid], pid == 1);
	return ret;
}

void tasks_leave(struct tasks *p)
{
	for (unsigned pid = SYSCALL_PIDS_MAX; pid >= 1; pid--)
		if (p->persons[pid].exists)
			end(&p->persons[pid]);
}

static bool is_id(int64_t id)
{
	return id >= 0 && id < UINT32_MAX;
}

static int create(struct tasks *p, const struct call *c, struct outcome *ret)
{
	struct person *person = &p->persons[c->pid];
	int64_t uid = c->create_process.uid.num, gid = c->create_process.gid.num;

	if (person->exists)
		ret->error = EEXIST;
	else if (!is_id(uid) || !is_id(gid))
		ret->error = EINVAL;
	if (ret->error)
		return 0;
	*person = (struct person){
		.tasks = p,
		.exists = true,
		.mask = UMASK_FIRST,
		.uid = (uint32_t)uid,
		.gid = (uint32_t)gid,
	};
	return begin(p, person, false);
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
	p->groupings[p->grouping_count++] = (struct grouping){ (uint32_t)uid, (uint32_t)gid };
	for (unsigned pid = 1; pid <= SYSCALL_PIDS_MAX; pid++)
		p->persons[pid].groups_stale |= p->persons[pid].uid == uid;
	return 0;
}

int tasks_call(struct tasks *p, const struct call *c, struct outcome *ret, struct err *err)
{
	struct person *person = &p->persons[c->pid];
	int failed = 0;

	if (c->pid < 1 || c->pid > SYSCALL_PIDS_MAX)
		return err_set(err, ESRCH, "there can be no process %u", c->pid);
	if (c->op == OP_create_process) {
		failed = create(p, c, ret);
	} else if (c->op == OP_add_user_to_group) {
		failed = add_to_group(p, c, ret);
	} else if (!person->exists) {
		if (c->op != OP_destroy_process)
			return err_set(err, ESRCH, "there is no process %u", c->pid);
		ret->error = ESRCH;
	} else if (c->op == OP_destroy_process) {
		end(person);
		person->exists = false;
	} else {
		run(person, c, ret);
		if (c->op == OP_umask && !ret->error)
			person->mask = (mode_t)c->umask.mask.num & 0777;
	}
	return failed ? err_set(err, -failed, "cannot make a process in the kernel") : 0;
}
