/* sandbox_server.c -- the sandbox's side: namespaces, root directory, calls, scans.
 *
 * Process 1 of a script is the sandbox itself. Others are workers of a crew, which is made when
 * the first of them is. Remounting closes everything; workers are made again then, and the calls
 * that made their users, groups and masks are repeated. */
#include "sandbox/sandbox_server.h"
#include "process/owner.h"
#include "sandbox/crew.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/must.h"
#include "channel/limits.h"
#include "channel/server.h"
#include "process/capability.h"
#include "process/descriptors.h"
#include "sandbox/confined.h"
#include "sandbox/guard.h"
#include "sandbox/kill_timer.h"
#include "sandbox/patience.h"
#include "sandbox/privilege.h"
#include "storage/caches.h"
#include "storage/directory.h"
#include "storage/remove_tree.h"
#include "syscall/taken.h"
#include "tree/scan.h"

enum {
	SETUP_MAX = 1024,
	LOOK_MS = 1000, /* how often an orphan that missed its signal looks */
	LAST_S = 10,    /* what it may take to clean up then */
};

/* Set by a signal: the owner is gone. */
static volatile sig_atomic_t orphaned;

struct server {
	const struct sandbox_ops *ops;
	const struct sandbox_options *options;
	struct sandbox_message *own_message;
	struct message *message; /* the part of it that all servers have */
	int outside_fd;          /* the root directory there was; -1: not confined */
	int root_fd;             /* -1: not attached */
	bool plain;              /* calls are made without capabilities, scans are not */
	struct caches *caches;
	struct scanner *scanner;
	struct channel_server server;
	struct caller *self;
	struct crew *crew;            /* NULL: there is only process 1 */
	struct call setup[SETUP_MAX]; /* calls to repeat; their arguments are numbers */
	size_t setup_count;
	mode_t mask;    /* of process 1, while it is detached for a moment, */
	bool suspended; /* and its processes are to be there again afterwards */
};

/* Into the root of the file system, so that no path leads out of it. */
static int server_enter(struct server *s, struct err *err)
{
	if (fchdir(s->root_fd))
		return err_sys(err, errno, "cannot enter the root of the file system");
	if (s->outside_fd >= 0 && chroot("."))
		return err_sys(err, errno, "cannot make it the root directory");
	s->plain = s->options->uid && s->ops->namespaces & CLONE_NEWUSER;
	if (s->plain)
		privilege_drop();
	s->self = caller_new(s->root_fd);
	if (!s->self)
		return err_sys(err, errno, "cannot prepare calls");
	return 0;
}

/* Where paths mean what they meant before. */
static void server_leave_root(const struct server *s)
{
	if (s->outside_fd >= 0)
		must(!fchdir(s->outside_fd) && !chroot("."));
}

static void server_leave(struct server *s)
{
	crew_close(s->crew);
	s->crew = NULL;
	caller_free(s->self);
	s->self = NULL;
	server_leave_root(s);
	must(!chdir("/"));
	close(s->root_fd);
	s->root_fd = -1;
}

static int server_attach(struct server *s, struct err *err)
{
	int ret;

	if (s->root_fd >= 0)
		return 0;
	ret = s->ops->attach(s->ops->own, &s->root_fd, err);
	if (!ret && s->ops->limits)
		s->message->limits = *s->ops->limits;
	return ret ? ret : server_enter(s, err);
}

static int server_detach(struct server *s, struct err *err)
{
	int ret = 0;

	if (s->root_fd < 0 || !s->ops->detach)
		return 0;
	if (s->own_message->kills) {
		server_leave_root(s);
		ret = s->ops->kill(s->ops->own, err);
	}
	if (ret)
		return ret;
	server_leave(s);
	if (s->own_message->forgets_handles)
		handles_forget();
	s->suspended = s->message->keeps_processes;
	if (s->suspended)
		s->mask = umask(0);
	else
		s->setup_count = 0;
	return s->ops->detach(s->ops->own, err);
}

