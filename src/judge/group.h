/* group.h -- which discrepancies have one cause: one finding is for all of them.
 *
 * A signature has the call that showed it; many calls show the same. A group says what is wrong, of
 * which kind of object, and in which direction:
 *
 *	nlink of directories, too small        metadata, after whatever call, in a tree or by stat
 *	size of files, too large               after a call that does not change the size
 *	unreadable of files, getxattr ENODATA  attributes that a walk could not read
 *	modification time of file was not updated
 *	times of directories                   behind the cache of a FUSE daemon
 *	files with several names, cached       the same: one inode of the kernel for each name
 *	data of files, stale                   behind FUSE: bytes from behind the end of a file
 *	nlink of directories                   behind FUSE, in both directions
 *	names that are listed, but stat gives ENOENT
 *	names that are too long not refused    whatever is returned instead
 *	mode of new objects, special bits      of those that the call was given
 *	EPERM of reads and writes through a descriptor
 *	xattr not supported                    ENOSYS, EOPNOTSUPP and the like of a family of calls
 *	ENOSPC for success                     errors of the file system, not of a call
 *	success for EACCES (search_denied)     a rule of the model that several calls share
 *	KERNEL fs/ext4/inode.c:12              what the kernel log names
 *
 * Everything else is a separate group, by its signature: data and names that a call has changed,
 * errors that no rule explains, crashes without words. So lost data or a crash is never in one
 * group with wrong metadata, nor in that of another call's lost data, but for files with several
 * names behind a cache. */
#ifndef JUDGE_GROUP_H
#define JUDGE_GROUP_H

#include "judge/discrepancy.h"

void group_of(const struct discrepancy *d, char ret[SIGNATURE_MAX]);

#endif
