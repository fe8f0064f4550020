/* acl.c -- access control lists: who they let in, how they and permission bits follow each other,
 * and the call that sets and removes them. */
#include "model/acl.h"
#include "model/attr.h"
#include "model/io.h"

bool acl_of(const struct inode *inode, const char *attribute, struct acl *ret)
{
	const struct xattr *value = inode->xattrs.count ? tree_xattr(inode, attribute) : NULL;

	return value && acl_from_value(value->bytes + value->name_len + 1, value->value_len, ret);
}

bool acl_has_unknown(const struct acl *acl)
{
	for (size_t i = 0; i < acl->count; i++)
		if (!acl->entries[i].tag)
			return true;
	return false;
}

bool acl_is_valid(const struct acl *acl)
{
	uint16_t next = ACL_USER_OBJ;
	bool needs_mask = false;

	for (size_t i = 0; i < acl->count; i++) {
		uint16_t tag = acl->entries[i].tag;

		if (tag == ACL_USER_OBJ && next == ACL_USER_OBJ) {
			next = ACL_USER;
		} else if (tag == ACL_GROUP_OBJ && next == ACL_USER) {
			next = ACL_GROUP;
		} else if (tag == next && (tag == ACL_USER || tag == ACL_GROUP)) {
			needs_mask = true;
		} else if (tag == ACL_MASK && next == ACL_GROUP) {
			next = ACL_OTHER;
		} else if (tag == ACL_OTHER &&
			   (next == ACL_OTHER || (next == ACL_GROUP && !needs_mask))) {
			return i + 1 == acl->count;
		} else {
			return false;
		}
	}
	return false;
}

/* The entry that the group class of the permission bits shows: the mask, if there is one. */
static size_t acl_group_class(const struct acl *acl)
{
	size_t found = 0;

	for (size_t i = 0; i < acl->count; i++)
		if (acl->entries[i].tag == ACL_GROUP_OBJ || acl->entries[i].tag == ACL_MASK)
			found = i;
	return found;
}

/* Where in the permission bits an entry shows, or -1. */
static int acl_shift(const struct acl *acl, size_t i)
{
	if (acl->entries[i].tag == ACL_USER_OBJ)
		return 6;
	if (acl->entries[i].tag == ACL_OTHER)
		return 0;
	return i == acl_group_class(acl) ? 3 : -1;
}

uint32_t acl_mode(const struct acl *acl)
{
	uint32_t mode = 0;

	for (size_t i = 0; i < acl->count; i++)
		if (acl_shift(acl, i) >= 0)
			mode |= (uint32_t)acl->entries[i].perm << acl_shift(acl, i);
	return mode;
}

bool acl_is_mode(const struct acl *acl)
{
	return acl->count == 3;
}

void acl_set_mode(struct acl *acl, uint32_t mode)
{
	for (size_t i = 0; i < acl->count; i++)
		if (acl_shift(acl, i) >= 0)
			acl->entries[i].perm = (uint16_t)(mode >> acl_shift(acl, i) & 7);
}

void acl_restrict(struct acl *acl, uint32_t mode)
{
	acl_set_mode(acl, acl_mode(acl) & mode);
}

static uint16_t acl_mask(const struct acl *acl)
{
	const struct acl_entry *e = &acl->entries[acl_group_class(acl)];

	return e->tag == ACL_MASK ? e->perm : 7;
}

bool acl_grants(struct step *x, const struct inode *inode, const struct acl *acl, unsigned want)
{
	bool in_some_group = false;

	for (size_t i = 0; i < acl->count; i++) {
		const struct acl_entry *e = &acl->entries[i];
		uint32_t gid = e->tag == ACL_GROUP_OBJ ? inode->gid : e->id;

		if (e->tag == ACL_USER && e->id == x->process->uid)
			return (e->perm & acl_mask(acl) & want) == want;
		if ((e->tag == ACL_GROUP_OBJ || e->tag == ACL_GROUP) && in_group(x, gid)) {
			in_some_group = true;
			if ((e->perm & want) == want)
				return (acl_mask(acl) & want) == want;
		}
		if (e->tag == ACL_OTHER)
			return !in_some_group && (e->perm & want) == want;
	}
	return false;
}

void acl_put(struct step *x, uint64_t ino, const char *attribute, const struct acl *acl)
{
	char value[BYTES_OF_ACL_MAX];

	tree_set_xattr(&x->state->tree, ino, attribute, value, acl_to_value(acl, value));
}

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
