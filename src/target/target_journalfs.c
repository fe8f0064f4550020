/* target_journalfs.c -- the model as a file system with a journal on a small disk, in this process.
 *
 * The model answers calls, as in RefFS; what is durable is what journalfs has committed. All that
 * has changed is one transaction. It is committed by every call that must persist something, by
 * COMMIT_CALLS calls that changed something, and where it becomes large. A crash therefore leaves
 * the tree after some call, at or behind the last one that persisted something. A write that fails
 * (fail_write) shuts it down: until the next mount calls act in memory, and nothing is durable.
 *
 * It is there to test what tests crashes: with a fault it is broken in one known way that only a
 * crash shows. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/must.h"
#include "broken/faults.h"
#include "journalfs/journalfs.h"
#include "storage/image.h"
#include "target/description.h"
#include "target/in_process.h"

enum { COMMIT_CALLS = 8 };

/* Besides the state of the model. */
struct journal_state {
	struct journalfs fs;
	unsigned calls;    /* that changed something since the last commit */
	bool mounted;      /* false: mounting an image has failed */
	bool damaged;      /* the tree that was mounted is not whole, */
	struct tree found; /* but this; until a call changes something */
};

struct journal_target {
	struct in_process base;
	struct journal_state now;
	struct journalfs fresh; /* as mkfs left it */
	struct pmap saved;      /* struct journal_saved by key */
};

struct journal_saved {
	struct ref ref;
	struct state state;
	struct journal_state journal;
};

static struct journal_state journal_state_copy(const struct journal_state *s)
{
	struct journal_state copy = *s;

	copy.fs = journalfs_copy(&s->fs);
	copy.found = tree_copy(&s->found);
	return copy;
}

static void journal_state_free(struct journal_state *s)
{
	journalfs_free(&s->fs);
	tree_free(&s->found);
	*s = (struct journal_state){ 0 };
}

static void journal_saved_free(struct ref *object)
{
	struct journal_saved *saved = (struct journal_saved *)object;

	state_free(&saved->state);
	journal_state_free(&saved->journal);
	free(saved);
}

static const struct pmap_type saved_type = { .free = journal_saved_free };

/* ---- mounting ---- */

/* The tree of the file system in place of the model's. Its root is held as often as before. */
static int journal_mount(struct target *t)
{
	struct journal_target *j = t->own;
	struct state *state = &j->base.state;
	uint32_t holds = tree_inode(&state->tree, TREE_ROOT)->holds;
	struct mounted mounted;
	int error = journalfs_mount(&j->now.fs, t->fields, &mounted);

	tree_free(&j->now.found);
	j->now.calls = 0;
	j->now.mounted = !error;
	j->now.damaged = !error && mounted.damaged;
	if (error)
		return error;
	j->now.found = mounted.seen;
	tree_free(&state->tree);
	state->tree = mounted.tree;
	tree_edit(&state->tree, TREE_ROOT)->holds = holds;
	tree_settle(&state->tree);
	return 0;
}

static void journal_begin(struct target *t)
{
	struct journal_target *j = t->own;

	in_process_begin(t);
	j->now = (struct journal_state){ .fs = journalfs_copy(&j->fresh) };
	must(!journal_mount(t));
}

/* ---- calls ---- */

/* After a failed write nothing is written any more, and a call that asks for that returns EIO. */
static int journal_commit_tree(struct journal_target *j, const struct tree *tree,
			       enum commit_reason reason, uint64_t ino)
{
	struct journal *journal = &j->now.fs.journal;
	bool failed_before = journal->disk.failed;
	int error = failed_before ? 0 : journalfs_commit(&j->now.fs, tree, reason, ino);

	if (error)
		return error;
	j->now.calls = 0;
	if (journal->fault == JOURNAL_FAULT_error_ignored)
		journal->disk.failed = false;
	if (!journal->disk.failed || reason == COMMIT_UNAWAITED ||
	    (failed_before && journal->fault == JOURNAL_FAULT_error_forgotten))
		return 0;
	return EIO;
}

