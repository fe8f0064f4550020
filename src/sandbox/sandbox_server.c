/* sandbox_server.c -- the sandbox's own side: namespaces, root directory, calls, walks.
 *
 * Process 1 of a script is the sandbox itself. Others are workers of a crew, which is made when
 * the first of them is. Remounting closes everything; workers are made anew then, and what they
 * were told about users and masks is told again. */
#include "sandbox/sandbox_server.h"
#include "sandbox/crew.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/must.h"
#include "channel/server.h"
#include "sandbox/confined.h"
#include "sandbox/guard.h"
#include "channel/limits.h"
#include "sandbox/patience.h"
#include "sandbox/privilege.h"
#include "storage/caches.h"
#include "storage/tidy.h"
#include "tree/scan.h"

enum {
	TOLD_MAX = 1024,
	LOOK_MS = 1000, /* how often an orphan that missed its signal looks */
	LAST_S = 10,    /* what it may take to clean up then */
};

/* Set by a signal: the owner is gone. */
static volatile sig_atomic_t orphaned;

struct inside {
	const struct sandbox_ops *keeping;
	const struct sandbox_options *options;
	struct channel *channel;
	int outside_fd; /* the root directory there was; -1: not confined */
	int root_fd;    /* -1: not attached */
	bool plain;     /* calls are made without capabilities, walks are not */
	struct caches *caches;
	struct scanner *taker;
	struct channel_server steps;
	struct caller *self;
	struct crew *crew;          /* NULL: nobody but process 1 */
	struct call told[TOLD_MAX]; /* to the crew, to be repeated; arguments are numbers */
	size_t told_count;
};

/* Into the root of the file system, so that no path leads out of it. */
static int enter(struct inside *in, struct err *err)
{
	if (fchdir(in->root_fd))
		return err_sys(err, errno, "cannot enter the root of the file system");
	if (in->outside_fd >= 0 && chroot("."))
		return err_sys(err, errno, "cannot make it the root directory");
	in->plain = in->options->uid && in->keeping->namespaces & CLONE_NEWUSER;
	if (in->plain)
		privilege_drop();
	in->self = caller_new(in->root_fd);
	if (!in->self)
		return err_sys(err, errno, "cannot prepare calls");
	return 0;
}

static void leave(struct inside *in)
{
	crew_close(in->crew);
	in->crew = NULL;
	caller_free(in->self);
	in->self = NULL;
	if (in->outside_fd >= 0)
		must(!fchdir(in->outside_fd) && !chroot("."));
	must(!chdir("/"));
	close(in->root_fd);
	in->root_fd = -1;
}

static int attach(struct inside *in, struct err *err)
{
	int ret;

	if (in->root_fd >= 0)
		return 0;
	ret = in->keeping->attach(in->keeping->own, &in->root_fd, err);
	if (!ret && in->keeping->limits)
		in->channel->limits = *in->keeping->limits;
	return ret ? ret : enter(in, err);
}

static int detach(struct inside *in, struct err *err)
{
	if (in->root_fd < 0 || !in->keeping->detach)
		return 0;
	leave(in);
	in->told_count = 0;
	return in->keeping->detach(in->keeping->own, err);
}

static int open_crew(struct inside *in, struct err *err)
{
	struct crew_options options = {
		.deadline_seconds = in->options->deadline_seconds,
		.no_chroot = in->outside_fd < 0,
		.limits = in->keeping->limits,
		.uid = in->options->uid,
		.gid = in->options->gid,
	};

	return in->crew ? 0 : crew_open(&in->crew, in->root_fd, &options, err);
}

/* Was this said about a process that is no more, or taken back by what is said now? */
static bool is_outdated(const struct call *told, const struct call *c)
{
	if (told->pid != c->pid)
		return false;
	return c->op == OP_destroy_process ? told->op != OP_add_user_to_group
					   : c->op == OP_umask && told->op == OP_umask;
}

