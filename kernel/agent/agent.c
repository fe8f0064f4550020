// SPDX-License-Identifier: GPL-2.0
/* agent.c -- carries out what the checker asks, inside the kernel under test.
 *
 * Its calls, here as in exec and in the walks of trees, are calls of that kernel (guest.c). The
 * file system is mounted below the first root, and a directory in it becomes the root. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/must.h"
#include "kernel/driver/assay.h"
#include "seat.h"
#include "target/steps.h"
#include "tree/take.h"

enum { ROOT_MODE = 0755 };

/* For overlayfs: the first root is in memory. */
static const char *const layers[] = { "/lower", "/upper", "/work" };

static const char mount_path[] = "/fs", root_path[] = "/fs/root";
static const char control_path[] = "/proc/sys/vm/drop_caches";

static struct agent {
	struct hall *hall;
	struct steps steps;
	struct taker *taker;
	struct exec_self *self;
	int root_fd;      /* of the file system; -1: not mounted */
	int outside_fd;   /* the first root */
	int drop_fd;      /* the control of caches */
} agent;

static struct hall *hall_of(struct agent *a)
{
	if (!a->hall)
		a->hall = seat_enter();
	if (!a->hall)
		assay_failed("there is no hall");
	return a->hall;
}

/* The first to come: the kernel speaks before it does anything. */
void assay_agent_console(const char *text, unsigned int len)
{
	struct hall *hall = hall_of(&agent);
	uint32_t room;

	room = HALL_CONSOLE_MAX - 1 - hall->console_len;
	if (len > room)
		len = room;
	memcpy(hall->console + hall->console_len, text, len);
	hall->console_len += len;
	hall->console[hall->console_len] = '\0';
}

static int attach(struct agent *a, struct err *err)
{
	/* The kernel takes a whole page of options. */
	static _Alignas(4096) char options[4096];

	memcpy(options, a->hall->options, sizeof(a->hall->options));
	if (mount(a->hall->source, mount_path, a->hall->fs, 0, options))
		return err_sys(err, errno, "cannot mount %s", a->hall->fs);
	umask(0);
	if (mkdir(root_path, ROOT_MODE) && errno != EEXIST)
		return err_sys(err, errno, "cannot make a directory in the file system");
	a->root_fd = open(root_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (a->root_fd < 0 || fchdir(a->root_fd) || chroot("."))
		return err_sys(err, errno, "cannot enter the directory for the test");
	a->self = exec_self_new(a->root_fd);
	return a->self ? 0 : err_sys(err, errno, "cannot prepare calls");
}

static int detach(struct agent *a)
{
	exec_self_free(a->self);
	a->self = NULL;
	if (fchdir(a->outside_fd) || chroot("."))
		return -errno;
	close(a->root_fd);
	a->root_fd = -1;
	return umount2(mount_path, 0) ? -errno : 0;
}

static int remount(struct agent *a)
{
	mode_t mask = umask(0);
	int busy = detach(a), error = busy ? 0 : attach(a, NULL);

	umask(mask);
	return busy ? -busy : -error;
}

/* Clean pages, names and inodes; what is dirty stays. */
static int drop_caches(struct agent *a)
{
	return write(a->drop_fd, "3", 1) == 1 ? 0 : errno;
}

static int advance_time(const struct call *c)
{
	if (c->advance_time.duration.num < 0)
		return EINVAL;
	assay_unwatch();
	assay_sleep_ms((unsigned long)c->advance_time.duration.num);
	return 0;
}

static int make_call(void *own, const struct call *c, struct outcome *ret, struct err *err)
{
	struct agent *a = own;

	assay_watch();
	*ret = (struct outcome){ .result = op_table[c->op].result, .bytes = "" };
	if (c->pid != 1 || op_table[c->op].traits & TRAIT_PROC)
		ret->error = ENOSYS;
	else if (c->op == OP_remount)
		ret->error = a->hall->keeps ? remount(a) : ENOSYS;
	else if (c->op == OP_drop_caches)
		ret->error = drop_caches(a);
	else if (c->op == OP_advance_time)
		ret->error = advance_time(c);
	else
		exec_self_call(a->self, c, ret);
	assay_settle();
	assay_unwatch();
	return 0;
}

static int walk(void *own, struct tree *ret, struct err *err)
{
	struct agent *a = own;

	return tree_take(a->taker, a->root_fd, ret, err);
}

static bool is_attached(void *own)
{
	const struct agent *a = own;

	return a->root_fd >= 0;
}

/* A kernel that dies takes us with it. */
static bool is_gone(void *own)
{
	return false;
}

static void serve(struct agent *a)
{
	struct board *b = a->steps.board;

	b->failure = 0;
	b->err = (struct err){ 0 };
	if (b->errand == ERRAND_FOLLOW)
		steps_follow(&a->steps);
	else if (b->errand == ERRAND_OBSERVE)
		steps_observe(&a->steps);
	else
		b->failure = err_set(&b->err, ENOSYS, "a kernel knows no such errand");
	assay_settle();
}

/* As every Linux with a user space has it. */
static int protect(void)
{
	static const char *const controls[] = {
		"/proc/sys/fs/protected_hardlinks",
		"/proc/sys/fs/protected_regular",
		"/proc/sys/fs/protected_fifos",
	};

	for (size_t i = 0; i < ARRAY_LEN(controls); i++) {
		int fd = open(controls[i], O_WRONLY | O_CLOEXEC);

		if (fd < 0 || write(fd, "1", 1) != 1)
			return -errno;
		close(fd);
	}
	return 0;
}

/* Directories of the first root, and what is needed of /proc. */
static int prepare(struct agent *a)
{
	umask(0);
	mkdir(mount_path, ROOT_MODE);
	mkdir("/proc", ROOT_MODE);
	for (size_t i = 0; i < ARRAY_LEN(layers); i++)
		mkdir(layers[i], ROOT_MODE);
	if (mount("proc", "/proc", "proc", 0, NULL))
		return -errno;
	a->drop_fd = open(control_path, O_WRONLY | O_CLOEXEC);
	a->outside_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (a->drop_fd < 0 || a->outside_fd < 0)
		return -errno;
	return protect();
}

static int begin(struct agent *a, struct err *err)
{
	int error;

	a->steps = (struct steps){
		.board = &a->hall->board,
		.own = a,
		.call = make_call,
		.walk = walk,
		.attached = is_attached,
		.gone = is_gone,
	};
	a->taker = steps_taker(a->hall->fields, false);
	a->root_fd = -1;
	error = prepare(a);
	if (error)
		return err_sys(err, -error, "cannot prepare the kernel's first root");
	error = attach(a, err);
	assay_settle();
	return error;
}

_Noreturn void assay_agent(void)
{
	struct agent *a = &agent;

	hall_of(a)->board.failure = begin(a, &a->hall->board.err);
	for (;;) {
		seat_wait(a->hall);
		serve(a);
	}
}
