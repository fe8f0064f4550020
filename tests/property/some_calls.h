/* some_calls.h -- random calls of several processes, for tests of the model: all operations, on
 * a few names, with arguments that mostly make sense in the state the model is in. */
#ifndef TESTS_SOME_CALLS_H
#define TESTS_SOME_CALLS_H

#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/must.h"
#include "base/rng.h"
#include "model/model.h"
#include "op/acl.h"
#include "op/kind.h"

enum { TEXT_BYTES = 8192 };

struct draw {
	struct rng rng;
	const struct state *state; /* what there is to call something on */
	char texts[OP_ARGS_MAX][TEXT_BYTES];
};

/* Values to draw from. Lists name the common ones more than once. */
static const int64_t modes[] = {
	0644, 0755, 0600, 0666, 0666,  0777,  0777,  0777,  0700,  0,
	0444, 0750, 0070, 0311, 04755, 02755, 02745, 06777, 01777, 07777,
};
static const int64_t node_modes[] = {
	S_IFREG | 0644, S_IFREG | 06777, S_IFIFO | 0666, S_IFSOCK | 0600, S_IFCHR | 0666,
	S_IFBLK | 0600, S_IFDIR | 0755,  0600,           S_IFLNK
};
static const int64_t devices[] = { 0, 0, 0x103, 0x7fff };
static const int64_t counts[] = { 0, 1, 2, 5, 7, 100, 511, 512, 4095, 4096, 4097, 8192, 20000 };
static const int64_t lengths[] = { 0, 1, 3, 100, 4095, 4096, 4096, 4097, 8192, 8192, 12288, 70000 };
static const int64_t offsets[] = { 0,    0,    0,    1,    2,    100,  511,
				   4095, 4096, 4096, 4097, 8192, 8192, 20000 };
static const int64_t whences[] = { SEEK_SET, SEEK_CUR, SEEK_END, SEEK_DATA, SEEK_HOLE, 5, -1 };
static const int64_t falloc_modes[] = {
	0,
	0,
	FALLOC_FL_KEEP_SIZE,
	FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
	FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
	FALLOC_FL_ZERO_RANGE,
	FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE,
	FALLOC_FL_COLLAPSE_RANGE,
	FALLOC_FL_COLLAPSE_RANGE,
	FALLOC_FL_INSERT_RANGE,
	FALLOC_FL_INSERT_RANGE,
	FALLOC_FL_UNSHARE_RANGE,
	FALLOC_FL_PUNCH_HOLE,
	FALLOC_FL_INSERT_RANGE | FALLOC_FL_KEEP_SIZE,
	0x80,
	0x100,
	FALLOC_FL_ZERO_RANGE | FALLOC_FL_COLLAPSE_RANGE,
};
static const int64_t rename_flags[] = { 0,
					0,
					RENAME_NOREPLACE,
					RENAME_EXCHANGE,
					RENAME_WHITEOUT,
					RENAME_NOREPLACE | RENAME_EXCHANGE,
					8 };
static const int64_t at_flags[] = { 0,
				    0,
				    0,
				    AT_SYMLINK_NOFOLLOW,
				    AT_SYMLINK_NOFOLLOW,
				    AT_EMPTY_PATH,
				    AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW,
				    AT_REMOVEDIR,
				    AT_SYMLINK_FOLLOW,
				    0x8000 };
static const int64_t access_flags[] = {
	0, 0, AT_EACCESS, AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH, 0x8000
};
static const int64_t access_modes[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 };
static const int64_t users[] = { -1, 0, 1000, 1001 };
static const int64_t groups[] = { -1, 0, 1000, 1001, 1002 };
static const int64_t xattr_flags[] = { 0, 0, 0, 1, 2, 3, 4 };
static const int64_t times[] = { TIME_NOW, TIME_NOW, TIME_OMIT,  TIME_OMIT,
				 0,        1,        1000000000, 1700000000123456789 };
static const int64_t statx_masks[] = { 0x7ff, 0xfff, 0xfff, 0, 1, 0x80000000 };
static const int64_t rwf_flags[] = { 0,          0,          0,    0,    RWF_DSYNC, RWF_SYNC,
				     RWF_APPEND, RWF_APPEND, 0x20, 0x20, 0x30,      0x400 };
static const int64_t copy_flags[] = { 0, 0, 0, 0, 0, 0, 0, 1 };
static const int64_t lock_ops[] = {
	LOCK_SH, LOCK_EX, LOCK_UN, LOCK_SH | LOCK_NB, LOCK_EX | LOCK_NB, LOCK_UN | LOCK_NB, 0, 3
};
static const int64_t map_prots[] = { PROT_READ, PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE,
				     PROT_WRITE, 0 };
