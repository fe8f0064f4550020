/* data.c -- contents of files: transfers, lengths, allocation, sharing, persistence. */
#include <linux/falloc.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "syscall/caller.h"
#include "syscall/sync.h"

static ssize_t step_read(int fd, void *at, size_t count, off_t offset)
{
	return read(fd, at, count);
}

static ssize_t step_write(int fd, void *at, size_t count, off_t offset)
{
	return write(fd, at, count);
}

ssize_t step_pwrite(int fd, void *at, size_t count, off_t offset)
{
	return pwrite(fd, at, count, offset);
}

long transfer_all(transfer_step *step, int fd, const struct room *room, int64_t offset)
{
	size_t done = 0;
	ssize_t n;

	do {
		n = step(fd, room->at + done, room->count - done, (off_t)((uint64_t)offset + done));
		if (n > 0)
			done += (size_t)n;
	} while (n > 0 && done < room->count);
	return n < 0 && !done ? -1 : (long)done;
}

SYSCALL(read)
{
	struct room room = room_take(self, c->read.count.num);

	answer_bytes(self, ret, read(fd_real(self, &c->read.fd), room.at, room.count), &room);
}

SYSCALL(read_all)
{
	struct room room = room_take(self, c->read_all.count.num);

	answer_bytes(self, ret, transfer_all(step_read, fd_real(self, &c->read_all.fd), &room, 0),
		     &room);
}

SYSCALL(pread)
{
	struct room room = room_take(self, c->pread.count.num);

	answer_bytes(self, ret,
		     pread(fd_real(self, &c->pread.fd), room.at, room.count, c->pread.offset.num),
		     &room);
}

SYSCALL(pread_all)
{
	struct room room = room_take(self, c->pread_all.count.num);
	int fd = fd_real(self, &c->pread_all.fd);

	answer_bytes(self, ret, transfer_all(pread, fd, &room, c->pread_all.offset.num), &room);
}

/* The library would emulate flags and positions that the kernel refuses. */
static long vector_call(long number, int fd, const struct room *room, int64_t offset, int64_t flags)
{
	struct iovec vector = { room->at, room->count };

	return syscall(number, fd, &vector, 1L, (long)offset, 0L, (int)flags);
}

SYSCALL(preadv2)
{
	struct room room = room_take(self, c->preadv2.count.num);

	answer_bytes(self, ret,
		     vector_call(SYS_preadv2, fd_real(self, &c->preadv2.fd), &room,
				 c->preadv2.offset.num, c->preadv2.flags.num),
		     &room);
}

SYSCALL(write)
{
	struct room room = room_of_data(self, &c->write.data, c->write.count.num);

	answer_num(ret, write(fd_real(self, &c->write.fd), room.at, room.count));
	room_drop(&room);
}

SYSCALL(write_all)
{
	struct room room = room_of_data(self, &c->write_all.data, c->write_all.count.num);

	answer_num(ret, transfer_all(step_write, fd_real(self, &c->write_all.fd), &room, 0));
	room_drop(&room);
}

SYSCALL(pwrite)
{
	struct room room = room_of_data(self, &c->pwrite.data, c->pwrite.count.num);

	answer_num(ret,
		   pwrite(fd_real(self, &c->pwrite.fd), room.at, room.count, c->pwrite.offset.num));
	room_drop(&room);
}

SYSCALL(pwrite_all)
{
	struct room room = room_of_data(self, &c->pwrite_all.data, c->pwrite_all.count.num);

	answer_num(ret, transfer_all(step_pwrite, fd_real(self, &c->pwrite_all.fd), &room,
				     c->pwrite_all.offset.num));
	room_drop(&room);
}

SYSCALL(pwritev2)
{
	struct room room = room_of_data(self, &c->pwritev2.data, c->pwritev2.count.num);

	answer_num(ret, vector_call(SYS_pwritev2, fd_real(self, &c->pwritev2.fd), &room,
				    c->pwritev2.offset.num, c->pwritev2.flags.num));
	room_drop(&room);
}

SYSCALL(direct_read)
{
	struct room room;
	int fd = open_at(at_cwd(self, &c->direct_read.path), O_RDONLY | O_DIRECT, 0);

	if (fd < 0) {
		ret->error = errno;
		return;
	}
	room = room_take(self, c->direct_read.count.num);
	answer_bytes(self, ret, pread(fd, room.at, room.count, c->direct_read.offset.num), &room);
	if (close(fd) && !ret->error)
		ret->error = errno;
}

