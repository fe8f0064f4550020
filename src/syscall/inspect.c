/* inspect.c -- the data of a file against what the file system says about them.
 *
 * Holes (lseek(2): a hole is a sequence of zeros) and what lies between the extents of FIEMAP (with
 * FIEMAP_FLAG_SYNC, so that nothing waits for its place) must read as zeros. Both reports must be
 * in order and without contradiction. A file system need not report either. A hole may be reported
 * as data, unwritten space may be an extent, and extents may lie behind the end of the file: all
 * that is legitimate. st_blocks may count clones and space behind the end, but not more than the
 * file system and the size of the file have together.
 *
 * Of a large hole the two ends are read, and of a file not more than INSPECT_BYTES_MAX. */
#include <inttypes.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "syscall/caller.h"

enum {
	INSPECT_TEXT = 256,       /* the start of the buffer: what is wrong */
	INSPECT_PIECE = 64 << 10, /* read at once, behind the text */
	INSPECT_ENDS = 256 << 10, /* of a hole: what is read at each end */
	INSPECT_BYTES_MAX = 8 << 20,
	INSPECT_EXTENTS = 64,      /* asked for at once */
	INSPECT_ROUNDS_MAX = 4096, /* of asking */
	INSPECT_SLACK = 4 << 20,   /* blocks of metadata that may be counted */
};

_Static_assert(INSPECT_TEXT + INSPECT_PIECE <= SYSCALL_DATA_MAX, "both fit into the buffer");

struct inspection {
	int fd;
	int64_t size;
	int64_t budget; /* bytes that may still be read */
	char *text, *piece;
	bool wrong;
	int error;
};

__attribute__((format(printf, 2, 3))) static void inspect_report(struct inspection *i,
								 const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(i->text, INSPECT_TEXT, format, args);
	va_end(args);
	i->wrong = true;
}

static bool inspect_is_over(const struct inspection *i)
{
	return i->wrong || i->error;
}

/* Reads a range that is said to hold nothing. */
static void inspect_zeros(struct inspection *i, int64_t from, int64_t to, const char *where)
{
	ssize_t n;

	for (; from < to && i->budget > 0 && !inspect_is_over(i); from += n) {
		n = pread(i->fd, i->piece, to - from < INSPECT_PIECE ? to - from : INSPECT_PIECE,
			  from);
		if (n < 0)
			i->error = errno;
		if (n <= 0)
			return;
		i->budget -= n;
		for (ssize_t at = 0; at < n && !i->wrong; at++)
			if (i->piece[at])
				inspect_report(i, "byte %" PRId64 " is not zero, but %s", from + at,
					       where);
	}
}

static void inspect_gap(struct inspection *i, int64_t from, int64_t to, const char *where)
{
	if (to > i->size)
		to = i->size;
	if (to - from <= 2 * INSPECT_ENDS) {
		inspect_zeros(i, from, to, where);
		return;
	}
	inspect_zeros(i, from, from + INSPECT_ENDS, where);
	inspect_zeros(i, to - INSPECT_ENDS, to, where);
}

/* ---- holes ---- */

/* The end of the data that begin at `data`; -1 where there is none. Clean pages over unwritten
 * space count as data until they are reclaimed, so a contradiction counts if it lasts. */
static int64_t inspect_hole_behind(struct inspection *i, int64_t data)
{
	int64_t hole = lseek(i->fd, data, SEEK_HOLE);

	if (hole == data && lseek(i->fd, data, SEEK_DATA) == data)
		hole = lseek(i->fd, data, SEEK_HOLE);
	if (hole < 0)
		inspect_report(i, "no hole behind the data at %" PRId64, data);
	else if (hole < data || (hole == data && lseek(i->fd, data, SEEK_DATA) == data))
		inspect_report(i, "SEEK_HOLE from the data at %" PRId64 " gives %" PRId64, data,
			       hole);
	else if (hole > i->size)
		inspect_report(i, "a hole at %" PRId64 ", the size is %" PRId64, hole, i->size);
	return i->wrong ? -1 : hole;
}

static void inspect_holes(struct inspection *i)
{
	int64_t at = 0, data;

	while (at < i->size && i->budget > 0 && !inspect_is_over(i)) {
		data = lseek(i->fd, at, SEEK_DATA);
		if (data < 0 && errno != ENXIO) /* it does not report holes */
			return;
		if (data < 0)
			data = i->size;
		else if (data < at || data >= i->size)
			inspect_report(i,
				       "SEEK_DATA from %" PRId64 " gives %" PRId64
				       ", the size is %" PRId64,
				       at, data, i->size);
		if (i->wrong)
			return;
		inspect_gap(i, at, data, "lseek reports a hole there");
		i->budget -= INSPECT_ENDS / 64; /* calls cost, too */
		if (data == i->size || inspect_is_over(i))
			return;
		at = inspect_hole_behind(i, data);
		if (at == data)
			at++;
	}
}