static const int64_t map_flags[] = { MAP_SHARED,         MAP_SHARED, MAP_SHARED | MAP_POPULATE,
				     MAP_PRIVATE,        0,          MAP_PRIVATE | MAP_POPULATE,
				     MAP_SHARED_VALIDATE };
static const int64_t msync_flags[] = { MS_SYNC, MS_ASYNC, MS_INVALIDATE | MS_SYNC, 0,
				       MS_SYNC | MS_ASYNC };
static const int64_t sync_range_flags[] = { 0, 2, 2, 3, 7, 8 };
static const int64_t inode_flags[] = { 0, 0, 0, 0, FS_IMMUTABLE_FL, FS_APPEND_FL };
static const int64_t resolves[] = { 0, 0, 1, 2, 4, 8, 16, 0x18, 0x100 };
static const int64_t extremes[] = { -1, -2, -4096, INT64_MIN, INT64_MAX, (int64_t)1 << 62 };
static const char *const names[] = { "a", "b", "c", "d", "e" };
static const char *const acls[] = {
	"u::rwx,g::r-x,o::---",
	"u::rw-,u:1000:rw-,g::r--,m::rw-,o::---",
	"u::rwx,u:1001:rwx,g::rwx,g:1000:--x,m::rwx,o::r-x",
	"u::rwx,u:1000:---,g::rwx,m::rwx,o::rwx",
	"u::rwx,u:1001:rwx,g::---,m::---,o::r--",
	"u::rwx,u:1000:r-x,u:1001:-wx,g::rwx,g:1002:rwx,m::r-x,o::--x",
	"u::---,g::---,m::r--,o::rwx",
	"u::rwx,u:1000:rwx,g::r-x,o::---",
	"u::rwx,g::r-x",
	"x",
	"",
};
static const char *const capabilities[] = {
	"cap_net_raw=ep", "cap_net_raw=ep", "cap_chown,cap_bpf=p", "=", "x", "",
};
static const char *const xattr_names[] = {
	"security.capability",
	"system.posix_acl_access",
	"system.posix_acl_default",
	"user.a",
	"user.a",
	"user.a",
	"user.b",
	"user.b",
	"trusted.a",
	"security.a",
	"system.a",
	"user.",
	"trusted.",
	"none",
	"none.a",
	"",
};

#define PICK(rng, list) ((list)[rng_below(rng, ARRAY_LEN(list))])

static int64_t some_fd(struct draw *d, unsigned pid)
{
	const struct process *process = state_process(d->state, pid);
	uint64_t fds[64], fd;
	size_t count = 0;

	for (bool first = true;
	     process && count < ARRAY_LEN(fds) && pmap_next(&process->fds, first, &fd);
	     first = false)
		fds[count++] = fd;
	if (!count || rng_chance(&d->rng, 1, 16))
		return rng_chance(&d->rng, 1, 3) ? -1 : 30 + (int64_t)rng_below(&d->rng, 10);
	return (int64_t)fds[rng_below(&d->rng, count)];
}

static int64_t some_open_flags(struct draw *d)
{
	static const int64_t rare[] = { O_EXCL,      O_TRUNC,    O_APPEND,  O_NONBLOCK,
					O_DIRECTORY, O_NOFOLLOW, O_PATH,    O_TMPFILE,
					O_DIRECT,    O_SYNC,     O_NOATIME, O_CLOEXEC };
	int64_t flags = rng_chance(&d->rng, 1, 40) ? O_ACCMODE : (int64_t)rng_below(&d->rng, 3);

	if (flags == O_RDONLY)
		flags = OPEN_RDONLY;
	if (rng_chance(&d->rng, 1, 2))
		flags |= O_CREAT;
	for (size_t i = 0; i < ARRAY_LEN(rare); i++)
		if (rng_chance(&d->rng, 1, i < 3 ? 6 : 24))
			flags |= rare[i];
	return flags;
}

/* The path of something there, found by a random walk down; or of a name in a directory that is
 * there. Most of what is called on these succeeds. */
