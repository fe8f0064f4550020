/* badfs.c -- a FUSE daemon that misbehaves: badfs MODE[=WHEN] DIRECTORY MOUNTPOINT [OPTION...]
 *
 * It passes another directory through, but for what its mode says. What stands behind the mode is
 * the kind of request at which it happens, or the number of the request from which on.
 *
 * In the modes `hold` and `unsynced` it works on a copy, which is kept when a file or directory is
 * synced, in the latter only when it is unmounted: a daemon that holds everything in memory. In the
 * mode `once` it does not start again unless it was unmounted, in the mode `gap` what a rename
 * replaces is missing for a moment.
 *
 * The mode `lie` has a seed behind it: what it answers is true in most cases, and in the others
 * anything: names without objects, objects without names, directories in themselves, wrong types,
 * sizes, link counts and numbers, targets and values of other lengths, calls that did nothing or
 * did what they deny. With an odd seed a lie stays, with an even one every look is another. */
#define FUSE_USE_VERSION 31
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <fuse.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, HELD_BYTES = 1 << 20, GAP_US = 20000 };

static const char *mode, *when;
static const char *below;
static atomic_ulong requests, looks, removals;
static atomic_bool linked; /* and no directory was read since */

/* The write that is held back. */
static struct {
	char path[PATH_BYTES], data[HELD_BYTES];
	size_t size;
	off_t offset;
} held;

static bool is(const char *name)
{
	return !strcmp(mode, name);
}

static void talk(void)
{
	int terminal = open("/dev/tty", O_WRONLY | O_NOCTTY);

	puts("badfs talks");
	fputs("badfs talks\n", stderr);
	fflush(NULL);
	if (terminal >= 0) {
		dprintf(terminal, "badfs talks\n");
		close(terminal);
	}
}

/* ---- what is lost when it is killed ---- */

static bool holds(void)
{
	return is("hold") || is("unsynced");
}

/* Runs a command of the shell in the directory that is passed through. */
static void in_directory(const char *directory, const char *command)
{
	char text[2 * PATH_BYTES];

	snprintf(text, sizeof(text), "cd '%s' && { %s; }", directory, command);
	if (system(text))
		fprintf(stderr, "badfs: %s fails\n", command);
}

/* The copy is what there is below the daemon from now on, as a whole. */
static void keep_copy(void)
{
	char directory[PATH_BYTES], kept[PATH_BYTES + 8], new[PATH_BYTES + 8];

	snprintf(directory, sizeof(directory), "%s/..", below);
	snprintf(kept, sizeof(kept), "%s/kept", directory);
	snprintf(new, sizeof(new), "%s/new", directory);
	in_directory(directory, "rm -rf new && cp -a copy new");
	renameat2(AT_FDCWD, new, AT_FDCWD, kept, RENAME_EXCHANGE);
}

static int bad_fsync(const char *path, int datasync, struct fuse_file_info *fi)
{
	if (!holds())
		return -ENOSYS;
	if (is("hold"))
		keep_copy();
	return 0;
}

/* Before it is mounted: what the last one left. */
static void begin_again(void)
{
	static char copy[PATH_BYTES];
	char started[PATH_BYTES];

	snprintf(started, sizeof(started), "%s/started", below);
	if (is("once") && !access(started, F_OK)) {
		fputs("badfs: it was not unmounted\n", stderr);
		exit(1);
	}
	if (is("once"))
		close(creat(started, 0600));
	if (!holds())
		return;
	in_directory(below, "mkdir -p kept && rm -rf copy && cp -a kept copy");
	snprintf(copy, sizeof(copy), "%s/copy", below);
	below = copy;
}

/* What happens at every request; an error it is to be answered with. */
static int arrive(const char *kind)
{
	unsigned long number = ++requests, from = strtoul(when, NULL, 10);

	if (is("talk"))
		talk();
	if (strcmp(kind, when) && (!from || number < from))
		return 0;
	if (is("die"))
		_exit(1);
	if (is("abort")) {
		fprintf(stderr, "badfs: request %lu is %s\nbadfs: assertion 17 failed\n", number,
			kind);
		abort();
	}
	while (is("hang"))
		pause();
	return is("eio") ? -EIO : 0;
}

/* A directory of this name is in every directory, and is that directory. */
static const char loop[] = "/loop";

static const char *real(const char *path, char *buffer)
{
	char *at;

	snprintf(buffer, PATH_BYTES, "%s%s", below, path);
	while (is("lie") && (at = strstr(buffer + strlen(below), loop)))
		memmove(at, at + strlen(loop), strlen(at + strlen(loop)) + 1);
	return buffer;
}