static int journal_commit_now(struct journal_target *j, enum commit_reason reason, uint64_t ino)
{
	return journal_commit_tree(j, &j->base.state.tree, reason, ino);
}

/* The inode behind the descriptor that a call names, 0 if none. */
static uint64_t journal_named(const struct journal_target *j, const struct call *c)
{
	const struct open_file *file = state_file(&j->base.state, c->pid, call_num(c, KIND_FD));

	return file ? file->ino : 0;
}

/* A write that must not return before it is durable: by its flags, or by those of its file. */
static bool journal_is_synced_write(const struct journal_target *j, const struct call *c)
{
	const struct op_info *op = &op_table[c->op];

	if (!(op->traits & TRAIT_DATA) || call_is(c, OP_open) ||
	    j->now.fs.journal.fault == JOURNAL_FAULT_write_unsynced)
		return false;
	for (unsigned i = 0; i < op->args; i++) {
		const struct open_file *file = NULL;

		if (op->arg[i].kind == KIND_FD)
			file = state_file(&j->base.state, c->pid, c->arg[i].num);
		if (file && file->flags & O_DSYNC)
			return true;
	}
	return call_num(c, KIND_OPEN_FLAGS) & O_DSYNC ||
	       call_num(c, KIND_RWF_FLAGS) & (RWF_DSYNC | RWF_SYNC);
}

/* What the call demands, besides what is done from time to time. */
static int journal_persist(struct journal_target *j, const struct call *c)
{
	if (c->op == OP_fsync)
		return journal_commit_now(j, COMMIT_FSYNC, journal_named(j, c));
	if (c->op == OP_fdatasync)
		return journal_commit_now(j, COMMIT_FDATASYNC, journal_named(j, c));
	if (op_table[c->op].traits & TRAIT_SYNC || journal_is_synced_write(j, c))
		return journal_commit_now(j, COMMIT_SYNC, 0);
	if (j->now.calls >= COMMIT_CALLS)
		return journal_commit_now(j, COMMIT_UNAWAITED, 0);
	return 0;
}

/* The fault rename_split: the tree without the old name is committed. */
static void journal_split_rename(struct journal_target *j, struct state *before,
				 const struct call *c)
{
	struct faulty f = { .model = &j->base.model, .state = before };
	struct place from = call_place(&f, c, 0);
	uint64_t ino = call_names(&f, c, 0, false);
	struct tree tree;

	if (!call_is(c, OP_rename) || call_num(c, KIND_RENAME_FLAGS) || !from.dir || !ino)
		return;
	tree = tree_copy(&before->tree);
	tree_hold(&tree, ino);
	tree_unlink(&tree, from.dir, from.name, from.len);
	tree_settle(&tree);
	journalfs_commit(&j->now.fs, &tree, COMMIT_UNAWAITED, 0);
	tree_free(&tree);
}

/* The call has had no effect; it was the one that was to meet a failure. */
static void journal_undo(struct journal_target *j, const struct state *before)
{
	state_free(&j->base.state);
	j->base.state = state_copy(before);
	memset(j->base.state.failing, 0, sizeof(j->base.state.failing));
}

/* The call has changed the tree: it must have room on the disk. False: it is undone. */
static bool journal_take(struct journal_target *j, struct state *before, const struct call *c)
{
	const struct state *state = &j->base.state;

	/* What is committed frees what it replaces, and room in the journal. */
	if (!journalfs_fits(&j->now.fs, &state->tree) &&
	    (journal_commit_tree(j, &before->tree, COMMIT_UNAWAITED, 0) ||
	     !journalfs_fits(&j->now.fs, &state->tree))) {
		journal_undo(j, before);
		return false;
	}
	if (j->now.fs.journal.fault == JOURNAL_FAULT_rename_split)
		journal_split_rename(j, before, c);
	j->now.calls++;
	j->now.damaged = false;
	return true;
}

