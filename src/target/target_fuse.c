/* target_fuse.c -- FUSE daemons: fuse:COMMAND, or described ones.
 *
 * The sandbox starts the daemon in its own PID namespace, so that neither outlives the other, and
 * in its own mount namespace, so that no other process sees the mount. Where the daemon keeps its
 * data is its own business, unless the description says: an image of ours ({image}, or {device}
 * where it wants a block device), or a directory of ours ({dir}). Where a command names an image of
 * the user's, the daemon gets a copy; what else it names is used by one target at a time
 * (resource.h). Where the machine lets us, sandbox and daemon are a control group, which bounds
 * their memory: a daemon that takes more is killed, not its neighbours. Calls start in a directory
 * that is made in the mount and removed at the end. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "base/rng.h"
#include "channel/limits.h"
#include "process/capability.h"
#include "process/cgroup.h"
#include "sandbox/daemon.h"
#include "sandbox/one_cpu.h"
#include "sandbox/privilege.h"
#include "storage/mounting.h"
#include "storage/program.h"
#include "storage/remove_tree.h"
#include "target/resource.h"
#include "target/sandbox_target.h"

enum {
	STOP_SECONDS = 5,
	LOCKS_MAX = 8,
	ROOT_NAME_LEN = sizeof(".assay-12345678") - 1,
	LEFT_MAX = 10000,
	/* The sandbox of a checker that was killed mounts once more and removes what it made. */
	END_MS = (SANDBOX_MOUNT_S + 2 * STOP_SECONDS) * 1000,
};

struct fuse_target {
	struct sandbox_target base;
	double start_seconds;
	bool overlaps;
	unsigned cpu; /* of caller and daemon, unless calls overlap */
	char root_name[24];  /* below it, behind the first that could not be emptied, are others */
	unsigned left_count; /* that could not be emptied */
	int locks[LOCKS_MAX]; /* of what the command names */
	size_t lock_count;
	struct limits limits;
	uint64_t space_bytes;   /* as asked for */
	struct daemon_end *end; /* shared with the sandbox: how the daemon ended */
	struct cgroup group;    /* of the sandbox and the daemon, if there can be one */
	/* Inside the sandbox; these outlive a chroot only while it is left. */
	const char *place;
	struct buf mount, command;
	int loop_fd;  /* -1: no device is wanted */
	int image_fd; /* what the daemon is given; -1: it keeps its data elsewhere */
	bool mounted;
};

/* The daemon's command: the description's, or the text after "fuse:". */
static const char *fuse_command(const struct target_description *d)
{
	return d->command ? d->command : d->argument;
}

static bool fuse_wants_device(const struct target_description *d)
{
	return d->backing && !strcmp(d->backing, "image") && strstr(fuse_command(d), "{device}");
}

static bool fuse_may_have_devices(void)
{
	return capability_has(CAP_SYS_ADMIN) && !access("/dev/loop-control", R_OK | W_OK);
}

static void fuse_lacks(const struct target_description *d, struct buf *out)
{
	const char *command = fuse_command(d);

	if (access("/dev/fuse", R_OK | W_OK))
		buf_adds(out, "/dev/fuse cannot be opened");
	else if (!capability_has(CAP_SYS_ADMIN) && !privilege_user_namespaces())
		buf_adds(out, "it needs root (CAP_SYS_ADMIN) or user namespaces");
	if (out->len || !command)
		return;
	if (fuse_wants_device(d) && !fuse_may_have_devices())
		buf_adds(out, capability_has(CAP_SYS_ADMIN)
				      ? "there are no loop devices (/dev/loop-control)"
				      : "it needs root (CAP_SYS_ADMIN) for a loop device");
	program_lacking(command, d->packages, out);
	program_lacking(d->mkfs, d->packages, out);
	program_lacking_any(d->programs, d->packages, out);
}

static unsigned fuse_caps(const struct target_description *d)
{
	const char *command = fuse_command(d);
	unsigned caps = sandbox_target_caps(d) | TARGET_WAIT;

	/* Other users are refused by the kernel otherwise. */
	if (!command || !strstr(command, "allow_other"))
		caps &= ~(unsigned)TARGET_PROCESSES;
	if (disk_wanted(d) && capability_has(CAP_SYS_ADMIN))
		caps |= TARGET_RECORD;
	return d->backing ? caps | TARGET_REMOUNT | TARGET_KILL : caps;
}

