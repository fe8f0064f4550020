/* fd.c -- descriptors: opening, closing, copying, positions, locks. */
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "syscall/caller.h"

int fd_free(const struct caller *self)
{
	for (int fd = FD_FIRST; fd < SYSCALL_FDS_MAX; fd++)
		if (self->fds[fd] < 0)
			return fd;
	return -1;
}

void answer_fd(struct caller *self, struct outcome *ret, int fd, long real)
{
	if (real < 0) {
		ret->error = errno;
		return;
	}
	self->fds[fd] = (int)real;
	ret->num = fd;
}

/* A full table is asked about first: a failing open must not have created a file. */
static void open_as(struct caller *self, struct at at, int64_t flags, mode_t mode,
		    struct outcome *ret)
{
	int fd = fd_free(self);

	if (fd < 0)
		ret->error = EMFILE;
	else
		answer_fd(self, ret, fd, open_at(at, flags, mode));
}

SYSCALL(open)
{
	open_as(self, at_cwd(self, &c->open.path), c->open.flags.num, mode_given(&c->open.mode),
		ret);
}

SYSCALL(openat)
{
	struct at at = at_path(self, dirfd_real(self, &c->openat.dirfd), &c->openat.path);

	open_as(self, at, c->openat.flags.num, mode_given(&c->openat.mode), ret);
}

SYSCALL(creat)
{
	open_as(self, at_cwd(self, &c->creat.path), O_CREAT | O_WRONLY | O_TRUNC,
		mode_given(&c->creat.mode), ret);
}

/* The kernel is strict here: unknown flags, and a mode where nothing is created, are errors. */
SYSCALL(openat2)
{
	struct at at = at_path(self, dirfd_real(self, &c->openat2.dirfd), &c->openat2.path);
	struct open_how how = {
		.flags = (uint32_t)c->openat2.flags.num,
		.mode = c->openat2.mode.num == MODE_ABSENT ? 0 : (uint64_t)c->openat2.mode.num,
		.resolve = (uint64_t)c->openat2.resolve.num,
	};
	int fd = fd_free(self);

	if (fd < 0)
		ret->error = EMFILE;
	else
		answer_fd(self, ret, fd,
			  syscall(SYS_openat2, at.dirfd, at.path, &how, sizeof(how)));
}

/* The descriptor is gone even if closing reports an error. */
SYSCALL(close)
{
	int real = fd_real(self, &c->close.fd);

	answer_none(ret, close(real));
	if (real >= 0)
		self->fds[c->close.fd.num] = -1;
}

SYSCALL(dup)
{
	int fd = fd_free(self);

	if (fd < 0)
		ret->error = EMFILE;
	else
		answer_fd(self, ret, fd, dup(fd_real(self, &c->dup.fd)));
}

/* SYSCALL_FDS_MAX is the limit of descriptors here: beyond it the new one is bad. */
SYSCALL(dup2)
{
	int64_t newfd = c->dup2.newfd.num;
	int real = fd_real(self, &c->dup2.fd), taken = fd_real(self, &c->dup2.newfd);

	if (newfd < 0 || newfd >= SYSCALL_FDS_MAX)
		ret->error = EBADF;
	else
		answer_fd(self, ret, (int)newfd, taken < 0 ? dup(real) : dup2(real, taken));
}

SYSCALL(lseek)
{
	answer_num(ret, lseek(fd_real(self, &c->lseek.fd), c->lseek.offset.num,
			      (int)c->lseek.whence.num));
}

SYSCALL(flock)
{
	answer_none(ret, flock(fd_real(self, &c->flock.fd), (int)c->flock.operation.num));
}
