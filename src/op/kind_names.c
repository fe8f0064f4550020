/* kind_names.c -- the names of flags and choices, with Linux's values.
 *
 * The order of a table is the order of printing. Where one flag holds the bits of another
 * (O_SYNC holds O_DSYNC), the mask of the lesser one holds the bits of the greater, so that
 * exactly one of the two matches. A table whose first row matches whole values names choices;
 * all others name bits. */
#include <asm/fcntl.h>
#include <linux/falloc.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <linux/stat.h>
#include <linux/xattr.h>
#include <unistd.h>

#include "op/kind.h"

#define BIT(name) \
	{ \
#name, name, name \
	}
#define BIT_WITHOUT(name, greater) \
	{ \
#name, name, greater \
	}
#define CHOICE(name) \
	{ \
#name, name, -1 \
	}
#define END \
	{ \
		NULL, 0, 0 \
	}

static const struct kind_name open_flags[] = {
	{ "O_RDONLY", OPEN_RDONLY, OPEN_RDONLY },
	BIT_WITHOUT(O_WRONLY, O_ACCMODE),
	BIT_WITHOUT(O_RDWR, O_ACCMODE),
	BIT(O_ACCMODE),
	{ "O_EXEC", OPEN_EXEC, OPEN_EXEC },
	{ "O_SEARCH", OPEN_SEARCH, OPEN_SEARCH },
	BIT(O_CREAT),
	BIT(O_EXCL),
	BIT(O_NOCTTY),
	BIT(O_TRUNC),
	BIT(O_APPEND),
	BIT(O_NONBLOCK),
	BIT(O_SYNC),
	BIT_WITHOUT(O_DSYNC, O_SYNC),
	{ "O_RSYNC", OPEN_RSYNC, OPEN_RSYNC },
	{ "O_ASYNC", FASYNC, FASYNC },
	BIT(O_DIRECT),
	BIT(O_LARGEFILE),
	BIT(O_TMPFILE),
	BIT_WITHOUT(O_DIRECTORY, O_TMPFILE),
	BIT(O_NOFOLLOW),
	BIT(O_NOATIME),
	BIT(O_CLOEXEC),
	BIT(O_PATH),
	{ "O_TTY_INIT", OPEN_TTY_INIT, OPEN_TTY_INIT },
	END,
};

static const struct kind_name resolve[] = {
	BIT(RESOLVE_NO_XDEV),
	BIT(RESOLVE_NO_MAGICLINKS),
	BIT(RESOLVE_NO_SYMLINKS),
	BIT(RESOLVE_BENEATH),
	BIT(RESOLVE_IN_ROOT),
	BIT(RESOLVE_CACHED),
	END,
};

#define PERMISSION_BITS \
	BIT(S_ISUID), BIT(S_ISGID), BIT(S_ISVTX), BIT(S_IRUSR), BIT(S_IWUSR), BIT(S_IXUSR), \
		BIT(S_IRGRP), BIT(S_IWGRP), BIT(S_IXGRP), BIT(S_IROTH), BIT(S_IWOTH), BIT(S_IXOTH)

static const struct kind_name mode[] = { PERMISSION_BITS, END };

#define FILE_TYPE(name) \
	{ \
#name, name, S_IFMT \
	}
static const struct kind_name node_mode[] = {
	FILE_TYPE(S_IFREG),  FILE_TYPE(S_IFDIR), FILE_TYPE(S_IFLNK),
	FILE_TYPE(S_IFCHR),  FILE_TYPE(S_IFBLK), FILE_TYPE(S_IFIFO),
	FILE_TYPE(S_IFSOCK), PERMISSION_BITS,    END,
};

static const struct kind_name whence[] = {
	CHOICE(SEEK_SET),  CHOICE(SEEK_CUR),  CHOICE(SEEK_END),
	CHOICE(SEEK_DATA), CHOICE(SEEK_HOLE), END,
};

static const struct kind_name falloc_mode[] = {
	BIT(FALLOC_FL_KEEP_SIZE),
	BIT(FALLOC_FL_PUNCH_HOLE),
	BIT(FALLOC_FL_NO_HIDE_STALE),
	BIT(FALLOC_FL_COLLAPSE_RANGE),
	BIT(FALLOC_FL_ZERO_RANGE),
	BIT(FALLOC_FL_INSERT_RANGE),
	BIT(FALLOC_FL_UNSHARE_RANGE),
	{ "FALLOC_FL_WRITE_ZEROES", 0x80, 0x80 }, /* since Linux 6.17 */
	END,
};

static const struct kind_name rename_flags[] = {
	BIT(RENAME_NOREPLACE),
	BIT(RENAME_EXCHANGE),
	BIT(RENAME_WHITEOUT),
	END,
};

static const struct kind_name at_flags[] = {
	BIT(AT_SYMLINK_NOFOLLOW), BIT(AT_REMOVEDIR),  BIT(AT_SYMLINK_FOLLOW),
	BIT(AT_NO_AUTOMOUNT),     BIT(AT_EMPTY_PATH), BIT(AT_STATX_FORCE_SYNC),
	BIT(AT_STATX_DONT_SYNC),  BIT(AT_RECURSIVE),  END,
};

