/* faults_entries.c -- RefFS broken: entries of directories, their positions, maps of data.
 *
 * RefFS in this process has no directories to be scanned: what a scan would say about them is put
 * into the tree. */
#include <errno.h>
#include <linux/fs.h>

#include "broken/faults.h"
#include "tree/remark.h"

static void fault_remark(struct faulty *f, uint64_t dir, enum remark remark, const char *about)
{
	struct tree *t = faulty_tree(f);

	if (remark_add(t, dir, t->next_ino, remark, about, EUCLEAN))
		t->next_ino++;
	fault_settle(f);
}

static bool fault_is_dir(const struct faulty *f, uint64_t ino)
{
	const struct inode *inode = fault_inode(f, ino);

	return inode && S_ISDIR(inode->mode);
}

/* A rename between two directories, with this flag or without any. */
static bool is_move_between(struct faulty *f, const struct call *c, int64_t flags)
{
	struct place from = call_place(f, c, 0), to = call_place(f, c, 1);

	return call_is(c, OP_rename) && call_num(c, KIND_RENAME_FLAGS) == flags && from.dir &&
	       to.dir && from.dir != to.dir;
}

void fault_entry_parent(struct faulty *f, const struct call *c, struct outcome *ret)
{
	uint64_t moved = is_move_between(f, c, 0) ? call_names(f, c, 0, false) : 0;

	fault_pass(f, c, ret);
	if (!ret->error && fault_is_dir(f, moved))
		fault_remark(f, moved, REMARK_INO, "..");
}

void fault_entry_exchanged(struct faulty *f, const struct call *c, struct outcome *ret)
{
	uint64_t moved = is_move_between(f, c, RENAME_EXCHANGE) ? call_names(f, c, 0, false) : 0;

	fault_pass(f, c, ret);
	if (!ret->error && fault_is_dir(f, moved))
		fault_remark(f, moved, REMARK_INO, "..");
}

void fault_entry_ino(struct faulty *f, const struct call *c, struct outcome *ret)
{
	struct place to = call_place(f, c, 1);
	uint64_t from_ino = call_is(c, OP_rename) ? call_names(f, c, 0, false) : 0;
	uint64_t over = from_ino ? call_names(f, c, 1, false) : 0;

	fault_pass(f, c, ret);
	if (!ret->error && over && over != from_ino && to.dir)
		fault_remark(f, to.dir, REMARK_INO, to.name);
}

void fault_entry_type(struct faulty *f, const struct call *c, struct outcome *ret)
{
	struct place place = call_place(f, c, 0);

	fault_pass(f, c, ret);
	if (call_is(c, OP_mknod) && !ret->error && place.dir)
		fault_remark(f, place.dir, REMARK_TYPE, place.name);
}

void fault_seekdir_repeats(struct faulty *f, const struct call *c, struct outcome *ret)
{
	struct call back = *c;

	if (call_is(c, OP_seekdir) && back.seekdir.position.num > 1)
		back.seekdir.position.num--;
	fault_pass(f, &back, ret);
}

void fault_seekdir_skips(struct faulty *f, const struct call *c, struct outcome *ret)
{
	struct call skipped = { .op = OP_readdir, .pid = c->pid };
	struct outcome lost;

	fault_pass(f, c, ret);
	if (!call_is(c, OP_seekdir) || ret->error)
		return;
	skipped.readdir.dh = c->seekdir.dh;
	fault_pass(f, &skipped, &lost);
}

/* What inspect_file says about the file that is remembered. */
static void inspect_remembered(struct faulty *f, const struct call *c, struct outcome *ret,
			       const char *text)
{
	if (!call_is(c, OP_inspect_file) || ret->error || !f->memory->ino ||
	    call_subject(f, c) != f->memory->ino)
		return;
	buf_clear(&f->bytes);
	buf_adds(&f->bytes, text);
	ret->bytes = f->bytes.data;
	ret->len = f->bytes.len;
}

void fault_hole_over_data(struct faulty *f, const struct call *c, struct outcome *ret)
{
	const struct inode *file = fault_inode(f, call_subject(f, c));
	uint64_t size = file ? file->size : 0;

	fault_pass(f, c, ret);
	if (call_is(c, OP_write) && !ret->error && ret->num > 0 && file &&
	    call_num(c, KIND_OFFSET) > (int64_t)size)
		f->memory->ino = call_subject(f, c);
	inspect_remembered(f, c, ret, "byte 4096 is not zero, but lseek reports a hole there");
}

void fault_blocks_wrap(struct faulty *f, const struct call *c, struct outcome *ret)
{
	const struct inode *file = fault_inode(f, call_subject(f, c));
	bool shrinks = file && call_is(c, OP_truncate) && call_num(c, KIND_LENGTH) >= 0 &&
		       (uint64_t)call_num(c, KIND_LENGTH) < file->size;

	fault_pass(f, c, ret);
	if (shrinks && !ret->error)
		f->memory->ino = call_subject(f, c);
	inspect_remembered(f, c, ret, "st_blocks is -8, more than the file system has");
}
