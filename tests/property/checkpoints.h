/* checkpoints.h -- a restore under the feet of processes, as the model sees it: the tree of then,
 * and what they hold open now.
 *
 * An object keeps its number, so that a descriptor refers to what it was then. One that the tree
 * of then does not have is lost. So is a directory that was removed in between: the kernel does
 * not forget that. */
#ifndef PROPERTY_CHECKPOINTS_H
#define PROPERTY_CHECKPOINTS_H

#include "state/state.h"

static bool is_lost(const struct state *now, const struct state *then, uint64_t ino)
{
	const struct inode *inode = tree_inode(&now->tree, ino);

	return !tree_inode(&then->tree, ino) || (S_ISDIR(inode->mode) && !inode->nlink);
}

static void hold_as_now(struct tree *tree, const struct state *now)
{
	const struct ref *r;
	uint64_t key = 0;

	for (bool first = true; (r = pmap_next(&now->files, first, &key)); first = false)
		tree_hold(tree, ((const struct open_file *)r)->ino);
	for (bool first = true; (r = pmap_next(&now->processes, first, &key)); first = false)
		tree_hold(tree, ((const struct process *)r)->cwd);
}

/* Nothing that is lost is open, nor any directory stream. */
static void restore_tree(struct state *now, const struct state *then)
{
	struct state copy = state_copy(then);
	uint64_t pid, next_ino = now->tree.next_ino;

	hold_as_now(&copy.tree, now);
	while (pmap_next(&copy.processes, true, &pid))
		state_destroy_process(&copy, (unsigned)pid);
	tree_settle(&copy.tree);
	tree_free(&now->tree);
	now->tree = tree_copy(&copy.tree);
	now->tree.next_ino = next_ino;
	state_free(&copy);
}

#endif
