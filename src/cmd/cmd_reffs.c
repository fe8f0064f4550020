/* cmd_reffs.c -- assay reffs: mounts the reference file system; saves and restores it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/operands.h"
#include "reffs/client.h"
#include "reffs/mount.h"
#include "reffs/reffs.h"

static struct reffs_settings {
	uint64_t size, inodes, snapshots, memory;
	bool allow_other, own_permissions, foreground, discard, pool;
	const char *image, *record;
	int record_fd;
} settings = { .size = (uint64_t)1 << 30, .inodes = 1 << 20, .snapshots = UINT32_MAX };

static const struct opt opts[] = {
	{ "size", OPT_U64, offsetof(struct reffs_settings, size), "BYTES",
	  "size of the file system; beyond: ENOSPC", 4096, (uint64_t)1 << 50 },
	{ "inodes", OPT_U64, offsetof(struct reffs_settings, inodes), "N",
	  "maximum number of objects; beyond: ENOSPC", 1, (uint64_t)1 << 40 },
	{ "snapshots", OPT_U64, offsetof(struct reffs_settings, snapshots), "N",
	  "maximum number of saved states; beyond: ENOSPC", 0, UINT32_MAX },
	{ "memory", OPT_U64, offsetof(struct reffs_settings, memory), "BYTES",
	  "memory of the current and all saved states; beyond: ENOSPC (default: half of RAM)", 0,
	  (uint64_t)1 << 50 },
	{ "allow-other", OPT_FLAG, offsetof(struct reffs_settings, allow_other), NULL,
	  "other users may use the mount", 0, 0 },
	{ "own-permissions", OPT_FLAG, offsetof(struct reffs_settings, own_permissions), NULL,
	  "the model checks permissions instead of the kernel (slower: nothing is cached)", 0, 0 },
	{ "foreground", OPT_FLAG, offsetof(struct reffs_settings, foreground), NULL,
	  "stay in the foreground until unmounted", 0, 0 },
	{ "image", OPT_TEXT, offsetof(struct reffs_settings, image), "FILE",
	  "load the state from FILE if it exists, and write it back at the end", 0, 0 },
	{ "record", OPT_TEXT, offsetof(struct reffs_settings, record), "FILE",
	  "write all calls that change or sync something to FILE, as a script", 0, 0 },
	{ "discard", OPT_FLAG, offsetof(struct reffs_settings, discard), NULL,
	  "restore: drop the key afterwards", 0, 0 },
	{ "pool", OPT_FLAG, offsetof(struct reffs_settings, pool), NULL,
	  "pickle, load: all keys at once (without KEY)", 0, 0 },
	OPT_END,
};

/* ---- mounting ---- */

