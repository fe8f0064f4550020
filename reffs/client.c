/* client.c -- a mounted RefFS from outside: pickles to and from files. */
#include "reffs/client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "reffs/reffs.h"

/* A piece there and back. Where the daemon knows why it failed, its words are the reason. */
static int send_piece(int mount_fd, unsigned long request, struct reffs_piece *piece,
		      struct err *err)
{
	if (!ioctl(mount_fd, request, piece))
		return 0;
	if (piece->flags & REFFS_REASON && piece->len <= sizeof(piece->bytes))
		return err_set(err, errno, "%.*s", (int)piece->len, piece->bytes);
	if (errno == ENOTTY)
		return err_set(err, errno, "the mount point is not on a mounted RefFS");
	return err_sys(err, errno, "%s", request == REFFS_PICKLE ? "pickle" : "load");
}

/* Nothing is left of a transfer that its client does not want to the end. */
static void client_give_up(int mount_fd, unsigned long request, uint64_t transfer)
{
	struct reffs_piece piece = { .flags = REFFS_GIVE_UP, .transfer = transfer };

	if (transfer)
		ioctl(mount_fd, request, &piece);
}

static struct reffs_piece first_piece(const uint64_t *key)
{
	return (struct reffs_piece){ .key = key ? *key : 0, .flags = key ? 0 : REFFS_POOL };
}

static int client_write_all(int fd, const char *bytes, size_t len)
{
	ssize_t done;

	for (; len; bytes += done, len -= (size_t)done) {
		done = write(fd, bytes, len);
		if (done < 0 && errno == EINTR)
			done = 0;
		if (done < 0)
			return -errno;
	}
	return 0;
}

static int pickle_to(int mount_fd, const uint64_t *key, int fd, const char *path, struct err *err)
{
	struct reffs_piece piece = first_piece(key);
	uint32_t len;
	int r = 0;

	do {
		r = send_piece(mount_fd, REFFS_PICKLE, &piece, err);
		if (r)
			return r;
		len = piece.len;
		r = client_write_all(fd, piece.bytes, len);
		piece.len = 0;
	} while (!r && len == REFFS_PIECE_MAX);
	if (!r && fsync(fd) && errno != EINVAL)
		r = -errno;
	if (!r)
		return 0;
	if (len == REFFS_PIECE_MAX)
		client_give_up(mount_fd, REFFS_PICKLE, piece.transfer);
	return err_sys(err, -r, "cannot write %s", path);
}

int client_pickle(int mount_fd, const uint64_t *key, const char *path, struct err *err)
{
	struct buf temporary = BUF_INIT;
	int fd, r;

	buf_addf(&temporary, "%s.%d.tmp", path, (int)getpid());
	fd = open(temporary.data, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0) {
		r = err_sys(err, errno, "cannot create %s", temporary.data);
		goto out;
	}
	r = pickle_to(mount_fd, key, fd, path, err);
	if (close(fd) && !r)
		r = err_sys(err, errno, "cannot write %s", path);
	if (!r && rename(temporary.data, path))
		r = err_sys(err, errno, "cannot write %s", path);
	if (r)
		unlink(temporary.data);
out:
	buf_free(&temporary);
	return r;
}

/* As much as fits into a piece; less only at the end of the file. */
static ssize_t read_piece(int fd, struct reffs_piece *piece)
{
	size_t len = 0;

	while (len < REFFS_PIECE_MAX) {
		ssize_t done = read(fd, piece->bytes + len, REFFS_PIECE_MAX - len);

		if (done < 0 && errno != EINTR)
			return -errno;
		if (!done)
			break;
		len += done > 0 ? (size_t)done : 0;
	}
	piece->len = (uint32_t)len;
	return (ssize_t)len;
}

int client_load(int mount_fd, const uint64_t *key, const char *path, struct err *err)
{
	struct reffs_piece piece = first_piece(key);
	struct err why = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC), r = 0;
	ssize_t len;

	if (fd < 0)
		return err_sys(err, errno, "cannot open %s", path);
	do {
		len = read_piece(fd, &piece);
		if (len < 0) {
			client_give_up(mount_fd, REFFS_LOAD, piece.transfer);
			r = err_sys(&why, (int)-len, "cannot read it");
			break;
		}
		piece.flags |= len < REFFS_PIECE_MAX ? REFFS_LAST : 0;
		r = send_piece(mount_fd, REFFS_LOAD, &piece, &why);
	} while (!r && len == REFFS_PIECE_MAX);
	close(fd);
	return r ? err_set(err, -r, "%s: %s", path, why.text) : 0;
}
