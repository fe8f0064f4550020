/* dm_log_writes.c -- logs of the kernel's dm-log-writes, read and written. */
#include "storage/dm_log_writes.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "storage/write_log.h"

enum {
	SECTOR = 512,
	SECTOR_MAX = 1 << 16, /* no disk has larger ones */
	VERSION = 1,
	MARK_TEXT_MAX = 24,
};

static const uint64_t magic = 0x6a736677736872;
/* Zeroes take room in such a log, and none in ours. */
static const size_t written_max = (size_t)1 << 32;

/* All numbers are little-endian. */
struct log_super {
	uint64_t magic, version, entries;
	uint32_t sector_size;
} __attribute__((packed));

/* In sectors of the log's size. data_len is of the text of a mark, which follows in the same
 * sector.
 */
struct log_entry {
	uint64_t sector, sectors, flags, data_len;
} __attribute__((packed));

enum log_flag {
	LOG_FLUSH = 1 << 0,
	LOG_FUA = 1 << 1,
	LOG_DISCARD = 1 << 2,
	LOG_MARK = 1 << 3,
	LOG_METADATA = 1 << 4,
};

bool dm_log_writes_is(const char *data, size_t len)
{
	uint64_t first;

	if (len < sizeof(first))
		return false;
	memcpy(&first, data, sizeof(first));
	return le64toh(first) == magic;
}

static void log_add_record(struct buf *out, uint32_t what, uint64_t offset, uint32_t size,
			   const char *data)
{
	struct disk_record r = { .offset = offset, .size = size, .what = what };

	buf_add(out, &r, sizeof(r));
	if (what & RECORD_WRITE)
		buf_add(out, data, size);
}

/* ---- reading ---- */

struct log_input {
	const char *data;
	size_t len, at;
	uint64_t disk_size, sector_size;
};

static int log_cut_short(struct err *err)
{
	return err_set(err, EINVAL, "the log ends before its last entry");
}

static int log_read_super(struct log_input *in, uint64_t *ret_entries, struct err *err)
{
	struct log_super super;
	uint32_t size;

	if (!dm_log_writes_is(in->data, in->len) || in->len < sizeof(super))
		return err_set(err, EINVAL, "this is no log of dm-log-writes");
	memcpy(&super, in->data, sizeof(super));
	if (le64toh(super.version) != VERSION)
		return err_set(err, EINVAL, "a log of dm-log-writes of an unknown version, %ju",
			       (uintmax_t)le64toh(super.version));
	size = le32toh(super.sector_size);
	if (size < SECTOR || size > SECTOR_MAX || size & (size - 1))
		return err_set(err, EINVAL, "a log of dm-log-writes with sectors of %u bytes",
			       size);
	if (in->len < size)
		return log_cut_short(err);
	in->sector_size = size;
	in->at = size;
	*ret_entries = le64toh(super.entries);
	return 0;
}

/* Where it is, in bytes; false if that is not on the disk. */
static bool log_place(const struct log_input *in, const struct log_entry *e, uint64_t *ret_offset,
		      uint64_t *ret_size)
{
	uint64_t sectors = in->disk_size / in->sector_size;

	if (e->sectors > sectors || e->sector > sectors - e->sectors)
		return false;
	*ret_offset = e->sector * in->sector_size;
	*ret_size = e->sectors * in->sector_size;
	return *ret_size <= UINT32_MAX;
}

/* What is changed there, if anything is. */
static int log_read_change(struct log_input *in, const struct log_entry *e, struct buf *out,
			   struct err *err)
{
	uint32_t what = e->flags & LOG_FLUSH ? RECORD_FLUSH : 0;
	uint64_t offset = 0, size = 0;

	/* A flush alone names no place that means anything. */
	if (e->sectors && !log_place(in, e, &offset, &size))
		return err_set(err, EINVAL, "the log has an entry behind the disk's end");
	if (e->flags & LOG_DISCARD)
		what |= size ? RECORD_DISCARD : 0;
	else if (size)
		what |= RECORD_WRITE;
	if (e->flags & LOG_FUA && size)
		what |= RECORD_FUA;
	if (what & RECORD_WRITE && size > in->len - in->at)
		return log_cut_short(err);
	if (what)
		log_add_record(out, what, offset, (uint32_t)size, in->data + in->at);
	if (what & RECORD_WRITE)
		in->at += size;
	return 0;
}

