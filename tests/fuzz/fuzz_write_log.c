/* fuzz_write_log.c -- logs of writes are walked or refused, and what is read of one of
 * dm-log-writes is one of ours that can be written again. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "storage/dm_log_writes.h"
#include "storage/write_log.h"

enum { DISK_SIZE = 1 << 16, ZEROES_MAX = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t count_lines(const struct buf *text)
{
	size_t lines = 0;

	for (size_t i = 0; i < text->len; i++)
		lines += text->data[i] == '\n';
	return lines;
}

/* Whether it is well-formed; *ret_zeroes counts what takes more room in the other format. */
static bool walk(const char *data, size_t len, size_t *ret_zeroes)
{
	struct write_log log = { .data = data, .len = len, .disk_size = DISK_SIZE };
	struct err err = { 0 };
	struct disk_record r;
	const char *bytes;
	int more;

	*ret_zeroes = 0;
	while ((more = write_log_next(&log, &r, &bytes, &err)) > 0) {
		must(log.at <= len && r.offset + r.size <= DISK_SIZE);
		if (r.what & RECORD_WRITE)
			must(bytes >= data && bytes + r.size <= data + len);
		*ret_zeroes += (r.what & RECORD_ZEROES) != 0;
	}
	must(more == err.code);
	return !more;
}

static void convert(const char *data, size_t len)
{
	struct buf ours = BUF_INIT, theirs = BUF_INIT, again = BUF_INIT;
	struct buf names = BUF_INIT, same_names = BUF_INIT;
	size_t zeroes;

	if (!dm_log_writes_read(data, len, DISK_SIZE, &ours, &names, NULL)) {
		must(walk(ours.data, ours.len, &zeroes));
		must(!dm_log_writes_write(ours.data, ours.len, DISK_SIZE, &theirs, NULL));
		must(!dm_log_writes_read(theirs.data, theirs.len, DISK_SIZE, &again, &same_names,
					 NULL));
		must(count_lines(&names) == count_lines(&same_names));
		must(again.len == ours.len &&
		     (!ours.len || !memcmp(again.data, ours.data, ours.len)));
	}
	buf_free(&ours);
	buf_free(&theirs);
	buf_free(&again);
	buf_free(&names);
	buf_free(&same_names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf theirs = BUF_INIT;
	size_t zeroes;

	if (dm_log_writes_is((const char *)data, size))
		convert((const char *)data, size);
	if (walk((const char *)data, size, &zeroes) && zeroes < ZEROES_MAX)
		dm_log_writes_write((const char *)data, size, DISK_SIZE, &theirs, NULL);
	buf_free(&theirs);
	return 0;
}
