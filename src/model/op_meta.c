/* op_meta.c -- operations that are several calls: open, act, close; the first error is the outcome.
 *
 * What opening did (a file made, or cut to nothing) stays where acting fails, as in reality. */
#include "model/mapping.h"

enum { MODE_USUAL = 0644 };

/* Another call in place of this one, by the same process in the same state. */
static struct step step_instead(const struct step *x, struct call *call, enum op op)
{
	struct step y = *x;

	*call = (struct call){ .op = (uint16_t)op, .pid = x->call->pid, .line = x->call->line };
	y.call = call;
	return y;
}

/* Opens in earnest, whatever the question. Returns the descriptor, or -1 after refusing. */
static int64_t open_first(struct step *x, const struct arg *path, int64_t flags, int64_t mode)
{
	struct call call;
	struct step y = step_instead(x, &call, OP_open);

	call.open.path = *path;
	call.open.flags.num = flags;
	call.open.mode.num = mode;
	y.follow = true;
	y.seen = NULL;
	model_open(&y);
	if (!proceed(&y))
		return -1;
	return x->env->value.num;
}

/* Opens, acts on the descriptor (by a call with it as first argument) and closes it. Where the
 * outcome that is followed is not one of acting, nothing has happened. */
static void open_then(struct step *x, const struct arg *path, int64_t flags, int64_t mode,
		      void (*act)(struct step *x, const struct arg *fd))
{
	struct state before = state_copy(x->state);
	struct errset opening;
	struct arg fd = { .num = open_first(x, path, flags, mode) };
	bool stays;

	if (fd.num < 0) {
		state_free(&before);
		return;
	}
	opening = x->env->errors;
	x->env->value.result = RESULT_NONE;
	if (act)
		act(x, &fd);
	stays = x->follow;
	if (x->error)
		stays = errset_has(&x->env->errors, x->error) && !errset_has(&opening, x->error);
	if (stays) {
		state_close(x->state, x->pid, fd.num);
		state_free(&before);
	} else {
		state_free(x->state);
		*x->state = before;
	}
}

void model_create_file(struct step *x)
{
	open_then(x, &x->call->create_file.path, x->call->create_file.flags.num | O_CREAT,
		  x->call->create_file.mode.num, NULL);
}

static void write_to(struct step *x, const struct arg *fd)
{
	write_data(x, &(struct transfer){
			      .fd = fd,
			      .data = &x->call->write_file.data,
			      .count = x->call->write_file.count.num,
			      .offset = x->call->write_file.offset.num,
			      .positioned = true,
			      .whole = true,
		      });
}

void model_write_file(struct step *x)
{
	open_then(x, &x->call->write_file.path, x->call->write_file.flags.num, MODE_USUAL,
		  write_to);
}

static void write_directly(struct step *x, const struct arg *fd)
{
	write_data(x, &(struct transfer){
			      .fd = fd,
			      .data = &x->call->direct_write.data,
			      .count = x->call->direct_write.count.num,
			      .offset = x->call->direct_write.offset.num,
			      .positioned = true,
		      });
}

void model_direct_write(struct step *x)
{
	if (leave_open(x, RULE_call_of_linux))
		return;
	open_then(x, &x->call->direct_write.path, O_WRONLY | O_DIRECT, 0, write_directly);
}

static void read_from(struct step *x, const struct arg *fd)
{
	read_data(x, &(struct transfer){
			     .fd = fd,
			     .count = x->call->read_file.count.num,
			     .offset = x->call->read_file.offset.num,
			     .positioned = true,
			     .whole = true,
		     });
}

void model_read_file(struct step *x)
{
	open_then(x, &x->call->read_file.path, O_RDONLY | O_NONBLOCK, 0, read_from);
}

static void read_directly(struct step *x, const struct arg *fd)
{
	read_data(x, &(struct transfer){
			     .fd = fd,
			     .count = x->call->direct_read.count.num,
			     .offset = x->call->direct_read.offset.num,
			     .positioned = true,
		     });
}

void model_direct_read(struct step *x)
{
	if (leave_open(x, RULE_call_of_linux))
		return;
	open_then(x, &x->call->direct_read.path, O_RDONLY | O_DIRECT, 0, read_directly);
}