static int server_open_crew(struct server *s, struct err *err)
{
	struct crew_options options = {
		.deadline_seconds = s->options->deadline_seconds,
		.no_chroot = s->outside_fd < 0,
		.handles = !s->ops->limits,
		.keeps_handles = true,
		.limits = s->ops->limits,
		.is_late = true, /* process 1 is this one */
		.uid = s->options->uid,
		.gid = s->options->gid,
	};

	return s->crew ? 0 : crew_open(&s->crew, s->root_fd, &options, err);
}

/* Was this for a process that is no more, or does this call replace it? */
static bool is_outdated(const struct call *old, const struct call *c)
{
	if (old->pid != c->pid)
		return false;
	return c->op == OP_destroy_process ? old->op != OP_add_user_to_group
					   : c->op == OP_umask && old->op == OP_umask;
}

/* A call that has to be repeated in a new crew. */
static int server_remember(struct server *s, const struct call *c, struct err *err)
{
	size_t left = 0;

	if (!(op_table[c->op].traits & TRAIT_PROC) && c->op != OP_umask)
		return 0;
	for (size_t i = 0; i < s->setup_count; i++)
		if (!is_outdated(&s->setup[i], c))
			s->setup[left++] = s->setup[i];
	s->setup_count = left;
	if (c->op == OP_destroy_process)
		return 0;
	if (s->setup_count == SETUP_MAX)
		return err_set(err, E2BIG, "more than %d calls about processes", SETUP_MAX);
	s->setup[s->setup_count++] = *c;
	return 0;
}

/* -ETIME: the call hung. */
static int server_call_crew(struct server *s, const struct call *c, struct outcome *ret,
			    struct err *err)
{
	int r = server_open_crew(s, err);

	if (!r)
		r = crew_call(s->crew, c, ret, err);
	if (!r && !ret->error)
		r = server_remember(s, c, err);
	return r;
}

static int server_repeat_setup(struct server *s, struct err *err)
{
	struct outcome outcome;
	int ret = s->setup_count ? server_open_crew(s, err) : 0;

	for (size_t i = 0; i < s->setup_count && !ret; i++)
		ret = crew_call(s->crew, &s->setup[i], &outcome, err);
	return ret;
}

/* Attached again: the processes that there were are made again. */
static int server_resume(struct server *s, struct err *err)
{
	int ret = server_attach(s, err);

	if (!s->suspended || ret)
		return ret;
	ret = server_repeat_setup(s, err);
	umask(s->mask);
	s->suspended = false;
	return ret;
}

/* Failures of a remount that are not the file system's: another process holds the mount, a daemon
 * takes too long to come up, or one of our processes cannot be made. */
static bool is_our_failure(int failure)
{
	return failure == -EUSERS || failure == -ETIMEDOUT || failure_is_ours(failure);
}

/* Unmounts and mounts; what goes wrong with that is the file system's answer. */
static int server_remount(struct server *s, struct outcome *ret, struct err *err)
{
	struct err why = { 0 };
	mode_t mask = umask(0);
	int r, attached;

	atomic_store(&s->message->mounting, 1);
	atomic_fetch_add(&s->message->progress, 1);
	server_leave(s);
	r = s->ops->detach(s->ops->own, &why);
	attached = server_attach(s, &why);
	if (!attached)
		attached = server_repeat_setup(s, &why);
	atomic_store(&s->message->mounting, 0);
	umask(mask);
	r = r ? r : attached;
	ret->error = -r;
	return is_our_failure(r) ? err_set(err, -r, "cannot remount: %s", why.text) : 0;
}

/* Returns 0 or an errno. */
static int server_wait(int64_t ms)
{
	struct timespec left = { ms / 1000, ms % 1000 * 1000000 };

	if (ms < 0 || ms > WAIT_MAX_MS)
		return EINVAL;
	while (nanosleep(&left, &left) && errno == EINTR)
		;
	return 0;
}

