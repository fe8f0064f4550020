/* op_copy.c -- copy_file_range, sendfile, splice, FICLONE, FICLONERANGE: data from one file to
 * another. */
#include "model/io.h"

enum { PIPE_CAPACITY = 65536 };

struct copy {
	const struct open_file *from, *to;
	int64_t from_offset, to_offset;
	uint64_t length;
};

/* Both ends: regular files, open the right way. What Linux checks for copies and clones. */
static bool refuse_ends(struct step *x, const struct copy *c)
{
	const struct inode *from = file_inode(x, c->from), *to = file_inode(x, c->to);

	if (S_ISDIR(from->mode) || S_ISDIR(to->mode))
		return refuse(x, RULE_copy_directory);
	if (!S_ISREG(from->mode) || !S_ISREG(to->mode))
		return refuse(x, RULE_copy_special);
	if (!is_readable(c->from) || !is_writable(c->to))
		return refuse(x, RULE_copy_access);
	if (c->to->flags & O_APPEND)
		return refuse(x, RULE_copy_append);
	return false;
}

/* Do [a, a + length) and [b, b + length) meet? */
static bool ranges_overlap(uint64_t a, uint64_t b, uint64_t length)
{
	return a < b + length && b < a + length;
}

static uint64_t bytes_behind(const struct inode *inode, uint64_t offset)
{
	return offset < inode->size ? inode->size - offset : 0;
}

/* Cuts the length to what there is to copy and room for. */
static bool refuse_copy_range(struct step *x, struct copy *c)
{
	uint64_t from = (uint64_t)c->from_offset, to = (uint64_t)c->to_offset;
	uint64_t max = x->model->traits.file_size_max;
	uint64_t left = bytes_behind(file_inode(x, c->from), from);
	bool nothing = c->from_offset >= 0 && (!c->length || !left);

	if (file_inode(x, c->to)->flags & FS_IMMUTABLE_FL)
		return refuse(x, RULE_copy_immutable);
	if (from + c->length < from || to + c->length < to)
		return refuse(x, RULE_copy_overflow);
	if (c->to_offset >= 0 && to >= max && nothing)
		may_refuse(x, RULE_copy_nothing_too_far);
	else if (c->to_offset >= 0 && to >= max && refuse(x, RULE_write_too_far))
		return true;
	if (c->from_offset < 0 || c->to_offset < 0)
		return refuse(x, RULE_io_offset);
	if (c->length > left)
		c->length = left;
	if (c->length > max - to)
		c->length = max - to;
	return c->from->ino == c->to->ino && c->length && ranges_overlap(from, to, c->length) &&
	       refuse(x, RULE_copy_overlap);
}

/* Returns how much was copied. */
static int64_t copy_effect(struct step *x, const struct copy *c)
{
	uint64_t most = c->length < TRANSFER_MAX ? c->length : TRANSFER_MAX, ino = c->to->ino;
	int64_t done = give_range(x, shortest_transfer(x, (int64_t)most, false), (int64_t)most);
	struct tree *t = &x->state->tree;

	if (tree_inode(t, ino)->size < (uint64_t)c->to_offset + (uint64_t)done)
		tree_truncate(t, ino, (uint64_t)c->to_offset + (uint64_t)done);
	tree_clone(t, c->from->ino, (uint64_t)c->from_offset, ino, (uint64_t)c->to_offset,
		   (uint64_t)done);
	touch_access(x, c->from->ino);
	drop_privileges(x, ino);
	touch_modify(x, ino);
	return done;
}

/* Alignment that O_DIRECT may want on either side. */
static void check_copy_alignment(struct step *x, const struct copy *c)
{
	if (is_misaligned(c->from, c->from_offset, (int64_t)c->length))
		may_refuse(x, RULE_direct_read_unaligned);
	if (is_misaligned(c->to, c->to_offset, (int64_t)c->length))
		leave_undefined(x, RULE_direct_write_unaligned);
}