void model_map_read_file(struct step *x)
{
	open_then(x, &x->call->map_read_file.path, O_RDONLY, 0, load_file);
}

void model_map_write_file(struct step *x)
{
	open_then(x, &x->call->map_write_file.path, O_RDWR, 0, store_file);
}

void model_fadvise_file(struct step *x)
{
	open_then(x, &x->call->fadvise_file.path, O_RDONLY, 0, advise_file);
}

static void allocate_instead(struct step *x, const struct arg *fd)
{
	struct call call;
	struct step y = step_instead(x, &call, OP_fallocate);

	call.fallocate.fd = *fd;
	call.fallocate.mode = x->call->fallocate_file.mode;
	call.fallocate.offset = x->call->fallocate_file.offset;
	call.fallocate.length = x->call->fallocate_file.length;
	model_fallocate(&y);
}

void model_fallocate_file(struct step *x)
{
	if (leave_open(x, RULE_call_of_linux))
		return;
	open_then(x, &x->call->fallocate_file.path, O_RDWR, 0, allocate_instead);
}

/* ---- two files ---- */

static void copy_instead(struct step *x, const struct arg *fd)
{
	struct call call;
	struct step y = step_instead(x, &call, OP_copy_file_range);

	call.copy_file_range.fd_in.num = x->source_fd;
	call.copy_file_range.off_in = x->call->copy_file.off_in;
	call.copy_file_range.fd_out = *fd;
	call.copy_file_range.off_out = x->call->copy_file.off_out;
	call.copy_file_range.length = x->call->copy_file.length;
	model_copy_file_range(&y);
}

static void open_copy(struct step *x, const struct arg *fd)
{
	x->source_fd = fd->num;
	open_then(x, &x->call->copy_file.to, O_WRONLY, 0, copy_instead);
}

void model_copy_file(struct step *x)
{
	if (leave_open(x, RULE_call_of_linux))
		return;
	open_then(x, &x->call->copy_file.from, O_RDONLY, 0, open_copy);
}

static void clone_instead(struct step *x, const struct arg *fd)
{
	struct call call;
	struct step y = step_instead(x, &call, OP_ficlonerange);

	call.ficlonerange.fd = *fd;
	call.ficlonerange.src.num = x->source_fd;
	call.ficlonerange.src_offset = x->call->clone_file.off_in;
	call.ficlonerange.length = x->call->clone_file.length;
	call.ficlonerange.offset = x->call->clone_file.off_out;
	model_ficlonerange(&y);
}

static void open_clone(struct step *x, const struct arg *fd)
{
	x->source_fd = fd->num;
	open_then(x, &x->call->clone_file.to, O_WRONLY, 0, clone_instead);
}

void model_clone_file(struct step *x)
{
	if (leave_open(x, RULE_call_of_linux))
		return;
	open_then(x, &x->call->clone_file.from, O_RDONLY, 0, open_clone);
}

/* What the file system says about the data of a file contradicts none of them: there is nothing to
 * report. Data are read, as by read(). */
static void inspect_data(struct step *x, const struct arg *fd)
{
	const struct inode *inode =
		tree_inode(&x->state->tree, state_file(x->state, x->pid, fd->num)->ino);

	give_bytes(x, RESULT_TARGET, 0, 0);
	if (S_ISREG(inode->mode) && inode->size)
		touch_access(x, inode->ino);
}

void model_inspect_file(struct step *x)
{
	if (leave_open(x, RULE_call_of_linux))
		return;
	open_then(x, &x->call->inspect_file.path, O_RDONLY | O_NONBLOCK, 0, inspect_data);
}

static void chown_path(struct step *x, const struct arg *path, int64_t uid, int64_t gid)
{
	struct call call;
	struct step y = step_instead(x, &call, OP_chown);

	call.chown.path = *path;
	call.chown.uid.num = uid;
	call.chown.gid.num = gid;
	model_chown(&y);
}

void model_chown_file(struct step *x)
{
	chown_path(x, &x->call->chown_file.path, x->call->chown_file.uid.num, -1);
}

void model_chgrp_file(struct step *x)
{
	chown_path(x, &x->call->chgrp_file.path, -1, x->call->chgrp_file.gid.num);
}
