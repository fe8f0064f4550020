/* acl.h -- inside the model: access control lists (acl(5)), which are attributes of the tree. */
#ifndef MODEL_ACL_H
#define MODEL_ACL_H

#include "model/internal.h"
#include "op/acl.h"

/* The list of an inode, by the name of its attribute; false: it has none. */
bool acl_of(const struct inode *inode, const char *attribute, struct acl *ret);
/* Does it have entries that are none? */
bool acl_has_unknown(const struct acl *acl);
/* Is it one? As posix_acl_valid() checks. */
bool acl_is_valid(const struct acl *acl);
/* The permission bits that the entries of owner, group class and others make. */
uint32_t acl_mode(const struct acl *acl);
/* Does it say no more than permission bits? */
bool acl_is_mode(const struct acl *acl);
/* What the list grants a process that is not the owner. */
bool acl_grants(struct step *x, const struct inode *inode, const struct acl *acl, unsigned want);
/* The entries of owner, group class and others take these permission bits. */
void acl_set_mode(struct acl *acl, uint32_t mode);
/* The same entries lose what the bits do not have, as those of a new object. */
void acl_restrict(struct acl *acl, uint32_t mode);
/* Gives an object a list, or none if that says no more than its mode. */
void acl_put(struct step *x, uint64_t ino, const char *attribute, const struct acl *acl);

#endif
