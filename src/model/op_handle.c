/* op_handle.c -- take_handle, open_handle: objects by file handles, which outlive names.
 *
 * A handle holds nothing: it means its object for as long as that lives, under whatever name, also
 * after a remount, and no other object afterwards. */
#include "model/attr.h"

static bool leave_handles(struct step *x)
{
	return x->model->traits.no_handles && leave_open(x, RULE_handle_not_judged);
}

void model_take_handle(struct step *x)
{
	const struct inode *inode;

	if (leave_open(x, RULE_call_of_linux) || leave_handles(x))
		return;
	inode = need_object(x, AT_FDCWD, &x->call->take_handle.path, WALK_KEEP_SLASH);
	if (!inode || !proceed(x))
		return;
	*state_handle(x->state, x->call->take_handle.handle.num) = inode->ino;
}

/* An open file keeps the directories above it in memory, also removed ones. */
static bool leave_pinned(struct step *x)
{
	const struct state *s = x->state;

	return (s->files.count || s->streams || s->maps || x->process->cwd != TREE_ROOT) &&
	       leave_open(x, RULE_handle_not_judged);
}

static bool refuse_handle(struct step *x, uint64_t ino, const struct inode *inode)
{
	if (!ino)
		refuse(x, RULE_handle_none);
	if (!is_machine_root(x))
		refuse(x, RULE_handle_privilege);
	if (refused(x))
		return true;
	if (!inode) {
		if (!leave_pinned(x))
			refuse(x, RULE_handle_stale);
		return true;
	}
	if (!inode->nlink)
		may_refuse(x, RULE_handle_stale_open);
	return false;
}

void model_open_handle(struct step *x)
{
	uint64_t ino = *state_handle(x->state, x->call->open_handle.handle.num);
	int64_t flags = x->call->open_handle.flags.num;
	const struct inode *inode = ino ? tree_inode(&x->state->tree, ino) : NULL;

	if (leave_open(x, RULE_call_of_linux) || leave_handles(x))
		return;
	if (x->model->traits.one_user && is_root(x) && leave_open(x, RULE_handle_not_judged))
		return;
	if (flags & (O_CREAT | O_TMPFILE | OPEN_EXEC | OPEN_SEARCH) & ~(int64_t)O_DIRECTORY &&
	    leave_open(x, RULE_handle_open_flags))
		return;
	if (refuse_handle(x, ino, inode))
		return;
	if (S_ISLNK(inode->mode) && !(flags & O_PATH))
		refuse(x, RULE_handle_symlink);
	else
		open_inode(x, ino, flags);
}