static void journal_answer(struct journal_target *j, const struct call *c, struct outcome *ret)
{
	static const uint16_t none[STATE_FAILURES_MAX];
	struct state before = state_copy(&j->base.state);
	int error = 0;

	if (!(op_table[c->op].traits & (TRAIT_ENV | TRAIT_PROC)))
		ramdisk_fail(&j->now.fs.journal.disk, before.failing[FAIL_WRITE]);
	model_run(&j->base.model, &j->base.state, c, ret);
	if (!pmap_same(&before.tree.inodes, &j->base.state.tree.inodes) &&
	    !journal_take(j, &before, c))
		error = ENOSPC;
	if (!error && !ret->error)
		error = journal_persist(j, c);
	ramdisk_fail(&j->now.fs.journal.disk, none);
	if (error == EIO)
		journal_undo(j, &before);
	if (error)
		*ret = (struct outcome){ .result = op_table[c->op].result,
					 .error = error,
					 .bytes = "" };
	state_free(&before);
}

static void journal_remount(struct target *t, const struct call *c, struct outcome *ret)
{
	struct journal_target *j = t->own;

	model_run(&j->base.model, &j->base.state, c, ret);
	if (!ret->error && !j->now.fs.journal.disk.failed)
		ret->error = journalfs_unmount(&j->now.fs, &j->base.state.tree);
	j->now.fs.journal.disk.failed = false;
	if (!ret->error)
		ret->error = journal_mount(t);
}

static void journal_fill_space(const struct journal_target *j, struct statfs_result *ret)
{
	const struct journalfs *fs = &j->now.fs;

	ret->bsize = LAYOUT_BLOCK;
	ret->blocks = LAYOUT_BLOCKS - LAYOUT_HOME;
	ret->bfree = ret->bavail = fs->free_blocks;
	ret->files = LAYOUT_SLOTS;
	ret->ffree = LAYOUT_SLOTS - fs->homes.count;
}

static void journal_run(struct target *t, const struct call *c, struct outcome *ret)
{
	struct journal_target *j = t->own;

	if (!j->now.mounted)
		*ret = (struct outcome){ .result = op_table[c->op].result,
					 .error = EIO,
					 .bytes = "" };
	else if (c->op == OP_remount)
		journal_remount(t, c, ret);
	else
		journal_answer(j, c, ret);
	if (!ret->error && ret->result == RESULT_STATFS)
		journal_fill_space(j, &ret->statfs);
	ramdisk_mark(&j->now.fs.journal.disk);
}

static int journal_observe(struct target *t, struct tree *ret, enum target_fate *ret_fate,
			   struct err *err)
{
	const struct journal_target *j = t->own;

	if (!j->now.mounted)
		return err_set(err, EIO, "%s: nothing is mounted", t->name);
	if (!j->now.damaged)
		return in_process_observe(t, ret, ret_fate, err);
	*ret = tree_copy(&j->now.found);
	*ret_fate = FATE_FINE;
	return 0;
}

/* ---- the kind ---- */

static void journal_lacks(const struct target_description *d, struct buf *out)
{
}

static unsigned journal_caps(const struct target_description *d)
{
	return TARGET_REMOUNT | TARGET_SAVE | TARGET_DROP_CACHES | TARGET_TIME | TARGET_IMAGE |
	       TARGET_PROCESSES | TARGET_RECORD | TARGET_MMAP | TARGET_SPACE | TARGET_FAULTS;
}

static int journal_check(const struct target_description *d, const char *fault, struct err *err)
{
	if (fault && journal_fault_find(fault) == JOURNAL_FAULT_NONE)
		return err_set(err, ENOENT, "%s: there is no such fault", fault);
	return 0;
}

static int journal_open(struct target *t, const struct target_description *d,
			const struct target_options *options, struct err *err)
{
	struct journal_target *j = must_alloc(sizeof(*j));
	enum journal_fault fault =
		options->fault ? journal_fault_find(options->fault) : JOURNAL_FAULT_NONE;
	int ret = journalfs_make(&j->fresh, IN_PROCESS_ROOT_MODE, fault, options->record, err);

	if (ret) {
		free(j);
		return ret;
	}
	t->own = j;
	in_process_init(t, journal_run);
	journal_begin(t);
	return 0;
}

