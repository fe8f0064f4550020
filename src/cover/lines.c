/* lines.c -- reading in blocks, giving out lines. */
#include "cover/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/must.h"

int lines_open(struct lines *l, const char *path, struct err *err)
{
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : dup(0);

	if (fd < 0)
		return err_sys(err, errno, "%s", path);
	*l = (struct lines){ .fd = fd, .data = must_alloc(LINES_BYTES + 1) };
	return 0;
}

void lines_free(struct lines *l)
{
	close(l->fd);
	free(l->data);
}

/* Moves what is left to the front and reads behind it. */
static int lines_fill(struct lines *l, struct err *err)
{
	ssize_t n;

	memmove(l->data, l->data + l->at, l->len - l->at);
	l->len -= l->at;
	l->at = 0;
	do
		n = read(l->fd, l->data + l->len, LINES_BYTES - l->len);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_sys(err, errno, "cannot read the trace");
	l->ended = !n;
	l->len += (size_t)n;
	return 0;
}

int lines_starts_with(struct lines *l, const char *text, bool *ret, struct err *err)
{
	size_t len = strlen(text);
	int r = 0;

	while (!r && !l->ended && l->len - l->at < len)
		r = lines_fill(l, err);
	*ret = l->len - l->at >= len && !memcmp(l->data + l->at, text, len);
	return r;
}

int lines_next(struct lines *l, const char **ret, const char **ret_end, struct err *err)
{
	char *newline;
	int r;

	while (!(newline = memchr(l->data + l->at, '\n', l->len - l->at))) {
		if (l->ended || l->len - l->at == LINES_BYTES)
			break;
		r = lines_fill(l, err);
		if (r)
			return r;
	}
	if (!newline && l->at == l->len)
		return 0;
	l->cut = !newline && l->ended;
	*ret = l->data + l->at;
	*ret_end = newline ? newline : l->data + l->len;
	l->at = newline ? (size_t)(newline + 1 - l->data) : l->len;
	return 1;
}