static int server_call_environment(struct server *s, const struct call *c, struct outcome *ret,
				   struct err *err)
{
	*ret = (struct outcome){ .result = op_table[c->op].result, .bytes = "" };
	if (c->op == OP_remount && s->ops->keeps)
		return server_remount(s, ret, err);
	if (c->op == OP_drop_caches)
		ret->error = -caches_drop(s->caches, s->root_fd);
	else if (c->op == OP_wait)
		ret->error = server_wait(c->wait.duration.num);
	else
		ret->error = ENOSYS;
	return 0;
}

static int server_call_once(struct server *s, const struct call *c, struct outcome *ret,
			    struct err *err)
{
	unsigned traits = op_table[c->op].traits;
	int r = 0;

	if (traits & TRAIT_ENV)
		return server_call_environment(s, c, ret, err);
	if (traits & TRAIT_PROC || c->pid != 1)
		return server_call_crew(s, c, ret, err);
	if (s->ops->limits)
		r = limits_check(s->ops->limits, c, err);
	if (!r)
		caller_call(s->self, c, ret);
	return r;
}

/* A call under which the daemon is killed where that is asked for. */
static int server_call(void *own, const struct call *c, struct outcome *ret, struct err *err)
{
	struct server *s = own;
	int64_t after_ns = s->own_message->kill_during_ns;
	struct kill_timer timer;
	bool started;
	int r;

	s->own_message->kill_during_ns = 0;
	started = after_ns && kill_timer_start(&timer, s->ops, s->outside_fd, after_ns);
	r = server_call_once(s, c, ret, err);
	if (started)
		kill_timer_end(&timer);
	if (s->ops->called)
		s->ops->called(s->ops->own);
	return r;
}

/* The calls on the channel, all at once, by the workers of a crew. */
static int server_race(struct server *s, struct err *err)
{
	struct message *m = s->message;
	struct call calls[TARGET_RACE_MAX];
	struct race_outcome outcomes[TARGET_RACE_MAX];
	int r;

	for (size_t i = 0; i < m->step_count; i++)
		calls[i] = m->steps[i].call;
	r = server_open_crew(s, err);
	if (!r)
		r = crew_race(s->crew, calls, m->step_count, m->seed, outcomes, err);
	if (s->ops->called)
		s->ops->called(s->ops->own);
	if (r == -ETIME) {
		m->fate = FATE_HUNG;
		return 0;
	}
	for (size_t i = 0; i < m->step_count && !r; i++) {
		m->races[i] = outcomes[i];
		if (!channel_copy_outcome(&m->channel, &m->channel.data, &outcomes[i].outcome,
					  &m->races[i].outcome))
			return err_set(err, E2BIG, "the calls of a race gave too many bytes");
	}
	return r;
}

static int server_scan(void *own, struct tree *ret, struct err *err)
{
	struct server *s = own;
	const struct tree *known = s->server.times.is_known ? &s->server.times.last : NULL;
	int r;

	if (!s->plain)
		return tree_scan_again(s->scanner, s->root_fd, known, ret, err);
	privilege_take_back();
	r = tree_scan_again(s->scanner, s->root_fd, known, ret, err);
	privilege_drop();
	return r;
}

static bool server_scan_part(void *own, const char *paths, struct tree *t)
{
	struct server *s = own;
	bool fine;

	if (!s->plain)
		return tree_scan_part(s->scanner, s->root_fd, paths, t);
	privilege_take_back();
	fine = tree_scan_part(s->scanner, s->root_fd, paths, t);
	privilege_drop();
	return fine;
}

/* Kernels take the times of files from the coarse clock, or from a finer one that is not behind it.
 * The coarse clock moves in whole ticks and late: after its next move it may still be behind a time
 * that the finer one has given (seen on Linux 6.18, whose file systems use both). */
static void server_let_time_pass(void *own)
{
	const struct timespec pause = { .tv_nsec = NS_PER_MS };
	struct timespec from, now;

	clock_gettime(CLOCK_REALTIME, &from);
	do {
		nanosleep(&pause, NULL);
		clock_gettime(CLOCK_REALTIME_COARSE, &now);
	} while (now.tv_sec < from.tv_sec ||
		 (now.tv_sec == from.tv_sec && now.tv_nsec <= from.tv_nsec));
}

