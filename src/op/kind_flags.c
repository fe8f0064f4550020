/* kind_flags.c -- kinds that are flags or choices, with Linux's names and values. */
#include <asm/fcntl.h>
#include <linux/fadvise.h>
#include <linux/falloc.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <linux/posix_acl.h>
#include <linux/stat.h>
#include <linux/xattr.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/must.h"
#include "base/put.h"
#include "op/c_text.h"
#include "op/kind_functions.h"

/* The i-th flag taken away; flags are tried from the highest bit down. */
bool flags_fewer(const struct kind_info *kind, enum op op, const struct arg *arg, size_t i,
		 struct arena *arena, struct arg *ret)
{
	if (i >= 40)
		return false;
	ret->num = arg->num & ~((int64_t)1 << (39 - i));
	return true;
}

void int_c_text(const struct kind_info *kind, const struct arg *arg, struct c_text *to)
{
	const struct arg plain = { .num = (uint32_t)arg->num };

	if (kind->names && (!kind->c_names_max || (uint64_t)plain.num <= kind->c_names_max))
		kind->print(kind, &plain, to->out);
	else
		c_number((int32_t)arg->num, to->out);
}

#define BIT_AS(text, number) \
	{ \
		.name = (text), .value = (number), .mask = (number) \
	}
#define BIT(flag) BIT_AS(#flag, flag)
#define BIT_WITHOUT(flag, greater) \
	{ \
		.name = #flag, .value = (flag), .mask = (greater) \
	}
#define FOREIGN(text, number) \
	{ \
		.name = (text), .value = (number), .mask = (number), .foreign = true \
	}
#define CHOICE(number) \
	{ \
		.name = #number, .value = (number), .mask = -1 \
	}
#define END \
	{ \
		.name = NULL \
	}

/* Numbers with names. */
#define NAMED(table) \
	.form = FORM_NUM, .names = (table), .print = names_print, .lex = names_lex, \
	.boundary = names_boundary, .partitions = &partition_flags, .c_text = int_c_text
#define FLAGS(table) NAMED(table), .simpler = flags_fewer

static const char *const mode_parameters[] = { "mode", NULL };

static const struct kind_name open_flags_names[] = {
	BIT_AS("O_RDONLY", OPEN_RDONLY),
	BIT_WITHOUT(O_WRONLY, O_ACCMODE),
	BIT_WITHOUT(O_RDWR, O_ACCMODE),
	FOREIGN("O_ACCMODE", O_ACCMODE),
	FOREIGN("O_EXEC", OPEN_EXEC),
	FOREIGN("O_SEARCH", OPEN_SEARCH),
	BIT(O_CREAT),
	BIT(O_EXCL),
	BIT(O_NOCTTY),
	BIT(O_TRUNC),
	BIT(O_APPEND),
	BIT(O_NONBLOCK),
	BIT(O_SYNC),
	BIT_WITHOUT(O_DSYNC, O_SYNC),
	FOREIGN("O_RSYNC", OPEN_RSYNC),
	BIT_AS("O_ASYNC", FASYNC),
	BIT(O_DIRECT),
	BIT(O_LARGEFILE),
	BIT(O_TMPFILE),
	BIT_WITHOUT(O_DIRECTORY, O_TMPFILE),
	BIT(O_NOFOLLOW),
	BIT(O_NOATIME),
	BIT(O_CLOEXEC),
	BIT(O_PATH),
	FOREIGN("O_TTY_INIT", OPEN_TTY_INIT),
	END,
};

/* To read only is an access mode without a bit: it is named where no other is. */
static void open_flags_visit(const struct kind_info *kind, const struct arg *arg,
			     void (*visit)(void *to, size_t partition), void *to)
{
	const int64_t others = O_ACCMODE | OPEN_EXEC | OPEN_SEARCH;
	struct arg named = *arg;

	if (!(named.num & others))
		named.num |= OPEN_RDONLY;
	flags_visit(kind, &named, visit, to);
}

