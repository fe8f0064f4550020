/* attr.h -- inside the model: what operations on attributes share. */
#ifndef MODEL_ATTR_H
#define MODEL_ATTR_H

#include <fcntl.h>
#include <linux/fs.h>

#include "model/internal.h"

/* The object that a path leads to, or NULL after refusing: by the path's own rule, or as missing.
 * Flags are those of resolve(). */
const struct inode *need_object(struct step *x, int64_t dirfd, const struct arg *path,
				unsigned flags);
/* The object behind a descriptor; O_PATH counts where `any`. */
const struct inode *need_open_object(struct step *x, const struct arg *fd, bool any);

/* Modes or owners may have no place in the file system. */
void may_refuse_unkept(struct step *x);
/* Gives the object a list, or takes it away if that has no entries (op_acl.c). */
struct acl;
void change_acl(struct step *x, const struct inode *inode, bool is_default, const struct acl *acl);

/* How resolve() is to take a path, by AT_ flags. */
static inline unsigned walk_flags(int64_t at_flags)
{
	return (at_flags & AT_SYMLINK_NOFOLLOW ? WALK_KEEP_SLASH : WALK_FOLLOW) |
	       (at_flags & AT_EMPTY_PATH ? WALK_EMPTY : 0);
}

#endif