/* The command with our names in it. */
static void fuse_fill_command(struct fuse_target *f, const char *dir, const char *device)
{
	const char *command = fuse_command(&f->base.d);
	struct program_value values[] = {
		{ "image", PROGRAM_FD_PATH },
		{ "device", device },
		{ "dir", dir },
		{ "mount", f->mount.data },
	};

	program_fill(&f->command, command, values, ARRAY_LEN(values));
	if (!strstr(command, "{mount}"))
		buf_addf(&f->command, " %s", f->mount.data);
}

/* Inside the sandbox, once: a directory with the mount point and the data of the daemon. */
static int fuse_begin(void *own, struct err *err)
{
	struct fuse_target *f = own;
	struct buf dir = BUF_INIT, device = BUF_INIT;
	int ret = mounting_private_place(&f->place, err);

	if (ret)
		return ret;
	if (f->group.path)
		cgroup_join(&f->group);
	if (!f->overlaps)
		one_cpu_stay(f->cpu);
	umask(0);
	buf_addf(&f->mount, "%s/fs", f->place);
	buf_addf(&dir, "%s/back", f->place);
	if (mkdir(f->mount.data, 0755) || mkdir(dir.data, 0755))
		return err_sys(err, errno, "cannot make directories for the daemon");
	f->image_fd = f->base.disk.image.size ? f->base.disk.image.fd : -1;
	if (fuse_wants_device(&f->base.d))
		ret = sandbox_target_attach_disk(&f->base, f->place, &device, &f->loop_fd, err);
	else if (f->base.recorder)
		ret = recorder_attach_file(f->base.recorder, f->place, &f->image_fd, err);
	else if (f->base.d.mkfs && !disk_wanted(&f->base.d))
		ret = disk_run_mkfs(&f->base.disk, &f->base.d, dir.data, err);
	fuse_fill_command(f, dir.data, buf_str(&device));
	f->base.dir = dir.data; /* until the sandbox ends */
	f->base.root_name = f->root_name;
	buf_free(&device);
	return ret;
}

static int fuse_detach(void *own, struct err *err)
{
	struct fuse_target *f = own;
	int ret = f->mounted ? daemon_stop(f->mount.data, STOP_SECONDS, err) : 0;

	if (!ret || ret == -ECHILD)
		f->mounted = false;
	return ret;
}

/* Takes the place of what the call that met its end has reported. */
static int fuse_set_ended(const struct fuse_target *f, int code, const char *when, struct err *err)
{
	struct err why = { 0 };
	struct buf ended = BUF_INIT;
	int ret;

	daemon_print_end(f->end, &ended);
	ret = err_set(&why, code, "the daemon ended %s (%s); it says: %s", when,
		      ended.len ? buf_str(&ended) : "its mount is gone", f->end->output);
	buf_free(&ended);
	if (err)
		*err = why;
	return ret;
}

/* A daemon that ended since it mounted explains the failure, whatever call met it. */
static int fuse_report_gone(const struct fuse_target *f, int failure, struct err *err)
{
	struct err why = { 0 };
	int ret = daemon_killed(&why);

	if (!ret)
		return fuse_set_ended(f, -failure, "when it was mounted", err);
	if (err)
		*err = why;
	return ret;
}

static int fuse_attach(void *own, int *ret_root_fd, struct err *err)
{
	struct fuse_target *f = own;
	int ret = f->mounted ? 0 : sandbox_target_prepare_disk(&f->base, f->loop_fd, err);

	if (!f->mounted && !ret)
		ret = daemon_start(f->command.data, f->mount.data, f->image_fd, f->start_seconds,
				   f->end, err);
	if (ret)
		return ret;
	f->mounted = true;
	ret = mounting_forbid_devices(f->mount.data, err);
	if (!ret)
		ret = sandbox_target_open_root(f->mount.data, f->root_name, ret_root_fd, err);
	if (!ret)
		limits_init(&f->limits, *ret_root_fd, f->space_bytes);
	if (ret && daemon_gone(f->mount.data))
		ret = fuse_report_gone(f, ret, err);
	/* The daemon serves a disk that is to be another one at the next attempt. */
	if (ret && f->base.disk.image.size)
		fuse_detach(f, NULL);
	return ret;
}

static int fuse_end_daemon(void *own, struct err *err)
{
	struct fuse_target *f = own;

	return daemon_kill(f->mount.data, STOP_SECONDS, err);
}

static void fuse_abort(void *own)
{
	struct fuse_target *f = own;

	mounting_abort(f->mount.data);
}

static bool fuse_gone(void *own)
{
	struct fuse_target *f = own;

	return sandbox_target_lost_disk(f) || daemon_gone(f->mount.data);
}

