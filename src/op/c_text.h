/* c_text.h -- arguments as C text, for programs that reproduce a finding.
 *
 * The text may use what such a program declares: the arrays `fd` and `stream`, the null pointer
 * `nothing`, and the functions big(), text(), repeat() and pattern() (finding/helpers.def). */
#ifndef OP_C_TEXT_H
#define OP_C_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/* All processes of a finding are one program: each has a part of the arrays. */
enum { C_FDS_MAX = 256, C_STREAMS_MAX = 32 };

struct c_text {
	struct buf *out;
	bool rooted;      /* the program changes its root: paths are written as they are */
	size_t data_max;  /* longest data argument */
	unsigned process; /* from 0 */
};

static inline bool c_is_descriptor(int64_t num)
{
	return num >= 0 && num < C_FDS_MAX;
}

/* One string literal, whatever the bytes. */
void c_string(const char *bytes, size_t len, struct buf *out);
/* A path as the program sees it from its working directory; NULL is one, too. */
void c_path(const char *path, bool rooted, struct buf *out);
void c_number(int64_t num, struct buf *out);

#endif