static void journal_close(struct target *t)
{
	struct journal_target *j = t->own;

	in_process_free(t);
	pmap_drop(&j->saved, &saved_type);
	journal_state_free(&j->now);
	journalfs_free(&j->fresh);
	free(j);
}

static int journal_reset(struct target *t, struct err *err)
{
	struct journal_target *j = t->own;

	state_free(&j->base.state);
	journal_state_free(&j->now);
	journal_begin(t);
	return 0;
}

static int journal_save(struct target *t, uint64_t key, struct err *err)
{
	struct journal_target *j = t->own;
	struct journal_saved *saved = must_alloc(sizeof(*saved));

	*saved = (struct journal_saved){ { 1 },
					 state_copy(&j->base.state),
					 journal_state_copy(&j->now) };
	pmap_put(&j->saved, &saved_type, key, &saved->ref);
	return 0;
}

static int journal_restore(struct target *t, uint64_t key, struct err *err)
{
	struct journal_target *j = t->own;
	const struct journal_saved *saved = (const struct journal_saved *)pmap_get(&j->saved, key);

	if (!saved)
		return err_set(err, ENOENT, "%s: nothing is saved as %ju", t->name, (uintmax_t)key);
	in_process_restore(t, &saved->state);
	journal_state_free(&j->now);
	j->now = journal_state_copy(&saved->journal);
	return 0;
}

static void journal_drop(struct target *t, uint64_t key)
{
	struct journal_target *j = t->own;

	pmap_remove(&j->saved, &saved_type, key);
}

/* ---- the disk ---- */

/* As it is now: with what has not been committed it is as after a crash. */
static int journal_image(struct target *t, const char *path, struct err *err)
{
	const struct journal_target *j = t->own;
	struct image image;
	int ret = image_make(&image, LAYOUT_SIZE, err);

	if (!ret) {
		ramdisk_read_all(&j->now.fs.journal.disk, image.bytes);
		ret = image_write(&image, path, err);
	}
	image_free(&image);
	return ret;
}

static int journal_recorded(struct target *t, int *ret_image_fd, struct buf *out, struct err *err)
{
	const struct journal_target *j = t->own;
	const struct ramdisk *disk = &j->now.fs.journal.disk;

	if (!disk->records)
		return err_set(err, EINVAL, "%s: it was not opened to record", t->name);
	*ret_image_fd = ramdisk_image_fd(disk);
	ramdisk_recorded(disk, out);
	return 0;
}

static int journal_load(struct target *t, int image_fd, int *ret_error, enum target_fate *ret_fate,
			struct err *err)
{
	struct journal_target *j = t->own;
	const struct journal *fresh = &j->fresh.journal;
	struct journalfs fs = { .journal = { .fault = fresh->fault,
					     .disk.records = fresh->disk.records } };
	int64_t now = j->base.state.now;
	struct stat st;
	bool fits;
	int ret = 0;

	if (fstat(image_fd, &st))
		return err_sys(err, errno, "cannot read the image");
	fits = st.st_size == LAYOUT_SIZE;
	if (fits)
		ret = ramdisk_load(&fs.journal.disk, image_fd, err);
	if (ret)
		return ret;
	state_free(&j->base.state);
	journal_state_free(&j->now);
	in_process_begin(t);
	j->base.state.now = now;
	j->now.fs = fits ? fs : journalfs_copy(&j->fresh);
	*ret_error = fits ? journal_mount(t) : EINVAL;
	*ret_fate = FATE_FINE;
	return 0;
}

const struct target_kind target_journalfs = {
	.name = "journalfs",
	.summary = "the model on a small disk with a journal, in this process",
	.lacks = journal_lacks,
	.check = journal_check,
	.has_faults = true,
	.in_process = true,
	.caps = journal_caps,
	.open = journal_open,
	.close = journal_close,
	.call = in_process_call,
	.observe = journal_observe,
	.follow = in_process_follow,
	.reset = journal_reset,
	.save = journal_save,
	.restore = journal_restore,
	.drop = journal_drop,
	.image = journal_image,
	.recorded = journal_recorded,
	.load = journal_load,
};
