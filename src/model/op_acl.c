/* op_acl.c -- set_acl, and taking a list away: access control lists of objects. */
#include "model/acl.h"
#include "model/attr.h"
#include "model/io.h"

/* What the mode of an object becomes by a list: its permission bits, without a setgid bit that is
 * not the caller's to keep. */
static uint32_t mode_by_acl(struct step *x, const struct inode *inode, const struct acl *acl)
{
	uint32_t mode = inode->mode;

	if (acl->count)
		mode = (mode & ~(uint32_t)0777) | acl_mode(acl);
	else if (!x->model->traits.acl_removal_drops_setgid)
		return mode;
	if (!is_root(x) && !in_group(x, inode->gid))
		mode &= ~(uint32_t)S_ISGID;
	return mode;
}

/* The new list, or none, which may be what is there. */
static void replace_acl(struct step *x, uint64_t ino, const char *attribute, const struct acl *acl)
{
	struct tree *t = &x->state->tree;
	struct acl old;
	char before[BYTES_OF_ACL_MAX], after[BYTES_OF_ACL_MAX];
	bool had = acl_of(tree_inode(t, ino), attribute, &old), has = acl->count != 0;

	if (had == has && (!had || (acl_to_value(&old, before) == acl_to_value(acl, after) &&
				    !memcmp(before, after, acl_to_value(acl, after)))))
		may_touch(x, ino, TIME_BIT_CHANGE);
	else if (has)
		acl_put(x, ino, attribute, acl);
	else
		tree_remove_xattr(t, ino, attribute);
	touch_change(x, ino);
}

static void set_access_acl(struct step *x, const struct inode *inode, const struct acl *acl)
{
	static const struct acl none = { 0 };
	uint32_t mode = mode_by_acl(x, inode, acl);
	uint64_t ino = inode->ino;

	replace_acl(x, ino, NAME_OF_ACCESS_ACL, acl_is_mode(acl) ? &none : acl);
	tree_edit(&x->state->tree, ino)->mode = mode;
}

void change_acl(struct step *x, const struct inode *inode, bool is_default, const struct acl *acl)
{
	if (x->state->read_only)
		refuse(x, RULE_attr_read_only);
	if (acl_has_unknown(acl) && refuse(x, RULE_acl_unknown))
		return;
	if (inode->flags & (FS_IMMUTABLE_FL | FS_APPEND_FL))
		refuse(x, RULE_attr_immutable);
	if (S_ISLNK(inode->mode))
		refuse(x, RULE_acl_symlink);
	/* There is none to remove: success for every user. */
	if (is_default && !S_ISDIR(inode->mode) && !acl->count) {
		proceed(x);
		return;
	}
	if (is_default && !S_ISDIR(inode->mode) && refuse(x, RULE_acl_default_kind))
		return;
	if (!is_owner(x, inode))
		refuse(x, RULE_acl_owner);
	if (acl->count && !acl_is_valid(acl))
		refuse(x, RULE_acl_invalid);
	if (acl->count * sizeof(struct acl_entry) > x->model->traits.xattr_space)
		may_refuse(x, RULE_xattr_full);
	if (!proceed(x))
		return;
	if (is_default)
		replace_acl(x, inode->ino, NAME_OF_DEFAULT_ACL, acl);
	else
		set_access_acl(x, inode, acl);
}

void model_set_acl(struct step *x)
{
	const struct inode *inode;
	struct acl acl;

	if (leave_open(x, RULE_call_of_linux))
		return;
	inode = need_object(x, AT_FDCWD, &x->call->set_acl.path, WALK_FOLLOW);
	if (!inode)
		return;
	acl_from_text(x->call->set_acl.acl.text ? x->call->set_acl.acl.text : "", &acl);
	if (x->model->traits.no_xattr) {
		if (acl_has_unknown(&acl))
			may_refuse(x, RULE_acl_unknown);
		if (refuse_unsupported(x, RULE_xattr_space))
			return;
	}
	if ((x->model->traits.no_acl || x->model->traits.one_user) &&
	    leave_undefined(x, RULE_xattr_formats))
		return;
	change_acl(x, inode, x->call->set_acl.type.num == ACL_TYPE_DEFAULT, &acl);
}
