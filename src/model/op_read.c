/* op_read.c -- read, pread, preadv2: data out of a file. */
#include "model/io.h"

/* Longer results are compared up to here. */
enum { READ_KEPT_MAX = 64 << 20 };

const struct open_file *need_io(struct step *x, const struct arg *fd)
{
	const struct open_file *f = need_file(x, fd, RULE_io_bad_fd);

	if (f && f->flags & O_PATH && refuse(x, RULE_io_path_fd))
		return NULL;
	return f;
}

bool is_special(const struct inode *inode)
{
	return !S_ISREG(inode->mode) && !S_ISDIR(inode->mode);
}

bool refuse_pipe(struct step *x, const struct transfer *t, const struct open_file *f)
{
	return t->positioned && S_ISFIFO(file_inode(x, f)->mode) && refuse(x, RULE_io_pipe);
}

bool refuse_range(struct step *x, const struct transfer *t, int64_t offset)
{
	/* No buffer of that length fits into an address space; whether one just below does
	 * depends on where it lies. */
	const int64_t space = (int64_t)1 << 47, room = (int64_t)1 << 40;
	bool huge = t->count < 0 || t->count >= space;
	int64_t count = t->count, end;

	/* Vectors are cut before anything is asked of them. */
	if (t->vectored && count > TRANSFER_MAX)
		count = TRANSFER_MAX;
	if (!t->vectored && huge)
		refuse(x, RULE_io_count_fault);
	else if (!t->vectored && count >= room)
		may_refuse(x, RULE_io_count_fault);
	if (count < 0)
		refuse(x, RULE_io_count);
	else if (__builtin_add_overflow(offset, count, &end))
		refuse(x, RULE_io_overflow);
	return refused(x);
}

bool refuse_rwf(struct step *x, const struct transfer *t, const struct open_file *f)
{
	const int64_t known = RWF_HIPRI | RWF_DSYNC | RWF_SYNC | RWF_NOWAIT | RWF_APPEND |
			      RWF_NOAPPEND_ | RWF_ATOMIC_ | RWF_DONTCACHE_;
	const int64_t both = RWF_APPEND | RWF_NOAPPEND_;

	if (t->flags & ~known)
		return refuse(x, RULE_rwf_unknown);
	if (t->flags & RWF_NOAPPEND_ && refuse(x, RULE_rwf_noappend_unknown))
		return true;
	if ((t->flags & both) == both)
		return refuse(x, RULE_rwf_append_both);
	if (t->flags & (RWF_NOWAIT | RWF_ATOMIC_ | RWF_DONTCACHE_))
		may_refuse(x, RULE_rwf_unsupported);
	if (t->flags & RWF_NOWAIT)
		may_refuse(x, RULE_rwf_would_block);
	return t->flags & RWF_NOAPPEND_ && f->flags & O_APPEND &&
	       file_inode(x, f)->flags & FS_APPEND_FL && refuse(x, RULE_rwf_noappend);
}

bool is_misaligned(const struct open_file *f, int64_t offset, int64_t count)
{
	return f->flags & O_DIRECT && (offset | count) & (DIRECT_ALIGN - 1);
}

void may_refuse_direct(struct step *x, const struct open_file *f)
{
	if (f->flags & O_DIRECT && x->model->traits.direct_io_fails)
		may_refuse(x, RULE_direct_unaligned_below);
}

int64_t shortest_transfer(struct step *x, int64_t len, bool whole)
{
	if (whole && !state_failures(x->state))
		return len;
	return len && !holds(x, RULE_transfer_may_be_empty) ? 1 : 0;
}

/* How much of what could be read was read. The length seen counts what was not kept, too. */
static int64_t length_taken(const struct step *x, int64_t available, int64_t shortest)
{
	int64_t seen;

	if (!x->seen)
		return available;
	seen = x->seen->num > (int64_t)x->seen->len ? x->seen->num : (int64_t)x->seen->len;
	return seen >= shortest && seen <= available ? seen : available;
}