/* What has to be said again to a crew that is made anew. */
static int remember(struct inside *in, const struct call *c, struct err *err)
{
	size_t kept = 0;

	if (!(op_table[c->op].traits & TRAIT_PROC) && c->op != OP_umask)
		return 0;
	for (size_t i = 0; i < in->told_count; i++)
		if (!is_outdated(&in->told[i], c))
			in->told[kept++] = in->told[i];
	in->told_count = kept;
	if (c->op == OP_destroy_process)
		return 0;
	if (in->told_count == TOLD_MAX)
		return err_set(err, E2BIG, "more than %d calls about processes", TOLD_MAX);
	in->told[in->told_count++] = *c;
	return 0;
}

/* -ETIME: the call hung. */
static int call_crew(struct inside *in, const struct call *c, struct outcome *ret, struct err *err)
{
	int r = open_crew(in, err);

	if (!r)
		r = crew_call(in->crew, c, ret, err);
	if (!r && !ret->error)
		r = remember(in, c, err);
	return r;
}

static int tell_again(struct inside *in, struct err *err)
{
	struct outcome outcome;
	int ret = in->told_count ? open_crew(in, err) : 0;

	for (size_t i = 0; i < in->told_count && !ret; i++)
		ret = crew_call(in->crew, &in->told[i], &outcome, err);
	return ret;
}

/* Failures of a remount that are not the file system's: somebody holds the mount, a daemon takes
 * too long to come up, or one of our processes cannot be made. */
static bool is_our_failure(int failure)
{
	return failure == -EUSERS || failure == -ETIMEDOUT || failure_is_ours(failure);
}

/* Unmounts and mounts; what goes wrong with that is the file system's answer. */
static int remount(struct inside *in, struct outcome *ret, struct err *err)
{
	struct err why = { 0 };
	mode_t mask = umask(0);
	int r, attached;

	atomic_store(&in->channel->mounting, 1);
	atomic_fetch_add(&in->channel->progress, 1);
	leave(in);
	r = in->keeping->detach(in->keeping->own, &why);
	attached = attach(in, &why);
	if (!attached)
		attached = tell_again(in, &why);
	atomic_store(&in->channel->mounting, 0);
	umask(mask);
	r = r ? r : attached;
	ret->error = -r;
	return is_our_failure(r) ? err_set(err, -r, "cannot remount: %s", why.text) : 0;
}

static int serve_environment(struct inside *in, const struct call *c, struct outcome *ret,
			     struct err *err)
{
	*ret = (struct outcome){ .result = op_table[c->op].result, .bytes = "" };
	if (c->op == OP_remount && in->keeping->keeps)
		return remount(in, ret, err);
	if (c->op == OP_drop_caches)
		ret->error = -caches_drop(in->caches, in->root_fd);
	else if (c->op == OP_sync) /* of the whole machine it would take as long as others write */
		ret->error = syncfs(in->root_fd) ? errno : 0;
	else
		ret->error = ENOSYS;
	return 0;
}

static int make_call(void *own, const struct call *c, struct outcome *ret, struct err *err)
{
	struct inside *in = own;
	unsigned traits = op_table[c->op].traits;
	int r = 0;

	if (traits & TRAIT_ENV || c->op == OP_sync)
		return serve_environment(in, c, ret, err);
	if (traits & TRAIT_PROC || c->pid != 1)
		return call_crew(in, c, ret, err);
	if (in->keeping->limits)
		r = limits_check(in->keeping->limits, c, err);
	if (!r)
		caller_call(in->self, c, ret);
	return r;
}

/* The calls on the channel, all at once, by the workers of a crew. */
static int race(struct inside *in, struct err *err)
{
	struct channel *b = in->channel;
	struct call calls[TARGET_RACE_MAX];
	struct crew_raced raced[TARGET_RACE_MAX];
	size_t used = 0;
	int r;

	for (size_t i = 0; i < b->step_count; i++)
		calls[i] = b->steps[i].call;
	r = open_crew(in, err);
	if (!r)
		r = crew_race(in->crew, calls, b->step_count, b->seed, raced, err);
	if (r == -ETIME) {
		b->fate = FATE_HUNG;
		return 0;
	}
	for (size_t i = 0; i < b->step_count && !r; i++) {
		b->raced[i] = (struct raced){ .called_ns = raced[i].called_ns,
					      .returned_ns = raced[i].returned_ns };
		if (!channel_answer_at(b, used, &raced[i].outcome, &b->raced[i].outcome))
			return err_set(err, E2BIG, "the calls of a race gave too many bytes");
		used += raced[i].outcome.bytes ? raced[i].outcome.len + 1 : 0;
	}
	return r;
}

