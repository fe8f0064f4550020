/* target_host.c -- file systems of the running kernel, mounted where only their keeper sees them.
 *
 * The disk is an image in memory behind a loop device. The keeper owns the device and the mount,
 * in a mount namespace of its own; the image is shared with us, so that it can be copied, put
 * back and checked while it is not mounted. File systems without a disk (tmpfs, overlay) live in
 * the keeper alone and are made anew with it.
 *
 * Calls start in a directory of the file system, not in its root: mkfs leaves things there. */
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
#include "target/caches.h"
#include "target/program.h"
#include "target/description.h"
#include "target/disk.h"
#include "target/keeper.h"
#include "target/mounting.h"
#include "target/privilege.h"

static const char root_name[] = "root";

struct host {
	struct target_description d;
	struct disk disk; /* tmpfs and overlay have none */
	struct keeper *keeper;
	/* Inside the keeper. */
	const char *place; /* private directory */
	struct buf mount;  /* where it is mounted, below the place */
	struct buf options, device;
	int loop_fd;
	bool mounted;
};

/* What unprivileged users may mount in a user namespace. */
static bool is_for_everyone(const char *fs)
{
	return !strcmp(fs, "tmpfs") || !strcmp(fs, "overlay");
}

static void add_missing_program(const char *command, const char *packages, struct buf *out)
{
	if (!command || out->len || program_exists(command))
		return;
	buf_adds(out, "the program ");
	program_name(command, out);
	buf_adds(out, " is missing");
	if (packages)
		buf_addf(out, "; Debian has it in %s", packages);
}

static void host_lacks(const struct target_description *d, struct buf *out)
{
	if (!d->fs) {
		buf_adds(out, "its description names no file system (fs = ...)");
		return;
	}
	if (!privilege_has(CAP_SYS_ADMIN)) {
		if (!is_for_everyone(d->fs))
			buf_adds(out, "it needs root (CAP_SYS_ADMIN) to be mounted");
		else if (!privilege_user_namespaces())
			buf_adds(out, "it needs root (CAP_SYS_ADMIN) or user namespaces");
	}
	if (!out->len && !mounting_knows(d->fs))
		buf_addf(out, "this kernel has no %s", d->fs);
	if (!out->len && disk_wanted(d) && access("/dev/loop-control", R_OK | W_OK))
		buf_adds(out, "there are no loop devices (/dev/loop-control)");
	add_missing_program(d->mkfs, d->packages, out);
}

static unsigned host_caps(const struct target_description *d)
{
	unsigned caps = 0;

	if (privilege_has(CAP_SETUID))
		caps |= TARGET_PROCESSES;
	if (caches_can_drop())
		caps |= TARGET_DROP_CACHES;
	if (d->mkfs) /* else nothing outlives the mount */
		caps |= TARGET_REMOUNT;
	if (disk_wanted(d))
		caps |= TARGET_IMAGE;
	if (disk_wanted(d) && d->fsck && program_exists(d->fsck))
		caps |= TARGET_FSCK;
	return caps;
}

/* Inside the keeper, once: a place, and the loop device or the directories. */
static int begin(void *own, struct err *err)
{
	struct host *h = own;
	struct program_value dir = { "dir", NULL };
	int ret = mounting_private_place(&h->place, err);

	if (ret)
		return ret;
	umask(0);
	buf_addf(&h->mount, "%s/fs", h->place);
	if (mkdir(h->mount.data, 0755))
		return err_sys(err, errno, "cannot make %s", h->mount.data);
	dir.text = h->place;
	program_fill(&h->options, h->d.options ? h->d.options : "", &dir, 1);
	if (h->disk.image.size)
		return loop_attach(h->disk.image.fd, &h->device, &h->loop_fd, err);
	return h->d.mkfs ? disk_run_mkfs(&h->disk, &h->d, h->place, err) : 0;
}