/* It lies in the sector of its entry. What is no text of one line is replaced; no line is empty. */
static void log_read_mark(const struct log_input *in, const struct log_entry *e, struct buf *marks)
{
	const char *text = in->data + in->at - in->sector_size + sizeof(*e);
	size_t max = in->sector_size - sizeof(*e);

	if (max > e->data_len)
		max = e->data_len;
	for (size_t i = 0; i < max && text[i]; i++)
		buf_addch(marks, text[i] > ' ' && text[i] <= '~' ? text[i] : '_');
	if (!max || !*text)
		buf_addch(marks, '-');
	buf_addch(marks, '\n');
}

static int log_read_entry(struct log_input *in, struct buf *out, struct buf *marks, struct err *err)
{
	struct log_entry e;

	if (in->len - in->at < in->sector_size)
		return log_cut_short(err);
	memcpy(&e, in->data + in->at, sizeof(e));
	e = (struct log_entry){ le64toh(e.sector), le64toh(e.sectors), le64toh(e.flags),
				le64toh(e.data_len) };
	in->at += in->sector_size;
	if (e.flags & LOG_MARK) {
		log_add_record(out, RECORD_MARK, 0, 0, NULL);
		if (marks)
			log_read_mark(in, &e, marks);
		return 0;
	}
	return log_read_change(in, &e, out, err);
}

int dm_log_writes_read(const char *data, size_t len, uint64_t disk_size, struct buf *out,
		       struct buf *marks, struct err *err)
{
	struct log_input in = { .data = data, .len = len, .disk_size = disk_size };
	uint64_t entries = 0;
	int r = log_read_super(&in, &entries, err);

	for (uint64_t i = 0; !r && i < entries; i++)
		r = log_read_entry(&in, out, marks, err);
	return r;
}

/* ---- writing ---- */

/* Something at the beginning of a sector; the rest of it is zero. */
static void log_add_sector(struct buf *out, const void *data, size_t len)
{
	static const char zeroes[SECTOR];

	buf_add(out, data, len);
	buf_add(out, zeroes, SECTOR - len);
}

static void log_add_mark(struct buf *out, uint64_t number)
{
	char sector[sizeof(struct log_entry) + MARK_TEXT_MAX];
	char *text = sector + sizeof(struct log_entry);
	int len = snprintf(text, MARK_TEXT_MAX, "call-%ju", (uintmax_t)number);
	struct log_entry e = { .flags = htole64(LOG_MARK), .data_len = htole64((uint64_t)len) };

	memcpy(sector, &e, sizeof(e));
	log_add_sector(out, sector, sizeof(e) + (size_t)len);
}

static void log_add_zeroes(struct buf *out, uint32_t size)
{
	static const char zeroes[SECTOR];

	for (; size; size -= SECTOR)
		buf_add(out, zeroes, SECTOR);
}

static int log_write_entry(struct buf *out, const struct disk_record *r, const char *data,
			   struct err *err)
{
	uint64_t flags = (r->what & RECORD_FLUSH ? LOG_FLUSH : 0) |
			 (r->what & RECORD_FUA ? LOG_FUA : 0) |
			 (r->what & RECORD_DISCARD ? LOG_DISCARD : 0);
	struct log_entry e = {
		.sector = htole64(r->offset / SECTOR),
		.sectors = htole64(r->size / SECTOR),
		.flags = htole64(flags),
	};

	if (r->offset % SECTOR || r->size % SECTOR)
		return err_set(err, EINVAL,
			       "a request of parts of sectors has no place in a log of "
			       "dm-log-writes");
	if (out->len > written_max || r->size > written_max - out->len)
		return err_set(err, EFBIG, "the log would have more than %zu bytes", written_max);
	log_add_sector(out, &e, sizeof(e));
	if (r->what & RECORD_WRITE)
		buf_add(out, data, r->size);
	else if (!(r->what & RECORD_DISCARD))
		log_add_zeroes(out, r->size);
	return 0;
}

int dm_log_writes_write(const char *data, size_t len, uint64_t disk_size, struct buf *out,
			struct err *err)
{
	struct write_log log = { .data = data, .len = len, .disk_size = disk_size };
	struct log_super super = {
		.magic = htole64(magic),
		.version = htole64(VERSION),
		.sector_size = htole32(SECTOR),
	};
	uint64_t entries = 0, marks = 0;
	size_t begin = out->len;
	struct disk_record r;
	const char *bytes;
	int more, failed = 0;

	log_add_sector(out, &super, sizeof(super));
	while (!failed && (more = write_log_next(&log, &r, &bytes, err)) > 0) {
		if (r.what == RECORD_MARK)
			log_add_mark(out, ++marks);
		else
			failed = log_write_entry(out, &r, bytes, err);
		entries++;
	}
	super.entries = htole64(entries);
	memcpy(out->data + begin, &super, sizeof(super));
	return failed ? failed : more;
}