/* Why the daemon ended before its mount was ready, if it sent no message itself. */
static void daemon_died(pid_t daemon, struct err *err)
{
	int status;

	while (waitpid(daemon, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		err_set(err, EIO, "the daemon was killed before the mount was ready: %s",
			strsignal(WTERMSIG(status)));
	else
		err_set(err, EIO, "the daemon exited before the mount was ready, with status %d",
			WEXITSTATUS(status));
}

/* The pipe carries the messages of the daemon, libfuse and fusermount3, and a NUL when the mount is
 * ready. */
static int await_reffs_mount(int fd, pid_t daemon, struct err *err)
{
	char text[ERR_TEXT_MAX];
	size_t len = 0;
	ssize_t n;

	while (len < sizeof(text) - 1) {
		n = read(fd, text + len, sizeof(text) - 1 - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += (size_t)n;
		if (!text[len - 1])
			return 0;
	}
	text[len] = '\0';
	for (char *at = text; (at = strchr(at, '\n')); at++)
		*at = at[1] ? ';' : '\0';
	if (len)
		err_set(err, EIO, "%s", text + (text[0] == ' '));
	else
		daemon_died(daemon, err);
	return err->code;
}

static void detach_daemon(int stderr_fd)
{
	int null = open("/dev/null", O_RDWR);

	setsid();
	(void)!chdir("/");
	dup2(null, 0);
	dup2(null, 1);
	dup2(stderr_fd, 2);
	close(null);
}

/* Half of the machine's: beyond that, others would be killed for it. */
static uint64_t default_memory(void)
{
	return (uint64_t)sysconf(_SC_PHYS_PAGES) / 2 * (uint64_t)sysconf(_SC_PAGESIZE);
}

static int serve_reffs(const char *mountpoint, int ready_fd, struct err *err)
{
	struct mount_options options = {
		.size = settings.size,
		.inodes = settings.inodes,
		.snapshots = settings.snapshots,
		.memory = settings.memory ? settings.memory : default_memory(),
		.allow_other = settings.allow_other,
		.own_permissions = settings.own_permissions,
		.image = settings.image,
		.record_fd = settings.record_fd,
	};

	return reffs_serve(mountpoint, &options, ready_fd, err);
}

static int serve_detached(const char *mountpoint, struct err *err)
{
	int ready[2], r;
	pid_t child;

	if (pipe2(ready, O_CLOEXEC))
		return err_sys(err, errno, "pipe");
	child = fork();
	if (child < 0)
		return err_sys(err, errno, "fork");
	if (!child) {
		close(ready[0]);
		detach_daemon(ready[1]);
		if (serve_reffs(mountpoint, ready[1], err))
			dprintf(ready[1], " %s", err->text);
		_exit(err->code ? EXIT_INTERNAL : EXIT_CLEAN);
	}
	close(ready[1]);
	r = await_reffs_mount(ready[0], child, err);
	close(ready[0]);
	return r;
}

static int run_mount(const char *mountpoint, struct err *err)
{
	static char absolute[PATH_MAX], image[PATH_MAX];
	char directory[PATH_MAX];

	if (mountpoint_check(mountpoint, err) || operand_new_file(settings.image, err))
		return EXIT_USAGE;
	if (!realpath(mountpoint, absolute)) {
		err_sys(err, errno, "%s", mountpoint);
		return EXIT_USAGE;
	}
	if (settings.image && settings.image[0] != '/' && getcwd(directory, sizeof(directory))) {
		int len = snprintf(image, sizeof(image), "%s/%s", directory, settings.image);

		if (len >= (int)sizeof(image)) {
			err_set(err, ENAMETOOLONG, "%s: too long", settings.image);
			return EXIT_USAGE;
		}
		settings.image = image;
	}
	if (settings.record) {
		settings.record_fd = open(
			settings.record, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
		if (settings.record_fd < 0)
			return operand_code(err_sys(err, errno, "%s", settings.record));
	}
	if (settings.foreground ? serve_reffs(absolute, -1, err) : serve_detached(absolute, err))
		return EXIT_UNKNOWN;
	return EXIT_CLEAN;
}

/* ---- checkpoints ---- */

static const struct verb {
	const char *name;
	unsigned long request;
	int (*with_file)(int mount_fd, const uint64_t *key, const char *path, struct err *err);
} verbs[] = {
	{ "save", REFFS_SAVE, NULL },        { "restore", REFFS_RESTORE, NULL },
	{ "drop", REFFS_DROP, NULL },        { "pickle", REFFS_PICKLE, client_pickle },
	{ "load", REFFS_LOAD, client_load },
};

static int parse_key(const char *text, uint64_t *ret, struct err *err)
{
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 0);
	if (errno || *end || end == text || *text == '-')
		return err_set(err, EINVAL, "%s: a key must be a 64-bit number", text);
	return 0;
}

static int explain_verb_error(const struct verb *verb, const char *mountpoint, uint64_t key,
			      struct err *err)
{
	int error = errno;

	if (error == ENOTTY)
		return err_set(err, error, "%s is not on a mounted RefFS", mountpoint);
	if (error == ENOENT)
		return err_set(err, error, "no state is saved under key %llu",
			       (unsigned long long)key);
	if (error == ENOSPC)
		return err_set(err, error,
			       "%s: a limit is reached, of saved states (--snapshots) "
			       "or of memory (--memory)",
			       mountpoint);
	return err_sys(err, error, "%s", verb->name);
}

static int run_key(const struct verb *verb, int fd, const char *mountpoint, uint64_t key,
		   struct err *err)
{
	struct reffs_key argument = {
		.key = key,
		.flags = settings.discard ? REFFS_DISCARD : 0,
	};

	return ioctl(fd, verb->request, &argument) ? explain_verb_error(verb, mountpoint, key, err)
						   : 0;
}

/* The words behind a verb have to fit it, and name what is there. */
static int check_verb(const struct verb *verb, int argc, char **argv, struct err *err)
{
	int needed = 3 + !settings.pool + !!verb->with_file, code;

	if (settings.pool && !verb->with_file)
		return operand_code(err_set(err, EINVAL, "--pool needs pickle or load"));
	if (settings.discard && verb->request != REFFS_RESTORE)
		return operand_code(err_set(err, EINVAL, "--discard needs restore"));
	if (argc != needed)
		return operand_code(err_set(err, EINVAL, "usage: assay reffs %s MOUNTPOINT%s%s",
					    verb->name, settings.pool ? "" : " KEY",
					    verb->with_file ? " FILE" : ""));
	code = operand_readable(argv[2], err);
	if (!code && verb->request == REFFS_PICKLE)
		code = operand_new_file(argv[needed - 1], err);
	if (!code && verb->request == REFFS_LOAD)
		code = operand_file(argv[needed - 1], err);
	return code;
}

/* Something that is no RefFS, or a key that nothing is saved under, is a mistaken name as well. */
static int run_verb(const struct verb *verb, int argc, char **argv, struct err *err)
{
	uint64_t key = 0;
	int fd, r, code = check_verb(verb, argc, argv, err);

	if (!code && !settings.pool)
		code = operand_code(parse_key(argv[3], &key, err));
	if (code)
		return code;
	fd = open(argv[2], O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return operand_code(err_sys(err, errno, "%s", argv[2]));
	if (verb->with_file)
		r = verb->with_file(fd, settings.pool ? NULL : &key, argv[argc - 1], err);
	else
		r = run_key(verb, fd, argv[2], key, err);
	close(fd);
	if (r == -ENOTTY || (r == -ENOENT && !verb->with_file))
		return EXIT_USAGE;
	return r ? EXIT_UNKNOWN : EXIT_CLEAN;
}

static int run_reffs(int argc, char **argv, struct err *err)
{
	for (size_t i = 0; argc > 1 && i < sizeof(verbs) / sizeof(*verbs); i++)
		if (!strcmp(argv[1], verbs[i].name))
			return run_verb(&verbs[i], argc, argv, err);
	if (argc != 2) {
		err_set(err, EINVAL, "expected one mount point");
		return EXIT_USAGE;
	}
	return run_mount(argv[1], err);
}

const struct command command_reffs = {
	.name = "reffs",
	.usage = "MOUNTPOINT | save|restore|drop MOUNTPOINT KEY | pickle|load MOUNTPOINT KEY FILE",
	.summary = "mount the reference file system; save and restore its states",
	.text = "Mounts RefFS, the POSIX model as a file system in memory, on MOUNTPOINT and\n"
		"returns when the mount is ready. MOUNTPOINT is a directory that is not yet a\n"
		"mount point. Unmount it with *umount* or *fusermount3 -u*. On SIGTERM, SIGINT\n"
		"and SIGHUP the daemon unmounts and writes its image. If the daemon is killed,\n"
		"its guardian process (_reffs-guardian_) unmounts; if the guardian is killed,\n"
		"too, use *umount -l*.\n"
		"\n"
		"*save* saves the current state under KEY, a number. *restore* restores a saved\n"
		"state. Its cost does not depend on the size of the tree, and all kernel caches\n"
		"are valid afterwards. *drop* deletes a saved state. *pickle* writes a saved\n"
		"state to a file, and *load* reads it back under KEY; with *--pool* they use\n"
		"all keys at once. The file may be anywhere, even on the mount. A damaged or\n"
		"inconsistent file is rejected and changes nothing. Programs use the ioctls in\n"
		"_reffs.h_.\n"
		"\n"
		"Saved states share their common parts. Data that only saved states hold counts\n"
		"for *--memory* and reduces the free space that _statfs_ returns. When\n"
		"*--memory* or *--snapshots* is exhausted, saving, loading and writing return\n"
		"ENOSPC until states are dropped or files are removed.\n"
		"\n"
		"RefFS serves a process that is bound to one CPU (*taskset*) on that CPU,\n"
		"several times as fast. FUSE does not support COLLAPSE_RANGE and INSERT_RANGE,\n"
		"and the kernel does not learn that a file is immutable or append-only, so\n"
		"_access_ does not return the error.\n"
		"\n"
		"Only root and the user who mounted RefFS may save and restore.",
	.opts = opts,
	.settings = &settings,
	.run = run_reffs,
};
