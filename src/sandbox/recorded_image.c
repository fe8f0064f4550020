/* recorded_image.c -- an image as a file that a program is given, and a log of what it writes
 * there.
 */
#include "sandbox/recorded_image.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/must.h"
#include "process/capability.h"
#include "sandbox/privilege.h"
#include "storage/image.h"
#include "storage/mounting.h"
#include "storage/recording.h"

enum { STACK_BYTES = 256 << 10 };

/* Shared with the process that mounts, as is the table of descriptors. The connection has to be
 * opened in the user namespace that it is mounted in; the server is a child of ours. */
struct image_mounting {
	struct fuse_disk disk;
	pid_t owner;
	int connection_fd, fd, status;
	struct err err;
};

bool recorded_image_possible(void)
{
	return fuse_disk_possible() &&
	       (capability_has(CAP_SYS_ADMIN) || privilege_user_namespaces());
}

static int mounting_enter_namespaces(struct err *err)
{
	struct user_map uid = { .outside = geteuid() }, gid = { .outside = getegid() };
	bool plain = !capability_has(CAP_SYS_ADMIN);
	int r = 0;

	if (unshare(CLONE_NEWNS | (plain ? CLONE_NEWUSER : 0)))
		return err_sys(err, errno, "cannot make a mount namespace");
	if (plain)
		r = privilege_map_user(uid, gid, err);
	if (!r && mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		r = err_sys(err, errno, "cannot make mounts private");
	return r;
}

/* It stops while the server is started. */
static int mounting_run(void *to)
{
	struct image_mounting *m = to;
	const char *place = NULL;

	m->status = mounting_enter_namespaces(&m->err);
	if (!m->status)
		m->status = mounting_private_place(&place, &m->err);
	if (!m->status && (m->connection_fd = fuse_disk_connect()) < 0)
		m->status = err_sys(&m->err, errno, "cannot open /dev/fuse");
	if (m->status)
		return 1;
	m->status = -ECHILD;
	raise(SIGSTOP);
	m->status = fuse_disk_mount(&m->disk, place, m->owner, &m->fd, &m->err);
	return 0;
}

/* Until it has stopped or ended; whether it has stopped. */
static bool mounting_await(pid_t pid)
{
	int end;

	while (waitpid(pid, &end, WUNTRACED) < 0)
		if (errno != EINTR)
			return false;
	return WIFSTOPPED(end);
}

static int recorded_image_mount(struct recorded_image *r, struct image_mounting *m,
				const struct image *image, struct err *err)
{
	char *stack = must_alloc(STACK_BYTES);
	int status = 0;
	pid_t pid;

	*m = (struct image_mounting){ .owner = getpid(), .connection_fd = -1, .fd = -1 };
	m->status = err_set(&m->err, ECHILD, "the process that mounts was killed");
	pid = clone(mounting_run, stack + STACK_BYTES, CLONE_FILES | SIGCHLD, m);
	free(stack);
	if (pid < 0)
		return err_sys(err, errno, "cannot start a process that mounts");
	if (mounting_await(pid)) {
		status = fuse_disk_start_on(&r->disk, m->connection_fd, image, r->recording, err);
		m->disk = r->disk;
		r->disk.connection_fd = -1; /* it is closed there, and so here */
		kill(pid, status ? SIGKILL : SIGCONT);
		mounting_await(pid);
	}
	r->fd = m->fd;
	if (!status && m->status) {
		status = m->status;
		*err = m->err;
	}
	return status;
}

int recorded_image_open(struct recorded_image *r, const struct image *image, struct err *err)
{
	struct image_mounting *m =
		mmap(NULL, sizeof(*m), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;

	*r = (struct recorded_image){ .fd = -1, .disk = { .connection_fd = -1 } };
	if (m == MAP_FAILED)
		return err_sys(err, errno, "cannot share memory");
	status = recording_new(&r->recording, err);
	if (!status)
		status = recorded_image_mount(r, m, image, err);
	munmap(m, sizeof(*m));
	if (status)
		recorded_image_close(r);
	return status;
}

void recorded_image_close(struct recorded_image *r)
{
	if (r->fd >= 0)
		close(r->fd);
	r->fd = -1;
	fuse_disk_stop(&r->disk);
	recording_free(r->recording);
	r->recording = NULL;
}

void recorded_image_begin(struct recorded_image *r)
{
	recording_ask_restart(r->recording);
	recording_begin(r->recording);
}

int recorded_image_copy(const struct recorded_image *r, struct buf *out, struct err *err)
{
	return recording_copy(r->recording, out, err);
}