void model_copy_file_range(struct step *x)
{
	struct copy c = {
		.from_offset = x->call->copy_file_range.off_in.num,
		.to_offset = x->call->copy_file_range.off_out.num,
		.length = (uint64_t)x->call->copy_file_range.length.num,
	};

	if (leave_open(x, RULE_call_of_linux))
		return;
	c.from = need_io(x, &x->call->copy_file_range.fd_in);
	c.to = need_io(x, &x->call->copy_file_range.fd_out);
	if (!c.from || !c.to)
		return;
	if (x->call->copy_file_range.flags.num && refuse(x, RULE_copy_flags))
		return;
	if (refuse_ends(x, &c) || refuse_copy_range(x, &c))
		return;
	if (!c.length) {
		give_range(x, 0, 0);
		return;
	}
	/* What cannot be written may have been read. */
	may_touch(x, c.from->ino, TIME_BIT_ACCESS);
	if (x->model->traits.no_copy && refuse(x, RULE_copy_unsupported))
		return;
	may_refuse_by_flags(x, file_inode(x, c.to));
	check_copy_alignment(x, &c);
	if (proceed(x))
		copy_effect(x, &c);
}

/* What the end that is spliced into takes: all, up to the largest size of a file. The range of the
 * source is the one asked for: what is written into it is read again. Returns how much was moved.
 */
static int64_t splice_effect(struct step *x, struct copy *c)
{
	uint64_t from = (uint64_t)c->from_offset, to = (uint64_t)c->to_offset;
	uint64_t max = x->model->traits.file_size_max;
	uint64_t left = bytes_behind(file_inode(x, c->from), from);

	may_touch(x, c->from->ino, TIME_BIT_ACCESS);
	if (c->from->ino == c->to->ino && left &&
	    (c->length > left || ranges_overlap(from, to, c->length)))
		leave_undefined(x, RULE_splice_overlap);
	if (c->length > left)
		c->length = left;
	if (!c->length) {
		if (proceed(x))
			give_range(x, 0, 0);
		return 0;
	}
	if (x->model->traits.no_copy && refuse(x, RULE_copy_unsupported))
		return 0;
	/* ext4_write_checks() looks at them before the position. */
	may_refuse_by_flags(x, file_inode(x, c->to));
	if (to >= max && refuse(x, RULE_write_too_far))
		return 0;
	check_copy_alignment(x, c);
	if (c->length > max - to)
		c->length = max - to;
	if (!proceed(x))
		return 0;
	touch_read(x, c->from);
	return copy_effect(x, c);
}

/* One end of a splice, as every transfer checks it: rw_verify_area. */
static bool refuse_splice_range(struct step *x, int64_t offset, int64_t count)
{
	int64_t end;

	if (count < 0)
		return refuse(x, RULE_io_count);
	if (offset < 0)
		return refuse(x, RULE_io_offset);
	return __builtin_add_overflow(offset, count, &end) && refuse(x, RULE_io_overflow);
}

/* The source: a regular file. Devices are not looked into. */
static bool refuse_splice_source(struct step *x, const struct open_file *from)
{
	const struct inode *inode = file_inode(x, from);

	if (S_ISREG(inode->mode))
		return false;
	if (S_ISCHR(inode->mode) || S_ISBLK(inode->mode))
		return leave_undefined(x, RULE_special_contents);
	return refuse(x, RULE_splice_source);
}

static bool refuse_sendfile(struct step *x, const struct copy *c, bool positioned)
{
	if (!is_readable(c->from) && refuse(x, RULE_read_access))
		return true;
	if (positioned && S_ISFIFO(file_inode(x, c->from)->mode) && refuse(x, RULE_io_pipe))
		return true;
	return refuse_splice_range(x, c->from_offset, (int64_t)c->length);
}

