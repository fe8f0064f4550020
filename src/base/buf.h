/* buf.h -- a growing byte buffer, always NUL-terminated behind its length. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct err;

struct buf {
	char *data; /* NULL while empty and never grown */
	size_t len;
	size_t cap;
};

#define BUF_INIT \
	{ \
		NULL, 0, 0 \
	}

void buf_free(struct buf *b);  /* and ready for use again */
void buf_clear(struct buf *b); /* keeps the memory */
void buf_reserve(struct buf *b, size_t more);
void buf_add(struct buf *b, const void *data, size_t len);
void buf_addch(struct buf *b, char c);
void buf_adds(struct buf *b, const char *text);
void buf_addu(struct buf *b, uint64_t value); /* decimal, much faster than buf_addf */
void buf_addf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vaddf(struct buf *b, const char *format, va_list args);
/* At most max bytes of a text; one that is longer ends in "... (N bytes)", no escape cut in two. */
void buf_add_clipped(struct buf *b, const char *text, size_t max);
/* The text, "" when empty; valid until the next change. */
const char *buf_str(const struct buf *b);

/* Whole files. Reading takes at most max bytes (-EFBIG beyond). Writing is atomic: a
 * temporary file beside the path, fsync, rename. */
int buf_read_file(struct buf *b, const char *path, size_t max, struct err *err);
int buf_read_fd(struct buf *b, int fd, size_t max, struct err *err);
int buf_write_file(const struct buf *b, const char *path, struct err *err);

#endif
