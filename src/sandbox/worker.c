/* worker.c -- a process that makes the calls of one process of a script.
 *
 * It belongs to its crew alone: no terminal, no descriptors but its own, gone with its parent.
 * Users: real and effective ids are the script's, so that permissions and access(2) see an
 * ordinary user without capabilities. The saved user stays 0: joining a group later needs the
 * way back, and no check of a file system looks at it. */
#include "sandbox/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/must.h"
#include "process/owner.h"
#include "sandbox/guard.h"
#include "sandbox/privilege.h"
#include "syscall/caller.h"

/* Most calls of a turn are faster than a sleep. */
enum { SPINS = 400 };

static const size_t data_max = WORKER_TURN_DATA_MAX + SYSCALL_DATA_MAX + 2 * SYSCALL_BUFFER_SLACK;
/* One argument of the largest size, and paths and names beside it. */
static const size_t text_max = SYSCALL_DATA_MAX + (1 << 20);

static bool has_several_cpus(void)
{
	cpu_set_t cpus;

	return !sched_getaffinity(0, sizeof(cpus), &cpus) && CPU_COUNT(&cpus) > 1;
}

struct worker_message *worker_message_new(void)
{
	struct worker_message *m = channel_new(sizeof(*m), text_max, data_max);

	if (!m)
		return NULL;
	m->channel.turn.spins = has_several_cpus() ? SPINS : 0;
	m->channel.turn.side = SIDE_SERVER;
	return m;
}

void worker_message_clear(struct worker_message *m)
{
	channel_clear(&m->channel);
	m->count = 0;
	m->done = 0;
}

bool worker_message_add(struct worker_message *m, const struct call *c)
{
	if (m->count == SYSCALL_BATCH_MAX ||
	    !channel_copy_call(&m->channel, c, &m->calls[m->count].call))
		return false;
	m->count++;
	return true;
}

/* Raw system calls: the library's versions would change all threads, and know of accounts. */
static int set_users(uid_t real, uid_t effective, uid_t saved)
{
	return (int)syscall(SYS_setresuid, real, effective, saved);
}

static int set_groups(const gid_t *groups, size_t count)
{
	return (int)syscall(SYS_setgroups, count, groups);
}

/* No signal is handled as in the parent; those that a call may raise are errors of that call. */
static void worker_leave_parent(void)
{
	setsid();
	for (int number = 1; number < SIGRTMIN; number++)
		signal(number, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

static void close_all_but(int fd)
{
	if (fd > 3)
		close_range(3, (unsigned)fd - 1, 0);
	close_range((unsigned)fd + 1, ~0U, 0);
}

/* A namespace with one user, root, who is the caller outside of it. */
static int enter_user_namespace(struct err *err)
{
	struct user_map uid = { .outside = geteuid() }, gid = { .outside = getegid() };

	if (unshare(CLONE_NEWUSER))
		return err_sys(err, errno,
			       "cannot enter a user namespace (confinement needs that, or "
			       "CAP_SYS_CHROOT)");
	return privilege_map_user(uid, gid, err);
}

static int enter_root(int root_fd)
{
	return fchdir(root_fd) || chroot(".") || chdir("/") ? -1 : 0;
}

static int become_user(uid_t uid, gid_t gid)
{
	if (set_groups(NULL, 0) || syscall(SYS_setresgid, gid, gid, gid))
		return -1;
	return set_users(uid, uid, 0);
}

/* Everything between fork and the first call. */
static int worker_prepare(const struct worker_place *place, int root_fd, struct caller *self,
			  struct channel *channel, struct err *err)
{
	int error;

	if (place->confinement == CONFINED_USERS && (error = enter_user_namespace(err)))
		return error;
	if (place->confinement != UNCONFINED && enter_root(root_fd))
		return err_sys(err, errno, "cannot change the root directory");
	error = self_init(self, root_fd, channel->data.at);
	if (error)
		return err_sys(err, -error, "cannot set up descriptors");
	guard_capabilities(false);
	if (place->takes_ids && become_user(place->uid, place->gid))
		return err_sys(err, errno, "cannot change to another user");
	if (place->handles)
		guard_calls_but_handles();
	else
		guard_calls();
	return 0;
}

/* The groups of a user: root for the moment it takes. */
static int worker_join_groups(const struct worker_place *place, const struct worker_message *m,
			      pid_t parent, struct err *err)
{
	int error = 0;

	if (set_users(-1, 0, -1) || set_groups(m->groups, m->group_count))
		error = errno;
	must(!set_users(-1, place->uid, -1));
	owner_follow(parent, SIGKILL);
	return error ? err_sys(err, error, "cannot join groups") : 0;
}

/* Waits, spinning, until all racers are there; the deadline is their crew's. */
static void worker_pass_gate(const struct worker_message *m)
{
	enum { SPINS_MAX = 1 << 14 };

	atomic_fetch_add(m->gate, 1);
	for (unsigned spins = 0; atomic_load(m->gate) < m->racers; spins++) {
		if (spins > SPINS_MAX)
			sched_yield(); /* there may be fewer processors than racers */
		cpu_relax();
	}
	for (unsigned i = 0; i < m->delay; i++)
		cpu_relax();
}

/* Makes the calls of one turn, as many as there is room for their data. */
static void worker_serve_calls(struct caller *self, struct worker_message *m)
{
	struct channel *channel = &m->channel;
	struct outcome outcome;

	if (m->gate)
		worker_pass_gate(m);
	for (unsigned i = 0; i < m->count && channel->data.used <= WORKER_TURN_DATA_MAX; i++) {
		struct worker_call *call = &m->calls[i];

		self->buffer = channel_room(channel);
		call->called_ns = clock_ns();
		caller_call(self, &call->call, &outcome);
		call->returned_ns = clock_ns();
		must(channel_copy_outcome(channel, &channel->data, &outcome, &call->outcome));
		atomic_fetch_add(&m->done, 1);
	}
}

static void worker_serve(struct caller *self, struct worker_message *m)
{
	if (m->request == WORKER_CALLS) {
		worker_serve_calls(self, m);
	} else {
		self->buffer = m->channel.data.at;
		caller_reset(self);
	}
}

static _Noreturn void worker_run(const struct worker_place *place, struct caller *self,
				 struct worker_message *m, pid_t parent)
{
	int root_fd = fcntl(place->root_fd, F_DUPFD_CLOEXEC, 3);
	struct channel *channel = &m->channel;

	owner_follow(parent, SIGKILL);
	worker_leave_parent();
	close_all_but(root_fd);
	channel->failure = worker_prepare(place, root_fd, self, channel, &channel->err);
	owner_follow(parent, SIGKILL);
	for (;;) {
		turn_pass(&channel->turn, SIDE_CLIENT);
		while (!turn_await(&channel->turn, SIDE_SERVER, INT64_MAX))
			;
		channel->err = (struct err){ 0 };
		channel->failure =
			m->groups_changed ? worker_join_groups(place, m, parent, &channel->err) : 0;
		if (!channel->failure)
			worker_serve(self, m);
	}
}

pid_t worker_fork(const struct worker_place *place, struct worker_message *m)
{
	struct caller *self = self_alloc();
	pid_t parent = getpid(), pid = fork();

	if (!pid)
		worker_run(place, self, m, parent);
	self_free(self);
	return pid < 0 ? -errno : pid;
}
