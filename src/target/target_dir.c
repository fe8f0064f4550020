/* target_dir.c -- any directory: a mounted network file system, a container's volume, a disk.
 *
 * Tests run in a new directory in the given one, which is removed with all that is in it. Nothing
 * else is touched. With privilege calls are made on a mount of that directory alone that no other
 * process sees, and on which device nodes are no devices. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "channel/limits.h"
#include "process/capability.h"
#include "sandbox/compile.h"
#include "sandbox/confined.h"
#include "sandbox/guard.h"
#include "sandbox/privilege.h"
#include "storage/directory.h"
#include "storage/janitor.h"
#include "storage/mounting.h"
#include "storage/program.h"
#include "target/resource.h"
#include "target/sandbox_target.h"

struct dir_target {
	struct sandbox_target base;
	struct janitor *janitor;
	unsigned rounds; /* one directory each: what hung in one must not meet the next */
	int root_fd;
	int lock_fd; /* one at a time in this directory */
	struct limits limits;
	uint64_t file_size_max;
	uint64_t space_bytes; /* as asked for */
	bool user_namespace;  /* where no process can make devices: the kernel says so */
	/* Inside the sandbox. */
	int mount_fd; /* the same directory without devices; -1: not yet */
};

static void dir_lacks(const struct target_description *d, struct buf *out)
{
	if (d->argument && access(d->argument, W_OK | X_OK))
		buf_addf(out, "%s is not a directory that can be written to", d->argument);
}

static int dir_check(const struct target_description *d, const char *fault, struct err *err)
{
	struct stat st;

	if (!d->argument || !*d->argument)
		return err_set(err, EINVAL, "dir needs a directory: dir:PATH");
	if (stat(d->argument, &st))
		return err_sys(err, errno, "%s", d->argument);
	return S_ISDIR(st.st_mode) ? 0 : err_sys(err, ENOTDIR, "%s", d->argument);
}

