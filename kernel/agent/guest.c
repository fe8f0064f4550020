// SPDX-License-Identifier: GPL-2.0
/* guest.c -- the C library's calls, made in the kernel of this process instead of the host's.
 *
 * The agent is compiled as for the host; the build then renames its calls to these (calls.syms).
 * Mappings of files are made by syscall(), loads and stores by fault_load() and fault_store(). */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/driver/assay.h"
#include "syscall/sync.h"

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

long guest_syscall(long number, ...);

long guest_syscall(long number, ...)
{
	long args[6], result;
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		args[i] = va_arg(list, long);
	va_end(list);
	result = assay_call(number, args[0], args[1], args[2], args[3], args[4], args[5]);
	if (result >= 0 || result < -4095)
		return result;
	errno = (int)-result;
	return -1;
}

/* A call whose arguments are the system call's. */
#define GUEST(type, name, parameters, ...) \
	type guest_##name parameters; \
	type guest_##name parameters \
	{ \
		return (type)guest_syscall(__VA_ARGS__); \
	}

GUEST(int, open, (const char *path, int flags, mode_t mode), SYS_open, path, flags, mode)
GUEST(int, openat, (int dir, const char *path, int flags, mode_t mode), SYS_openat, dir, path,
      flags, mode)
GUEST(int, close, (int fd), SYS_close, fd)
GUEST(int, dup, (int fd), SYS_dup, fd)
GUEST(int, dup2, (int fd, int to), SYS_dup2, fd, to)
GUEST(int, fcntl, (int fd, int command, long arg), SYS_fcntl, fd, command, arg)
GUEST(int, ioctl, (int fd, unsigned long request, long arg), SYS_ioctl, fd, request, arg)
GUEST(int, flock, (int fd, int operation), SYS_flock, fd, operation)
GUEST(off_t, lseek, (int fd, off_t offset, int whence), SYS_lseek, fd, offset, whence)
GUEST(ssize_t, read, (int fd, void *to, size_t count), SYS_read, fd, to, count)
GUEST(ssize_t, write, (int fd, const void *from, size_t count), SYS_write, fd, from, count)
GUEST(ssize_t, pread, (int fd, void *to, size_t count, off_t offset), SYS_pread64, fd, to, count,
      offset)
GUEST(ssize_t, pwrite, (int fd, const void *from, size_t count, off_t offset), SYS_pwrite64, fd,
      from, count, offset)
GUEST(int, ftruncate, (int fd, off_t length), SYS_ftruncate, fd, length)
GUEST(int, fallocate, (int fd, int mode, off_t offset, off_t length), SYS_fallocate, fd, mode,
      offset, length)
GUEST(int, fsync, (int fd), SYS_fsync, fd)
GUEST(int, fdatasync, (int fd), SYS_fdatasync, fd)
GUEST(int, syncfs, (int fd), SYS_syncfs, fd)
GUEST(int, fstat, (int fd, struct stat *st), SYS_fstat, fd, st)
GUEST(int, stat, (const char *path, struct stat *st), SYS_stat, path, st)
GUEST(int, statx, (int dir, const char *path, int flags, unsigned mask, void *st), SYS_statx, dir,
      path, flags, mask, st)
GUEST(int, fstatfs, (int fd, void *st), SYS_fstatfs, fd, st)
GUEST(int, fchdir, (int fd), SYS_fchdir, fd)
GUEST(int, chdir, (const char *path), SYS_chdir, path)
GUEST(int, chroot, (const char *path), SYS_chroot, path)
GUEST(int, mkdir, (const char *path, mode_t mode), SYS_mkdir, path, mode)
GUEST(int, fchmod, (int fd, mode_t mode), SYS_fchmod, fd, mode)
GUEST(int, fchmodat, (int dir, const char *path, mode_t mode, int flags), SYS_fchmodat2, dir, path,
      mode, flags)
GUEST(int, unlinkat, (int dir, const char *path, int flags), SYS_unlinkat, dir, path, flags)
GUEST(int, fremovexattr, (int fd, const char *name), SYS_fremovexattr, fd, name)
GUEST(int, mount,
      (const char *source, const char *path, const char *type, unsigned long flags,
       const void *data),
      SYS_mount, source, path, type, flags, data)
GUEST(int, umount2, (const char *path, int flags), SYS_umount2, path, flags)
GUEST(mode_t, umask, (mode_t mask), SYS_umask, mask)
GUEST(ssize_t, readlinkat, (int dir, const char *path, char *to, size_t size), SYS_readlinkat, dir,
      path, to, size)
GUEST(ssize_t, getdents64, (int fd, void *to, size_t size), SYS_getdents64, fd, to, size)
GUEST(ssize_t, flistxattr, (int fd, char *to, size_t size), SYS_flistxattr, fd, to, size)
GUEST(ssize_t, llistxattr, (const char *path, char *to, size_t size), SYS_llistxattr, path, to,
      size)
GUEST(ssize_t, fgetxattr, (int fd, const char *name, void *to, size_t size), SYS_fgetxattr, fd,
      name, to, size)
GUEST(ssize_t, lgetxattr, (const char *path, const char *name, void *to, size_t size),
      SYS_lgetxattr, path, name, to, size)
GUEST(int, memfd_create, (const char *name, unsigned flags), SYS_memfd_create, name, flags)

void *guest_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
int guest_munmap(void *at, size_t size);

/* This is memory for the agent, of the host. */
void *guest_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	void *memory = flags & MAP_ANONYMOUS ? assay_host_memory(size) : NULL;

	errno = flags & MAP_ANONYMOUS ? ENOMEM : ENODEV;
	return memory ? memory : MAP_FAILED;
}

int guest_munmap(void *at, size_t size)
{
	assay_host_unmap(at, size);
	return 0;
}

/* This kernel has no disks but those of the file system under test. */
int sync_file_system(int root_fd)
{
	return (int)guest_syscall(SYS_sync, 0L);
}
