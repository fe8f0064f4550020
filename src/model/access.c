/* access.c -- who may do what: owners, groups, permission bits, access control lists, the sticky
 * bit. */
#include "model/acl.h"

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
	struct acl acl;

	if (x->process->trusted || x->model->traits.no_modes)
		return true;
	if (is_root(x))
		return !(want & MAY_EXEC) || S_ISDIR(inode->mode) || inode->mode & 0111;
	if (x->process->uid == inode->uid)
		granted = inode->mode >> 6;
	else if (acl_of(inode, NAME_OF_ACCESS_ACL, &acl) &&
		 (inode->mode & S_IRWXG || !holds(x, RULE_acl_masked)))
		return acl_grants(x, inode, &acl, want);
	else if (in_group(x, inode->gid))
		granted = inode->mode >> 3;
	else
		granted = inode->mode;
	return (granted & want) == want;
}

/* Where owners are not kept, files may have another one than the caller who made them. */
bool refuse_stranger(struct step *x, const struct inode *inode, enum rule rule)
{
	if (x->model->traits.no_modes)
		return !is_root(x) && !x->process->trusted && may_refuse(x, rule);
	return !is_owner(x, inode) && refuse(x, rule);
}

/* A file system without modes may still store a read-only flag. */
bool refuse_denied(struct step *x, const struct inode *inode, unsigned want, enum rule rule)
{
	bool protected = want & MAY_WRITE && !(inode->mode & S_IWUSR);

	if (x->model->traits.no_modes)
		return protected && !is_root(x) && !x->process->trusted && may_refuse(x, rule);
	return !may_access(x, inode, want) && refuse(x, rule);
}

uint32_t mode_kept(const struct step *x, uint32_t mode)
{
	return x->model->traits.no_modes ? mode & (S_IFMT | 0777) : mode;
}

bool sticky_forbids(struct step *x, const struct inode *dir, const struct inode *victim)
{
	return dir->mode & S_ISVTX && !is_owner(x, victim) && !is_owner(x, dir);
}
