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
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/must.h"
#include "sandbox/guard.h"
#include "syscall/caller.h"

/* Raw system calls: the library's versions would tell all threads, and know of accounts. */
static int set_users(uid_t real, uid_t effective, uid_t saved)
{
	return (int)syscall(SYS_setresuid, real, effective, saved);
}

static int set_groups(const gid_t *groups, size_t count)
{
	return (int)syscall(SYS_setgroups, count, groups);
}

/* Forgotten by the kernel whenever credentials change. */
static void die_with_parent(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
}

/* No signal is handled as in the parent; those that a call may raise are errors of that call. */
static void leave_parent(void)
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

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));

	if (fd >= 0)
		close(fd);
	return n < 0 ? -1 : 0;
}

/* A namespace with one user, root, who is the caller outside of it. */
static int enter_user_namespace(void)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	char users[32], groups[32];

	snprintf(users, sizeof(users), "0 %u 1", uid);
	snprintf(groups, sizeof(groups), "0 %u 1", gid);
	if (unshare(CLONE_NEWUSER) || write_text("/proc/self/uid_map", users) ||
	    write_text("/proc/self/setgroups", "deny") || write_text("/proc/self/gid_map", groups))
		return -1;
	return 0;
}

static int confine(int root_fd)
{
	return fchdir(root_fd) || chroot(".") || chdir("/") ? -1 : 0;
}

static int become(uid_t uid, gid_t gid)
{
	if (set_groups(NULL, 0) || syscall(SYS_setresgid, gid, gid, gid))
		return -1;
	return set_users(uid, uid, 0);
}

/* Everything between fork and the first call; on failure *ret_step says what it was. */
static int prepare(const struct worker_place *place, int root_fd, struct caller *self,
		   struct wire *wire, const char **ret_step)
{
	int error;

	*ret_step = "enter a user namespace (confinement needs that, or CAP_SYS_CHROOT)";
	if (place->confinement == CONFINED_USERS && enter_user_namespace())
		return errno;
	*ret_step = "change the root directory";
	if (place->confinement != UNCONFINED && confine(root_fd))
		return errno;
	*ret_step = "set up descriptors";
	error = self_init(self, root_fd, wire->data);
	if (error)
		return -error;
	guard_capabilities(false);
	*ret_step = "change to another user";
	if (place->takes_ids && become(place->uid, place->gid))
		return errno;
	guard_calls();
	return 0;
}

/* The groups of a user: root for the moment it takes. Returns 0 or errno. */
static int join_groups(const struct worker_place *place, const struct wire *wire, pid_t parent)
{
	int error = 0;

	if (set_users(-1, 0, -1) || set_groups(wire->groups, wire->group_count))
		error = errno;
	must(!set_users(-1, place->uid, -1));
	die_with_parent(parent);
	return error;
}

/* Also says that nothing failed, with error 0. */
static void report(struct wire *wire, int error, const char *step)
{
	wire->failure = error;
	snprintf(wire->step, sizeof(wire->step), "%s", step);
}

/* Waits, spinning, until all racers are there; the deadline is their crew's. */
static void pass_gate(const struct wire *wire)
{
	enum { SPINS_MAX = 1 << 14 };

	atomic_fetch_add(wire->gate, 1);
	for (unsigned spins = 0; atomic_load(wire->gate) < wire->racers; spins++) {
		if (spins > SPINS_MAX)
			sched_yield(); /* there may be fewer processors than racers */
		wire_relax();
	}
	for (unsigned i = 0; i < wire->delay; i++)
		wire_relax();
}

/* Makes the calls of one turn, as many as there is room for what comes back. */
static void serve_calls(struct caller *self, struct wire *wire)
{
	struct outcome outcome;

	if (wire->gate)
		pass_gate(wire);
	for (unsigned i = 0; i < wire->count && wire->data_used <= WIRE_DATA_KEPT; i++) {
		struct wire_call *call = &wire->calls[i];

		self->buffer = wire_room(wire);
		call->called_ns = clock_ns();
		caller_call(self, &call->call, &outcome);
		call->returned_ns = clock_ns();
		wire_add_outcome(wire, &outcome);
	}
}

static void serve(struct caller *self, struct wire *wire)
{
	if (wire->command == WIRE_CALLS) {
		serve_calls(self, wire);
	} else {
		self->buffer = wire->data;
		caller_reset(self);
	}
}

static _Noreturn void work(const struct worker_place *place, struct caller *self, struct wire *wire,
			   pid_t parent)
{
	int root_fd = fcntl(place->root_fd, F_DUPFD_CLOEXEC, 3);
	const char *step;
	int error;

	die_with_parent(parent);
	leave_parent();
	close_all_but(root_fd);
	error = prepare(place, root_fd, self, wire, &step);
	report(wire, error, step);
	die_with_parent(parent);
	for (;;) {
		wire_pass(wire, TURN_CREW);
		while (!wire_await(wire, TURN_WORKER, INT64_MAX))
			;
		error = wire->groups_changed ? join_groups(place, wire, parent) : 0;
		report(wire, error, "join groups");
		if (!error)
			serve(self, wire);
	}
}

pid_t worker_fork(const struct worker_place *place, struct wire *wire)
{
	struct caller *self = must_alloc(sizeof(*self));
	pid_t parent = getpid(), pid = fork();

	if (!pid)
		work(place, self, wire, parent);
	free(self);
	return pid < 0 ? -errno : pid;
}
