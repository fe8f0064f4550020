/* limits.c -- what the calls of a script may take of a disk that is not ours alone. */
#include "channel/limits.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/err.h"
#include "base/must.h"
#include "op/op.h"

enum { DEPTH_MAX = 64, BLOCK = 512, FREE_SHARE = 10 };

static const uint64_t space_usual = (uint64_t)1 << 30;
static const uint64_t space_unknown = (uint64_t)64 << 20;

/* File systems without holes in files. */
static const uint32_t dense_types[] = { MSDOS_SUPER_MAGIC, EXFAT_SUPER_MAGIC, 0x4244 /* hfs */,
					0x482b /* hfsplus */ };

/* Major 1, "mem": null, zero, full, random, urandom; /dev/mem and /dev/kmem are not among them. */
enum { MEM_MAJOR = 1 };
static const unsigned harmless_minors[] = { 3, 5, 7, 8, 9 };

void limits_init(struct limits *l, int root_fd, uint64_t space_bytes)
{
	struct statfs st;
	uint64_t share;

	*l = (struct limits){ .root_fd = root_fd,
			      .space_bytes = space_bytes ? space_bytes : space_usual,
			      .file_size_max = INT64_MAX };
	if (fstatfs(root_fd, &st))
		return;
	/* libfuse answers with zeroes for a daemon without statfs. */
	share = st.f_blocks ? (uint64_t)st.f_bavail * (uint64_t)st.f_bsize / FREE_SHARE
			    : space_unknown;
	if (!space_bytes && share < space_usual)
		l->space_bytes = share ? share : 1; /* 0 would be no bound */
	for (size_t i = 0; i < ARRAY_LEN(dense_types); i++)
		l->dense |= (uint32_t)st.f_type == dense_types[i];
}

static uint64_t measure(int dir_fd, unsigned depth);

static uint64_t measure_entry(int dir_fd, const char *name, unsigned depth)
{
	struct stat st;
	uint64_t bytes;
	int fd;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW))
		return 0;
	bytes = (uint64_t)st.st_blocks * BLOCK;
	if (!S_ISDIR(st.st_mode) || depth == DEPTH_MAX)
		return bytes;
	fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? bytes : bytes + measure(fd, depth + 1);
}

/* What lies below the directory, whose descriptor is closed. */
static uint64_t measure(int dir_fd, unsigned depth)
{
	DIR *dir = fdopendir(dir_fd);
	struct dirent *entry;
	uint64_t bytes = 0;

	if (!dir) {
		close(dir_fd);
		return 0;
	}
	while ((entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			bytes += measure_entry(dirfd(dir), entry->d_name, depth);
	closedir(dir);
	return bytes;
}

/* How much a call may take at most: what it transfers or sets aside, not what it leaves out. */
static uint64_t space_of(const struct limits *l, const struct call *c)
{
	const struct op_info *info = &op_table[c->op];
	bool sets_aside = info->base == OP_fallocate;
	uint64_t bytes = 0;

	if (!(info->traits & TRAIT_DATA))
		return 0;
	if (l->dense)
		return call_extent(c);
	for (unsigned i = 0; i < info->args; i++) {
		int64_t num = c->arg[i].num;

		if (info->arg[i].kind == KIND_FALLOC_MODE &&
		    num & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_COLLAPSE_RANGE))
			return 0;
		if (num > 0 && (info->arg[i].kind == KIND_COUNT ||
				(info->arg[i].kind == KIND_LENGTH && sets_aside)))
			bytes = (uint64_t)num;
	}
	return bytes;
}

static int refuse_space(const struct limits *l, const struct call *c, uint64_t bytes,
			struct err *err)
{
	return err_set(err, LIMITS_NOT_MADE,
		       "%s is not made: it may take %ju bytes of a disk that is not ours, and %ju "
		       "in all is the bound (--space)",
		       op_table[c->op].name, (uintmax_t)bytes, (uintmax_t)l->space_bytes);
}

/* What counts of a call against the bound. */
static uint64_t bounded_space_of(const struct limits *l, const struct call *c)
{
	return l->space_bytes && call_extent(c) <= l->file_size_max ? space_of(l, c) : 0;
}

static bool is_harmless(int64_t mode, int64_t dev)
{
	if ((mode & S_IFMT) != S_IFCHR && (mode & S_IFMT) != S_IFBLK)
		return true;
	if ((mode & S_IFMT) == S_IFCHR && !dev)
		return true; /* a whiteout */
	for (size_t i = 0; i < ARRAY_LEN(harmless_minors); i++)
		if ((mode & S_IFMT) == S_IFCHR &&
		    (uint64_t)dev == makedev(MEM_MAJOR, harmless_minors[i]))
			return true;
	return false;
}

static int check_device(const struct call *c, struct err *err)
{
	bool at = c->op == OP_mknodat;

	if (c->op != OP_mknod && !at)
		return 0;
	if (is_harmless(at ? c->mknodat.mode.num : c->mknod.mode.num,
			at ? c->mknodat.dev.num : c->mknod.dev.num))
		return 0;
	return err_set(err, LIMITS_NOT_MADE,
		       "%s is not made: the node would be a device of this machine, and without "
		       "CAP_SYS_ADMIN nothing keeps it from being opened",
		       op_table[c->op].name);
}

int limits_admit(const struct limits *l, const struct call *c, struct err *err)
{
	int error = l->no_devices ? check_device(c, err) : 0;
	uint64_t bytes = bounded_space_of(l, c);

	if (error)
		return error;
	return bytes > l->space_bytes ? refuse_space(l, c, bytes, err) : 0;
}

int limits_check(struct limits *l, const struct call *c, struct err *err)
{
	int error = limits_admit(l, c, err), fd;
	uint64_t bytes = bounded_space_of(l, c);

	if (error || !bytes)
		return error;
	if (l->asked + bytes > l->space_bytes) {
		fd = openat(l->root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		l->asked = fd < 0 ? 0 : measure(fd, 0);
	}
	if (l->asked + bytes > l->space_bytes)
		return refuse_space(l, c, bytes, err);
	l->asked += bytes;
	return 0;
}
