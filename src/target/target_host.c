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
#include "target/command.h"
#include "target/description.h"
#include "target/image.h"
#include "target/keeper.h"
#include "target/mounting.h"
#include "target/privilege.h"
#include "target/saves.h"

enum { COMMAND_SECONDS = 60 };

static const char image_path[] = "/proc/self/fd/3"; /* COMMAND_FD */
static const char root_name[] = "root";

struct host {
	struct target_description d; /* a copy; its texts are the arena's */
	struct arena arena;
	struct image image;        /* size 0: a file system without a disk */
	struct snapshot *pristine;
	struct saves saves;
	struct keeper *keeper;
	/* Inside the keeper. */
	const char *place; /* private directory */
	struct buf mount;  /* where it is mounted, below the place */
	struct buf options, device;
	int loop_fd;
	bool mounted;
};

static bool has_disk(const struct target_description *d)
{
	return d->mkfs && strstr(d->mkfs, "{image}");
}

/* What unprivileged users may mount in a user namespace. */
static bool is_for_everyone(const char *fs)
{
	return !strcmp(fs, "tmpfs") || !strcmp(fs, "overlay");
}

static void add_missing_program(const char *command, const char *packages, struct buf *out)
{
	if (!command || out->len || command_exists(command))
		return;
	buf_adds(out, "the program ");
	command_program(command, out);
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
	if (!out->len && has_disk(d) && access("/dev/loop-control", R_OK | W_OK))
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
	if (has_disk(d))
		caps |= TARGET_IMAGE;
	if (has_disk(d) && d->fsck && command_exists(d->fsck))
		caps |= TARGET_FSCK;
	return caps;
}

static int run_mkfs(struct host *h, const char *dir, struct err *err)
{
	struct command_value values[] = { { "image", image_path }, { "dir", dir } };
	struct buf command = BUF_INIT, output = BUF_INIT;
	int status, ret;

	command_fill(&command, h->d.mkfs, values, ARRAY_LEN(values));
	ret = command_wait(command.data, h->image.size ? h->image.fd : -1, COMMAND_SECONDS, &status,
			  &output, err);
	if (!ret && status)
		ret = err_set(err, EIO, "%s ends with status %d: %s", command.data, status,
			      buf_str(&output));
	buf_free(&command);
	buf_free(&output);
	return ret;
}

/* Inside the keeper, once: a place, and the loop device or the directories. */
static int begin(void *own, struct err *err)
{
	struct host *h = own;
	struct command_value dir = { "dir", NULL };
	int ret = mounting_private_place(&h->place, err);

	if (ret)
		return ret;
	umask(0);
	buf_addf(&h->mount, "%s/fs", h->place);
	if (mkdir(h->mount.data, 0755))
		return err_sys(err, errno, "cannot make %s", h->mount.data);
	dir.text = h->place;
	command_fill(&h->options, h->d.options ? h->d.options : "", &dir, 1);
	if (h->image.size)
		return loop_attach(h->image.fd, &h->device, &h->loop_fd, err);
	return h->d.mkfs ? run_mkfs(h, h->place, err) : 0;
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
	const char *source = h->image.size ? h->device.data : h->d.fs;
	int ret = 0;

	if (!h->mounted && h->image.size)
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

	if (h->image.size)
		keeping.fds[keeping.fd_count++] = h->image.fd;
	if (!privilege_has(CAP_SYS_ADMIN))
		keeping.namespaces |= CLONE_NEWUSER;
	return keeper_start(&h->keeper, &keeping, &options, err);
}

static void host_close(struct target *t)
{
	struct host *h = t->own;

	keeper_stop(h->keeper);
	saves_free(&h->saves);
	snapshot_free(h->pristine);
	image_free(&h->image);
	arena_free(&h->arena);
	free(h);
}

static const char *copy(struct arena *arena, const char *text)
{
	return text ? arena_strdup(arena, text) : NULL;
}

static int make_image(struct host *h, struct err *err)
{
	int ret;

	if (!h->d.image_size)
		return err_set(err, EINVAL, "%s: its description gives no image_size", h->d.name);
	ret = image_make(&h->image, h->d.image_size, err);
	if (!ret)
		ret = run_mkfs(h, "", err);
	if (!ret)
		h->pristine = snapshot_take(&h->image);
	return ret;
}