/* ---- extents ---- */

struct inspect_map {
	struct fiemap head;
	struct fiemap_extent extents[INSPECT_EXTENTS];
};

/* One extent behind those up to *end; false: there is no other behind it. */
static bool inspect_extent(struct inspection *i, const struct fiemap_extent *extent, uint64_t *end)
{
	uint64_t from = extent->fe_logical, to = from;

	if (!extent->fe_length || __builtin_add_overflow(from, extent->fe_length, &to))
		inspect_report(i, "an extent of %" PRIu64 " bytes at %" PRIu64,
			       (uint64_t)extent->fe_length, from);
	else if (from < *end)
		inspect_report(i,
			       "an extent at %" PRIu64 " overlaps the one before, up to %" PRIu64,
			       from, *end);
	if (i->wrong)
		return false;
	if (*end < (uint64_t)i->size)
		inspect_gap(i, (int64_t)*end, from < (uint64_t)i->size ? (int64_t)from : i->size,
			    "FIEMAP reports no extent there");
	*end = to;
	return !(extent->fe_flags & FIEMAP_EXTENT_LAST) && !inspect_is_over(i);
}

static void inspect_extents(struct inspection *i)
{
	struct inspect_map map;
	uint64_t end = 0;
	bool more = true;

	for (int round = 0; more && round < INSPECT_ROUNDS_MAX; round++) {
		memset(&map, 0, sizeof(map));
		map.head.fm_start = end;
		map.head.fm_length = FIEMAP_MAX_OFFSET - end;
		map.head.fm_flags = FIEMAP_FLAG_SYNC;
		map.head.fm_extent_count = INSPECT_EXTENTS;
		if (ioctl(i->fd, FS_IOC_FIEMAP, &map)) /* it does not report extents */
			return;
		more = map.head.fm_mapped_extents == INSPECT_EXTENTS;
		for (uint32_t n = 0; n < map.head.fm_mapped_extents && n < INSPECT_EXTENTS; n++)
			if (!inspect_extent(i, &map.extents[n], &end)) {
				more = false;
				break;
			}
	}
	if (!more && !inspect_is_over(i) && end < (uint64_t)i->size)
		inspect_gap(i, (int64_t)end, i->size, "FIEMAP reports no extent there");
}

/* ---- blocks ---- */

static void inspect_blocks(struct inspection *i, const struct stat *st)
{
	struct statfs fs;
	uint64_t most;

	if (fstatfs(i->fd, &fs) || !fs.f_blocks)
		return;
	if (__builtin_mul_overflow((uint64_t)fs.f_blocks, (uint64_t)fs.f_bsize, &most) ||
	    __builtin_add_overflow(most, (uint64_t)st->st_size + INSPECT_SLACK, &most))
		most = UINT64_MAX;
	if ((uint64_t)st->st_blocks > most / 512)
		inspect_report(i, "st_blocks is %" PRId64 ", more than the file system has",
			       (int64_t)st->st_blocks);
}

static void inspect_open_file(struct inspection *i)
{
	struct stat st;

	if (fstat(i->fd, &st)) {
		i->error = errno;
		return;
	}
	inspect_blocks(i, &st);
	if (!S_ISREG(st.st_mode) || !st.st_size || i->wrong)
		return;
	i->size = st.st_size;
	if (pread(i->fd, i->piece, 1, 0) < 0)
		i->error = errno;
	if (!inspect_is_over(i))
		inspect_holes(i);
	i->budget = INSPECT_BYTES_MAX;
	if (!inspect_is_over(i))
		inspect_extents(i);
}

SYSCALL(inspect_file)
{
	struct room room = room_take(self, INSPECT_TEXT + INSPECT_PIECE);
	struct inspection i = {
		.fd = open_at(at_cwd(self, &c->inspect_file.path), O_RDONLY | O_NONBLOCK, 0),
		.budget = INSPECT_BYTES_MAX,
		.text = room.at,
		.piece = room.at + INSPECT_TEXT,
	};

	if (i.fd < 0) {
		ret->error = errno;
		return;
	}
	i.text[0] = '\0';
	inspect_open_file(&i);
	ret->error = i.error;
	if (close(i.fd) && !ret->error)
		ret->error = errno;
	ret->bytes = i.text;
	ret->len = strlen(i.text);
}