static bool server_is_attached(void *own)
{
	const struct server *s = own;

	return s->root_fd >= 0 && !orphaned;
}

static bool server_is_gone(void *own)
{
	const struct server *s = own;

	return s->ops->gone && s->ops->gone(s->ops->own);
}

/* A file system that is gone because another process ended it has not answered. */
static void server_excuse_death(struct server *s, enum target_fate fate)
{
	struct channel *c = &s->message->channel;

	if (fate == FATE_DIED && !c->failure && s->ops->gone_by_others)
		c->failure = s->ops->gone_by_others(s->ops->own, &c->err);
}

/* Whether a process that fell to us, such as a daemon, has ended. Behind a program that hangs in
 * the file system, asking the file system itself would hang, too. */
static bool server_has_lost_child(void)
{
	siginfo_t info = { 0 };

	return !waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid;
}

static int server_clear(struct server *s, struct err *err)
{
	int ret;

	if (s->root_fd < 0)
		return err_set(err, EIO, "the file system is not mounted");
	crew_close(s->crew);
	s->crew = NULL;
	s->setup_count = 0;
	caller_reset(s->self);
	if (s->plain)
		privilege_take_back();
	ret = remove_tree_below(s->root_fd, err);
	if (!ret)
		ret = directory_reset(s->root_fd, SANDBOX_ROOT_MODE, err);
	if (s->plain)
		privilege_drop();
	return ret;
}

static int server_remount_for_program(void *own)
{
	struct server *s = own;
	int root = -1, busy = s->ops->detach(s->ops->own, NULL);
	int r = s->ops->attach(s->ops->own, &root, NULL);

	if (root >= 0)
		close(root);
	return busy ? -busy : -r;
}

/* Where the root is for those who are not confined to it; -errno. */
static int server_root_path(const struct server *s, char *ret)
{
	char link[32];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", s->root_fd);
	must(!fchdir(s->outside_fd) && !chroot("."));
	n = readlink(link, ret, PATH_MAX - 1);
	if (n < 0)
		return -errno;
	ret[n] = '\0';
	return 0;
}

/* Runs the program on the channel. Its mounts are copies of ours that follow them. */
static int server_run_program(struct server *s, struct err *err)
{
	char root[PATH_MAX];
	struct confined confined = { .root = root, .own = s, .clone_flags = CLONE_PARENT };
	struct message *m = s->message;
	struct program_report report = { 0 };
	int r;

	if (s->root_fd < 0 || s->outside_fd < 0)
		return err_set(err, EIO, "the file system is not mounted");
	if (s->ops->keeps)
		confined.remount = server_remount_for_program;
	r = server_root_path(s, root);
	server_leave(s);
	s->setup_count = 0;
	if (r)
		return err_sys(err, -r, "cannot find the root of the file system");
	r = confined_share_mounts(err);
	if (!r)
		r = confined_run(&confined, m->channel.text.at, m->channel.text.used,
				 m->program_seconds, &report, err);
	if (!r) {
		m->program_fate = report.fate;
		m->program_status = report.status;
		must(channel_fill(&m->channel.data, buf_str(&report.output), report.output.len));
		program_report_free(&report);
	}
	server_attach(s, NULL);
	return r;
}

static _Noreturn void server_end(struct server *s)
{
	if (s->root_fd >= 0)
		server_leave(s);
	if (s->ops->end)
		s->ops->end(s->ops->own);
	_exit(0);
}