static int walk(void *own, struct tree *ret, struct err *err)
{
	struct inside *in = own;
	int r;

	if (!in->plain)
		return tree_scan(in->taker, in->root_fd, ret, err);
	privilege_take_back();
	r = tree_scan(in->taker, in->root_fd, ret, err);
	privilege_drop();
	return r;
}

static bool is_attached(void *own)
{
	const struct inside *in = own;

	return in->root_fd >= 0 && !orphaned;
}

static bool is_gone(void *own)
{
	const struct inside *in = own;

	return in->keeping->gone && in->keeping->gone(in->keeping->own);
}

/* A file system that is gone because somebody else ended it is no answer of its own. */
static void excuse_death(struct inside *in, enum target_fate fate)
{
	struct channel *b = in->channel;

	if (fate == FATE_DIED && !b->failure && in->keeping->gone_by_others)
		b->failure = in->keeping->gone_by_others(in->keeping->own, &b->err);
}

static int clear(struct inside *in, struct err *err)
{
	int ret;

	if (in->root_fd < 0)
		return err_set(err, EIO, "the file system is not mounted");
	crew_close(in->crew);
	in->crew = NULL;
	in->told_count = 0;
	caller_reset(in->self);
	if (in->plain)
		privilege_take_back();
	ret = tidy_below(in->root_fd, err);
	if (!ret)
		ret = tidy_directory(in->root_fd, SANDBOX_ROOT_MODE, err);
	if (in->plain)
		privilege_drop();
	return ret;
}

static int remount_for_program(void *own)
{
	struct inside *in = own;
	int root = -1, busy = in->keeping->detach(in->keeping->own, NULL);
	int r = in->keeping->attach(in->keeping->own, &root, NULL);

	if (root >= 0)
		close(root);
	return busy ? -busy : -r;
}

/* Where the root is for those who are not confined to it; -errno. */
static int path_of_root(const struct inside *in, char *ret)
{
	char link[32];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", in->root_fd);
	must(!fchdir(in->outside_fd) && !chroot("."));
	n = readlink(link, ret, PATH_MAX - 1);
	if (n < 0)
		return -errno;
	ret[n] = '\0';
	return 0;
}

/* Runs the program on the channel. Its mounts are copies of ours that follow them. */
static int run_program(struct inside *in, struct err *err)
{
	char root[PATH_MAX];
	struct confined confined = { .root = root, .own = in, .clone_flags = CLONE_PARENT };
	struct channel *b = in->channel;
	struct program_end ended = { 0 };
	int r;

	if (in->root_fd < 0 || in->outside_fd < 0)
		return err_set(err, EIO, "the file system is not mounted");
	if (in->keeping->keeps)
		confined.remount = remount_for_program;
	r = path_of_root(in, root);
	leave(in);
	in->told_count = 0;
	if (r)
		return err_sys(err, -r, "cannot find the root of the file system");
	r = confined_share_mounts(err);
	if (!r)
		r = confined_run(&confined, b->text, b->text_len, b->program_seconds, &ended, err);
	if (!r) {
		b->program_end = ended.end;
		b->program_status = ended.status;
		b->answer_len = ended.output.len;
		memcpy(b->answer, buf_str(&ended.output), b->answer_len);
		program_end_free(&ended);
	}
	attach(in, NULL);
	return r;
}

static _Noreturn void end(struct inside *in)
{
	if (in->root_fd >= 0)
		leave(in);
	if (in->keeping->end)
		in->keeping->end(in->keeping->own);
	_exit(0);
}

