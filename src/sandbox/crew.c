/* crew.c -- worker processes: made, given calls, waited for no longer than the deadline, ended.
 *
 * A worker that does not answer is killed and given up. Killed processes are reaped when they
 * are gone; one that the kernel cannot let go is left behind and counted. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/must.h"
#include "base/rng.h"
#include "channel/limits.h"
#include "process/capability.h"
#include "sandbox/crew.h"
#include "sandbox/guard.h"
#include "sandbox/patience.h"
#include "sandbox/worker.h"
#include "syscall/taken.h"

enum {
	DEADLINE_USUAL_S = 10,
	GROUPINGS_MAX = 256,
	LOOK_MS = 50,         /* how often a waiting crew looks whether the worker is alive */
	GRACE_MS = 200,       /* for a killed worker to be gone */
	LAST_GRACE_MS = 2000, /* the same when the crew closes */
};

struct crew_member {
	bool exists;  /* there is such a process */
	pid_t worker; /* 0: made with its first call, since making it costs as much as ten */
	struct worker_message *message;
	uint32_t uid, gid;
	bool groups_stale;        /* the worker does not know its groups yet */
	struct patience patience; /* with the call that the worker is in now */
	uint32_t done;            /* calls of this turn that were seen to have returned */
};

struct crew_group {
	uint32_t uid, gid;
};

struct crew {
	int root_fd;
	int mount_fd;          /* of the root without devices; -1: none */
	struct limits *limits; /* NULL: none */
	enum confinement confinement;
	bool privileged; /* may become any user */
	bool is_late;    /* workers are made with their first call (crew_options) */
	bool handles;    /* may open file handles */
	int64_t deadline_ns;
	uint32_t uid, gid; /* of process 1 */
	pid_t *killed;     /* and not yet reaped */
	size_t killed_count;
	/* Of the process that ended last: its outcomes may be in use. */
	struct worker_message *last_message;
	struct crew_group groupings[GROUPINGS_MAX];
	size_t grouping_count;
	_Atomic uint32_t *gate; /* shared with all workers: how many have come to a race */
	struct crew_member members[SYSCALL_PIDS_MAX + 1]; /* by pid */
};

/* Reaps a killed process if it is gone within the given time. */
static bool reap_process(pid_t pid, int grace_ms)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd gone = { .fd = pidfd, .events = POLLIN };

	if (pidfd >= 0) {
		while (poll(&gone, 1, grace_ms) < 0 && errno == EINTR)
			;
		close(pidfd);
	}
	return waitpid(pid, NULL, WNOHANG) != 0;
}

/* Reaps those killed earlier; the last grace is for all of them together. */
static void crew_reap_killed(struct crew *crew, int grace_ms)
{
	int64_t until_ns = clock_ns() + grace_ms * NS_PER_MS;
	size_t left = 0;

	for (size_t i = 0; i < crew->killed_count; i++) {
		int64_t left_ns = until_ns - clock_ns();

		if (!reap_process(crew->killed[i], left_ns > 0 ? (int)(left_ns / NS_PER_MS) : 0))
			crew->killed[left++] = crew->killed[i];
	}
	crew->killed_count = left;
}

static void message_free(struct worker_message *m)
{
	if (m)
		channel_free(&m->channel);
}

static void member_forget(struct crew *crew, struct crew_member *m)
{
	message_free(crew->last_message);
	crew->last_message = m->message;
	*m = (struct crew_member){ 0 };
}

/* Kills the worker and forgets the process; one that is not gone soon is reaped later. */
static void member_end(struct crew *crew, struct crew_member *m)
{
	pid_t pid = m->worker;

	member_forget(crew, m);
	if (!pid)
		return;
	kill(pid, SIGKILL);
	if (reap_process(pid, GRACE_MS))
		return;
	crew->killed = must_realloc(crew->killed, (crew->killed_count + 1) * sizeof(pid_t));
	crew->killed[crew->killed_count++] = pid;
}

static int crew_give_up(struct crew *crew, unsigned pid, struct err *err)
{
	member_end(crew, &crew->members[pid]);
	return err_set(err, ETIME, "process %u: the call did not return within %g seconds", pid,
		       (double)crew->deadline_ns / 1e9);
}

