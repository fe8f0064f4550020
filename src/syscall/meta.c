/* meta.c -- operations that are several calls: open, act, close; the first error counts. */
#include <linux/fs.h>
#include <sys/ioctl.h>
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

SYSCALL(read_file)
{
	int fd = open_at(at_cwd(self, &c->read_file.path), O_RDONLY | O_NONBLOCK, 0);
	struct room room;

	if (fd < 0) {
		ret->error = errno;
		return;
	}
	room = room_take(self, c->read_file.count.num);
	answer_bytes(self, ret, transfer_all(pread, fd, &room, c->read_file.offset.num), &room);
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

/* The first file for reading, the second for writing; false after an error. */
static bool open_two(const struct caller *self, const struct arg *from, const struct arg *to,
		     int ret_fds[2], struct outcome *ret)
{
	ret_fds[0] = open_at(at_cwd(self, from), O_RDONLY, 0);
	ret_fds[1] = ret_fds[0] < 0 ? -1 : open_at(at_cwd(self, to), O_WRONLY, 0);
	if (ret_fds[1] >= 0)
		return true;
	ret->error = errno;
	if (ret_fds[0] >= 0)
		finish(ret_fds[0], ret);
	return false;
}

static void finish_two(const int fds[2], struct outcome *ret)
{
	finish(fds[1], ret);
	finish(fds[0], ret);
}

SYSCALL(copy_file)
{
	loff_t in = c->copy_file.off_in.num, out = c->copy_file.off_out.num;
	int fds[2];

	if (!open_two(self, &c->copy_file.from, &c->copy_file.to, fds, ret))
		return;
	answer_num(ret, syscall(SYS_copy_file_range, fds[0], &in, fds[1], &out,
				(size_t)c->copy_file.length.num, 0));
	finish_two(fds, ret);
}

SYSCALL(clone_file)
{
	struct file_clone_range range = {
		.src_offset = (uint64_t)c->clone_file.off_in.num,
		.src_length = (uint64_t)c->clone_file.length.num,
		.dest_offset = (uint64_t)c->clone_file.off_out.num,
	};
	int fds[2];

	if (!open_two(self, &c->clone_file.from, &c->clone_file.to, fds, ret))
		return;
	range.src_fd = fds[0];
	answer_none(ret, ioctl(fds[1], FICLONERANGE, &range));
	finish_two(fds, ret);
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

SYSCALL(wait)
{
	ret->error = ENOSYS;
}
