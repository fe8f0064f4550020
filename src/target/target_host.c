/* target_host.c -- file systems of the running kernel, mounted where only their sandbox sees them.
 *
 * The disk is an image in memory behind a loop device. The sandbox owns the device and the mount,
 * in its own mount namespace; the image is shared with us, so that it can be copied, put
 * back and checked while it is not mounted. File systems without a disk (tmpfs, overlay) live in
 * the sandbox alone and are made again with it.
 *
 * Calls start in a directory of the file system, not in its root: mkfs leaves things there. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "process/capability.h"
#include "sandbox/privilege.h"
#include "storage/mounting.h"
#include "storage/program.h"
#include "target/sandbox_target.h"

static const char root_name[] = "root";

struct host_target {
	struct sandbox_target base; /* tmpfs and overlay have no disk */
	/* Inside the sandbox. */
	const char *place; /* private directory */
	struct buf mount;  /* where it is mounted, below the place */
	struct buf options, device;
	int loop_fd;
	bool mounted;
};

/* What unprivileged users may mount in a user namespace. */
static bool is_for_all_users(const char *fs)
{
	return !strcmp(fs, "tmpfs") || !strcmp(fs, "overlay");
}

static void host_lacks(const struct target_description *d, struct buf *out)
{
	if (!d->fs) {
		buf_adds(out, "its description names no file system (fs = ...)");
		return;
	}
	if (!capability_has(CAP_SYS_ADMIN)) {
		if (!is_for_all_users(d->fs))
			buf_adds(out, "it needs root (CAP_SYS_ADMIN) to be mounted");
		else if (!privilege_user_namespaces())
			buf_adds(out, "it needs root (CAP_SYS_ADMIN) or user namespaces");
	}
	if (!out->len && !mounting_knows(d->fs))
		buf_addf(out, "this kernel has no %s", d->fs);
	if (!out->len && disk_wanted(d) && access("/dev/loop-control", R_OK | W_OK))
		buf_adds(out, "there are no loop devices (/dev/loop-control)");
	program_lacking(d->mkfs, d->packages, out);
	program_lacking_any(d->programs, d->packages, out);
}

static unsigned host_caps(const struct target_description *d)
{
	unsigned caps = sandbox_target_caps(d);

	if (d->mkfs) /* otherwise nothing outlives the mount */
		caps |= TARGET_REMOUNT;
	if (disk_wanted(d))
		caps |= TARGET_SPACE;
	if (disk_wanted(d) && recorder_possible())
		caps |= TARGET_RECORD;
	return caps;
}

/* Inside the sandbox, once: a place, and the loop device or the directories. */
static int host_begin(void *own, struct err *err)
{
	struct host_target *h = own;
	struct program_value dir = { "dir", NULL };
	int ret = mounting_private_place(&h->place, err);

	if (ret)
		return ret;
	umask(0);
	h->base.dir = h->place;
	h->base.root_name = h->base.d.image ? "." : root_name;
	buf_addf(&h->mount, "%s/fs", h->place);
	if (mkdir(h->mount.data, 0755))
		return err_sys(err, errno, "cannot make %s", h->mount.data);
	dir.text = h->place;
	program_fill(&h->options, h->base.d.options ? h->base.d.options : "", &dir, 1);
	if (h->base.disk.image.size)
		return sandbox_target_attach_disk(&h->base, h->place, &h->device, &h->loop_fd, err);
	return h->base.d.mkfs ? disk_run_mkfs(&h->base.disk, &h->base.d, h->place, err) : 0;
}

static int host_attach(void *own, int *ret_root_fd, struct err *err)
{
	struct host_target *h = own;
	const char *fs = h->base.d.fs, *source = h->base.disk.image.size ? h->device.data : fs;
	int ret = 0;

	if (!h->mounted && h->base.disk.image.size)
		ret = sandbox_target_prepare_disk(&h->base, h->loop_fd, err);
	if (!h->mounted && !ret)
		ret = mounting_mount(fs, source, buf_str(&h->options), h->mount.data, err);
	if (ret)
		return ret;
	h->mounted = true;
	ret = sandbox_target_open_root(h->mount.data, h->base.root_name, ret_root_fd, err);
	/* No one is in it who would leave it later. */
	if (ret && !mounting_unmount(h->mount.data, NULL))
		h->mounted = false;
	return ret;
}

static int host_detach(void *own, struct err *err)
{
	struct host_target *h = own;
	int ret = h->mounted ? mounting_unmount(h->mount.data, err) : 0;

	if (!ret)
		h->mounted = false;
	return ret;
}

static int host_start(struct target *t, struct err *err)
{
	struct sandbox_ops ops = {
		.own = t->own,
		.namespaces = sandbox_target_namespaces(),
		.begin = host_begin,
		.attach = host_attach,
		.detach = host_detach,
		.keeps = t->caps & TARGET_REMOUNT,
		.gone = sandbox_target_lost_disk,
		.gone_by_others = sandbox_target_report_lost_disk,
	};

	return sandbox_target_start(t, &ops, err);
}

static void host_close(struct target *t)
{
	sandbox_target_end(t);
	free(t->own);
}

static int host_open(struct target *t, const struct target_description *d,
		     const struct target_options *options, struct err *err)
{
	struct host_target *h = must_alloc(sizeof(*h));
	int ret = 0;

	h->loop_fd = -1;
	t->fs = must_strdup(d->fs);
	sandbox_target_init(t, &h->base, d, host_start);
	if (disk_wanted(d))
		ret = disk_make(&h->base.disk, d, false, err);
	if (!ret)
		ret = sandbox_target_record(t, options, options->record_by, err);
	if (!ret)
		ret = host_start(t, err);
	if (ret)
		host_close(t);
	return ret;
}

static int host_reset(struct target *t, struct err *err)
{
	struct host_target *h = t->own;
	struct sandbox *sandbox = h->base.sandbox;
	struct err why = { 0 };

	if (h->base.disk.pristine)
		return sandbox_target_reset_disk(t, err);
	/* A file system without a disk is new after a mount. */
	if (!h->base.d.mkfs && sandbox_alive(sandbox) && !sandbox_abandon(sandbox, &why) &&
	    !sandbox_attach(sandbox, &why))
		return 0;
	return sandbox_target_start_anew(t, NULL, err);
}

const struct target_kind target_host = {
	.name = "host",
	.summary = "a file system of the running kernel, on a disk in memory",
	.has_content = true,
	.lacks = host_lacks,
	.caps = host_caps,
	.open = host_open,
	.close = host_close,
	.races = true,
	.reset = host_reset,
	.clear = sandbox_target_clear,
	.save = sandbox_target_save,
	.restore = sandbox_target_restore,
	.drop = sandbox_target_drop,
	.unmounted_disk = sandbox_target_unmounted_disk,
	.fresh_disk = sandbox_target_fresh_disk,
	.image = sandbox_target_image,
	.recorded = sandbox_target_recorded,
	.load = sandbox_target_load,
	.load_pages = sandbox_target_load_pages,
	.run_program = sandbox_target_run_program,
};
