/* op_advice.c -- fadvise, readahead, sync_file_range: the page cache, which no call shows. */
#include "model/io.h"

static void advise(struct step *x, const struct arg *fd, int64_t length, int64_t advice)
{
	const struct open_file *f = need_io(x, fd);

	if (!f)
		return;
	if (S_ISFIFO(file_inode(x, f)->mode))
		refuse(x, RULE_advice_pipe);
	if (length < 0)
		refuse(x, RULE_advice_length);
	if (advice < POSIX_FADV_NORMAL || advice > POSIX_FADV_NOREUSE)
		refuse(x, RULE_advice_value);
	proceed(x);
}

void model_fadvise(struct step *x)
{
	advise(x, &x->call->fadvise.fd, x->call->fadvise.length.num, x->call->fadvise.advice.num);
}

void advise_file(struct step *x, const struct arg *fd)
{
	advise(x, fd, x->call->fadvise_file.length.num, x->call->fadvise_file.advice.num);
}

void model_readahead(struct step *x)
{
	const struct open_file *f;
	uint32_t mode;

	if (leave_open(x, RULE_call_of_linux))
		return;
	f = need_io(x, &x->call->readahead.fd);
	if (!f)
		return;
	mode = file_inode(x, f)->mode;
	if (!is_readable(f) && refuse(x, RULE_read_access))
		return;
	if (!S_ISREG(mode) && !S_ISBLK(mode))
		refuse(x, RULE_readahead_kind);
	if (x->call->readahead.count.num < 0)
		refuse(x, RULE_advice_length);
	proceed(x);
}

void model_sync_file_range(struct step *x)
{
	const int64_t known =
		SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
	int64_t offset = x->call->sync_file_range.offset.num, end;
	const struct open_file *f;
	uint32_t mode;

	if (leave_open(x, RULE_call_of_linux))
		return;
	f = need_io(x, &x->call->sync_file_range.fd);
	if (!f)
		return;
	mode = file_inode(x, f)->mode;
	if (x->call->sync_file_range.flags.num & ~known)
		refuse(x, RULE_sync_range_flags);
	if (__builtin_add_overflow(offset, x->call->sync_file_range.length.num, &end) ||
	    offset < 0 || end < offset)
		refuse(x, RULE_sync_range);
	if (!refused(x) && !S_ISREG(mode) && !S_ISDIR(mode) && !S_ISBLK(mode))
		refuse(x, RULE_sync_range_pipe);
	proceed(x);
}