/* ---- lies ---- */

static unsigned long mixed(const char *kind, const char *path)
{
	unsigned long seed = strtoul(when, NULL, 10), hash = seed * 0x9e3779b97f4a7c15;

	if (seed % 2 == 0)
		hash += ++looks * 0xbf58476d1ce4e5b9;
	for (; *kind; kind++)
		hash = (hash ^ (unsigned char)*kind) * 0x100000001b3;
	for (; *path; path++)
		hash = (hash ^ (unsigned char)*path) * 0x100000001b3;
	hash ^= hash >> 29;
	return hash * 0x94d049bb133111eb >> 7;
}

/* Nothing can be tried on a file system that cannot even be mounted and emptied. */
enum { TRUE_REQUESTS = 12 };

/* Is this answer one of the few that are lies? Then *ret says which of them. */
static bool lies(const char *kind, const char *path, unsigned long *ret)
{
	unsigned long number = mixed(kind, path);

	*ret = number / 64;
	return is("lie") && requests > TRUE_REQUESTS && number % 64 < 4;
}

static int lie_of_attributes(const char *path, struct stat *st)
{
	static const mode_t types[] = { S_IFREG, S_IFDIR, S_IFLNK, S_IFIFO, S_IFCHR, 0 };
	static const off_t sizes[] = { 0, 1, 4097, (off_t)1 << 31, (off_t)1 << 40, INT64_MAX };
	unsigned long lie;

	if (!lies("getattr", path, &lie))
		return 0;
	switch (lie % 8) {
	case 0:
		return -ENOENT;
	case 1:
		return -EIO;
	case 2:
		st->st_mode = (st->st_mode & ~S_IFMT) | types[lie / 8 % 6];
		break;
	case 3:
		st->st_size = sizes[lie / 8 % 6];
		break;
	case 4:
		st->st_nlink = lie / 8 % 3 ? 0 : 77;
		break;
	case 5:
		st->st_ino = lie / 8 % 4;
		break;
	case 6:
		st->st_mode ^= lie / 8 % 010000;
		break;
	default:
		st->st_uid = st->st_gid = lie / 8 % 3 - 1;
	}
	return 0;
}

/* Names that are not there, twice, or without end for a while. */
static void lie_of_names(const char *path, void *to, fuse_fill_dir_t fill)
{
	struct stat st = { .st_mode = S_IFDIR | 0755, .st_ino = 3 };
	unsigned long lie;
	char name[32];

	if (!lies("readdir", path, &lie))
		return;
	switch (lie % 4) {
	case 0:
		fill(to, "ghost", lie / 4 % 2 ? &st : NULL, 0, 0);
		break;
	case 1:
		fill(to, loop + 1, &st, 0, 0);
		break;
	case 2:
		fill(to, "a", NULL, 0, 0);
		fill(to, "a", &st, 0, 0);
		break;
	default:
		for (unsigned i = 0; i < 300; i++) {
			snprintf(name, sizeof(name), "ghost-%u", i);
			fill(to, name, NULL, 0, 0);
		}
	}
}

/* Of bytes there are fewer, more, or others. */
static int lie_of_bytes(const char *kind, const char *path, char *to, size_t size, int len)
{
	unsigned long lie;

	if (len <= 0 || !lies(kind, path, &lie))
		return len;
	if (lie % 4 == 0)
		return len / 2;
	if (lie % 4 == 1 && (size_t)len < size) {
		memset(to + len, 'l', size - (size_t)len);
		return (int)size;
	}
	to[lie / 4 % (size_t)len] ^= 1;
	return len;
}

/* A call that does nothing, or that does what it denies; 1: it is made as it should. */
static int lie_of_calls(const char *kind, const char *path)
{
	static const int errors[] = { EIO, ENOENT, EEXIST, EINVAL, ENOSPC, EPERM, 1000 };
	unsigned long lie;

	if (!lies(kind, path, &lie))
		return 1;
	return lie % 2 ? 0 : -errors[lie / 2 % 7];
}

/* Begins a request on a path. */
#define BEGIN(path) \
	char buffer[PATH_BYTES]; \
	const char *at = real(path, buffer); \
	int error = arrive(__func__ + strlen("bad_")); \
	if (error) \
	return error

/* The same of one that changes something; a removed file that is open has no path. */
#define BEGIN_CHANGE(path) \
	BEGIN(path); \
	error = (path) ? lie_of_calls(__func__, path) : 1; \
	if (error <= 0) \
	return error

static int done(long result)
{
	return result < 0 ? -errno : 0;
}