static void serve(struct inside *in)
{
	struct channel *b = in->channel;

	b->failure = 0;
	b->err = (struct err){ 0 };
	switch (b->request) {
	case REQUEST_FOLLOW:
		channel_server_follow(&in->steps);
		excuse_death(in, b->end.fate);
		break;
	case REQUEST_OBSERVE:
		channel_server_observe(&in->steps);
		excuse_death(in, b->fate);
		break;
	case REQUEST_RACE:
		b->fate = is_gone(in) ? FATE_DIED : FATE_FINE;
		if (b->fate == FATE_FINE)
			b->failure = race(in, &b->err);
		excuse_death(in, is_gone(in) ? FATE_DIED : b->fate);
		break;
	case REQUEST_ATTACH:
		b->failure = attach(in, &b->err);
		break;
	case REQUEST_DETACH:
		b->failure = detach(in, &b->err);
		break;
	case REQUEST_CLEAR:
		b->failure = clear(in, &b->err);
		break;
	case REQUEST_RECORD:
		b->failure = err_set(&b->err, ENOTSUP, "the disk is not ours to watch");
		break;
	case REQUEST_PROGRAM:
		b->failure = run_program(in, &b->err);
		excuse_death(in, is_gone(in) ? FATE_DIED : FATE_FINE);
		break;
	case REQUEST_END:
		end(in);
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

/* Dies with the owner, after it has cleaned up where there is something to clean. Nobody would
 * end us if the owner went before we asked for that. */
static void die_with_owner(const struct sandbox_ops *keeping, int owner_pidfd)
{
	struct pollfd gone = { .fd = owner_pidfd, .events = POLLIN };
	struct sigaction orphan = { .sa_handler = on_orphaned };

	sigaction(SIGUSR1, &orphan, NULL);
	signal(SIGALRM, on_too_late);
	prctl(PR_SET_PDEATHSIG, keeping->end ? SIGUSR1 : SIGKILL);
	if (poll(&gone, 1, 0) != 0)
		_exit(0);
}

static bool labels_files(void)
{
	return !access("/sys/fs/selinux/enforce", F_OK) || !access("/sys/fs/smackfs", F_OK);
}

static int begin(struct inside *in, struct err *err)
{
	const struct sandbox_ops *k = in->keeping;
	struct user_map uid = { in->options->uid, in->options->outside_uid };
	struct user_map gid = { in->options->gid, in->options->outside_gid };
	int ret = 0;

	if (k->namespaces & CLONE_NEWUSER)
		ret = privilege_map_user(uid, gid, err);
	if (!ret && k->namespaces & CLONE_NEWNS && mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		ret = err_sys(err, errno, "cannot make mounts private");
	if (ret)
		return ret;
	if (privilege_has(CAP_SYS_CHROOT))
		in->outside_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	patience_prepare();
	in->caches = caches_open();
	in->taker = channel_server_scanner(in->options->fields, labels_files());
	if (k->begin)
		ret = k->begin(k->own, err);
	/* Programs that it runs have theirs back. */
	guard_capabilities(true);
	return ret ? ret : attach(in, err);
}

_Noreturn void sandbox_server_run(const struct sandbox_ops *keeping,
				  const struct sandbox_options *options, struct channel *channel,
				  int owner_pidfd)
{
	static struct inside inside;
	struct inside *in = &inside;

	die_with_owner(keeping, owner_pidfd);
	/* Daemons that fork away from whoever starts them are ours to end. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	setsid();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	descriptors_keep(keeping->fds, keeping->fd_count);
	*in = (struct inside){ keeping, options, channel, .outside_fd = -1, .root_fd = -1 };
	in->steps = (struct channel_server){
		.channel = channel,
		.own = in,
		.call = make_call,
		.walk = walk,
		.attached = is_attached,
		.gone = is_gone,
	};
	channel->failure = begin(in, &channel->err);
	for (;;) {
		channel_pass(channel, TURN_CLIENT);
		while (!channel_await(channel, TURN_SERVER, LOOK_MS * INT64_C(1000000)) &&
		       !orphaned)
			;
		if (orphaned)
			end(in);
		serve(in);
	}
}
