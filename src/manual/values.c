/* values.c -- the tiny universe of manual pages. */
#include "manual/values.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/must.h"
#include "base/rng.h"
#include "op/kind.h"

enum { VECTOR_BYTES_MAX = 1 << 20 };

/* As in traces, separated by blanks; @N is a name of N letters, @N/ a path of N bytes. Kinds that
 * are not here have the values that profiles pick. */
static const char *const values[KIND_COUNT_] = {
	[KIND_PATH] =
		("\"f\" \"d\" \"none\" \"d/f\" \"s\" \"g\" \"e\" \"d/e\" \"p\" \"f/\" \"d/\" "
		 "\"s/\" "
		 "\"none/\" \"f/x\" \"none/x\" \"s/x\" \"/\" \".\" \"..\" \"d/.\" \"d/..\" \"\" "
		 "NULL @256 @4096/"),
	[KIND_TARGET] = "\"f\" \"\" \"s\" @4096 NULL",
	[KIND_DIRFD] = "AT_FDCWD 3 99 4",
	[KIND_FD] = "3 4 99 -1",
	[KIND_DH] = "1 2",
	[KIND_MAP] = "1 2",
	[KIND_HANDLE] = "1 2",
	[KIND_OPEN_FLAGS] =
		("O_RDONLY O_RDWR|O_CREAT O_WRONLY O_RDWR O_WRONLY|O_CREAT|O_EXCL "
		 "O_RDONLY|O_DIRECTORY "
		 "O_RDONLY|O_NOFOLLOW O_WRONLY|O_TRUNC O_RDWR|O_TMPFILE "
		 "O_RDONLY|O_CREAT|O_DIRECTORY "
		 "O_PATH O_RDONLY|O_TMPFILE O_RDONLY|O_NOATIME O_WRONLY|O_APPEND O_RDWR|O_DIRECT "
		 "O_PATH|O_CREAT O_WRONLY|O_NONBLOCK O_RDONLY|O_CREAT O_RDONLY|O_TRUNC "
		 "O_RDWR|O_TMPFILE|O_EXCL O_WRONLY|O_CREAT|O_NOFOLLOW O_EXEC O_SEARCH"),
	[KIND_RESOLVE] =
		("0 RESOLVE_NO_SYMLINKS RESOLVE_BENEATH RESOLVE_IN_ROOT RESOLVE_NO_XDEV "
		 "RESOLVE_CACHED RESOLVE_NO_MAGICLINKS RESOLVE_BENEATH|RESOLVE_IN_ROOT 0x40"),
	[KIND_MODE] = "0644 0755 0 04755 02755 01777 010000",
	[KIND_NODE_MODE] = ("S_IFREG|0644 S_IFIFO|0644 S_IFCHR|0644 S_IFDIR|0755 S_IFLNK|0777 "
			    "S_IFSOCK|0644 0150000 S_IFBLK|0644"),
	[KIND_DEV] = "0 259 4294967295",
	[KIND_COUNT] = "1 4096 0 100 65536 65537 -1 9223372036854775807",
	[KIND_LENGTH] = "1 0 4096 8192 -1 9223372036854775807 4611686018427387904",
	[KIND_OFFSET] = "0 1 4096 -1 9223372036854775807 4611686018427387904 100",
	[KIND_WHENCE] = "SEEK_SET SEEK_CUR SEEK_END SEEK_DATA SEEK_HOLE 7",
	[KIND_DATA] = "\"a\"",
	[KIND_FALLOC_MODE] =
		("0 FALLOC_FL_KEEP_SIZE FALLOC_FL_PUNCH_HOLE|FALLOC_FL_KEEP_SIZE "
		 "FALLOC_FL_ZERO_RANGE "
		 "FALLOC_FL_COLLAPSE_RANGE FALLOC_FL_INSERT_RANGE FALLOC_FL_PUNCH_HOLE "
		 "FALLOC_FL_UNSHARE_RANGE FALLOC_FL_COLLAPSE_RANGE|FALLOC_FL_KEEP_SIZE 0x1000 "
		 "FALLOC_FL_WRITE_ZEROES FALLOC_FL_WRITE_ZEROES|FALLOC_FL_KEEP_SIZE"),
	[KIND_RENAME_FLAGS] = ("0 RENAME_NOREPLACE RENAME_EXCHANGE RENAME_WHITEOUT "
			       "RENAME_NOREPLACE|RENAME_EXCHANGE 0x100"),
	[KIND_AT_FLAGS] = "0 AT_SYMLINK_NOFOLLOW AT_REMOVEDIR AT_EMPTY_PATH AT_SYMLINK_FOLLOW 0x8",
	[KIND_ACCESS_FLAGS] = "0 AT_EACCESS AT_SYMLINK_NOFOLLOW AT_EMPTY_PATH 0x8",
	[KIND_ACCESS_MODE] = "F_OK R_OK W_OK X_OK 0x10",
	[KIND_UID] = "0 1000 -1",
	[KIND_GID] = "0 1000 -1",
	[KIND_XATTR_NAME] = ("\"user.a\" \"user.b\" \"trusted.a\" \"a\" \"\" \"user.\" \"other.a\" "
			     "\"security.a\" \"system.a\" NULL @256 "
			     "\"system.posix_acl_access\" \"system.posix_acl_default\""),
	[KIND_XATTR_VALUE] = "\"1\" data(1,65536) data(1,65537) \"\"",
	[KIND_XATTR_FLAGS] = "0 XATTR_CREATE XATTR_REPLACE XATTR_CREATE|XATTR_REPLACE 0x8",
	[KIND_TIME] = "0 UTIME_NOW UTIME_OMIT 1000000000",
	[KIND_STATX_MASK] = "STATX_BASIC_STATS 0 0x80000000",
	[KIND_RWF_FLAGS] =
		("0 RWF_APPEND RWF_NOWAIT RWF_NOAPPEND RWF_APPEND|RWF_NOAPPEND RWF_DSYNC "
		 "RWF_ATOMIC RWF_DONTCACHE 0x8000000"),
	[KIND_COPY_FLAGS] = "0 1",
	[KIND_LOCK_OP] = "LOCK_EX LOCK_SH LOCK_UN LOCK_EX|LOCK_NB LOCK_SH|LOCK_NB 0x40",
	[KIND_INODE_FLAGS] = "0 FS_IMMUTABLE_FL FS_APPEND_FL",
	[KIND_MAP_PROT] = "PROT_READ PROT_READ|PROT_WRITE PROT_WRITE 0 PROT_READ|PROT_EXEC",
	[KIND_MAP_FLAGS] = "MAP_SHARED MAP_PRIVATE MAP_SHARED|MAP_POPULATE 0",
	[KIND_MSYNC_FLAGS] = "MS_SYNC MS_ASYNC MS_INVALIDATE MS_SYNC|MS_ASYNC 0x10",
	[KIND_ADVICE] = "POSIX_FADV_NORMAL POSIX_FADV_DONTNEED 99",
	[KIND_SYNC_RANGE_FLAGS] = "SYNC_FILE_RANGE_WRITE 0 0x10",
	[KIND_DURATION] = "1000",
	[KIND_NTH] = "1",
};