static int bad_getattr(const char *path, struct stat *st, struct fuse_file_info *fi)
{
	BEGIN(path);

	if (lstat(at, st))
		return -errno;
	if (is("lie"))
		return lie_of_attributes(path, st);
	if (!S_ISREG(st->st_mode))
		return 0;
	if (is("size") && st->st_size)
		st->st_size++;
	if (is("nlink"))
		st->st_nlink++;
	if (is("stale") && linked && st->st_nlink > 1)
		st->st_size += 82;
	if (is("drift") && ++looks % 3 == 0 && st->st_size)
		st->st_mode ^= 0111;
	return 0;
}

static int bad_readlink(const char *path, char *to, size_t size)
{
	BEGIN(path);
	ssize_t len = readlink(at, to, size - 1);

	if (len < 0)
		return -errno;
	len = lie_of_bytes("readlink", path, to, size - 1, (int)len);
	to[len] = '\0';
	return 0;
}

static int bad_mknod(const char *path, mode_t type, dev_t dev)
{
	BEGIN_CHANGE(path);

	return done(mknod(at, type, dev));
}

static int bad_mkdir(const char *path, mode_t bits)
{
	BEGIN_CHANGE(path);

	return done(mkdir(at, bits));
}

/* What is removed stays under another name. */
static int leave(const char *at)
{
	char other[PATH_BYTES + 32];

	snprintf(other, sizeof(other), "%s.left-%lu", at, ++removals);
	return done(rename(at, other));
}

static int bad_unlink(const char *path)
{
	BEGIN_CHANGE(path);

	return is("leak") ? leave(at) : done(unlink(at));
}

static int bad_rmdir(const char *path)
{
	BEGIN_CHANGE(path);

	return done(rmdir(at));
}

static int bad_symlink(const char *target, const char *path)
{
	BEGIN_CHANGE(path);

	return done(symlink(target, at));
}

static int bad_rename(const char *path, const char *to, unsigned flags)
{
	char other[PATH_BYTES];
	BEGIN_CHANGE(path);

	if (is("gap") && !remove(real(to, other)))
		usleep(GAP_US);
	return done(renameat2(AT_FDCWD, at, AT_FDCWD, real(to, other), flags));
}

static int bad_link(const char *path, const char *to)
{
	char other[PATH_BYTES];
	BEGIN_CHANGE(path);

	linked = true;
	return done(link(at, real(to, other)));
}

static int bad_chmod(const char *path, mode_t bits, struct fuse_file_info *fi)
{
	BEGIN_CHANGE(path);

	return done(chmod(at, bits));
}

static int bad_chown(const char *path, uid_t uid, gid_t gid, struct fuse_file_info *fi)
{
	BEGIN_CHANGE(path);

	return done(lchown(at, uid, gid));
}

static int bad_truncate(const char *path, off_t size, struct fuse_file_info *fi)
{
	BEGIN_CHANGE(path);

	return done(fi ? ftruncate((int)fi->fh, size) : truncate(at, size));
}

static int bad_utimens(const char *path, const struct timespec times[2], struct fuse_file_info *fi)
{
	BEGIN_CHANGE(path);

	return done(utimensat(AT_FDCWD, at, times, AT_SYMLINK_NOFOLLOW));
}

static int bad_open(const char *path, struct fuse_file_info *fi)
{
	BEGIN(path);
	int fd = open(at, fi->flags & ~(O_CREAT | O_EXCL | O_APPEND));

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int bad_read(const char *path, char *to, size_t size, off_t offset,
		    struct fuse_file_info *fi)
{
	BEGIN(path);
	int fd = open(at, O_RDONLY);
	ssize_t len = fd < 0 ? -1 : pread(fd, to, size, offset);

	error = errno;
	if (fd >= 0)
		close(fd);
	return len < 0 ? -error : lie_of_bytes("read", path, to, size, (int)len);
}

static int write_at(const char *at, const char *data, size_t size, off_t offset)
{
	int fd = open(at, O_WRONLY), error;
	ssize_t len = fd < 0 ? -1 : pwrite(fd, data, size, offset);

	error = errno;
	if (fd >= 0)
		close(fd);
	return len < 0 ? -error : (int)len;
}

/* The write before this one comes after it. */
static int write_late(const char *at, const char *data, size_t size, off_t offset)
{
	int ret = (int)size;

	if (held.size) {
		ret = write_at(at, data, size, offset);
		write_at(held.path, held.data, held.size, held.offset);
		held.size = 0;
	} else if (size <= sizeof(held.data)) {
		strcpy(held.path, at);
		memcpy(held.data, data, size);
		held.size = size;
		held.offset = offset;
	}
	return ret;
}

static int bad_write(const char *path, const char *data, size_t size, off_t offset,
		     struct fuse_file_info *fi)
{
	BEGIN(path);

	return is("reorder") ? write_late(at, data, size, offset)
			     : write_at(at, data, size, offset);
}

static int bad_readdir(const char *path, void *to, fuse_fill_dir_t fill, off_t offset,
		       struct fuse_file_info *fi, enum fuse_readdir_flags flags)
{
	BEGIN(path);

	linked = false;
	DIR *dir = opendir(at);
	struct dirent *entry;
	unsigned long lie;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir)))
		if (!lies("entry", entry->d_name, &lie))
			fill(to, entry->d_name, NULL, 0, 0);
	lie_of_names(path, to, fill);
	if (is("ghost"))
		fill(to, "ghost", NULL, 0, 0);
	closedir(dir);
	return 0;
}