/* No value is without a name, then. */
static size_t open_flags_count(const struct kind_info *kind)
{
	return flags_count(kind) - 1;
}

static const struct partitioning open_flags_partitions = { open_flags_count, flags_name,
							   open_flags_visit };

static bool open_flags_fewer(const struct kind_info *kind, enum op op, const struct arg *arg,
			     size_t i, struct arena *arena, struct arg *ret)
{
	if (!flags_fewer(kind, op, arg, i, arena, ret))
		return false;
	ret->num = (ret->num & ~O_ACCMODE) | (arg->num & O_ACCMODE);
	return true;
}

/* What lies above the numbers of Linux has none in a program. */
static void open_flags_c_text(const struct kind_info *kind, const struct arg *arg,
			      struct c_text *to)
{
	names_print(kind, &(struct arg){ .num = arg->num & INT32_MAX }, to->out);
}

const struct kind_info kind_open_flags = {
	.name = "open_flags",
	.form = FORM_NUM,
	.picked = "O_RDWR|O_CREAT",
	.names = open_flags_names,
	.print = names_print,
	.lex = names_lex,
	.boundary = names_boundary,
	.partitions = &open_flags_partitions,
	.simpler = open_flags_fewer,
	.c_text = open_flags_c_text,
};

static const struct kind_name resolve_names[] = {
	BIT(RESOLVE_NO_XDEV),
	BIT(RESOLVE_NO_MAGICLINKS),
	BIT(RESOLVE_NO_SYMLINKS),
	BIT(RESOLVE_BENEATH),
	BIT(RESOLVE_IN_ROOT),
	BIT(RESOLVE_CACHED),
	END,
};

const struct kind_info kind_resolve = {
	.name = "resolve",
	FLAGS(resolve_names),
	.picked = "0",
};

#define PERMISSION_BITS \
	BIT(S_ISUID), BIT(S_ISGID), BIT(S_ISVTX), BIT(S_IRUSR), BIT(S_IWUSR), BIT(S_IXUSR), \
		BIT(S_IRGRP), BIT(S_IWGRP), BIT(S_IXGRP), BIT(S_IROTH), BIT(S_IWOTH), BIT(S_IXOTH)

static const struct kind_name mode_names[] = { PERMISSION_BITS, END };

static void mode_print(const struct kind_info *kind, const struct arg *arg, struct buf *out)
{
	if (arg->num < 0) {
		put_num(out, arg->num);
		return;
	}
	buf_addch(out, '0');
	put_octal(out, (uint64_t)arg->num, 3);
}

static void mode_visit(const struct kind_info *kind, const struct arg *arg,
		       void (*visit)(void *to, size_t partition), void *to)
{
	if (arg->num != MODE_ABSENT)
		flags_visit(kind, arg, visit, to);
}

static const struct partitioning mode_partitions = { flags_count, flags_name, mode_visit };

/* The usual mode of what the operation makes. */
static bool mode_usual(const struct kind_info *kind, enum op op, const struct arg *arg, size_t i,
		       struct arena *arena, struct arg *ret)
{
	if (i > 0 || arg->num == MODE_ABSENT || arg->num == 0755 || arg->num == 0644)
		return false;
	ret->num = op == OP_mkdir || op == OP_mkdirat ? 0755 : 0644;
	return true;
}

static void mode_c_text(const struct kind_info *kind, const struct arg *arg, struct c_text *to)
{
	buf_addf(to->out, "0%o", arg->num == MODE_ABSENT ? 0 : (unsigned)arg->num);
}

const struct kind_info kind_mode = {
	.name = "mode",
	.form = FORM_NUM,
	.picked = "0644 0755",
	.kernel_names = mode_parameters,
	.names = mode_names,
	.print = mode_print,
	.lex = names_lex,
	.boundary = names_boundary,
	.partitions = &mode_partitions,
	.simpler = mode_usual,
	.c_text = mode_c_text,
};

#define FILE_TYPE(type) \
	{ \
		.name = #type, .value = (type), .mask = S_IFMT \
	}