static void add_long_path(struct buf *text, const char *word)
{
	size_t len = strtoul(word + 1, NULL, 10);
	bool slashes = word[strlen(word) - 1] == '/';

	buf_addch(text, '"');
	for (size_t i = 0; i < len; i++)
		buf_addch(text, slashes && i % 200 == 199 ? '/' : 'a');
	buf_addch(text, '"');
}

static int add_value(struct manual_values *v, enum kind kind, const char *word, size_t len,
		     struct arena *arena, struct err *err)
{
	char *text = arena_copy(arena, word, len);
	struct buf spelled = BUF_INIT;
	int ret;

	must(v->count < MANUAL_VALUES_MAX);
	if (text[0] == '@')
		add_long_path(&spelled, text);
	else
		buf_adds(&spelled, text);
	ret = arg_parse(&v->list[v->count], kind, buf_str(&spelled), arena, err);
	if (!ret)
		v->count++;
	buf_free(&spelled);
	return ret;
}

/* What a profile picks is without quotes. */
static int add_picked(struct manual_values *v, enum kind kind, const char *word, size_t len,
		      struct arena *arena, struct err *err)
{
	struct buf quoted = BUF_INIT;
	int ret;

	if (kind_table[kind]->form == FORM_NUM)
		return add_value(v, kind, word, len, arena, err);
	buf_addch(&quoted, '"');
	buf_add(&quoted, word, len);
	buf_addch(&quoted, '"');
	ret = add_value(v, kind, quoted.data, quoted.len, arena, err);
	buf_free(&quoted);
	return ret;
}

int manual_values_read(struct manual_values *v, enum kind kind, struct arena *arena,
		       struct err *err)
{
	const char *at = values[kind] ? values[kind] : kind_table[kind]->picked;
	int ret = 0;

	v->count = 0;
	while (*at && !ret) {
		size_t len = strcspn(at, " ");

		ret = (values[kind] ? add_value : add_picked)(v, kind, at, len, arena, err);
		at += len;
		at += strspn(at, " ");
	}
	return ret;
}

