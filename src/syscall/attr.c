/* attr.c -- attributes: modes, owners, times, flags, and what stat and statfs return. */
#include <linux/fs.h>
#include <linux/stat.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "syscall/caller.h"

#define NANO INT64_C(1000000000)

/* The library's fchmodat knows flags that the system call has not. */
static long change_mode(struct at at, const struct arg *mode)
{
	return syscall(SYS_fchmodat, at.dirfd, at.path, mode_given(mode));
}

SYSCALL(chmod)
{
	answer_none(ret, change_mode(at_cwd(self, &c->chmod.path), &c->chmod.mode));
}

SYSCALL(fchmod)
{
	answer_none(ret,
		    syscall(SYS_fchmod, fd_real(self, &c->fchmod.fd), mode_given(&c->fchmod.mode)));
}

SYSCALL(fchmodat)
{
	struct at at = at_path(self, dirfd_real(self, &c->fchmodat.dirfd), &c->fchmodat.path);

	answer_none(ret, change_mode(at, &c->fchmodat.mode));
}

/* -1 leaves the user or the group as it is. */
static long change_owner(struct at at, int64_t uid, int64_t gid, int64_t flags)
{
	return syscall(SYS_fchownat, at.dirfd, at.path, (uid_t)uid, (gid_t)gid, (int)flags);
}

SYSCALL(chown)
{
	answer_none(ret, change_owner(at_cwd(self, &c->chown.path), c->chown.uid.num,
				      c->chown.gid.num, 0));
}

SYSCALL(lchown)
{
	answer_none(ret, change_owner(at_cwd(self, &c->lchown.path), c->lchown.uid.num,
				      c->lchown.gid.num, AT_SYMLINK_NOFOLLOW));
}

SYSCALL(fchown)
{
	answer_none(ret, syscall(SYS_fchown, fd_real(self, &c->fchown.fd), (uid_t)c->fchown.uid.num,
				 (gid_t)c->fchown.gid.num));
}

SYSCALL(fchownat)
{
	struct at at = at_path(self, dirfd_real(self, &c->fchownat.dirfd), &c->fchownat.path);

	answer_none(ret, change_owner(at, c->fchownat.uid.num, c->fchownat.gid.num,
				      c->fchownat.flags.num));
}

SYSCALL(chown_file)
{
	answer_none(ret,
		    change_owner(at_cwd(self, &c->chown_file.path), c->chown_file.uid.num, -1, 0));
}

SYSCALL(chgrp_file)
{
	answer_none(ret,
		    change_owner(at_cwd(self, &c->chgrp_file.path), -1, c->chgrp_file.gid.num, 0));
}

static struct timespec time_given(const struct arg *time)
{
	int64_t seconds = time->num / NANO, rest = time->num % NANO;

	if (time->num == TIME_NOW || time->num == TIME_OMIT)
		return (struct timespec){
			.tv_nsec = time->num == TIME_NOW ? UTIME_NOW : UTIME_OMIT,
		};
	if (rest < 0)
		return (struct timespec){ seconds - 1, rest + NANO };
	return (struct timespec){ seconds, rest };
}

/* A null path means the descriptor itself here; the library would refuse it. */
SYSCALL(utimensat)
{
	struct at at = at_path(self, dirfd_real(self, &c->utimensat.dirfd), &c->utimensat.path);
	struct timespec times[2] = { time_given(&c->utimensat.atime),
				     time_given(&c->utimensat.mtime) };

	answer_none(ret,
		    syscall(SYS_utimensat, at.dirfd, at.path, times, (int)c->utimensat.flags.num));
}

/* Other flags belong to the file system (extents, compression): kept when setting, not returned. */
static const unsigned flags_known = FS_IMMUTABLE_FL | FS_APPEND_FL;

SYSCALL(set_inode_flags)
{
	int fd = fd_real(self, &c->set_inode_flags.fd);
	unsigned flags = 0;

	if (ioctl(fd, FS_IOC_GETFLAGS, &flags)) {
		ret->error = errno;
		return;
	}
	flags = (flags & ~flags_known) | ((unsigned)c->set_inode_flags.flags.num & flags_known);
	answer_none(ret, ioctl(fd, FS_IOC_SETFLAGS, &flags));
}

SYSCALL(get_inode_flags)
{
	unsigned flags = 0;

	answer_none(ret, ioctl(fd_real(self, &c->get_inode_flags.fd), FS_IOC_GETFLAGS, &flags));
	ret->num = flags & flags_known;
}

