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

/* What the process that mounts leaves; shared with it, as is the table of descriptors. */
struct image_mounting {
	const struct fuse_disk *disk;
	pid_t owner;
	int fd, status;
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

static int mounting_run(void *to)
{
	struct image_mounting *m = to;
	const char *place = NULL;

	m->status = mounting_enter_namespaces(&m->err);
	if (!m->status)
		m->status = mounting_private_place(&place, &m->err);
	if (!m->status)
		m->status = fuse_disk_mount(m->disk, place, m->owner, &m->fd, &m->err);
	return 0;
}

static int recorded_image_mount(struct recorded_image *r, struct image_mounting *m, struct err *err)
{
	char *stack = must_alloc(STACK_BYTES);
	pid_t pid;
	int end;

	m->disk = &r->disk;
	m->owner = getpid();
	m->fd = -1;
	m->status = -ECHILD;
	pid = clone(mounting_run, stack + STACK_BYTES, CLONE_FILES | SIGCHLD, m);
	free(stack);
	if (pid < 0)
		return err_sys(err, errno, "cannot start a process that mounts");
	while (waitpid(pid, &end, 0) < 0 && errno == EINTR)
		;
	if (m->fd >= 0)
		r->disk.connection_fd = -1; /* it was closed there, and so here */
	r->fd = m->fd;
	if (m->status)
		*err = m->err;
	return m->status;
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
		status = fuse_disk_start(&r->disk, image, r->recording, err);
	if (!status)
		status = recorded_image_mount(r, m, err);
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