/* A vector that is too long is cut to what one call moves, 2 GiB, and the model would hold it. */
static void calls_drop_huge_vectors(struct manual_calls *c)
{
	for (unsigned i = 0; c->op == OP_pwritev2 && i < op_table[OP_pwritev2].args; i++)
		while (op_table[OP_pwritev2].arg[i].kind == KIND_COUNT &&
		       c->values[i].list[c->values[i].count - 1].num > VECTOR_BYTES_MAX)
			c->values[i].count--;
}

int manual_calls_read(struct manual_calls *ret, enum op op, struct arena *arena, struct err *err)
{
	const struct op_info *info = &op_table[op];
	int status = 0;

	ret->op = op;
	ret->products = 1;
	for (unsigned i = 0; i < info->args && !status; i++)
		status = manual_values_read(&ret->values[i], info->arg[i].kind, arena, err);
	calls_drop_huge_vectors(ret);
	for (unsigned i = 0; i < info->args; i++)
		ret->products *= ret->values[i].count;
	return status;
}

unsigned manual_calls_get(const struct manual_calls *c, uint64_t product, struct call *ret)
{
	unsigned cost = 0;

	*ret = (struct call){ .op = (uint16_t)c->op, .pid = 1 };
	for (unsigned i = 0; i < op_table[c->op].args; i++) {
		size_t at = product % c->values[i].count;

		product /= c->values[i].count;
		ret->arg[i] = c->values[i].list[at];
		cost += (unsigned)at;
	}
	return cost;
}

bool manual_calls_simpler(const struct manual_calls *c, uint64_t product, unsigned arg,
			  size_t value, uint64_t *ret)
{
	uint64_t factor = 1, at;

	if (arg >= op_table[c->op].args)
		return false;
	for (unsigned i = 0; i < arg; i++)
		factor *= c->values[i].count;
	at = product / factor % c->values[arg].count;
	*ret = product - (value < at ? at - value : 0) * factor;
	return true;
}

/* The smaller of two draws, for each value. */
uint64_t manual_calls_draw(const struct manual_calls *c, struct rng *rng)
{
	uint64_t product = 0, factor = 1, a, b;

	for (unsigned i = 0; i < op_table[c->op].args; i++) {
		a = rng_below(rng, c->values[i].count);
		b = rng_below(rng, c->values[i].count);
		product += factor * (a < b ? a : b);
		factor *= c->values[i].count;
	}
	return product;
}

/* Names, and who may use them. */
static const char name_setups[] = "mkdir(\"d\", 0755)\n"
				  "create_file(\"f\", O_WRONLY|O_CREAT, 0644)\n"
				  "symlink(\"f\", \"s\")\n"
				  "symlink(\"s\", \"s\")\n"
				  "symlink(\"d\", \"s\")\n"
				  "symlink(\"none\", \"s\")\n"
				  "mkdir(\"d/e\", 0755)\n"
				  "create_file(\"d/f\", O_WRONLY|O_CREAT, 0644)\n"
				  "mkdir(\"e\", 0755)\n"
				  "link(\"f\", \"g\")\n"
				  "mknod(\"p\", S_IFIFO|0644, 0)\n"
				  "mkdir(\"d\", 0)\n"
				  "mkdir(\"d\", 01777)\n"
				  "mkdir(\"d\", 0777)\n"
				  "create_file(\"f\", O_WRONLY|O_CREAT, 0)\n"
				  "create_file(\"f\", O_WRONLY|O_CREAT, 0666)\n"
				  "[2] mkdir(\"d\", 0755)\n"
				  "[2] create_file(\"f\", O_WRONLY|O_CREAT, 0644)\n"
				  "chmod(\"/\", 0)\n"
				  "chmod(\"/\", 01777)\n"
				  "chmod(\"/\", 0755)\n"
				  "chdir(\"d\")\n"
				  "rmdir(\"/d\")\n"
				  "truncate(\"f\", 8192)\n";
static const char xattr_setups[] = "setxattr(\"f\", \"user.a\", \"12345678\", 8, 0)\n"
				   "setxattr(\"d\", \"user.a\", \"12345678\", 8, 0)\n"
				   "setxattr(\"f\", \"trusted.a\", \"1\", 1, 0)\n";