static int bad_setxattr(const char *path, const char *name, const char *value, size_t size,
			int flags)
{
	BEGIN_CHANGE(path);

	return done(lsetxattr(at, name, value, size, flags));
}

static int bad_getxattr(const char *path, const char *name, char *value, size_t size)
{
	BEGIN(path);
	ssize_t len = lgetxattr(at, name, value, size);

	if (len < 0 || !size)
		return len < 0 ? -errno : (int)len;
	return lie_of_bytes("getxattr", path, value, size, (int)len);
}

static int bad_listxattr(const char *path, char *list, size_t size)
{
	BEGIN(path);
	ssize_t len = llistxattr(at, list, size);
	unsigned long lie;

	if (is("unlistable") && strchr(path + 1, '/')) /* not where a test begins */
		return -EIO;
	if (len >= 0 && len + 8 <= (ssize_t)size && lies("listxattr", path, &lie)) {
		memcpy(list + len, lie % 2 ? "user.x\0" : "user.abc", 8);
		len += lie % 2 ? 7 : 8;
	}
	return len < 0 ? -errno : (int)len;
}

static int bad_removexattr(const char *path, const char *name)
{
	BEGIN_CHANGE(path);

	return done(lremovexattr(at, name));
}

static int forget(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	char names[4096];
	ssize_t len = llistxattr(path, names, sizeof(names));

	for (ssize_t i = 0; i < len; i += (ssize_t)strlen(names + i) + 1)
		lremovexattr(path, names + i);
	return 0;
}

static void *bad_init(struct fuse_conn_info *connection, struct fuse_config *config)
{
	/* What it answers is what is seen; or what a name had stays for an hour. */
	config->entry_timeout = config->attr_timeout = config->negative_timeout = 0;
	if (is("keep"))
		config->entry_timeout = config->attr_timeout = 3600;
	config->hard_remove = config->use_ino = 1;
	if (is("forget"))
		nftw(below, forget, 16, FTW_PHYS);
	if (is("deaf"))
		signal(SIGTERM, SIG_IGN);
	return NULL;
}

/* The mount is gone; in one mode, the process stays. */
static void bad_destroy(void *own)
{
	char started[PATH_BYTES];

	if (holds())
		keep_copy();
	snprintf(started, sizeof(started), "%s/started", below);
	if (is("once"))
		unlink(started);
	while (is("deaf"))
		pause();
}

static const struct fuse_operations operations = {
	.init = bad_init,
	.destroy = bad_destroy,
	.getattr = bad_getattr,
	.readlink = bad_readlink,
	.mknod = bad_mknod,
	.mkdir = bad_mkdir,
	.unlink = bad_unlink,
	.rmdir = bad_rmdir,
	.symlink = bad_symlink,
	.rename = bad_rename,
	.link = bad_link,
	.chmod = bad_chmod,
	.chown = bad_chown,
	.truncate = bad_truncate,
	.utimens = bad_utimens,
	.open = bad_open,
	.read = bad_read,
	.write = bad_write,
	.readdir = bad_readdir,
	.fsync = bad_fsync,
	.fsyncdir = bad_fsync,
	.setxattr = bad_setxattr,
	.getxattr = bad_getxattr,
	.listxattr = bad_listxattr,
	.removexattr = bad_removexattr,
};

int main(int argc, char **argv)
{
	char *rest;

	if (argc < 4) {
		fputs("Usage: badfs MODE[=WHEN] DIRECTORY MOUNTPOINT [OPTION...]\n", stderr);
		return 64;
	}
	mode = strtok_r(argv[1], "=", &rest);
	when = rest;
	below = argv[2];
	umask(0);
	begin_again();
	argv[2] = argv[0];
	return fuse_main(argc - 2, argv + 2, &operations, NULL);
}
