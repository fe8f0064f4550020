/* step_over.c -- the model continues from what the file system really has. */
#include "judge/step_over.h"

#include "tree/take_over.h"

/* Calls on a descriptor that leave it as it is, its offset included. */
static bool step_over_leaves_descriptor(enum op op)
{
	switch (op) {
	case OP_pread:
	case OP_pread_all:
	case OP_pwrite:
	case OP_pwrite_all:
	case OP_ftruncate:
	case OP_fallocate:
	case OP_fsync:
	case OP_fdatasync:
	case OP_syncfs:
	case OP_fstat:
	case OP_fstatfs:
	case OP_fchmod:
	case OP_fchown:
	case OP_fsetxattr:
	case OP_fgetxattr:
	case OP_flistxattr:
	case OP_fremovexattr:
	case OP_ficlone:
	case OP_ficlonerange:
		return true;
	default:
		return false;
	}
}

/* May the call have changed what a process holds: a descriptor, its offset, a directory stream? */
static bool step_over_is_hidden(const struct call *c)
{
	const struct op_info *info = &op_table[c->op];

	if (step_over_leaves_descriptor(c->op))
		return false;
	if (info->traits & (TRAIT_OPENS | TRAIT_PROC | TRAIT_ENV) || info->base == OP_chdir ||
	    info->base == OP_umask)
		return true;
	for (unsigned i = 0; i < info->args; i++)
		if (info->arg[i].kind == KIND_FD || info->arg[i].kind == KIND_DH)
			return true;
	return false;
}

static bool step_over_is_possible(const struct discrepancy *d)
{
	switch (d->code) {
	case PROBLEM_TREE:
	/* Times are no part of the state: only the next ones are compared with what is seen now. */
	case PROBLEM_TIMES:
		return true;
	case PROBLEM_OUTCOME:
		return !step_over_is_hidden(&d->call);
	default:
		return false;
	}
}

/* Does a process hold something of the tree besides its root, or know it by a file handle? */
static bool step_over_is_held(const struct state *s)
{
	const struct process *process;
	uint64_t pid;

	if (s->files.count || s->streams || state_has_handles(s))
		return true;
	for (bool first = true; (process = (const void *)pmap_next(&s->processes, first, &pid));
	     first = false)
		if (process->cwd != TREE_ROOT)
			return true;
	return false;
}

/* The observed tree in the place of the model's: its inode numbers are others. */
static void step_over_replace(struct state *s, const struct tree *seen)
{
	tree_free(&s->tree);
	s->tree = tree_copy(seen);
	tree_adopt(&s->tree);
	for (size_t i = 0; i < s->processes.count; i++)
		tree_hold(&s->tree, TREE_ROOT);
	tree_settle(&s->tree);
}

int judge_step_over(struct target *t, const struct discrepancy *d, struct state *s, struct err *err)
{
	enum target_fate fate;
	struct tree seen;
	int status;

	if (!step_over_is_possible(d))
		return 0;
	status = target_observe(t, &seen, &fate, err);
	if (status < 0)
		return status;
	if (fate != FATE_FINE)
		return 0;
	if (!hash_equal(tree_hash(&s->tree), tree_hash(&seen)) &&
	    !tree_take_over(&s->tree, &seen) && !step_over_is_held(s))
		step_over_replace(s, &seen);
	status = hash_equal(tree_hash(&s->tree), tree_hash(&seen));
	tree_free(&seen);
	return status;
}