static const struct kind_name access_flags[] = {
	BIT(AT_SYMLINK_NOFOLLOW),
	BIT(AT_EACCESS),
	BIT(AT_EMPTY_PATH),
	END,
};

static const struct kind_name access_mode[] = {
	BIT(R_OK), BIT(W_OK), BIT(X_OK), CHOICE(F_OK), END,
};

static const struct kind_name xattr_flags[] = { BIT(XATTR_CREATE), BIT(XATTR_REPLACE), END };

static const struct kind_name dirfd[] = { CHOICE(AT_FDCWD), END };

static const struct kind_name time[] = {
	{ "UTIME_NOW", TIME_NOW, -1 },
	{ "UTIME_OMIT", TIME_OMIT, -1 },
	END,
};

static const struct kind_name statx_mask[] = {
	BIT(STATX_BASIC_STATS),
	BIT(STATX_TYPE),
	BIT(STATX_MODE),
	BIT(STATX_NLINK),
	BIT(STATX_UID),
	BIT(STATX_GID),
	BIT(STATX_ATIME),
	BIT(STATX_MTIME),
	BIT(STATX_CTIME),
	BIT(STATX_INO),
	BIT(STATX_SIZE),
	BIT(STATX_BLOCKS),
	BIT(STATX_BTIME),
	BIT(STATX_MNT_ID),
	BIT(STATX_DIOALIGN),
	{ "STATX_MNT_ID_UNIQUE", 0x4000, 0x4000 },    /* since Linux 6.8 */
	{ "STATX_SUBVOL", 0x8000, 0x8000 },           /* since Linux 6.10 */
	{ "STATX_WRITE_ATOMIC", 0x10000, 0x10000 },   /* since Linux 6.11 */
	{ "STATX_DIO_READ_ALIGN", 0x20000, 0x20000 }, /* since Linux 6.14 */
	END,
};

static const struct kind_name rwf_flags[] = {
	BIT(RWF_HIPRI),
	BIT(RWF_DSYNC),
	BIT(RWF_SYNC),
	BIT(RWF_NOWAIT),
	BIT(RWF_APPEND),
	{ "RWF_NOAPPEND", 0x20, 0x20 },  /* since Linux 6.9 */
	{ "RWF_ATOMIC", 0x40, 0x40 },    /* since Linux 6.11 */
	{ "RWF_DONTCACHE", 0x80, 0x80 }, /* since Linux 6.14 */
	END,
};

static const struct kind_name lock_op[] = {
	BIT(LOCK_SH), BIT(LOCK_EX), BIT(LOCK_NB), BIT(LOCK_UN), END,
};

static const struct kind_name inode_flags[] = {
	BIT(FS_SECRM_FL),       BIT(FS_UNRM_FL),        BIT(FS_COMPR_FL),        BIT(FS_SYNC_FL),
	BIT(FS_IMMUTABLE_FL),   BIT(FS_APPEND_FL),      BIT(FS_NODUMP_FL),       BIT(FS_NOATIME_FL),
	BIT(FS_DIRTY_FL),       BIT(FS_COMPRBLK_FL),    BIT(FS_NOCOMP_FL),       BIT(FS_ENCRYPT_FL),
	BIT(FS_INDEX_FL),       BIT(FS_IMAGIC_FL),      BIT(FS_JOURNAL_DATA_FL), BIT(FS_NOTAIL_FL),
	BIT(FS_DIRSYNC_FL),     BIT(FS_TOPDIR_FL),      BIT(FS_HUGE_FILE_FL),    BIT(FS_EXTENT_FL),
	BIT(FS_VERITY_FL),      BIT(FS_EA_INODE_FL),    BIT(FS_NOCOW_FL),        BIT(FS_DAX_FL),
	BIT(FS_INLINE_DATA_FL), BIT(FS_PROJINHERIT_FL), BIT(FS_CASEFOLD_FL),     END,
};

static const struct kind_name *const tables[KIND_COUNT_] = {
	[KIND_DIRFD] = dirfd,
	[KIND_OPEN_FLAGS] = open_flags,
	[KIND_RESOLVE] = resolve,
	[KIND_MODE] = mode,
	[KIND_NODE_MODE] = node_mode,
	[KIND_WHENCE] = whence,
	[KIND_FALLOC_MODE] = falloc_mode,
	[KIND_RENAME_FLAGS] = rename_flags,
	[KIND_AT_FLAGS] = at_flags,
	[KIND_ACCESS_FLAGS] = access_flags,
	[KIND_ACCESS_MODE] = access_mode,
	[KIND_XATTR_FLAGS] = xattr_flags,
	[KIND_TIME] = time,
	[KIND_STATX_MASK] = statx_mask,
	[KIND_RWF_FLAGS] = rwf_flags,
	[KIND_LOCK_OP] = lock_op,
	[KIND_INODE_FLAGS] = inode_flags,
};

const struct kind_name *kind_names(enum kind kind)
{
	return tables[kind];
}