static const char fd_setups[] = "open(\"f\", O_RDWR|O_CREAT, 0644)\n"
				"open(\"f\", O_WRONLY|O_CREAT, 0644)\n"
				"open(\"f\", O_RDONLY|O_CREAT, 0644)\n"
				"open(\"f\", O_WRONLY|O_APPEND|O_CREAT, 0644)\n"
				"open(\"f\", O_PATH)\n"
				"open(\"/\", O_RDONLY|O_DIRECTORY)\n"
				"open(\"/\", O_PATH|O_DIRECTORY)\n"
				"open(\"/\", O_RDWR|O_TMPFILE, 0644)\n"
				"open(\"/\", O_RDWR|O_TMPFILE|O_EXCL, 0644)\n"
				"open(\"d\", O_RDONLY|O_DIRECTORY)\n"
				"open(\"p\", O_RDWR)\n"
				"open(\"g\", O_RDWR|O_CREAT, 0644)\n"
				"[2] open(\"f\", O_RDONLY)\n"
				"[2] open(\"/\", O_RDONLY|O_DIRECTORY)\n"
				"write(3, \"abc\", 3)\n"
				"ftruncate(3, 8192)\n"
				"unlink(\"f\")\n"
				"rmdir(\"d\")\n"
				"flock(3, LOCK_EX)\n"
				"flock(4, LOCK_SH)\n"
				"set_inode_flags(3, FS_IMMUTABLE_FL)\n"
				"set_inode_flags(3, FS_APPEND_FL)\n";
static const char stream_setups[] = "opendir(\"/\")\nopendir(\"d\")\nreaddir(1)\nclosedir(1)\n";
static const char map_setups[] = "mmap(4096, PROT_READ|PROT_WRITE, MAP_SHARED, 3, 0)\n"
				 "mmap(4096, PROT_READ, MAP_SHARED, 3, 0)\n"
				 "mmap(4096, PROT_READ|PROT_WRITE, MAP_PRIVATE, 3, 0)\n"
				 "mmap(4096, 0, MAP_SHARED, 3, 0)\n"
				 "mmap(8192, PROT_READ|PROT_WRITE, MAP_SHARED, 3, 0)\n"
				 "ftruncate(3, 0)\n"
				 "munmap(1)\n"
				 "set_inode_flags(3, FS_IMMUTABLE_FL)\n";

/* Ways to begin: with a second user, with a directory that is not empty, with a file that is open,
 * with one that can be mapped. */
static const char begin_user[] = "[2] create_process(1000, 1000)\n";
static const char begin_tree[] = "mkdir(\"d\", 0755)\nmkdir(\"d/e\", 0755)\n";
static const char begin_open[] = "open(\"f\", O_RDWR|O_CREAT, 0644)\n";
static const char begin_mapped[] = "open(\"f\", O_RDWR|O_CREAT, 0644)\nftruncate(3, 8192)\n";

static bool op_has_kind(enum op op, enum kind kind)
{
	for (unsigned i = 0; i < op_table[op].args; i++)
		if (op_table[op].arg[i].kind == kind)
			return true;
	return false;
}

static int add_begin(struct manual_setups *s, const char *text, struct err *err)
{
	must(s->begin_count < ARRAY_LEN(s->begins));
	return script_parse(&s->begins[s->begin_count++], "begin", text, strlen(text), err);
}

int manual_setups_read(struct manual_setups *s, enum op op, struct err *err)
{
	bool paths = op_has_kind(op, KIND_PATH), fds = op_has_kind(op, KIND_FD);
	bool at = op_has_kind(op, KIND_DIRFD), maps = op_has_kind(op, KIND_MAP);
	struct buf text = BUF_INIT;
	int ret;

	buf_adds(&text, name_setups);
	if (op_has_kind(op, KIND_XATTR_NAME) || op_table[op].result == RESULT_NAMES)
		buf_adds(&text, xattr_setups);
	if (fds || at || maps || !paths)
		buf_adds(&text, fd_setups);
	else
		buf_adds(&text, "open(\"/\", O_RDONLY|O_DIRECTORY)\n"
				"set_inode_flags(3, FS_IMMUTABLE_FL)\n"
				"set_inode_flags(3, FS_APPEND_FL)\n");
	if (op_has_kind(op, KIND_DH))
		buf_adds(&text, stream_setups);
	if (maps)
		buf_adds(&text, map_setups);
	ret = script_parse(&s->calls, "setups", buf_str(&text), text.len, err);
	if (!ret)
		ret = add_begin(s, "", err);
	if (!ret)
		ret = add_begin(s, begin_user, err);
	if (!ret && paths)
		ret = add_begin(s, begin_tree, err);
	if (!ret && !maps)
		ret = add_begin(s, begin_open, err);
	if (!ret && maps)
		ret = add_begin(s, begin_mapped, err);
	buf_free(&text);
	return ret;
}

void manual_setups_free(struct manual_setups *s)
{
	script_free(&s->calls);
	for (size_t i = 0; i < s->begin_count; i++)
		script_free(&s->begins[i]);
}
