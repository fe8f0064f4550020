/* write_log.c -- walks through the record of what a file system asked of its disk. */
#include "storage/write_log.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/err.h"

enum {
	CHANGES = RECORD_WRITE | RECORD_ZEROES | RECORD_DISCARD,
	ORDERS = RECORD_FLUSH | RECORD_FUA,
};

/* Which requests there are: a mark; an erase or a program of flash memory; a change of one sort; a
 * flush, before a change or alone. */
static bool is_request(const struct disk_record *r)
{
	uint32_t change = r->what & CHANGES;

	if (r->what & RECORD_MARK)
		return r->what == RECORD_MARK && !r->size;
	if (r->what & (RECORD_ERASE | RECORD_PROGRAM))
		return (r->what == RECORD_ERASE || r->what == (RECORD_WRITE | RECORD_PROGRAM)) &&
		       r->size > 0;
	if (r->what & ~(uint32_t)(CHANGES | ORDERS))
		return false;
	if (!change)
		return r->what & RECORD_FLUSH && !r->size;
	if (change & RECORD_WRITE && change != RECORD_WRITE)
		return false;
	return r->size > 0;
}

int write_log_next(struct write_log *log, struct disk_record *ret, const char **ret_data,
		   struct err *err)
{
	size_t at = log->at, left = log->len - at;
	struct disk_record r;

	if (!left)
		return 0;
	if (left < sizeof(r))
		return err_set(err, EINVAL, "the log of writes ends in the middle of a record");
	memcpy(&r, log->data + at, sizeof(r));
	at += sizeof(r);
	left -= sizeof(r);
	if (!is_request(&r))
		return err_set(err, EINVAL, "the log of writes has a request of no known kind, %#x",
			       r.what);
	if (r.size > log->disk_size || r.offset > log->disk_size - r.size)
		return err_set(err, EINVAL,
			       "the log of writes has a request behind the disk's end");
	if (r.what & RECORD_WRITE && r.size > left)
		return err_set(err, EINVAL, "the log of writes ends in the data of a write");
	*ret_data = log->data + at;
	log->at = at + (r.what & RECORD_WRITE ? r.size : 0);
	*ret = r;
	return 1;
}
