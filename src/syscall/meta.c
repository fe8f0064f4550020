/* meta.c -- operations that are several calls: open, act, close; the first error counts. */
#include <sys/syscall.h>
#include <unistd.h>

#include "syscall/caller.h"

enum { MODE_USUAL = 0644 };

/* Closes; an error of that counts where there was none before. */
static void finish(int fd, struct outcome *ret)
{
	if (close(fd) && !ret->error)
		ret->error = errno;
}

static void open_then_close(struct at at, int64_t flags, mode_t mode, struct outcome *ret)
{
	int fd = open_at(at, flags, mode);

	if (fd < 0)
		ret->error = errno;
	else
		finish(fd, ret);
}

SYSCALL(open_close)
{
	open_then_close(at_cwd(self, &c->open_close.path), c->open_close.flags.num,
			mode_given(&c->open_close.mode), ret);
}

SYSCALL(create_file)
{
	open_then_close(at_cwd(self, &c->create_file.path), c->create_file.flags.num | O_CREAT,
			mode_given(&c->create_file.mode), ret);
}

SYSCALL(write_file)
{
	int fd = open_at(at_cwd(self, &c->write_file.path), c->write_file.flags.num, MODE_USUAL);
	struct room room;

	if (fd < 0) {
		ret->error = errno;
		return;
	}
	room = room_of_data(self, &c->write_file.data, c->write_file.count.num);
	answer_num(ret, transfer_all(step_pwrite, fd, &room, c->write_file.offset.num));
	room_drop(&room);
	finish(fd, ret);
}

SYSCALL(fallocate_file)
{
	int fd = open_at(at_cwd(self, &c->fallocate_file.path), O_RDWR, 0);

	if (fd < 0) {
		ret->error = errno;
		return;
	}
	answer_none(ret, fallocate(fd, (int)c->fallocate_file.mode.num,
				   c->fallocate_file.offset.num, c->fallocate_file.length.num));
	finish(fd, ret);
}

SYSCALL(fadvise_file)
{
	int fd = open_at(at_cwd(self, &c->fadvise_file.path), O_RDONLY, 0);

	if (fd < 0) {
		ret->error = errno;
		return;
	}
	answer_none(ret, syscall(SYS_fadvise64, fd, c->fadvise_file.offset.num,
				 c->fadvise_file.length.num, (int)c->fadvise_file.advice.num));
	finish(fd, ret);
}

/* Not system calls of one process: crews and targets serve these before they get here. */

SYSCALL(create_process)
{
	ret->error = ENOSYS;
}

SYSCALL(destroy_process)
{
	ret->error = ENOSYS;
}

SYSCALL(add_user_to_group)
{
	ret->error = ENOSYS;
}

SYSCALL(remount)
{
	ret->error = ENOSYS;
}

SYSCALL(drop_caches)
{
	ret->error = ENOSYS;
}

SYSCALL(advance_time)
{
	ret->error = ENOSYS;
}

SYSCALL(fail_alloc)
{
	ret->error = ENOSYS;
}

SYSCALL(fail_read)
{
	ret->error = ENOSYS;
}

SYSCALL(fail_write)
{
	ret->error = ENOSYS;
}

SYSCALL(seek_leaks)
{
	ret->error = ENOSYS;
}

SYSCALL(fsck)
{
	ret->error = ENOSYS;
}

SYSCALL(seek_space)
{
	ret->error = ENOSYS;
}
