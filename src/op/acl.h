/* acl.h -- access control lists: as text, as the value of an attribute, as entries.
 *
 * The text is that of setfacl(1), short form: "u::rwx,u:1000:r--,g::r-x,m::rwx,o::---". An empty
 * one is a list without entries, and an entry that cannot be read has tag 0, which no kernel knows.
 */
#ifndef OP_ACL_H
#define OP_ACL_H

#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAME_OF_ACCESS_ACL "system.posix_acl_access"
#define NAME_OF_DEFAULT_ACL "system.posix_acl_default"

enum { ENTRIES_OF_ACL_MAX = 16, BYTES_OF_ACL_MAX = 4 + 8 * ENTRIES_OF_ACL_MAX };

struct acl_entry {
	uint16_t tag, perm; /* ACL_USER_OBJ and the like; ACL_READ, ACL_WRITE, ACL_EXECUTE */
	uint32_t id;        /* of ACL_USER and ACL_GROUP, else ACL_UNDEFINED_ID */
};

struct acl {
	size_t count;
	struct acl_entry entries[ENTRIES_OF_ACL_MAX];
};

/* What is beyond ENTRIES_OF_ACL_MAX is cut. */
void acl_from_text(const char *text, struct acl *ret);
/* False: it is not such a value. */
bool acl_from_value(const char *bytes, size_t len, struct acl *ret);
/* Returns its length. */
size_t acl_to_value(const struct acl *acl, char to[BYTES_OF_ACL_MAX]);

/* The attribute of a list of type ACL_TYPE_ACCESS or ACL_TYPE_DEFAULT. */
static inline const char *acl_attribute(int64_t type)
{
	return type == ACL_TYPE_DEFAULT ? NAME_OF_DEFAULT_ACL : NAME_OF_ACCESS_ACL;
}

#endif