static const char *path_of_something(struct draw *d, char *text, bool name_of_new)
{
	const struct tree *tree = &d->state->tree;
	const struct entry *entry;
	uint64_t dir = TREE_ROOT;
	char *at = text;

	while (at - text < 100) {
		uint64_t count = tree_inode(tree, dir)->dir.entries.count, cookie = 0;
		uint64_t skip = rng_below(&d->rng, count + 1);

		entry = NULL;
		for (uint64_t i = 0; i <= skip; i++)
			entry = tree_next_entry(tree, dir, &cookie);
		if (!entry || (name_of_new && !S_ISDIR(tree_inode(tree, entry->ino)->mode)))
			break;
		*at++ = '/';
		at = stpcpy(at, entry->name);
		dir = entry->ino;
		if (!S_ISDIR(tree_inode(tree, dir)->mode) || rng_chance(&d->rng, 1, 3))
			break;
	}
	if (name_of_new) {
		*at++ = '/';
		stpcpy(at, PICK(&d->rng, names));
		return text;
	}
	return at == text ? "/" : text;
}

static const char *some_path(struct draw *d, char *text)
{
	struct rng *rng = &d->rng;
	char *at = text;
	size_t depth = rng_chance(rng, 1, 2) ? 1 : 1 + rng_below(rng, 3);

	if (rng_chance(rng, 1, 100))
		return rng_chance(rng, 1, 3) ? NULL : "";
	if (rng_chance(rng, 2, 3))
		return path_of_something(d, text, rng_chance(rng, 1, 3));
	if (rng_chance(rng, 1, 150)) {
		memset(text, 'n', 256);
		text[rng_chance(rng, 1, 2) ? 255 : 256] = '\0';
		return text;
	}
	if (rng_chance(rng, 1, 300)) {
		for (size_t i = 0; i < 4095; i += 2)
			memcpy(text + i, "./", 2);
		text[rng_chance(rng, 1, 2) ? 4095 : 4096] = '\0';
		return text;
	}
	if (rng_chance(rng, 1, 4))
		*at++ = '/';
	for (size_t i = 0; i < depth; i++) {
		const char *name = PICK(rng, names);

		if (rng_chance(rng, 1, 16))
			name = rng_chance(rng, 1, 2) ? "." : "..";
		at = stpcpy(at, name);
		*at++ = '/';
		if (rng_chance(rng, 1, 40))
			*at++ = '/';
	}
	if (!rng_chance(rng, 1, 12))
		at--;
	*at = '\0';
	return text;
}

static const char *some_xattr_name(struct draw *d, char *text)
{
	if (rng_chance(&d->rng, 1, 40)) {
		memset(text, 'x', 256);
		memcpy(text, "user.", 5);
		text[rng_chance(&d->rng, 1, 2) ? 255 : 256] = '\0';
		return text;
	}
	return rng_chance(&d->rng, 1, 100) ? NULL : PICK(&d->rng, xattr_names);
}

/* Extreme numbers, where what would succeed with them does not take the whole machine. */
static int64_t some_extent(struct draw *d, int64_t usual)
{
	return rng_chance(&d->rng, 1, 30) ? PICK(&d->rng, extremes) : usual;
}

static int64_t some_number(struct draw *d, unsigned pid, enum kind kind)
{
	struct rng *rng = &d->rng;

	switch (kind) {
	case KIND_DIRFD:
		return rng_chance(rng, 1, 2) ? AT_FDCWD : some_fd(d, pid);
	case KIND_FD:
		return some_fd(d, pid);
	case KIND_DH:
		return 1 + (int64_t)rng_below(rng, rng_chance(rng, 1, 10) ? 30 : 2);
	case KIND_HANDLE:
		return 1 + (int64_t)rng_below(rng, 3);
	case KIND_POSITION:
		return 1 + (int64_t)rng_below(rng, 5);
	case KIND_MAP:
		return 1 + (int64_t)rng_below(rng, rng_chance(rng, 1, 10) ? 30 : 3);
	case KIND_MAP_PROT:
		return PICK(rng, map_prots);
	case KIND_MAP_FLAGS:
		return PICK(rng, map_flags);
	case KIND_MSYNC_FLAGS:
		return PICK(rng, msync_flags);
	case KIND_ADVICE:
		return (int64_t)rng_below(rng, 7);
	case KIND_SYNC_RANGE_FLAGS:
		return PICK(rng, sync_range_flags);
	case KIND_OPEN_FLAGS:
		return some_open_flags(d);
	case KIND_RESOLVE:
		return PICK(rng, resolves);
	case KIND_MODE:
		return PICK(rng, modes);
	case KIND_NODE_MODE:
		return PICK(rng, node_modes);
	case KIND_DEV:
		return PICK(rng, devices);
	case KIND_COUNT:
		return some_extent(d, PICK(rng, counts));
	case KIND_LENGTH:
		return some_extent(d, PICK(rng, lengths));
	case KIND_OFFSET:
		return some_extent(d, PICK(rng, offsets));
	case KIND_WHENCE:
		return PICK(rng, whences);
	case KIND_FALLOC_MODE:
		return PICK(rng, falloc_modes);
	case KIND_RENAME_FLAGS:
		return PICK(rng, rename_flags);
	case KIND_AT_FLAGS:
		return PICK(rng, at_flags);
	case KIND_ACCESS_FLAGS:
		return PICK(rng, access_flags);
	case KIND_ACCESS_MODE:
		return PICK(rng, access_modes);
	case KIND_UID:
		return PICK(rng, users);
	case KIND_GID:
		return PICK(rng, groups);
	case KIND_XATTR_FLAGS:
		return PICK(rng, xattr_flags);
	case KIND_ACL_TYPE:
		return rng_chance(rng, 1, 2) ? ACL_TYPE_ACCESS : ACL_TYPE_DEFAULT;
	case KIND_TIME:
		return PICK(rng, times);
	case KIND_STATX_MASK:
		return PICK(rng, statx_masks);
	case KIND_RWF_FLAGS:
		return PICK(rng, rwf_flags);
	case KIND_COPY_FLAGS:
		return PICK(rng, copy_flags);
	case KIND_LOCK_OP:
		return PICK(rng, lock_ops);
	case KIND_INODE_FLAGS:
		return PICK(rng, inode_flags);
	default:
		return 0;
	}
}