/* A worker that died by itself, or by someone else's hand. */
static int crew_worker_died(struct crew *crew, unsigned pid, int status, struct err *err)
{
	member_forget(crew, &crew->members[pid]);
	if (WIFSIGNALED(status))
		return err_set(err, ECHILD, "the worker of process %u was killed by signal %d (%s)",
			       pid, WTERMSIG(status), strsignal(WTERMSIG(status)));
	return err_set(err, ECHILD, "the worker of process %u ended with status %d", pid,
		       WEXITSTATUS(status));
}

static int crew_worker_starved(struct crew *crew, unsigned pid, struct err *err)
{
	member_end(crew, &crew->members[pid]);
	return err_set(
		err, ECHILD,
		"the worker of process %u does not get to run: it is stopped, or the machine "
		"is too busy",
		pid);
}

/* A call is taken to begin when the crew first sees that the one before is done. */
static enum patience_left member_look(const struct crew *crew, struct crew_member *m)
{
	uint32_t done = atomic_load(&m->message->done);

	if (done != m->done) {
		m->done = done;
		patience_begin(&m->patience, m->worker, crew->deadline_ns);
	}
	return patience_look(&m->patience);
}

/* Waits until the worker has passed the turn back. */
static int crew_await(struct crew *crew, unsigned pid, struct err *err)
{
	struct crew_member *m = &crew->members[pid];
	int64_t look_ns;
	int status;

	for (;;) {
		look_ns = LOOK_MS * NS_PER_MS;
		if (crew->deadline_ns < look_ns)
			look_ns = crew->deadline_ns;
		if (turn_await(&m->message->channel.turn, SIDE_CLIENT, clock_ns() + look_ns))
			break;
		if (waitpid(m->worker, &status, WNOHANG) == m->worker)
			return crew_worker_died(crew, pid, status, err);
		switch (member_look(crew, m)) {
		case PATIENCE_LEFT:
			break;
		case PATIENCE_OVER:
			return crew_give_up(crew, pid, err);
		case PATIENCE_STARVED:
			return crew_worker_starved(crew, pid, err);
		}
	}
	if (m->message->channel.failure)
		return err_set(err, -m->message->channel.failure, "the worker of process %u %s",
			       pid, m->message->channel.err.text);
	return 0;
}

/* The worker learns of its groups with the next call: until then it may be busy. */
static void member_put_groups(const struct crew *crew, struct crew_member *m)
{
	struct worker_message *w = m->message;

	w->groups_changed = m->groups_stale;
	m->groups_stale = false;
	if (!w->groups_changed)
		return;
	w->group_count = 0;
	for (size_t i = 0; i < crew->grouping_count && w->group_count < WORKER_GROUPS_MAX; i++)
		if (crew->groupings[i].uid == m->uid)
			w->groups[w->group_count++] = crew->groupings[i].gid;
}

static void member_send(const struct crew *crew, struct crew_member *m, enum worker_request request)
{
	member_put_groups(crew, m);
	m->message->request = request;
	patience_begin(&m->patience, m->worker, crew->deadline_ns);
	m->done = 0;
	turn_pass(&m->message->channel.turn, SIDE_SERVER);
}

/* Without privilege a worker can only be who it is. */
static int crew_check_ids(const struct crew *crew, uint32_t uid, uint32_t gid, struct err *err)
{
	bool inside = crew->confinement == CONFINED_USERS;

	if (crew->privileged ||
	    (uid == (inside ? 0 : geteuid()) && gid == (inside ? 0 : getegid())))
		return 0;
	return err_set(err, EPERM,
		       "a process of user %u and group %u needs CAP_SETUID and CAP_SETGID: "
		       "run as root",
		       uid, gid);
}

/* The process is there; its worker need not be, yet. */
static int crew_add(struct crew *crew, unsigned pid, uint32_t uid, uint32_t gid, struct err *err)
{
	struct crew_member *m = &crew->members[pid];
	int error = crew_check_ids(crew, uid, gid, err);

	if (error)
		return error;
	*m = (struct crew_member){ .exists = true, .uid = uid, .gid = gid };
	for (size_t i = 0; i < crew->grouping_count; i++)
		m->groups_stale |= crew->groupings[i].uid == uid;
	return 0;
}

static int crew_spawn(struct crew *crew, unsigned pid, struct err *err)
{
	struct crew_member *m = &crew->members[pid];
	struct worker_place place = { crew->root_fd, crew->confinement, crew->privileged, m->uid,
				      m->gid,        crew->handles };
	int error;
	pid_t worker;

	m->message = worker_message_new();
	if (!m->message)
		return err_sys(err, errno, "cannot share memory with process %u", pid);
	worker = worker_fork(&place, m->message);
	if (worker < 0) {
		member_forget(crew, m);
		return err_sys(err, -worker, "cannot make process %u", pid);
	}
	m->worker = worker;
	patience_begin(&m->patience, worker, crew->deadline_ns);
	error = crew_await(crew, pid, err);
	if (error && m->worker)
		member_end(crew, m);
	return error;
}

