/* buf.c -- a growing byte buffer. Growth doubles, so adding is O(1) amortised. */
#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/must.h"

enum { CAP_MIN = 64, READ_STEP = 64 * 1024 };

void buf_free(struct buf *b)
{
	free(b->data);
	*b = (struct buf)BUF_INIT;
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	if (b->data)
		b->data[0] = '\0';
}

/* Room for more bytes and the NUL. */
void buf_reserve(struct buf *b, size_t more)
{
	size_t want = b->len + more + 1, cap = b->cap ? b->cap : CAP_MIN;

	must(want > b->len);
	if (want <= b->cap)
		return;
	while (cap < want)
		cap *= 2;
	b->data = must_realloc(b->data, cap);
	b->cap = cap;
	b->data[b->len] = '\0';
}

void buf_add(struct buf *b, const void *data, size_t len)
{
	if (!len)
		return;
	buf_reserve(b, len);
	memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
}

void buf_addch(struct buf *b, char c)
{
	buf_reserve(b, 1);
	b->data[b->len++] = c;
	b->data[b->len] = '\0';
}

void buf_adds(struct buf *b, const char *text)
{
	buf_add(b, text, strlen(text));
}

void buf_addu(struct buf *b, uint64_t value)
{
	char digits[20], *p = digits + sizeof(digits);

	do {
		*--p = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	buf_add(b, p, (size_t)(digits + sizeof(digits) - p));
}

void buf_addf(struct buf *b, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	buf_vaddf(b, format, args);
	va_end(args);
}

void buf_vaddf(struct buf *b, const char *format, va_list args)
{
	va_list again;
	size_t room;
	int len;

	buf_reserve(b, CAP_MIN);
	room = b->cap - b->len;
	va_copy(again, args);
	len = vsnprintf(b->data + b->len, room, format, args);
	must(len >= 0);
	if ((size_t)len >= room) {
		buf_reserve(b, (size_t)len);
		vsnprintf(b->data + b->len, (size_t)len + 1, format, again);
	}
	va_end(again);
	b->len += (size_t)len;
}

/* How much of the text may stay: an escape ("\\x1b") that the limit would cut is left out. */
static size_t clip_at(const char *text, size_t max)
{
	enum { ESCAPE_MAX = 4 };
	size_t at = max;

	while (at > 0 && max - at < ESCAPE_MAX && text[at - 1] != '\\')
		at--;
	if (!at || text[at - 1] != '\\')
		return max;
	return at > 1 && text[at - 2] == '\\' ? max : at - 1;
}

void buf_add_clipped(struct buf *b, const char *text, size_t max)
{
	size_t len = strlen(text);

	if (len <= max) {
		buf_adds(b, text);
		return;
	}
	buf_add(b, text, clip_at(text, max));
	buf_addf(b, "... (%zu bytes)", len);
}

const char *buf_str(const struct buf *b)
{
	return b->data ? b->data : "";
}

/* Adds what fd holds. One byte beyond max is asked for, to distinguish a full file from a longer
 * one. */
static int add_fd(struct buf *b, int fd, size_t max, const char *name, struct err *err)
{
	size_t total = 0, step;
	ssize_t got;

	for (;;) {
		step = max - total < READ_STEP ? max - total + 1 : READ_STEP;
		buf_reserve(b, step);
		got = read(fd, b->data + b->len, step);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_sys(err, errno, "cannot read %s", name);
		if (!got)
			return 0;
		total += (size_t)got;
		if (total > max)
			return err_set(err, EFBIG, "%s is longer than %zu bytes", name, max);
		b->len += (size_t)got;
		b->data[b->len] = '\0';
	}
}

int buf_read_fd(struct buf *b, int fd, size_t max, struct err *err)
{
	return add_fd(b, fd, max, "the input", err);
}

int buf_read_file(struct buf *b, const char *path, size_t max, struct err *err)
{
	int fd, ret;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, errno, "cannot open %s", path);
	ret = add_fd(b, fd, max, path, err);
	close(fd);
	return ret;
}

static int buf_write_all(int fd, const char *data, size_t len)
{
	ssize_t done;

	while (len) {
		done = write(fd, data, len);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		data += done;
		len -= (size_t)done;
	}
	return fsync(fd) < 0 && errno != EINVAL ? -errno : 0;
}

int buf_write_file(const struct buf *b, const char *path, struct err *err)
{
	struct buf temporary = BUF_INIT;
	int fd, ret;

	buf_addf(&temporary, "%s.%d.tmp", path, (int)getpid());
	unlink(temporary.data); /* of a process before us that had our number */
	fd = open(temporary.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0) {
		ret = err_sys(err, errno, "cannot create %s", temporary.data);
		goto out;
	}
	ret = buf_write_all(fd, b->data, b->len);
	close(fd);
	if (!ret && rename(temporary.data, path) < 0)
		ret = -errno;
	if (ret) {
		unlink(temporary.data);
		err_sys(err, -ret, "cannot write %s", path);
	}
out:
	buf_free(&temporary);
	return ret;
}