/* The destination, which is looked at after the source. */
static bool refuse_sendfile_to(struct step *x, const struct copy *c)
{
	const struct inode *from = file_inode(x, c->from), *to = file_inode(x, c->to);
	uint64_t max = x->model->traits.file_size_max, at = (uint64_t)c->from_offset;

	if (!is_writable(c->to))
		return refuse(x, RULE_write_access);
	if (at >= max && at + c->length > max && refuse(x, RULE_sendfile_too_far))
		return true;
	if (is_special(to))
		return leave_undefined(x, RULE_special_contents);
	if (refuse_splice_range(x, c->to_offset, (int64_t)c->length))
		return true;
	if (c->to->flags & O_APPEND && refuse(x, RULE_splice_append))
		return true;
	/* splice_direct_to_actor calls file_accessed() whatever became of the source. */
	may_touch(x, c->from->ino, TIME_BIT_ACCESS);
	return (c->length || S_ISFIFO(from->mode)) && refuse_splice_source(x, c->from);
}

void model_sendfile(struct step *x)
{
	int64_t offset = x->call->sendfile.offset.num, done;
	const struct arg *in = &x->call->sendfile.in_fd, *out = &x->call->sendfile.out_fd;
	bool positioned = offset != -1;
	struct copy c = { .length = (uint64_t)x->call->sendfile.count.num };

	if (leave_open(x, RULE_call_of_linux))
		return;
	c.from = need_io(x, in);
	if (!c.from)
		return;
	c.from_offset = positioned ? offset : c.from->offset;
	if (refuse_sendfile(x, &c, positioned))
		return;
	c.to = need_io(x, out);
	if (!c.to)
		return;
	c.to_offset = c.to->offset;
	if (c.length > TRANSFER_MAX)
		c.length = TRANSFER_MAX;
	if (refuse_sendfile_to(x, &c))
		return;
	done = splice_effect(x, &c);
	if (!done)
		return;
	state_edit_file(x->state, x->pid, out->num)->offset = c.to_offset + done;
	if (!positioned)
		state_edit_file(x->state, x->pid, in->num)->offset = c.from_offset + done;
}

/* What does not get into the pipe is never looked at on the other side. */
static bool refuse_splice_to(struct step *x, const struct copy *c)
{
	const struct inode *to = file_inode(x, c->to);

	if (S_ISFIFO(to->mode) && refuse(x, RULE_io_pipe))
		return true;
	if (!is_writable(c->to))
		return refuse(x, RULE_write_access);
	if (is_special(to))
		return leave_undefined(x, RULE_special_contents);
	if (c->to->flags & O_APPEND && refuse(x, RULE_splice_append))
		return true;
	return refuse_splice_range(x, c->to_offset, (int64_t)c->length);
}

void model_splice(struct step *x)
{
	struct copy c = {
		.from_offset = x->call->splice.off_in.num,
		.to_offset = x->call->splice.off_out.num,
		.length = (uint64_t)x->call->splice.length.num,
	};
	uint64_t available;

	if (leave_open(x, RULE_call_of_linux))
		return;
	if (!c.length) {
		if (proceed(x))
			give_range(x, 0, 0);
		return;
	}
	c.from = need_io(x, &x->call->splice.fd_in);
	if (!c.from)
		return;
	if (S_ISFIFO(file_inode(x, c.from)->mode) && refuse(x, RULE_io_pipe))
		return;
	if (!is_readable(c.from) && refuse(x, RULE_read_access))
		return;
	if (refuse_splice_range(x, c.from_offset, (int64_t)c.length) ||
	    refuse_splice_source(x, c.from))
		return;
	available = bytes_behind(file_inode(x, c.from), (uint64_t)c.from_offset);
	if (c.length > available)
		c.length = available;
	if (c.length > PIPE_CAPACITY)
		c.length = PIPE_CAPACITY;
	may_touch(x, c.from->ino, TIME_BIT_ACCESS);
	if (!c.length) {
		if (proceed(x))
			give_range(x, 0, 0);
		return;
	}
	c.to = need_io(x, &x->call->splice.fd_out);
	if (c.to && !refuse_splice_to(x, &c))
		splice_effect(x, &c);
}