static void server_serve(struct server *s)
{
	struct message *m = s->message;
	struct channel *c = &m->channel;

	channel_server_begin(&s->server);
	switch (m->request) {
	case REQUEST_FOLLOW:
		channel_server_follow(&s->server);
		server_excuse_death(s, m->report.fate);
		break;
	case REQUEST_OBSERVE:
		channel_server_observe(&s->server);
		server_excuse_death(s, m->fate);
		break;
	case REQUEST_RACE:
		m->fate = server_is_gone(s) ? FATE_DIED : FATE_FINE;
		if (m->fate == FATE_FINE)
			c->failure = server_race(s, &c->err);
		server_excuse_death(s, server_is_gone(s) ? FATE_DIED : m->fate);
		break;
	case REQUEST_ATTACH:
		c->failure = server_resume(s, &c->err);
		break;
	case REQUEST_DETACH:
		c->failure = server_detach(s, &c->err);
		break;
	case REQUEST_CLEAR:
		c->failure = server_clear(s, &c->err);
		break;
	case REQUEST_RECORD:
	case REQUEST_DISK:
	case REQUEST_LOAD:
		c->failure = err_set(&c->err, ENOTSUP, "the disk is not ours to watch");
		break;
	case REQUEST_PROGRAM:
		c->failure = server_run_program(s, &c->err);
		server_excuse_death(s, server_has_lost_child() && server_is_gone(s) ? FATE_DIED
										    : FATE_FINE);
		break;
	case REQUEST_END:
		server_end(s);
	}
}

static void on_orphaned(int sig)
{
	orphaned = true;
	alarm(LAST_S);
}

static void on_too_late(int sig)
{
	_exit(1);
}

/* Dies with the owner, after it has cleaned up where there is something to clean. */
static void die_with_owner(const struct sandbox_ops *ops, int owner_pidfd)
{
	struct sigaction orphan = { .sa_handler = on_orphaned };

	sigaction(SIGUSR1, &orphan, NULL);
	signal(SIGALRM, on_too_late);
	owner_follow_fd(owner_pidfd, ops->end ? SIGUSR1 : SIGKILL);
}

static bool labels_files(void)
{
	return !access("/sys/fs/selinux/enforce", F_OK) || !access("/sys/fs/smackfs", F_OK);
}

static int server_begin(struct server *s, struct err *err)
{
	const struct sandbox_ops *ops = s->ops;
	struct user_map uid = { s->options->uid, s->options->outside_uid };
	struct user_map gid = { s->options->gid, s->options->outside_gid };
	int ret = 0;

	if (ops->namespaces & CLONE_NEWUSER)
		ret = privilege_map_user(uid, gid, err);
	if (!ret && ops->namespaces & CLONE_NEWNS &&
	    mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		ret = err_sys(err, errno, "cannot make mounts private");
	if (ret)
		return ret;
	if (capability_has(CAP_SYS_CHROOT))
		s->outside_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	patience_prepare();
	s->caches = caches_open();
	s->scanner = channel_server_scanner(s->options->fields, labels_files());
	if (ops->begin)
		ret = ops->begin(ops->own, err);
	/* Programs that it runs have theirs back. */
	guard_capabilities(true);
	return ret ? ret : server_attach(s, err);
}

_Noreturn void sandbox_server_run(const struct sandbox_ops *ops,
				  const struct sandbox_options *options,
				  struct sandbox_message *message, int owner_pidfd)
{
	static struct server server;
	struct server *s = &server;
	struct channel *channel = &message->message.channel;

	die_with_owner(ops, owner_pidfd);
	/* Daemons that fork into the background are ours to end. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	setsid();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	descriptors_keep(ops->fds, ops->fd_count);
	handles_share();
	*s = (struct server){ ops,          options, message, &message->message, .outside_fd = -1,
			      .root_fd = -1 };
	s->server = (struct channel_server){
		.message = s->message,
		.own = s,
		.call = server_call,
		.scan = server_scan,
		.scan_part = server_scan_part,
		.attached = server_is_attached,
		.gone = server_is_gone,
		.let_time_pass = server_let_time_pass,
		.times.shares = true,
	};
	channel->failure = server_begin(s, &channel->err);
	for (;;) {
		turn_pass(&channel->turn, SIDE_CLIENT);
		while (!orphaned &&
		       !turn_await(&channel->turn, SIDE_SERVER, clock_ns() + LOOK_MS * NS_PER_MS))
			;
		if (orphaned)
			server_end(s);
		server_serve(s);
	}
}