static int64_t bytes_available(const struct inode *inode, int64_t offset, int64_t count, bool whole)
{
	uint64_t left = inode->size > (uint64_t)offset ? inode->size - (uint64_t)offset : 0;

	if (!whole && count > TRANSFER_MAX)
		count = TRANSFER_MAX;
	return left < (uint64_t)count ? (int64_t)left : count;
}

static void read_effect(struct step *x, const struct transfer *t, const struct open_file *f,
			int64_t offset)
{
	uint64_t ino = f->ino;
	int64_t len = bytes_available(tree_inode(&x->state->tree, ino), offset, t->count, t->whole);
	int64_t shortest = shortest_transfer(x, len, t->whole);
	int64_t kept = len < READ_KEPT_MAX ? len : READ_KEPT_MAX;
	char *bytes = give_bytes(x, RESULT_BYTES, (size_t)kept,
				 (size_t)(shortest < kept ? shortest : kept));

	tree_read(&x->state->tree, ino, (uint64_t)offset, bytes, (size_t)kept);
	if (shortest)
		touch_read(x, f);
	else if (t->count)
		touch_access(x, ino);
	else if (x->model->traits.empty_read_sets_atime)
		may_touch(x, ino, TIME_BIT_ACCESS);
	if (!t->positioned)
		state_edit_file(x->state, x->pid, t->fd->num)->offset +=
			length_taken(x, len, shortest);
}

/* A vector of nothing is never handed on. */
static void read_directory(struct step *x, const struct transfer *t)
{
	if (t->vectored && !t->count) {
		if (proceed(x))
			give_bytes(x, RESULT_BYTES, 0, 0);
		return;
	}
	if (t->flags & ~(int64_t)RWF_HIPRI)
		refuse(x, RULE_rwf_unsupported);
	refuse(x, RULE_read_directory);
}

void read_data(struct step *x, const struct transfer *t)
{
	const struct open_file *f;
	int64_t offset;

	if (t->positioned && t->offset < 0)
		refuse(x, RULE_io_offset);
	f = need_io(x, t->fd);
	if (!f)
		return;
	if (refuse_pipe(x, t, f))
		return;
	if (!is_readable(f)) {
		refuse(x, RULE_read_access);
		return;
	}
	offset = t->positioned ? t->offset : f->offset;
	if (is_special(file_inode(x, f)))
		leave_undefined(x, RULE_special_contents);
	refuse_range(x, t, offset);
	if (S_ISDIR(file_inode(x, f)->mode)) {
		read_directory(x, t);
		return;
	}
	if (refused(x) || (t->count && refuse_rwf(x, t, f)))
		return;
	if (is_misaligned(f, offset, t->count))
		may_refuse(x, RULE_direct_read_unaligned);
	may_refuse_direct(x, f);
	if (proceed(x))
		read_effect(x, t, f, offset);
}

void model_read(struct step *x)
{
	read_data(x, &(struct transfer){
			     .fd = &x->call->read.fd,
			     .count = x->call->read.count.num,
		     });
}

void model_read_all(struct step *x)
{
	read_data(x, &(struct transfer){
			     .fd = &x->call->read_all.fd,
			     .count = x->call->read_all.count.num,
			     .whole = true,
		     });
}

void model_pread(struct step *x)
{
	read_data(x, &(struct transfer){
			     .fd = &x->call->pread.fd,
			     .count = x->call->pread.count.num,
			     .offset = x->call->pread.offset.num,
			     .positioned = true,
		     });
}

void model_pread_all(struct step *x)
{
	read_data(x, &(struct transfer){
			     .fd = &x->call->pread_all.fd,
			     .count = x->call->pread_all.count.num,
			     .offset = x->call->pread_all.offset.num,
			     .positioned = true,
			     .whole = true,
		     });
}

/* Position -1 means the offset of the descriptor. */
void model_preadv2(struct step *x)
{
	if (leave_open(x, RULE_call_of_linux))
		return;
	read_data(x, &(struct transfer){
			     .fd = &x->call->preadv2.fd,
			     .count = x->call->preadv2.count.num,
			     .offset = x->call->preadv2.offset.num,
			     .flags = x->call->preadv2.flags.num,
			     .positioned = x->call->preadv2.offset.num != -1,
			     .vectored = true,
		     });
}