/* Times beyond what 64 bits of nanoseconds hold are as late, or as early, as they can be. */
static int64_t nanoseconds(const struct statx_timestamp *t)
{
	int64_t ns;

	if (__builtin_mul_overflow((int64_t)t->tv_sec, NANO, &ns) ||
	    __builtin_add_overflow(ns, (int64_t)t->tv_nsec, &ns))
		return t->tv_sec < 0 ? INT64_MIN + 1 : INT64_MAX;
	return ns;
}

static void answer_stat(struct outcome *ret, struct at at, int64_t flags, int64_t mask)
{
	struct stat_result *to = &ret->stat;
	struct statx st;

	if (syscall(SYS_statx, at.dirfd, at.path, (int)flags, (unsigned)mask, &st)) {
		ret->error = errno;
		return;
	}
#define KNOWN(bit, value) (st.stx_mask & (bit) ? (int64_t)(value) : STAT_UNKNOWN)
	to->mode = st.stx_mode;
	to->nlink = KNOWN(STATX_NLINK, st.stx_nlink);
	to->uid = KNOWN(STATX_UID, st.stx_uid);
	to->gid = KNOWN(STATX_GID, st.stx_gid);
	to->size = KNOWN(STATX_SIZE, st.stx_size);
	to->ino = KNOWN(STATX_INO, st.stx_ino);
	to->dev = (int64_t)makedev(st.stx_dev_major, st.stx_dev_minor);
	to->rdev = (int64_t)makedev(st.stx_rdev_major, st.stx_rdev_minor);
	to->atime = KNOWN(STATX_ATIME, nanoseconds(&st.stx_atime));
	to->mtime = KNOWN(STATX_MTIME, nanoseconds(&st.stx_mtime));
	to->ctime = KNOWN(STATX_CTIME, nanoseconds(&st.stx_ctime));
	to->btime = KNOWN(STATX_BTIME, nanoseconds(&st.stx_btime));
	to->blocks = KNOWN(STATX_BLOCKS, st.stx_blocks);
#undef KNOWN
}

static const int64_t mask_all = STATX_BASIC_STATS | STATX_BTIME;

SYSCALL(stat)
{
	answer_stat(ret, at_cwd(self, &c->stat.path), 0, mask_all);
}

SYSCALL(lstat)
{
	answer_stat(ret, at_cwd(self, &c->lstat.path), AT_SYMLINK_NOFOLLOW, mask_all);
}

SYSCALL(fstat)
{
	answer_stat(ret, (struct at){ fd_real(self, &c->fstat.fd), "" }, AT_EMPTY_PATH, mask_all);
}

SYSCALL(statx)
{
	answer_stat(ret, at_path(self, dirfd_real(self, &c->statx.dirfd), &c->statx.path),
		    c->statx.flags.num, c->statx.mask.num);
}

/* With the real user, as the old call without flags does. */
SYSCALL(access)
{
	struct at at = at_cwd(self, &c->access.path);

	answer_none(ret, syscall(SYS_faccessat, at.dirfd, at.path, (int)c->access.mode.num));
}

/* The library emulates flags; the kernel's own answer is wanted. */
SYSCALL(faccessat2)
{
	struct at at = at_path(self, dirfd_real(self, &c->faccessat2.dirfd), &c->faccessat2.path);

	answer_none(ret, syscall(SYS_faccessat2, at.dirfd, at.path, (int)c->faccessat2.mode.num,
				 (int)c->faccessat2.flags.num));
}

static void answer_statfs(struct outcome *ret, long result, const struct statfs *st)
{
	if (result < 0) {
		ret->error = errno;
		return;
	}
	ret->statfs = (struct statfs_result){
		.bsize = st->f_bsize,
		.blocks = (int64_t)st->f_blocks,
		.bfree = (int64_t)st->f_bfree,
		.bavail = (int64_t)st->f_bavail,
		.files = (int64_t)st->f_files,
		.ffree = (int64_t)st->f_ffree,
		.namelen = st->f_namelen,
	};
}

SYSCALL(statfs)
{
	struct statfs st;
	long result = syscall(SYS_statfs, plain_path(self, &c->statfs.path), &st);

	answer_statfs(ret, result, &st);
}

SYSCALL(fstatfs)
{
	struct statfs st;
	long result = fstatfs(fd_real(self, &c->fstatfs.fd), &st);

	answer_statfs(ret, result, &st);
}