/* Where the first process does not have to be there, a crew is made for others (crew_options). */
static int crew_add_first(struct crew *crew, struct err *err)
{
	int error = crew_add(crew, 1, crew->uid, crew->gid, err);

	return error || crew->is_late ? error : crew_spawn(crew, 1, err);
}

/* The root that workers get. */
static int crew_open_root(struct crew *crew, int root_fd, const struct crew_options *options,
			  struct err *err)
{
	int error;

	crew->limits = options->limits;
	if (options->no_devices) {
		error = guard_root(root_fd, &crew->mount_fd, &crew->root_fd);
		if (!error)
			return 0;
		crew->limits->no_devices = guard_may_make_devices();
	}
	crew->root_fd = fcntl(root_fd, F_DUPFD_CLOEXEC, 3);
	return crew->root_fd < 0 ? err_sys(err, errno, "cannot use the root directory") : 0;
}

/* In the user namespace of an ordinary user there is one user, whose groups stay as they are: there
 * even setting what is set already is refused. */
static bool may_set_groups(void)
{
	gid_t groups[NGROUPS_MAX];
	int count = getgroups(NGROUPS_MAX, groups);

	return count >= 0 && !syscall(SYS_setgroups, count, groups);
}

/* Who the first process is, and how it is confined to the root. */
static void crew_choose_confinement(struct crew *crew, const struct crew_options *options)
{
	if (options->no_chroot)
		crew->confinement = UNCONFINED;
	else
		crew->confinement = capability_has(CAP_SYS_CHROOT) ? CONFINED : CONFINED_USERS;
	crew->privileged = crew->confinement != CONFINED_USERS && capability_has(CAP_SETUID) &&
			   capability_has(CAP_SETGID) && may_set_groups();
	crew->uid = options->uid;
	crew->gid = options->gid;
	if (!crew->privileged && crew->confinement == UNCONFINED && !crew->uid && !crew->gid) {
		crew->uid = geteuid();
		crew->gid = getegid();
	}
}