static const struct kind_name node_mode_names[] = {
	FILE_TYPE(S_IFREG),  FILE_TYPE(S_IFDIR), FILE_TYPE(S_IFLNK),
	FILE_TYPE(S_IFCHR),  FILE_TYPE(S_IFBLK), FILE_TYPE(S_IFIFO),
	FILE_TYPE(S_IFSOCK), PERMISSION_BITS,    END,
};

/* The type by its name, everything else in octal. */
static void node_mode_print(const struct kind_info *kind, const struct arg *arg, struct buf *out)
{
	const struct kind_name *row;
	struct arg permissions = *arg;

	row = name_next(kind->names, arg->num, &permissions.num);
	if (row && row->mask != row->value) {
		buf_adds(out, row->name);
		buf_addch(out, '|');
		mode_print(kind, &permissions, out);
	} else {
		mode_print(kind, arg, out);
	}
}

const struct kind_info kind_node_mode = {
	.name = "node_mode",
	.form = FORM_NUM,
	.picked = "S_IFREG|0644 S_IFIFO|0644",
	.kernel_names = mode_parameters,
	.names = node_mode_names,
	.print = node_mode_print,
	.lex = names_lex,
	.boundary = names_boundary,
	.partitions = &partition_flags,
	.c_text = int_c_text,
};

static const struct kind_name whence_names[] = {
	CHOICE(SEEK_SET),  CHOICE(SEEK_CUR),  CHOICE(SEEK_END),
	CHOICE(SEEK_DATA), CHOICE(SEEK_HOLE), END,
};

const struct kind_info kind_whence = {
	.name = "whence",
	NAMED(whence_names),
	.picked = "SEEK_SET SEEK_CUR SEEK_END",
	.kernel_names = (const char *const[]){ "whence", "origin", NULL },
};

static const struct kind_name falloc_mode_names[] = {
	BIT(FALLOC_FL_KEEP_SIZE),
	BIT(FALLOC_FL_PUNCH_HOLE),
	FOREIGN("FALLOC_FL_NO_HIDE_STALE", FALLOC_FL_NO_HIDE_STALE),
	BIT(FALLOC_FL_COLLAPSE_RANGE),
	BIT(FALLOC_FL_ZERO_RANGE),
	BIT(FALLOC_FL_INSERT_RANGE),
	BIT(FALLOC_FL_UNSHARE_RANGE),
	BIT_AS("FALLOC_FL_WRITE_ZEROES", 0x80), /* since Linux 6.17 */
	END,
};

const struct kind_info kind_falloc_mode = {
	.name = "falloc_mode",
	FLAGS(falloc_mode_names),
	.picked = "0 FALLOC_FL_KEEP_SIZE",
	.kernel_names = mode_parameters,
	.c_names_max = 0x7f, /* FALLOC_FL_UNSHARE_RANGE */
};

static const struct kind_name rename_flags_names[] = {
	BIT(RENAME_NOREPLACE),
	BIT(RENAME_EXCHANGE),
	BIT(RENAME_WHITEOUT),
	END,
};

const struct kind_info kind_rename_flags = {
	.name = "rename_flags",
	FLAGS(rename_flags_names),
	.picked = "0 RENAME_NOREPLACE RENAME_EXCHANGE",
};

static const struct kind_name at_flags_names[] = {
	BIT(AT_SYMLINK_NOFOLLOW), BIT(AT_REMOVEDIR),  BIT(AT_SYMLINK_FOLLOW),
	BIT(AT_NO_AUTOMOUNT),     BIT(AT_EMPTY_PATH), BIT(AT_STATX_FORCE_SYNC),
	BIT(AT_STATX_DONT_SYNC),  BIT(AT_RECURSIVE),  END,
};

const struct kind_info kind_at_flags = {
	.name = "at_flags",
	FLAGS(at_flags_names),
	.picked = "0",
};

static const struct kind_name access_flags_names[] = {
	BIT(AT_SYMLINK_NOFOLLOW),
	BIT(AT_EACCESS),
	BIT(AT_EMPTY_PATH),
	END,
};

