/* access.c -- who may do what: owners, groups, permission bits, the sticky bit. */
#include "model/step.h"

bool is_owner(const struct step *x, const struct inode *inode)
{
	return is_root(x) || x->process->trusted || x->process->uid == inode->uid;
}

bool in_group(const struct step *x, uint32_t gid)
{
	return x->process->trusted || x->process->gid == gid ||
	       state_in_group(x->state, x->process->uid, gid);
}

bool may_access(struct step *x, const struct inode *inode, unsigned want)
{
	unsigned granted;

	if (x->process->trusted || x->model->traits.no_modes)
		return true;
	if (is_root(x))
		return !(want & MAY_EXEC) || S_ISDIR(inode->mode) || inode->mode & 0111;
	if (x->process->uid == inode->uid)
		granted = inode->mode >> 6;
	else if (in_group(x, inode->gid))
		granted = inode->mode >> 3;
	else
		granted = inode->mode;
	return (granted & want) == want;
}

bool sticky_forbids(struct step *x, const struct inode *dir, const struct inode *victim)
{
	return dir->mode & S_ISVTX && !is_owner(x, victim) && !is_owner(x, dir);
}
