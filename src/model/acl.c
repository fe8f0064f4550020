/* acl.c -- access control lists: who they let in, and how they and permission bits follow each
 * other. */
#include "model/acl.h"

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