int crew_open(struct crew **ret, int root_fd, const struct crew_options *options, struct err *err)
{
	struct crew *crew = must_alloc(sizeof(*crew));
	double seconds =
		options->deadline_seconds > 0 ? options->deadline_seconds : DEADLINE_USUAL_S;
	int error;

	crew->deadline_ns = (int64_t)(seconds * 1e9);
	crew->is_late = options->is_late;
	crew->root_fd = crew->mount_fd = -1;
	crew->handles = options->handles;
	handles_share();
	if (!options->keeps_handles)
		handles_forget();
	crew_choose_confinement(crew, options);
	crew->gate = mmap(NULL, sizeof(*crew->gate), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (crew->gate == MAP_FAILED)
		error = err_sys(err, errno, "cannot share memory");
	else
		error = crew_open_root(crew, root_fd, options, err);
	if (!error)
		error = crew_add_first(crew, err);
	if (error) {
		crew_close(crew);
		return error;
	}
	*ret = crew;
	return 0;
}

static bool is_id(int64_t id)
{
	return id >= 0 && id < UINT32_MAX;
}

static int crew_create_process(struct crew *crew, const struct call *c, struct outcome *ret,
			       struct err *err)
{
	const struct arg *uid = &c->create_process.uid, *gid = &c->create_process.gid;

	int error;

	if (crew->members[c->pid].exists) {
		ret->error = EEXIST;
		return 0;
	}
	if (!is_id(uid->num) || !is_id(gid->num)) {
		ret->error = EINVAL;
		return 0;
	}
	error = crew_add(crew, c->pid, (uint32_t)uid->num, (uint32_t)gid->num, err);
	return error || crew->is_late ? error : crew_spawn(crew, c->pid, err);
}

static int crew_destroy_process(struct crew *crew, const struct call *c, struct outcome *ret)
{
	struct crew_member *m = &crew->members[c->pid];

	if (!m->exists)
		ret->error = ESRCH;
	else
		member_end(crew, m);
	return 0;
}

static int crew_add_user_to_group(struct crew *crew, const struct call *c, struct outcome *ret,
				  struct err *err)
{
	int64_t uid = c->add_user_to_group.uid.num, gid = c->add_user_to_group.gid.num;
	size_t groups = 0;

	if (!is_id(uid) || !is_id(gid)) {
		ret->error = EINVAL;
		return 0;
	}
	if (!crew->privileged)
		return err_set(err, EPERM, "adding users to groups needs CAP_SETGID: run as root");
	for (size_t i = 0; i < crew->grouping_count; i++) {
		if (crew->groupings[i].uid != uid)
			continue;
		if (crew->groupings[i].gid == gid)
			return 0;
		groups++;
	}
	if (groups == WORKER_GROUPS_MAX || crew->grouping_count == GROUPINGS_MAX)
		return err_set(err, E2BIG, "user %u has too many groups", (unsigned)uid);
	crew->groupings[crew->grouping_count++] =
		(struct crew_group){ (uint32_t)uid, (uint32_t)gid };
	for (unsigned pid = 1; pid <= SYSCALL_PIDS_MAX; pid++)
		crew->members[pid].groups_stale |=
			crew->members[pid].exists && crew->members[pid].uid == uid;
	return 0;
}

/* What is done to processes is the crew's own to answer. */
static int crew_answer(struct crew *crew, const struct call *c, struct outcome *ret,
		       struct err *err)
{
	struct outcome outcome = { .result = op_table[c->op].result, .bytes = "" };
	int error;

	switch (c->op) {
	case OP_create_process:
		error = crew_create_process(crew, c, &outcome, err);
		break;
	case OP_destroy_process:
		error = crew_destroy_process(crew, c, &outcome);
		break;
	default:
		error = crew_add_user_to_group(crew, c, &outcome, err);
	}
	if (!error)
		*ret = outcome;
	return error;
}

/* The process of a call, ready for another one; NULL where err says why not. PROC operations may
 * name one that is not there. */
static struct crew_member *crew_member_of(struct crew *crew, const struct call *c, struct err *err)
{
	struct crew_member *m = &crew->members[c->pid <= SYSCALL_PIDS_MAX ? c->pid : 0];

	if (!c->pid || c->pid > SYSCALL_PIDS_MAX)
		err_set(err, EINVAL, "process %u: processes are 1 to %d", c->pid, SYSCALL_PIDS_MAX);
	else if (op_table[c->op].traits & TRAIT_PROC)
		return m;
	else if (!m->exists)
		err_set(err, ESRCH, "there is no process %u", c->pid);
	else if (m->worker || !crew_spawn(crew, c->pid, err))
		return m;
	return NULL;
}

static int crew_check_limits(struct crew *crew, const struct call *c, struct err *err)
{
	return crew->limits ? limits_check(crew->limits, c, err) : 0;
}

int crew_call(struct crew *crew, const struct call *c, struct outcome *ret, struct err *err)
{
	struct crew_member *m = crew_member_of(crew, c, err);
	int error;

	if (!m)
		return err->code;
	if (op_table[c->op].traits & TRAIT_PROC)
		return crew_answer(crew, c, ret, err);
	error = crew_check_limits(crew, c, err);
	if (error)
		return error;
	worker_message_clear(m->message);
	if (!worker_message_add(m->message, c))
		return err_set(err, E2BIG, "the data of the call is beyond %d bytes",
			       SYSCALL_DATA_MAX);
	member_send(crew, m, WORKER_CALLS);
	error = crew_await(crew, c->pid, err);
	if (!error)
		*ret = m->message->calls[0].outcome;
	return error;
}

int crew_batch(struct crew *crew, const struct call *calls, size_t count, struct outcome *ret,
	       size_t *ret_done, struct err *err)
{
	struct crew_member *m = crew_member_of(crew, calls, err);
	struct worker_message *message;
	int error = 0;

	*ret_done = 0;
	if (!m)
		return err->code;
	message = m->message;
	worker_message_clear(message);
	for (size_t i = 0; i < count; i++) {
		must(calls[i].pid == calls->pid && !(op_table[calls[i].op].traits & TRAIT_PROC));
		/* A call that is not to be made is reported when it is the first. */
		error = crew_check_limits(crew, &calls[i], i ? NULL : err);
		if (error || !worker_message_add(message, &calls[i]))
			break;
	}
	if (error && !message->count)
		return error;
	if (!message->count)
		return err_set(err, E2BIG, "the data of the call is beyond %d bytes",
			       SYSCALL_DATA_MAX);
	member_send(crew, m, WORKER_CALLS);
	error = crew_await(crew, calls->pid, err); /* ended or not, the memory is still there */
	*ret_done = atomic_load(&message->done);
	for (size_t i = 0; i < *ret_done; i++)
		ret[i] = message->calls[i].outcome;
	return error;
}

/* How long a racer waits behind the gate: mostly next to nothing, at times a few microseconds. */
static uint32_t race_delay(struct rng *rng)
{
	enum { DELAY_BITS_MAX = 8 };

	return (uint32_t)rng_below(rng, UINT64_C(1) << rng_below(rng, DELAY_BITS_MAX));
}

/* Copies the calls to the workers of their processes; returns how many processes there are. */
static int race_line_up(struct crew *crew, const struct call *calls, size_t count,
			struct crew_member **racers, struct err *err)
{
	int racing = 0;

	for (size_t i = 0; i < count; i++) {
		struct crew_member *m = crew_member_of(crew, &calls[i], err);
		int k = 0, error;

		if (!m)
			return err->code;
		must(!(op_table[calls[i].op].traits & TRAIT_PROC));
		error = crew_check_limits(crew, &calls[i], err);
		if (error)
			return error;
		while (k < racing && racers[k] != m)
			k++;
		if (k == racing) {
			racers[racing++] = m;
			worker_message_clear(m->message);
		}
		if (!worker_message_add(m->message, &calls[i]))
			return err_set(err, E2BIG, "the calls of a race are too many");
	}
	return racing;
}

static void race_fetch(struct crew *crew, const struct call *calls, size_t count,
		       struct race_outcome *ret)
{
	unsigned next[SYSCALL_PIDS_MAX + 1] = { 0 };

	for (size_t i = 0; i < count; i++) {
		const struct worker_message *m = crew->members[calls[i].pid].message;
		const struct worker_call *call = &m->calls[next[calls[i].pid]++];

		ret[i] = (struct race_outcome){ call->outcome, call->called_ns, call->returned_ns };
	}
}

int crew_race(struct crew *crew, const struct call *calls, size_t count, uint64_t seed,
	      struct race_outcome *ret, struct err *err)
{
	struct crew_member *racers[SYSCALL_PIDS_MAX];
	int racing = race_line_up(crew, calls, count, racers, err), error = 0, r;
	struct rng rng;

	if (racing < 0)
		return racing;
	rng_seed(&rng, seed);
	atomic_store(crew->gate, 0);
	for (int i = 0; i < racing; i++) {
		racers[i]->message->gate = crew->gate;
		racers[i]->message->racers = (uint32_t)racing;
		racers[i]->message->delay = race_delay(&rng);
		member_send(crew, racers[i], WORKER_CALLS);
	}
	for (int i = 0; i < racing; i++) {
		struct worker_message *message = racers[i]->message;

		r = crew_await(crew, (unsigned)(racers[i] - crew->members), err);
		if (!r)
			message->gate = NULL;
		error = error ? error : r;
	}
	if (!error)
		race_fetch(crew, calls, count, ret);
	return error;
}

/* Ends all processes from the given one on. */
static void crew_end_from(struct crew *crew, unsigned from)
{
	for (unsigned pid = from; pid <= SYSCALL_PIDS_MAX; pid++)
		if (crew->members[pid].exists)
			member_end(crew, &crew->members[pid]);
}

int crew_reset(struct crew *crew, struct err *err)
{
	struct crew_member *m = &crew->members[1];
	struct err why = { 0 };

	crew_end_from(crew, 2);
	memset(&crew->members[2], 0, sizeof(*m) * (SYSCALL_PIDS_MAX - 1));
	crew_reap_killed(crew, 0);
	if (crew->grouping_count)
		m->groups_stale = m->worker;
	crew->grouping_count = 0;
	if (m->worker) {
		member_send(crew, m, WORKER_RESET);
		if (!crew_await(crew, 1, &why))
			return 0;
	}
	return crew_add_first(crew, err);
}

void crew_close(struct crew *crew)
{
	if (!crew)
		return;
	crew_end_from(crew, 1);
	crew_reap_killed(crew, LAST_GRACE_MS);
	message_free(crew->last_message);
	if (crew->root_fd >= 0)
		close(crew->root_fd);
	if (crew->mount_fd >= 0)
		close(crew->mount_fd);
	if (crew->gate != MAP_FAILED)
		munmap(crew->gate, sizeof(*crew->gate));
	free(crew->killed);
	free(crew);
}