static int host_open(struct target *t, const struct target_description *d,
		     const struct target_options *options, struct err *err)
{
	struct host *h = must_alloc(sizeof(*h));
	int ret = 0;

	t->own = h;
	h->loop_fd = -1;
	h->d.name = copy(&h->arena, d->name);
	h->d.fs = copy(&h->arena, d->fs);
	h->d.mkfs = copy(&h->arena, d->mkfs);
	h->d.options = copy(&h->arena, d->options);
	h->d.fsck = copy(&h->arena, d->fsck);
	h->d.fsck_clean = copy(&h->arena, d->fsck_clean);
	h->d.fsck_bad = copy(&h->arena, d->fsck_bad);
	h->d.image_size = d->image_size;
	if (has_disk(d))
		ret = make_image(h, err);
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

/* A keeper that is gone may still hold the image: the next one gets another. */
static int start_anew(struct target *t, const struct snapshot *contents, struct err *err)
{
	struct host *h = t->own;
	int ret = 0;

	keeper_stop(h->keeper);
	h->keeper = NULL;
	if (h->image.size) {
		image_free(&h->image);
		ret = image_make(&h->image, h->d.image_size, err);
		if (!ret)
			ret = snapshot_put(contents, &h->image, err);
	}
	return ret ? ret : start_keeper(t, err);
}

/* Puts these contents in place of what there is. */
static int put(struct target *t, const struct snapshot *contents, struct err *err)
{
	struct host *h = t->own;
	struct err why = { 0 };
	int ret = 0;

	/* What lives in directories of the keeper goes with it, and what cannot be unmounted any
	 * more is left behind; else it is enough to mount what it was, or nothing, anew. */
	if ((!contents && h->d.mkfs) || keeper_detach(h->keeper, &why))
		return start_anew(t, contents, err);
	if (contents)
		ret = snapshot_put(contents, &h->image, err);
	return ret ? ret : keeper_attach(h->keeper, err);
}

static int host_reset(struct target *t, struct err *err)
{
	struct host *h = t->own;

	return put(t, h->pristine, err);
}

static int need_image(struct target *t, const char *what, struct err *err)
{
	struct host *h = t->own;

	if (!h->image.size)
		return err_set(err, ENOTSUP, "%s: %s needs an image", t->name, what);
	return 0;
}

static int host_save(struct target *t, uint64_t key, struct err *err)
{
	struct host *h = t->own;
	int ret = need_image(t, "saving", err);

	if (!ret)
		ret = keeper_detach(h->keeper, err);
	if (ret)
		return ret;
	saves_put(&h->saves, key, snapshot_take(&h->image));
	return keeper_attach(h->keeper, err);
}

static int host_restore(struct target *t, uint64_t key, struct err *err)
{
	struct host *h = t->own;
	const struct snapshot *saved = saves_get(&h->saves, key);
	int ret = need_image(t, "restoring", err);

	if (!ret && !saved)
		ret = err_set(err, ENOENT, "%s: nothing is saved as %ju", t->name, (uintmax_t)key);
	return ret ? ret : put(t, saved, err);
}

static void host_drop(struct target *t, uint64_t key)
{
	struct host *h = t->own;

	saves_drop(&h->saves, key);
}

/* Is the code among those of a list like "4 8"? */
static bool lists(const char *codes, int code)
{
	char *end;

	for (long listed; codes && *codes; codes = end) {
		listed = strtol(codes, &end, 10);
		if (end == codes)
			return false;
		if (listed == code)
			return true;
	}
	return false;
}

static int check(struct host *h, enum verdict *ret, struct buf *report, struct err *err)
{
	struct command_value image = { "image", image_path };
	struct buf command = BUF_INIT;
	int status, r;

	command_fill(&command, h->d.fsck, &image, 1);
	r = command_wait(command.data, h->image.fd, COMMAND_SECONDS, &status, report, err);
	buf_free(&command);
	if (r)
		return r;
	*ret = VERDICT_UNKNOWN;
	if (lists(h->d.fsck_clean ? h->d.fsck_clean : "0", status))
		*ret = VERDICT_OK;
	else if (lists(h->d.fsck_bad, status))
		*ret = VERDICT_BAD;
	return 0;
}

static int host_fsck(struct target *t, enum verdict *ret, struct buf *report, struct err *err)
{
	struct host *h = t->own;
	int r = need_image(t, "checking", err);

	if (!r && !(t->caps & TARGET_FSCK))
		r = err_set(err, ENOTSUP, "%s: its checker is not there", t->name);
	if (!r)
		r = keeper_detach(h->keeper, err);
	if (!r)
		r = check(h, ret, report, err);
	return r ? r : keeper_attach(h->keeper, err);
}

/* As it is on the disk: unmounted if that can still be done. */
static int host_image(struct target *t, const char *path, struct err *err)
{
	struct host *h = t->own;
	struct err why = { 0 };
	int detached, ret = need_image(t, "keeping", err);

	if (ret)
		return ret;
	detached = keeper_alive(h->keeper) && !keeper_detach(h->keeper, &why);
	ret = image_write(&h->image, path, err);
	return ret || !detached ? ret : keeper_attach(h->keeper, err);
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
