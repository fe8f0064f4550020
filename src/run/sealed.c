/* sealed.c -- writing and reading numbers through a buffer, and the checksum of all of them. */
#include "run/sealed.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"

enum { SEAL_BYTES = 16 };

static char *sealed_name(const char *path, const char *suffix)
{
	struct buf name = BUF_INIT;

	buf_addf(&name, "%s%s", path, suffix);
	return name.data;
}

int sealed_create(struct sealed_writer *w, const char *path, struct err *err)
{
	char *beside = sealed_name(path, ".new");
	int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), status;

	if (fd < 0) {
		status = err_sys(err, errno, "cannot write %s", beside);
		free(beside);
		return status;
	}
	w->path = sealed_name(path, "");
	w->beside = beside;
	w->fd = fd;
	w->error = 0;
	w->len = 0;
	w->hash = hash_stream_new();
	return 0;
}

static void sealed_flush(struct sealed_writer *w)
{
	ssize_t done;

	for (size_t at = 0; at < w->len && !w->error; at += done > 0 ? (size_t)done : 0) {
		done = write(w->fd, w->buffer + at, w->len - at);
		if (done < 0 && errno != EINTR)
			w->error = errno;
	}
	w->len = 0;
}

static void sealed_put(struct sealed_writer *w, const void *bytes, size_t len)
{
	if (len > sizeof(w->buffer) - w->len) {
		hash_stream_add(w->hash, w->buffer, w->len);
		sealed_flush(w);
	}
	memcpy(w->buffer + w->len, bytes, len);
	w->len += len;
}

void sealed_put_u32(struct sealed_writer *w, uint32_t n)
{
	n = htole32(n);
	sealed_put(w, &n, sizeof(n));
}

void sealed_put_u64(struct sealed_writer *w, uint64_t n)
{
	n = htole64(n);
	sealed_put(w, &n, sizeof(n));
}

void sealed_put_hash(struct sealed_writer *w, struct hash h)
{
	sealed_put_u64(w, h.lo);
	sealed_put_u64(w, h.hi);
}

static void sealed_put_seal(struct sealed_writer *w)
{
	struct hash seal;

	hash_stream_add(w->hash, w->buffer, w->len);
	sealed_flush(w);
	seal = hash_stream_end(w->hash);
	sealed_put_hash(w, seal);
	sealed_flush(w);
}

/* A new name in a directory lasts when the directory is on the disk, too. */
static int sealed_sync_directory(const char *path)
{
	char *copy = sealed_name(path, "");
	int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC), error = 0;

	free(copy);
	if (fd < 0)
		return errno;
	if (fsync(fd) && errno != EINVAL)
		error = errno;
	close(fd);
	return error;
}

int sealed_finish(struct sealed_writer *w, struct err *err)
{
	int status = 0;

	sealed_put_seal(w);
	if (!w->error && fsync(w->fd) && errno != EINVAL)
		w->error = errno;
	if (close(w->fd) && !w->error)
		w->error = errno;
	if (!w->error && rename(w->beside, w->path))
		w->error = errno;
	if (w->error)
		unlink(w->beside);
	else
		w->error = sealed_sync_directory(w->path);
	if (w->error)
		status = err_sys(err, w->error, "cannot write %s", w->path);
	free(w->path);
	free(w->beside);
	return status;
}

/* Up to so many bytes into the buffer; fewer only at the end of the file. */
static int sealed_fill(struct sealed_reader *r, size_t want)
{
	ssize_t n;

	r->at = r->len = 0;
	while (r->len < want) {
		n = read(r->fd, r->buffer + r->len, want - r->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return -EBADMSG;
		r->len += (size_t)n;
	}
	return 0;
}

static size_t sealed_piece(uint64_t left)
{
	return left < SEALED_BUFFER ? (size_t)left : SEALED_BUFFER;
}

static struct hash sealed_seal(const struct sealed_reader *r)
{
	uint64_t words[2];

	memcpy(words, r->buffer, sizeof(words));
	return (struct hash){ le64toh(words[0]), le64toh(words[1]) };
}

/* Reads all of it once for the checksum. */
static int sealed_check(struct sealed_reader *r, uint64_t bytes)
{
	struct hash_stream *hash = hash_stream_new();
	struct hash found;
	int status = 0;

	for (uint64_t left = bytes; left && !status; left -= r->len) {
		status = sealed_fill(r, sealed_piece(left));
		hash_stream_add(hash, r->buffer, r->len);
	}
	found = hash_stream_end(hash);
	if (!status)
		status = sealed_fill(r, SEAL_BYTES);
	if (!status && !hash_equal(sealed_seal(r), found))
		status = -EBADMSG;
	return status;
}

int sealed_read(struct sealed_reader *r, int fd)
{
	struct stat st;
	int status;

	r->fd = fd;
	r->ended = false;
	if (fstat(fd, &st))
		return -errno;
	if (st.st_size < SEAL_BYTES)
		return -EBADMSG;
	status = sealed_check(r, (uint64_t)st.st_size - SEAL_BYTES);
	if (!status && lseek(fd, 0, SEEK_SET))
		status = -errno;
	r->at = r->len = 0;
	r->left = (uint64_t)st.st_size - SEAL_BYTES;
	return status;
}

uint64_t sealed_left(const struct sealed_reader *r)
{
	return r->ended ? 0 : r->left + (r->len - r->at);
}

/* Reads across the end of what is in the buffer. */
static void sealed_get_slowly(struct sealed_reader *r, unsigned char *to, size_t len)
{
	for (; len; len--, to++) {
		if (r->at == r->len) {
			size_t piece = sealed_piece(r->left);

			if (!piece || sealed_fill(r, piece)) {
				r->ended = true;
				return;
			}
			r->left -= piece;
		}
		*to = r->buffer[r->at++];
	}
}

static void sealed_get(struct sealed_reader *r, void *to, size_t len)
{
	memset(to, 0, len);
	if (len > sealed_left(r)) {
		r->ended = true;
	} else if (len <= r->len - r->at) {
		memcpy(to, r->buffer + r->at, len);
		r->at += len;
	} else {
		sealed_get_slowly(r, to, len);
	}
}

uint32_t sealed_get_u32(struct sealed_reader *r)
{
	uint32_t n;

	sealed_get(r, &n, sizeof(n));
	return le32toh(n);
}

uint64_t sealed_get_u64(struct sealed_reader *r)
{
	uint64_t n;

	sealed_get(r, &n, sizeof(n));
	return le64toh(n);
}

struct hash sealed_get_hash(struct sealed_reader *r)
{
	uint64_t lo = sealed_get_u64(r);

	return (struct hash){ lo, sealed_get_u64(r) };
}

void sealed_skip(struct sealed_reader *r, uint64_t bytes)
{
	uint64_t buffered = r->len - r->at;

	if (bytes > sealed_left(r)) {
		r->ended = true;
		return;
	}
	if (bytes <= buffered) {
		r->at += (size_t)bytes;
		return;
	}
	bytes -= buffered;
	r->at = r->len = 0;
	r->left -= bytes;
	if (lseek(r->fd, (off_t)bytes, SEEK_CUR) < 0)
		r->ended = true;
}