/* The directory that calls start in, made where it is not there yet. */
static int open_root(struct host *h, int *ret_root_fd, struct err *err)
{
	int top = open(h->mount.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC), root, error;

	if (top < 0)
		return err_sys(err, errno, "cannot open the file system");
	umask(0);
	if (mkdirat(top, root_name, KEEPER_ROOT_MODE) && errno != EEXIST) {
		error = errno;
		close(top);
		return err_sys(err, error, "cannot make a directory in the file system");
	}
	root = openat(top, root_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	error = errno;
	close(top);
	*ret_root_fd = root;
	return root < 0 ? err_sys(err, error, "cannot open the directory for the test") : 0;
}

static int attach(void *own, int *ret_root_fd, struct err *err)
{
	struct host *h = own;
	const char *source = h->disk.image.size ? h->device.data : h->d.fs;
	int ret = 0;

	if (!h->mounted && h->disk.image.size)
		ret = loop_forget(h->loop_fd, err);
	if (!h->mounted && !ret)
		ret = mounting_mount(h->d.fs, source, buf_str(&h->options), h->mount.data, err);
	if (ret)
		return ret;
	h->mounted = true;
	return open_root(h, ret_root_fd, err);
}

static int detach(void *own, struct err *err)
{
	struct host *h = own;
	int ret = h->mounted ? mounting_unmount(h->mount.data, err) : 0;

	if (!ret)
		h->mounted = false;
	return ret;
}

static int start_keeper(struct target *t, struct err *err)
{
	struct host *h = t->own;
	struct keeping keeping = {
		.own = h,
		.namespaces = CLONE_NEWNS | CLONE_NEWPID,
		.begin = begin,
		.attach = attach,
		.detach = detach,
		.keeps = t->caps & TARGET_REMOUNT,
	};
	struct keeper_options options = {
		.fields = t->fields,
		.deadline_seconds = t->deadline_seconds,
		.uid = t->uid,
		.gid = t->gid,
	};

	if (h->disk.image.size)
		keeping.fds[keeping.fd_count++] = h->disk.image.fd;
	if (!privilege_has(CAP_SYS_ADMIN))
		keeping.namespaces |= CLONE_NEWUSER;
	return keeper_start(&h->keeper, &keeping, &options, err);
}

static void host_close(struct target *t)
{
	struct host *h = t->own;

	keeper_stop(h->keeper);
	disk_free(&h->disk);
	description_free(&h->d);
	free(h);
}

static int host_open(struct target *t, const struct target_description *d,
		     const struct target_options *options, struct err *err)
{
	struct host *h = must_alloc(sizeof(*h));
	int ret = 0;

	t->own = h;
	h->loop_fd = -1;
	description_copy(&h->d, d);
	if (disk_wanted(d))
		ret = disk_make(&h->disk, &h->d, err);
	if (!ret)
		ret = start_keeper(t, err);
	if (ret)
		host_close(t);
	return ret;
}

static int host_call(struct target *t, const struct call *c, struct outcome *ret,
		     enum target_fate *ret_fate, struct err *err)
{
	struct host *h = t->own;

	return keeper_call(h->keeper, c, ret, ret_fate, err);
}

static int host_observe(struct target *t, struct tree *ret, enum target_fate *ret_fate,
			struct err *err)
{
	struct host *h = t->own;

	return keeper_observe(h->keeper, ret, ret_fate, err);
}

static int host_follow(struct target *t, const struct plan_step *steps, size_t count,
		       struct plan_end *ret, struct err *err)
{
	struct host *h = t->own;

	return keeper_follow(h->keeper, steps, count, ret, err);
}

/* A keeper that cannot unmount any more is left behind with all it has. */
static int start_anew(struct target *t, const struct snapshot *contents, struct err *err)
{
	struct host *h = t->own;
	int ret = 0;

	keeper_stop(h->keeper);
	h->keeper = NULL;
	if (contents)
		ret = disk_put(&h->disk, NULL, contents, err);
	return ret ? ret : start_keeper(t, err);
}

static int put(struct target *t, const struct snapshot *contents, struct err *err)
{
	struct host *h = t->own;
	struct err why = { 0 };

	if (!disk_put(&h->disk, h->keeper, contents, &why))
		return 0;
	return start_anew(t, contents, err);
}

static int host_reset(struct target *t, struct err *err)
{
	struct host *h = t->own;
	struct err why = { 0 };

	if (h->disk.pristine)
		return put(t, h->disk.pristine, err);
	/* Where nothing outlives the mount, mounting makes it anew. */
	if (!h->d.mkfs && !keeper_detach(h->keeper, &why) && !keeper_attach(h->keeper, &why))
		return 0;
	return start_anew(t, NULL, err);
}

static int need_disk(const struct target *t, const char *what, struct err *err)
{
	const struct host *h = t->own;

	if (!h->disk.pristine)
		return err_set(err, ENOTSUP, "%s: %s needs an image", t->name, what);
	return 0;
}

static int host_save(struct target *t, uint64_t key, struct err *err)
{
	struct host *h = t->own;
	int ret = need_disk(t, "saving", err);

	return ret ? ret : disk_save(&h->disk, h->keeper, key, err);
}

static int host_restore(struct target *t, uint64_t key, struct err *err)
{
	struct host *h = t->own;
	const struct snapshot *saved = disk_saved(&h->disk, key, err);

	return saved ? put(t, saved, err) : -ENOENT;
}

static void host_drop(struct target *t, uint64_t key)
{
	struct host *h = t->own;

	disk_drop(&h->disk, key);
}

static int host_fsck(struct target *t, enum verdict *ret, struct buf *report, struct err *err)
{
	struct host *h = t->own;

	if (!(t->caps & TARGET_FSCK))
		return err_set(err, ENOTSUP, "%s: there is no checker for it", t->name);
	return disk_check(&h->disk, h->keeper, &h->d, ret, report, err);
}

static int host_image(struct target *t, const char *path, struct err *err)
{
	struct host *h = t->own;
	int ret = need_disk(t, "keeping", err);

	return ret ? ret : disk_write(&h->disk, h->keeper, path, err);
}

const struct target_kind target_host = {
	.name = "host",
	.summary = "a file system of the running kernel, on a disk in memory",
	.lacks = host_lacks,
	.caps = host_caps,
	.open = host_open,
	.close = host_close,
	.call = host_call,
	.observe = host_observe,
	.follow = host_follow,
	.reset = host_reset,
	.save = host_save,
	.restore = host_restore,
	.drop = host_drop,
	.fsck = host_fsck,
	.image = host_image,
};