SYSCALL(direct_write)
{
	struct room room;
	int fd = open_at(at_cwd(self, &c->direct_write.path), O_WRONLY | O_DIRECT, 0);

	if (fd < 0) {
		ret->error = errno;
		return;
	}
	room = room_of_aligned_data(self, &c->direct_write.data, c->direct_write.count.num);
	answer_num(ret, pwrite(fd, room.at, room.count, c->direct_write.offset.num));
	room_drop(&room);
	if (close(fd) && !ret->error)
		ret->error = errno;
}

SYSCALL(truncate)
{
	answer_none(ret, syscall(SYS_truncate, plain_path(self, &c->truncate.path),
				 c->truncate.length.num));
}

SYSCALL(ftruncate)
{
	answer_none(ret, ftruncate(fd_real(self, &c->ftruncate.fd), c->ftruncate.length.num));
}

SYSCALL(fallocate)
{
	answer_none(ret, fallocate(fd_real(self, &c->fallocate.fd), (int)c->fallocate.mode.num,
				   c->fallocate.offset.num, c->fallocate.length.num));
}

SYSCALL(copy_file_range)
{
	loff_t in = c->copy_file_range.off_in.num, out = c->copy_file_range.off_out.num;

	answer_num(ret, syscall(SYS_copy_file_range, fd_real(self, &c->copy_file_range.fd_in), &in,
				fd_real(self, &c->copy_file_range.fd_out), &out,
				(size_t)c->copy_file_range.length.num,
				(unsigned)c->copy_file_range.flags.num));
}

SYSCALL(sendfile)
{
	off_t offset = c->sendfile.offset.num;

	answer_num(ret, syscall(SYS_sendfile, fd_real(self, &c->sendfile.out_fd),
				fd_real(self, &c->sendfile.in_fd), offset == -1 ? NULL : &offset,
				(size_t)c->sendfile.count.num));
}

/* All that is in the pipe; an error counts if nothing was moved before it. */
static long splice_out_of(int pipe, int fd, loff_t offset, size_t count)
{
	size_t done = 0;
	long n;

	do {
		n = syscall(SYS_splice, pipe, NULL, fd, &offset, count - done, 0L);
		if (n > 0)
			done += (size_t)n;
	} while (n > 0 && done < count);
	return n < 0 && !done ? -1 : (long)done;
}

SYSCALL(splice)
{
	loff_t from = c->splice.off_in.num;
	int ends[2];
	long n;

	if (syscall(SYS_pipe2, ends, O_CLOEXEC)) {
		ret->error = errno;
		return;
	}
	n = syscall(SYS_splice, fd_real(self, &c->splice.fd_in), &from, ends[1], NULL,
		    (size_t)c->splice.length.num, 0L);
	if (n > 0)
		n = splice_out_of(ends[0], fd_real(self, &c->splice.fd_out), c->splice.off_out.num,
				  (size_t)n);
	answer_num(ret, n);
	close(ends[0]);
	close(ends[1]);
}

SYSCALL(ficlone)
{
	answer_none(ret,
		    ioctl(fd_real(self, &c->ficlone.fd), FICLONE, fd_real(self, &c->ficlone.src)));
}

SYSCALL(ficlonerange)
{
	struct file_clone_range range = {
		.src_fd = fd_real(self, &c->ficlonerange.src),
		.src_offset = (uint64_t)c->ficlonerange.src_offset.num,
		.src_length = (uint64_t)c->ficlonerange.length.num,
		.dest_offset = (uint64_t)c->ficlonerange.offset.num,
	};

	answer_none(ret, ioctl(fd_real(self, &c->ficlonerange.fd), FICLONERANGE, &range));
}

/* The library would return the error instead of setting errno. */
SYSCALL(fadvise)
{
	answer_none(ret,
		    syscall(SYS_fadvise64, fd_real(self, &c->fadvise.fd), c->fadvise.offset.num,
			    c->fadvise.length.num, (int)c->fadvise.advice.num));
}

SYSCALL(readahead)
{
	answer_none(ret, syscall(SYS_readahead, fd_real(self, &c->readahead.fd),
				 c->readahead.offset.num, (size_t)c->readahead.count.num));
}

SYSCALL(sync_file_range)
{
	answer_none(ret, syscall(SYS_sync_file_range, fd_real(self, &c->sync_file_range.fd),
				 c->sync_file_range.offset.num, c->sync_file_range.length.num,
				 (unsigned)c->sync_file_range.flags.num));
}

SYSCALL(fsync)
{
	answer_none(ret, fsync(fd_real(self, &c->fsync.fd)));
}

SYSCALL(fdatasync)
{
	answer_none(ret, fdatasync(fd_real(self, &c->fdatasync.fd)));
}

SYSCALL(sync)
{
	answer_none(ret, sync_file_system(self->root_fd));
}

SYSCALL(syncfs)
{
	answer_none(ret, syncfs(fd_real(self, &c->syncfs.fd)));
}