/* Inside the sandbox. */
static int dir_attach(void *own, int *ret_root_fd, struct err *err)
{
	struct dir_target *d = own;

	limits_init(&d->limits, d->root_fd, d->space_bytes);
	d->limits.file_size_max = d->file_size_max;
	if (!guard_root(d->root_fd, &d->mount_fd, ret_root_fd))
		return 0;
	d->limits.no_devices = !d->user_namespace && guard_may_make_devices();
	*ret_root_fd = openat(d->root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return *ret_root_fd < 0 ? err_sys(err, errno, "cannot open the directory") : 0;
}

/* The next directory, empty and ours. */
static int dir_make_round(struct dir_target *d, struct err *err)
{
	char name[16];

	if (d->root_fd >= 0)
		close(d->root_fd);
	snprintf(name, sizeof(name), "%u", ++d->rounds);
	if (mkdirat(janitor_fd(d->janitor), name, S_IRWXU))
		return err_sys(err, errno, "cannot make %s/%s", janitor_path(d->janitor), name);
	d->root_fd = openat(janitor_fd(d->janitor), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (d->root_fd < 0)
		return err_sys(err, errno, "cannot open %s/%s", janitor_path(d->janitor), name);
	return directory_reset(d->root_fd, SANDBOX_ROOT_MODE, err);
}

/* In the next directory, so that what hung in the last is no matter. */
static int dir_start(struct target *t, struct err *err)
{
	struct dir_target *d = t->own;
	struct sandbox_ops ops = {
		.own = d,
		.fd_count = 2,
		.attach = dir_attach,
		.limits = &d->limits,
	};
	int ret = dir_make_round(d, err);

	if (ret)
		return ret;
	ops.fds[0] = d->root_fd;
	ops.fds[1] = d->lock_fd;
	/* Only in namespaces can it end all processes below it, and have its own root directory. */
	if (capability_has(CAP_SYS_ADMIN))
		ops.namespaces = CLONE_NEWPID;
	else if (privilege_user_namespaces())
		ops.namespaces = CLONE_NEWUSER | CLONE_NEWPID;
	d->user_namespace = ops.namespaces & CLONE_NEWUSER;
	return sandbox_target_start(t, &ops, err);
}

static void dir_close(struct target *t)
{
	struct dir_target *d = t->own;

	sandbox_target_end(t);
	janitor_close(d->janitor, t->deadline_seconds);
	if (d->root_fd >= 0)
		close(d->root_fd);
	if (d->lock_fd >= 0)
		close(d->lock_fd);
	free(d);
}

/* A mounted file system of a described type has the traits of the description. The free space there
 * is unknown. */
static int dir_adopt_traits(struct target *t, const char *path, const char *config, struct err *err)
{
	struct buf fs = BUF_INIT;
	struct target_description d;
	struct err unknown = { 0 };
	int ret = 0;

	if (mounting_type_of(path, &fs)) {
		t->fs = must_strdup(fs.data);
		t->traits.sync_not_passed = !strncmp(fs.data, "fuse", strlen("fuse"));
		if (!description_find(&d, fs.data, config, &unknown))
			ret = target_adopt(t, &d, err);
		description_free(&d);
		t->traits.space_sure = 0;
	}
	buf_free(&fs);
	return ret;
}

static int dir_open(struct target *t, const struct target_description *d,
		    const struct target_options *options, struct err *err)
{
	struct dir_target *own;
	int ret;

	own = must_alloc(sizeof(*own));
	own->root_fd = own->lock_fd = -1;
	own->space_bytes = options->space_bytes;
	sandbox_target_init(t, &own->base, d, dir_start);
	/* What is below may be a daemon or a server. */
	t->traits.scan_sets_atime = true;
	t->traits.map_tail_kept = true; /* what lies below may do so */
	t->uid = geteuid();
	t->gid = getegid();
	ret = dir_adopt_traits(t, d->argument, options->config, err);
	own->file_size_max = t->traits.file_size_max;
	if (!ret)
		ret = resource_lock(d->argument, &own->lock_fd, err);
	if (!ret)
		ret = janitor_open(&own->janitor, d->argument, err);
	if (!ret)
		ret = dir_start(t, err);
	if (ret)
		dir_close(t);
	return ret;
}

static int dir_reset(struct target *t, struct err *err)
{
	struct dir_target *d = t->own;
	struct err why = { 0 };

	if (sandbox_alive(d->base.sandbox) && !sandbox_clear(d->base.sandbox, &why))
		return 0;
	return sandbox_target_start_anew(t, NULL, err);
}

static unsigned dir_caps(const struct target_description *d)
{
	return sandbox_target_caps(d) | (d->restart ? TARGET_KILL : 0);
}

/* By the user's command. The mount stays, and so do open files, as those of an NFS client do. */
static int dir_kill(struct target *t, int *ret_error, struct buf *said, struct err *err)
{
	const struct dir_target *d = t->own;
	const struct program_value dir = { "dir", d->base.d.argument };
	struct buf command = BUF_INIT;
	int status, ret;

	program_fill(&command, d->base.d.restart, &dir, 1);
	ret = program_run(buf_str(&command), -1, SANDBOX_MOUNT_S, &status, said, err);
	if (!ret && status)
		ret = err_set(err, EIO, "%s: its restart command ends with status %d: %s", t->name,
			      status, buf_str(said));
	buf_free(&command);
	*ret_error = 0;
	return ret;
}

/* Nothing is mounted, so no other process has to run it for us. */
static int dir_run_program(struct target *t, const char *source, double seconds,
			   struct program_report *ret, struct err *err)
{
	struct dir_target *d = t->own;
	struct buf program = BUF_INIT, root = BUF_INIT;
	struct confined confined = { .clone_flags = CLONE_NEWPID };
	int r = compile_program(source, "", &program, ret, err);

	if (!capability_has(CAP_SYS_ADMIN))
		confined.clone_flags |= CLONE_NEWUSER;
	buf_addf(&root, "%s/%u", janitor_path(d->janitor), d->rounds);
	confined.root = realpath(root.data, NULL);
	if (!r && !confined.root)
		r = err_sys(err, errno, "%s", root.data);
	if (!r && ret->fate == PROGRAM_EXITED) {
		program_report_free(ret);
		r = confined_run(&confined, program.data, program.len, seconds, ret, err);
	}
	free((char *)confined.root);
	buf_free(&program);
	buf_free(&root);
	return r;
}

/* Others would take of the same space, and wait for the same disk. */
static bool dir_is_single(const struct target_description *d)
{
	return true;
}

const struct target_kind target_dir = {
	.name = "dir",
	.summary = "any directory; tests run in a new directory there",
	/* Below may be NFS, a FUSE daemon or overlayfs over several file systems. */
	.fields_off = TREE_ENTRY_INO,
	.has_argument = true,
	.learns = true,
	.lacks = dir_lacks,
	.check = dir_check,
	.is_single = dir_is_single,
	.caps = dir_caps,
	.open = dir_open,
	.close = dir_close,
	.races = true,
	.reset = dir_reset,
	.kill = dir_kill,
	.run_program = dir_run_program,
};