const struct kind_info kind_access_flags = {
	.name = "access_flags",
	FLAGS(access_flags_names),
	.picked = "0",
};

static const struct kind_name access_mode_names[] = {
	BIT(R_OK), BIT(W_OK), BIT(X_OK), CHOICE(F_OK), END,
};

const struct kind_info kind_access_mode = {
	.name = "access_mode",
	FLAGS(access_mode_names),
	.picked = "F_OK R_OK W_OK X_OK",
	.kernel_names = mode_parameters,
};

static const struct kind_name xattr_flags_names[] = { BIT(XATTR_CREATE), BIT(XATTR_REPLACE), END };

const struct kind_info kind_xattr_flags = {
	.name = "xattr_flags",
	FLAGS(xattr_flags_names),
	.picked = "0 XATTR_CREATE XATTR_REPLACE",
};

static const struct kind_name statx_mask_names[] = {
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
	BIT_AS("STATX_MNT_ID_UNIQUE", 0x4000),   /* since Linux 6.8 */
	BIT_AS("STATX_SUBVOL", 0x8000),          /* since Linux 6.10 */
	BIT_AS("STATX_WRITE_ATOMIC", 0x10000),   /* since Linux 6.11 */
	BIT_AS("STATX_DIO_READ_ALIGN", 0x20000), /* since Linux 6.14 */
	END,
};

const struct kind_info kind_statx_mask = {
	.name = "statx_mask",
	FLAGS(statx_mask_names),
	.picked = "STATX_BASIC_STATS",
	.kernel_names = (const char *const[]){ "mask", NULL },
	.c_names_max = 0xfff, /* STATX_BTIME */
};

static const struct kind_name rwf_flags_names[] = {
	BIT(RWF_HIPRI),
	BIT(RWF_DSYNC),
	BIT(RWF_SYNC),
	BIT(RWF_NOWAIT),
	BIT(RWF_APPEND),
	BIT_AS("RWF_NOAPPEND", 0x20),  /* since Linux 6.9 */
	BIT_AS("RWF_ATOMIC", 0x40),    /* since Linux 6.11 */
	BIT_AS("RWF_DONTCACHE", 0x80), /* since Linux 6.14 */
	END,
};

const struct kind_info kind_rwf_flags = {
	.name = "rwf_flags",
	FLAGS(rwf_flags_names),
	.picked = "0",
	.c_names_max = 0x1f, /* RWF_APPEND */
};

/* Reserved: no flag has a name. */
static const int64_t copy_flags[] = { 0, 1 };

const struct kind_info kind_copy_flags = {
	.name = "copy_flags",
	.form = FORM_NUM,
	.picked = "0",
	.print = number_print,
	.lex = number_lex,
	VALUES(copy_flags),
	.boundary = number_boundary_list,
	.partitions = &partition_flags,
	.c_text = int_c_text,
};

static const struct kind_name lock_op_names[] = {
	BIT(LOCK_SH), BIT(LOCK_EX), BIT(LOCK_NB), BIT(LOCK_UN), END,
};

const struct kind_info kind_lock_op = {
	.name = "lock_op",
	NAMED(lock_op_names),
	.picked = "LOCK_EX LOCK_UN",
	.kernel_names = (const char *const[]){ "cmd", NULL },
};