static int fuse_gone_by_others(void *own, struct err *err)
{
	int lost = sandbox_target_report_lost_disk(own, err);

	return lost ? lost : daemon_killed(err);
}

/* What the daemon keeps elsewhere would stay there, also where we were ended between two mounts. */
static void fuse_end(void *own)
{
	struct fuse_target *f = own;
	struct err why = { 0 };
	int root;

	if (fuse_gone(f)) /* another one has to clean up */
		fuse_detach(f, NULL);
	if (!f->base.d.backing && !fuse_attach(f, &root, &why)) {
		remove_tree_below(root, &why);
		close(root);
		root = open(f->mount.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		unlinkat(root, f->root_name, AT_REMOVEDIR);
		f->root_name[ROOT_NAME_LEN] = '\0';
		unlinkat(root, f->root_name, AT_REMOVEDIR);
		close(root);
	}
	fuse_detach(f, &why);
}

static void fuse_print_end(struct target *t, struct buf *ended, struct buf *output)
{
	const struct fuse_target *f = t->own;

	daemon_print_end(f->end, ended);
	buf_adds(output, f->end->output);
}

static int fuse_share_end(struct fuse_target *f, struct err *err)
{
	void *at = mmap(NULL, sizeof(*f->end), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);

	if (at == MAP_FAILED)
		return err_sys(err, errno, "cannot share memory with the sandbox");
	f->end = at;
	return 0;
}

static int fuse_start(struct target *t, struct err *err)
{
	struct sandbox_ops ops = {
		.own = t->own,
		.namespaces = sandbox_target_namespaces(),
		.begin = fuse_begin,
		.attach = fuse_attach,
		.detach = fuse_detach,
		.kill = fuse_end_daemon,
		.abort = fuse_abort,
		.keeps = true,
		.gone = fuse_gone,
		.gone_by_others = fuse_gone_by_others,
		.end = fuse_end,
	};
	struct fuse_target *f = t->own;

	for (size_t i = 0; i < f->lock_count; i++)
		ops.fds[ops.fd_count++] = f->locks[i];
	if (f->group.path)
		ops.fds[ops.fd_count++] = f->group.fd;
	if (!f->base.d.backing)
		ops.limits = &f->limits; /* on a disk of the user's */
	return sandbox_target_start(t, &ops, err);
}

static void fuse_close(struct target *t)
{
	struct fuse_target *f = t->own;

	sandbox_target_end(t);
	if (f->end)
		munmap(f->end, sizeof(*f->end));
	cgroup_remove(&f->group);
	for (size_t i = 0; i < f->lock_count; i++)
		close(f->locks[i]);
	free(f);
}

/* Also from another directory: the daemon is started again and again. */
static void fuse_add_path(const char *path, struct buf *out)
{
	char *full = realpath(path, NULL);

	if (full && !strchr(full, '\''))
		buf_addf(out, "'%s'", full);
	free(full);
}

static int take_named(void *to, enum resource_kind kind, const char *path, struct buf *replaced,
		      struct err *err)
{
	struct fuse_target *f = to;
	int ret;

	if (kind == RESOURCE_IMAGE) {
		if (f->base.disk.image.size)
			return err_set(err, EINVAL,
				       "%s: a second image; only one can be used as a copy", path);
		buf_adds(replaced, "{image}");
		return disk_copy(&f->base.disk, path, err);
	}
	if (f->lock_count == LOCKS_MAX)
		return err_set(err, E2BIG, "the command names more than %d places", LOCKS_MAX);
	ret = resource_lock(path, &f->locks[f->lock_count], err);
	if (!ret)
		f->lock_count++;
	fuse_add_path(path, replaced);
	return ret;
}

/* What the command names of the user's is ours for now. */
static int fuse_take_all_named(struct target *t, struct err *err)
{
	struct fuse_target *f = t->own;
	const struct resource_visitor visitor = { take_named, f };
	struct buf command = BUF_INIT;
	int ret = resource_each(fuse_command(&f->base.d), &visitor, &command, err);

	f->base.d.command = arena_strdup(&f->base.d.arena, buf_str(&command));
	buf_free(&command);
	if (f->base.disk.image.size) {
		f->base.d.backing = "image";
		t->caps |= TARGET_IMAGE;
	}
	return ret;
}

static int fuse_try_call(struct target *t, enum op op, int *ret_error, struct err *err)
{
	struct call c = { .op = op, .pid = 1 };
	enum target_fate fate;
	struct outcome outcome;
	int ret;

	c.arg[0] = (struct arg){ .text = "probe", .len = 5 };
	c.arg[1].num = 0755;
	ret = channel_call(t->client, &c, &outcome, &fate, err);
	if (!ret && fate == FATE_HUNG)
		ret = err_set(err, EIO, "the daemon does not answer its first call");
	else if (!ret && fate != FATE_FINE)
		ret = fuse_set_ended(t->own, EIO, "at its first call", err);
	*ret_error = outcome.error;
	return ret;
}

/* Whether what is there survives a remount is not known of any command: it is tried. */
static int fuse_probe_remount(struct target *t, struct err *err)
{
	struct fuse_target *f = t->own;
	int error, ret = fuse_try_call(t, OP_mkdir, &error, err);

	if (!ret && error)
		return err_sys(err, error, "%s: a directory cannot be made", t->name);
	if (!ret)
		ret = sandbox_detach(f->base.sandbox, err);
	if (!ret)
		ret = sandbox_attach(f->base.sandbox, err);
	if (!ret)
		ret = fuse_try_call(t, OP_rmdir, &error, err);
	if (!ret && !error)
		t->caps |= TARGET_REMOUNT | TARGET_KILL;
	return ret;
}

/* A described daemon that is not installed is a name that we know; any other is a mistake. */
static int fuse_check_program(const struct target_description *d, struct err *err)
{
	struct buf lacks = BUF_INIT;
	int ret = 0;

	if (!d->command)
		program_lacking(d->argument, d->packages, &lacks);
	if (lacks.len)
		ret = err_set(err, ENOENT, "fuse:%s: %s", d->argument, lacks.data);
	buf_free(&lacks);
	return ret;
}

static int fuse_check(const struct target_description *d, const char *fault, struct err *err)
{
	int ret;

	if (!fuse_command(d) || !*fuse_command(d))
		return err_set(err, EINVAL, "fuse needs a command: fuse:COMMAND");
	ret = d->backing ? 0 : resource_check(fuse_command(d), err);
	return ret ? ret : fuse_check_program(d, err);
}

/* Half of what the machine has is more than any daemon should need. */
static void fuse_make_group(struct fuse_target *f)
{
	uint64_t bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

	if (cgroup_make(&f->group, "fuse", END_MS))
		cgroup_bound_memory(&f->group, bytes / 2);
}

/* The same with a loop device over the copy of the user's image, in place of a descriptor: for a
 * daemon that looks up where that leads to, or wants a device. */
static int fuse_start_on_device(struct target *t, struct err *err)
{
	static const struct program_value device = { "image", "{device}" };
	struct fuse_target *f = t->own;
	struct buf command = BUF_INIT;

	program_fill(&command, f->base.d.command, &device, 1);
	f->base.d.command = arena_strdup(&f->base.d.arena, buf_str(&command));
	buf_free(&command);
	return sandbox_target_start_anew(t, NULL, err);
}

static int fuse_start_first(struct target *t, const struct target_description *d, struct err *err)
{
	const struct fuse_target *f = t->own;
	bool copied = f->base.disk.image.size && !disk_wanted(d); /* an image of the user's */
	struct err why = { 0 };
	int ret = fuse_start(t, &why);

	if (ret && copied && fuse_may_have_devices())
		return fuse_start_on_device(t, err);
	if (ret && copied)
		return err_set(
			err, -ret,
			"the daemon is given " PROGRAM_FD_PATH ", a copy of the image in "
			"memory; one that needs another name, or a device, needs root (for a "
			"loop device): %s",
			why.text);
	return ret ? err_set(err, -ret, "%s", why.text) : 0;
}

static int fuse_open(struct target *t, const struct target_description *d,
		     const struct target_options *options, struct err *err)
{
	struct fuse_target *f;
	int ret = 0;

	f = must_alloc(sizeof(*f));
	f->loop_fd = -1;
	t->fs = must_strdup("fuse");
	f->start_seconds =
		t->deadline_seconds > SANDBOX_MOUNT_S ? t->deadline_seconds : SANDBOX_MOUNT_S;
	f->overlaps = options->overlaps;
	f->space_bytes = options->space_bytes;
	f->cpu = one_cpu_choose();
	if (d->image)
		strcpy(f->root_name, ".");
	else
		snprintf(f->root_name, sizeof(f->root_name), ".assay-%08x",
			 (unsigned)rng_fresh_seed());
	sandbox_target_init(t, &f->base, d, fuse_start);
	/* A daemon opens what it serves in its own way. */
	t->traits.scan_sets_atime = true;
	t->traits.times_cached = true;
	t->traits.map_tail_kept = true;   /* what lies below may do so */
	t->traits.sync_not_passed = true; /* the kernel sends FUSE_SYNCFS to virtiofs only */
	ret = target_adopt(t, d, err);    /* which may say otherwise */
	if (!ret)
		ret = fuse_share_end(f, err);
	if (!ret && disk_wanted(d))
		ret = disk_make(&f->base.disk, d, false, err);
	if (!ret && disk_wanted(d))
		ret = sandbox_target_record(t, options, RECORDER_FUSE, err);
	else if (!ret && !d->backing)
		ret = fuse_take_all_named(t, err);
	if (!ret) {
		fuse_make_group(f);
		ret = fuse_start_first(t, d, err);
	}
	if (!ret && !d->backing)
		ret = fuse_probe_remount(t, err);
	if (ret)
		fuse_close(t);
	return ret;
}

/* Empties the directory of the test. What a command keeps in a directory of the user's can only be
 * removed by way of the daemon; where that does not remove it, which is for the search to find, the
 * test continues in another directory. */
static int fuse_clear(struct target *t, struct err *err)
{
	struct fuse_target *f = t->own;
	struct err why = { 0 };
	int ret = sandbox_target_clear(t, &why);

	if (!ret || f->base.d.backing)
		return ret ? err_set(err, -ret, "%s", why.text) : 0;
	if (!failure_is_ours(ret) && f->left_count < LEFT_MAX) {
		snprintf(f->root_name + ROOT_NAME_LEN, sizeof(f->root_name) - ROOT_NAME_LEN, "/%u",
			 ++f->left_count);
		return sandbox_target_start_anew(t, NULL, err);
	}
	return err_set(err, -ret,
		       "%s: a call has left something there that the file system does not remove; "
		       "remove %s where the daemon keeps its data, and describe the daemon with "
		       "backing = dir (docs/OWN-FUSE.md), so that Assay can make that directory",
		       why.text, f->root_name);
}

static int fuse_reset(struct target *t, struct err *err)
{
	struct fuse_target *f = t->own;
	struct err why = { 0 };
	int ret;

	if (f->base.disk.pristine)
		return sandbox_target_reset_disk(t, err);
	if (!f->base.d.content && !sandbox_clear(f->base.sandbox, &why))
		return 0;
	/* Another daemon finds what the last one left, but for a directory of ours. */
	ret = sandbox_target_start_anew(t, NULL, err);
	return ret || f->base.d.content ? ret : fuse_clear(t, err);
}

/* A daemon that does not come up again has answered; unless that was not its doing. */
static int fuse_kill(struct target *t, int *ret_error, struct buf *said, struct err *err)
{
	struct fuse_target *f = t->own;
	struct err why = { 0 };
	int ret = sandbox_kill(f->base.sandbox, err);

	if (ret)
		return ret;
	ret = sandbox_attach(f->base.sandbox, &why);
	if (failure_is_ours(ret))
		return err_set(err, -ret, "%s", why.text);
	*ret_error = -ret;
	buf_adds(said, why.text);
	return 0;
}

static void fuse_kill_during(struct target *t, int64_t after_ns)
{
	struct fuse_target *f = t->own;

	sandbox_kill_during(f->base.sandbox, after_ns);
}

static bool fuse_is_single(const struct target_description *d)
{
	return !d->backing && fuse_command(d) && resource_is_named(fuse_command(d));
}

const struct target_kind target_fuse = {
	.name = "fuse",
	.summary = "a FUSE daemon; of an image that its command names it gets a copy",
	/* libfuse passes on the numbers of a daemon only with its option use_ino. */
	.fields_off = TREE_ENTRY_INO,
	.has_argument = true,
	.learns = true,
	.has_content = true,
	.lacks = fuse_lacks,
	.check = fuse_check,
	.is_single = fuse_is_single,
	.caps = fuse_caps,
	.open = fuse_open,
	.close = fuse_close,
	.races = true,
	.print_end = fuse_print_end,
	.reset = fuse_reset,
	.clear = fuse_clear,
	.save = sandbox_target_save,
	.restore = sandbox_target_restore,
	.drop = sandbox_target_drop,
	.unmounted_disk = sandbox_target_unmounted_disk,
	.fresh_disk = sandbox_target_fresh_disk,
	.image = sandbox_target_image,
	.recorded = sandbox_target_recorded,
	.load = sandbox_target_load,
	.load_pages = sandbox_target_load_pages,
	.kill = fuse_kill,
	.kill_during = fuse_kill_during,
	.run_program = sandbox_target_run_program,
};