/* Is a range no range at all, whatever the files are? */
static bool is_clone_beyond_numbers(const struct copy *c)
{
	uint64_t from = (uint64_t)c->from_offset, to = (uint64_t)c->to_offset;

	return c->from_offset < 0 || c->to_offset < 0 || (int64_t)c->length < 0 ||
	       (int64_t)(from + c->length) < 0 || (int64_t)(to + c->length) < 0;
}

/* Length 0 means all the rest. Clones share whole blocks, but for a last one that ends both
 * files. */
static bool refuse_clone_range(struct step *x, struct copy *c)
{
	uint64_t from = (uint64_t)c->from_offset, to = (uint64_t)c->to_offset;
	uint64_t mask = x->model->traits.block_size - 1, size = file_inode(x, c->from)->size, end;
	uint64_t blocks;

	if (is_clone_beyond_numbers(c))
		return refuse(x, RULE_clone_range);
	if (file_inode(x, c->to)->flags & FS_IMMUTABLE_FL)
		return refuse(x, RULE_copy_immutable);
	if (!c->length) {
		if (from > size)
			return refuse(x, RULE_clone_beyond);
		c->length = size - from;
		if (!c->length)
			return false;
	}
	if ((from | to) & mask && refuse(x, RULE_clone_unaligned))
		return true;
	if ((from >= size || c->length > size - from) && refuse(x, RULE_clone_beyond))
		return true;
	if (to >= x->model->traits.file_size_max && refuse(x, RULE_write_too_far))
		return true;
	end = from + c->length;
	if (c->length & mask && (end != size || to + c->length < file_inode(x, c->to)->size) &&
	    refuse(x, RULE_clone_unaligned))
		return true;
	blocks = (c->length + mask) & ~mask;
	return c->from->ino == c->to->ino && ranges_overlap(from, to, blocks) &&
	       refuse(x, RULE_copy_overlap);
}

/* ovl_copyfile() calls file_remove_privs() before the file system below can refuse. */
static void drop_before_below(struct step *x, uint64_t ino)
{
	drop_privileges(x, ino);
	may_touch(x, ino, TIME_BIT_CHANGE);
}

static void clone_range(struct step *x, struct copy *c)
{
	uint64_t ino = c->to->ino;
	struct tree *t = &x->state->tree;

	if (refuse_ends(x, c))
		return;
	if (x->model->traits.no_reflink &&
	    !(x->model->traits.reflink_below && is_clone_beyond_numbers(c))) {
		refuse(x, RULE_clone_unsupported);
		if (x->model->traits.reflink_below && fails_with(x, EOPNOTSUPP))
			drop_before_below(x, ino);
		return;
	}
	if (refuse_clone_range(x, c))
		return;
	if (!proceed(x) || !c->length)
		return;
	if (tree_inode(t, ino)->size < (uint64_t)c->to_offset + c->length)
		tree_truncate(t, ino, (uint64_t)c->to_offset + c->length);
	tree_clone(t, c->from->ino, (uint64_t)c->from_offset, ino, (uint64_t)c->to_offset,
		   c->length);
	drop_privileges(x, ino);
	touch_modify(x, ino);
}

void model_ficlone(struct step *x)
{
	struct copy c = { .length = 0 };

	if (leave_open(x, RULE_call_of_linux))
		return;
	c.to = need_io(x, &x->call->ficlone.fd);
	c.from = need_io(x, &x->call->ficlone.src);
	if (c.to && c.from)
		clone_range(x, &c);
}

void model_ficlonerange(struct step *x)
{
	struct copy c = {
		.from_offset = x->call->ficlonerange.src_offset.num,
		.to_offset = x->call->ficlonerange.offset.num,
		.length = (uint64_t)x->call->ficlonerange.length.num,
	};

	if (leave_open(x, RULE_call_of_linux))
		return;
	c.to = need_io(x, &x->call->ficlonerange.fd);
	c.from = need_io(x, &x->call->ficlonerange.src);
	if (c.to && c.from)
		clone_range(x, &c);
}
