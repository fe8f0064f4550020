/* op_write.c -- write, pwrite, pwritev2: data into a file. */
#include "model/io.h"

void put_data(struct step *x, uint64_t ino, const struct arg *data, uint64_t offset, uint64_t count)
{
	uint64_t own = data->len < count ? data->len : count, done = 0;
	char chunk[TREE_BLOCK];
	size_t len;

	for (; done < own; done += len) {
		/* Up to the end of a block, so that each is written once. */
		len = TREE_BLOCK - (offset + done) % TREE_BLOCK;
		if (len > own - done)
			len = (size_t)(own - done);
		if (len == TREE_BLOCK && data->generated) {
			tree_write_block(&x->state->tree, ino, (offset + done) / TREE_BLOCK,
					 data_block(data->seed, done));
			continue;
		}
		data_bytes(data, done, chunk, len);
		tree_write(&x->state->tree, ino, offset + done, chunk, len);
	}
	if (own == count)
		return;
	if (tree_inode(&x->state->tree, ino)->size < offset + count)
		tree_truncate(&x->state->tree, ino, offset + count);
	tree_zero(&x->state->tree, ino, offset + own, count - own, true);
}

bool refuse_size(struct step *x, uint64_t end, enum rule rule)
{
	return end > x->model->traits.file_size_max && refuse(x, rule);
}

void may_refuse_by_flags(struct step *x, const struct inode *inode)
{
	if (inode->flags & FS_IMMUTABLE_FL)
		may_refuse(x, RULE_immutable_open);
	if (inode->flags & FS_APPEND_FL && privilege_bits(x, inode))
		may_refuse(x, RULE_append_privileged);
}

/* Where the bytes go: the end of the file, where the descriptor or the call says append. */
static bool write_appends(struct step *x, const struct transfer *t, const struct open_file *f)
{
	if (t->flags & RWF_APPEND)
		return true;
	if (!(f->flags & O_APPEND) || t->flags & RWF_NOAPPEND_)
		return false;
	return !t->positioned || holds(x, RULE_append_positioned);
}

static void write_effect(struct step *x, const struct transfer *t, uint64_t ino, uint64_t offset,
			 int64_t most)
{
	bool whole = t->whole && !x->space_may_end;
	int64_t done = give_range(x, shortest_transfer(x, most, whole), most);

	if (!done)
		return;
	put_data(x, ino, t->data, offset, (uint64_t)done);
	drop_privileges(x, ino);
	touch_modify(x, ino);
	if (!t->positioned)
		state_edit_file(x->state, x->pid, t->fd->num)->offset = (int64_t)offset + done;
}

static int64_t least_offset(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* What a file takes of a write: all of it, up to the largest size a file may have. */
static void write_regular(struct step *x, const struct transfer *t, const struct open_file *f,
			  int64_t offset)
{
	const struct inode *inode = file_inode(x, f);
	uint64_t at = write_appends(x, t, f) ? inode->size : (uint64_t)offset;
	uint64_t max = x->model->traits.file_size_max;
	int64_t most = t->whole ? t->count : least_offset(t->count, TRANSFER_MAX);

	may_refuse_by_flags(x, inode);
	if (!t->count) {
		if (proceed(x))
			give_range(x, 0, 0);
		return;
	}
	/* Some look at the position before it moves to the end. */
	if (is_misaligned(f, offset | (int64_t)at, t->count))
		leave_undefined(x, RULE_direct_write_unaligned);
	may_refuse_direct(x, f);
	if (t->flags & RWF_NOAPPEND_ && f->flags & O_APPEND && x->model->traits.noappend_ignored)
		leave_undefined(x, RULE_noappend_ignored);
	if (t->flags & RWF_NOWAIT)
		may_refuse(x, RULE_write_nowait_buffered);
	if (at >= max && refuse(x, RULE_write_too_far))
		return;
	if (proceed(x))
		write_effect(x, t, f->ino, at, least_offset(most, (int64_t)(max - at)));
}

void write_data(struct step *x, const struct transfer *t)
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
	if (!is_writable(f))
		refuse(x, RULE_write_access);
	if (is_special(file_inode(x, f)))
		leave_undefined(x, RULE_special_contents);
	offset = t->positioned ? t->offset : f->offset;
	if (refused(x) || refuse_range(x, t, offset) || !S_ISREG(file_inode(x, f)->mode))
		return;
	if (t->count && refuse_rwf(x, t, f))
		return;
	write_regular(x, t, f, offset);
}

void model_write(struct step *x)
{
	write_data(x, &(struct transfer){
			      .fd = &x->call->write.fd,
			      .data = &x->call->write.data,
			      .count = x->call->write.count.num,
		      });
}

void model_write_all(struct step *x)
{
	write_data(x, &(struct transfer){
			      .fd = &x->call->write_all.fd,
			      .data = &x->call->write_all.data,
			      .count = x->call->write_all.count.num,
			      .whole = true,
		      });
}

void model_pwrite(struct step *x)
{
	write_data(x, &(struct transfer){
			      .fd = &x->call->pwrite.fd,
			      .data = &x->call->pwrite.data,
			      .count = x->call->pwrite.count.num,
			      .offset = x->call->pwrite.offset.num,
			      .positioned = true,
		      });
}

void model_pwrite_all(struct step *x)
{
	write_data(x, &(struct transfer){
			      .fd = &x->call->pwrite_all.fd,
			      .data = &x->call->pwrite_all.data,
			      .count = x->call->pwrite_all.count.num,
			      .offset = x->call->pwrite_all.offset.num,
			      .positioned = true,
			      .whole = true,
		      });
}

/* Position -1 means the offset of the descriptor. */
void model_pwritev2(struct step *x)
{
	if (leave_open(x, RULE_call_of_linux))
		return;
	write_data(x, &(struct transfer){
			      .fd = &x->call->pwritev2.fd,
			      .data = &x->call->pwritev2.data,
			      .count = x->call->pwritev2.count.num,
			      .offset = x->call->pwritev2.offset.num,
			      .flags = x->call->pwritev2.flags.num,
			      .positioned = x->call->pwritev2.offset.num != -1,
			      .vectored = true,
		      });
}