static struct arg some_arg(struct draw *d, unsigned pid, enum kind kind, char *text)
{
	struct arg arg = { 0 };

	switch (kind) {
	case KIND_PATH:
	case KIND_TARGET:
		arg.text = some_path(d, text);
		break;
	case KIND_ACL:
		arg.text = PICK(&d->rng, acls);
		break;
	case KIND_CAPABILITIES:
		arg.text = PICK(&d->rng, capabilities);
		break;
	case KIND_XATTR_NAME:
		arg.text = some_xattr_name(d, text);
		break;
	case KIND_DATA:
	case KIND_XATTR_VALUE:
		return (struct arg){ .seed = rng_u64(&d->rng),
				     .len = (uint32_t)rng_below(&d->rng, 9000),
				     .generated = true };
	default:
		arg.num = some_number(d, pid, kind);
		return arg;
	}
	arg.len = arg.text ? (uint32_t)strlen(arg.text) : 0;
	return arg;
}

static unsigned weight(enum op op)
{
	switch (op) {
	case OP_open:
	case OP_mkdir:
		return 8;
	case OP_close:
	case OP_unlink:
	case OP_rmdir:
	case OP_umask:
	case OP_create_process:
	case OP_destroy_process:
	case OP_add_user_to_group:
	case OP_set_inode_flags:
		return 1;
	case OP_creat:
	case OP_write:
	case OP_pwrite:
	case OP_readdir:
	case OP_mmap:
	case OP_map_read:
	case OP_map_write:
	case OP_take_handle:
	case OP_open_handle:
	case OP_set_acl:
	case OP_set_capabilities:
		return 5;
	default:
		return 2;
	}
}

/* With probability proportional to its weight. */
static enum op some_op(struct draw *d)
{
	uint64_t sum = 0, at;
	unsigned op;

	for (op = 0; op < OP_COUNT; op++)
		sum += weight(op);
	at = rng_below(&d->rng, sum);
	for (op = 0; at >= weight(op); op++)
		at -= weight(op);
	return (enum op)op;
}

static struct call some_call(struct draw *d)
{
	struct call c = { 0 };

	c.op = (uint16_t)some_op(d);
	/* Root gets furthest. */
	c.pid = (uint16_t)(rng_chance(&d->rng, 1, 2) ? 1 : 1 + rng_below(&d->rng, 4));
	for (unsigned i = 0; i < op_table[c.op].args; i++)
		c.arg[i] = some_arg(d, c.pid, op_table[c.op].arg[i].kind, d->texts[i]);
	return c;
}

/* Gigabytes to move: out of a huge file, or into space there is not. */
static bool wants_too_much(struct draw *d, const struct call *c)
{
	const int64_t most = 1 << 20;
	bool large = op_table[c->op].base == OP_fallocate || c->op == OP_pwritev2, much = false;

	for (unsigned i = 0; i < op_table[c->op].args; i++) {
		enum kind kind = op_table[c->op].arg[i].kind;
		const struct open_file *f =
			kind == KIND_FD ? state_file(d->state, c->pid, c->arg[i].num) : NULL;

		large |= f && tree_inode(&d->state->tree, f->ino)->size > (uint64_t)most;
		much |= (kind == KIND_COUNT || kind == KIND_LENGTH) && c->arg[i].num > most;
	}
	return large && much;
}

#endif