static const struct kind_name inode_flags_names[] = {
	BIT(FS_SECRM_FL),       BIT(FS_UNRM_FL),        BIT(FS_COMPR_FL),        BIT(FS_SYNC_FL),
	BIT(FS_IMMUTABLE_FL),   BIT(FS_APPEND_FL),      BIT(FS_NODUMP_FL),       BIT(FS_NOATIME_FL),
	BIT(FS_DIRTY_FL),       BIT(FS_COMPRBLK_FL),    BIT(FS_NOCOMP_FL),       BIT(FS_ENCRYPT_FL),
	BIT(FS_INDEX_FL),       BIT(FS_IMAGIC_FL),      BIT(FS_JOURNAL_DATA_FL), BIT(FS_NOTAIL_FL),
	BIT(FS_DIRSYNC_FL),     BIT(FS_TOPDIR_FL),      BIT(FS_HUGE_FILE_FL),    BIT(FS_EXTENT_FL),
	BIT(FS_VERITY_FL),      BIT(FS_EA_INODE_FL),    BIT(FS_NOCOW_FL),        BIT(FS_DAX_FL),
	BIT(FS_INLINE_DATA_FL), BIT(FS_PROJINHERIT_FL), BIT(FS_CASEFOLD_FL),     END,
};

const struct kind_info kind_inode_flags = {
	.name = "inode_flags",
	FLAGS(inode_flags_names),
	.picked = "0 FS_IMMUTABLE_FL FS_APPEND_FL",
};

static const struct kind_name map_prot_names[] = {
	BIT(PROT_READ),
	BIT(PROT_WRITE),
	BIT(PROT_EXEC),
	END,
};

const struct kind_info kind_map_prot = {
	.name = "map_prot",
	FLAGS(map_prot_names),
	.picked = "PROT_READ|PROT_WRITE PROT_READ",
	.kernel_names = (const char *const[]){ "prot", NULL },
};

/* Two bits of the type are a third type, with flags that are checked. */
static const struct kind_name map_flags_names[] = {
	BIT(MAP_SHARED_VALIDATE),
	BIT_WITHOUT(MAP_SHARED, MAP_SHARED_VALIDATE),
	BIT_WITHOUT(MAP_PRIVATE, MAP_SHARED_VALIDATE),
	BIT(MAP_POPULATE),
	END,
};

const struct kind_info kind_map_flags = {
	.name = "map_flags",
	FLAGS(map_flags_names),
	.picked = "MAP_SHARED MAP_PRIVATE",
	.kernel_names = (const char *const[]){ "flags", NULL },
};

static const struct kind_name msync_flags_names[] = {
	BIT(MS_ASYNC),
	BIT(MS_INVALIDATE),
	BIT(MS_SYNC),
	END,
};

const struct kind_info kind_msync_flags = {
	.name = "msync_flags",
	FLAGS(msync_flags_names),
	.picked = "MS_SYNC MS_ASYNC",
};

static const struct kind_name advice_names[] = {
	CHOICE(POSIX_FADV_NORMAL),
	CHOICE(POSIX_FADV_RANDOM),
	CHOICE(POSIX_FADV_SEQUENTIAL),
	CHOICE(POSIX_FADV_WILLNEED),
	CHOICE(POSIX_FADV_DONTNEED),
	CHOICE(POSIX_FADV_NOREUSE),
	END,
};

const struct kind_info kind_advice = {
	.name = "advice",
	NAMED(advice_names),
	.picked = "POSIX_FADV_DONTNEED POSIX_FADV_WILLNEED",
};

static const struct kind_name sync_range_flags_names[] = {
	BIT(SYNC_FILE_RANGE_WAIT_BEFORE),
	BIT(SYNC_FILE_RANGE_WRITE),
	BIT(SYNC_FILE_RANGE_WAIT_AFTER),
	END,
};

const struct kind_info kind_sync_range_flags = {
	.name = "sync_range_flags",
	FLAGS(sync_range_flags_names),
	.picked = "SYNC_FILE_RANGE_WRITE "
		  "SYNC_FILE_RANGE_WAIT_BEFORE|SYNC_FILE_RANGE_WRITE|SYNC_FILE_RANGE_WAIT_AFTER",
};

static const struct kind_name acl_type_names[] = {
	CHOICE(ACL_TYPE_ACCESS),
	CHOICE(ACL_TYPE_DEFAULT),
	END,
};

const struct kind_info kind_acl_type = {
	.name = "acl_type",
	NAMED(acl_type_names),
	.picked = "ACL_TYPE_ACCESS ACL_TYPE_DEFAULT",
};
