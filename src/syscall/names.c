/* names.c -- the names of files: making, removing, moving, linking. */
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "syscall/caller.h"

SYSCALL(mkdir)
{
	struct at at = at_cwd(self, &c->mkdir.path);

	answer_none(ret, syscall(SYS_mkdirat, at.dirfd, at.path, mode_given(&c->mkdir.mode)));
}

SYSCALL(mkdirat)
{
	struct at at = at_path(self, dirfd_real(self, &c->mkdirat.dirfd), &c->mkdirat.path);

	answer_none(ret, syscall(SYS_mkdirat, at.dirfd, at.path, mode_given(&c->mkdirat.mode)));
}

SYSCALL(rmdir)
{
	struct at at = at_cwd(self, &c->rmdir.path);

	answer_none(ret, syscall(SYS_unlinkat, at.dirfd, at.path, AT_REMOVEDIR));
}

SYSCALL(unlink)
{
	struct at at = at_cwd(self, &c->unlink.path);

	answer_none(ret, syscall(SYS_unlinkat, at.dirfd, at.path, 0));
}

SYSCALL(unlinkat)
{
	struct at at = at_path(self, dirfd_real(self, &c->unlinkat.dirfd), &c->unlinkat.path);

	answer_none(ret, syscall(SYS_unlinkat, at.dirfd, at.path, (int)c->unlinkat.flags.num));
}

/* The library emulates renameat2 where the kernel has none; a script wants to know. */
static long rename_at(struct at from, struct at to, int64_t flags)
{
	return syscall(SYS_renameat2, from.dirfd, from.path, to.dirfd, to.path, (unsigned)flags);
}

SYSCALL(rename)
{
	answer_none(ret, rename_at(at_cwd(self, &c->rename.from), at_cwd(self, &c->rename.to), 0));
}

SYSCALL(renameat)
{
	struct at from = at_path(self, dirfd_real(self, &c->renameat.fromfd), &c->renameat.from);
	struct at to = at_path(self, dirfd_real(self, &c->renameat.tofd), &c->renameat.to);

	answer_none(ret, rename_at(from, to, 0));
}

SYSCALL(renameat2)
{
	struct at from = at_path(self, dirfd_real(self, &c->renameat2.fromfd), &c->renameat2.from);
	struct at to = at_path(self, dirfd_real(self, &c->renameat2.tofd), &c->renameat2.to);

	answer_none(ret, rename_at(from, to, c->renameat2.flags.num));
}

SYSCALL(link)
{
	struct at from = at_cwd(self, &c->link.from), to = at_cwd(self, &c->link.to);

	answer_none(ret, syscall(SYS_linkat, from.dirfd, from.path, to.dirfd, to.path, 0));
}

SYSCALL(linkat)
{
	struct at from = at_path(self, dirfd_real(self, &c->linkat.fromfd), &c->linkat.from);
	struct at to = at_path(self, dirfd_real(self, &c->linkat.tofd), &c->linkat.to);

	answer_none(ret, syscall(SYS_linkat, from.dirfd, from.path, to.dirfd, to.path,
				 (int)c->linkat.flags.num));
}

SYSCALL(symlink)
{
	struct at at = at_cwd(self, &c->symlink.path);

	answer_none(ret, syscall(SYS_symlinkat, c->symlink.target.text, at.dirfd, at.path));
}

SYSCALL(symlinkat)
{
	struct at at = at_path(self, dirfd_real(self, &c->symlinkat.dirfd), &c->symlinkat.path);

	answer_none(ret, syscall(SYS_symlinkat, c->symlinkat.target.text, at.dirfd, at.path));
}

/* Longer than any target, so that a truncated one is the file system's doing. */
enum { TARGET_ROOM = 64 << 10 };

static void answer_target(struct caller *self, struct outcome *ret, struct at at)
{
	struct room room = room_take(self, TARGET_ROOM);

	answer_bytes(self, ret, syscall(SYS_readlinkat, at.dirfd, at.path, room.at, room.count),
		     &room);
}

SYSCALL(readlink)
{
	answer_target(self, ret, at_cwd(self, &c->readlink.path));
}

SYSCALL(readlinkat)
{
	answer_target(self, ret,
		      at_path(self, dirfd_real(self, &c->readlinkat.dirfd), &c->readlinkat.path));
}

/* The library refuses device numbers that the kernel would judge. */
static long make_node(struct at at, int64_t mode, int64_t dev)
{
	return syscall(SYS_mknodat, at.dirfd, at.path, (mode_t)mode, (unsigned)dev);
}

SYSCALL(mknod)
{
	answer_none(ret,
		    make_node(at_cwd(self, &c->mknod.path), c->mknod.mode.num, c->mknod.dev.num));
}

SYSCALL(mknodat)
{
	struct at at = at_path(self, dirfd_real(self, &c->mknodat.dirfd), &c->mknodat.path);

	answer_none(ret, make_node(at, c->mknodat.mode.num, c->mknodat.dev.num));
}
