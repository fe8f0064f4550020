/* mount.c -- RefFS as a mounted file system: set-up, threads, end. */
#include "reffs/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "reffs/guardian.h"
#include "reffs/loop.h"
#include "reffs/memory.h"
#include "reffs/notify.h"
#include "reffs/pickle.h"
#include "reffs/record.h"
#include "reffs/requests.h"
#include "reffs/transfer.h"

enum { THREADS = 4 };                /* one of them may be busy with notifications, see notify.h */
static const uint64_t image_key = 0; /* of the only state in an image */

static void front_init(void *of, struct fuse_conn_info *conn)
{
	struct front *f = of;

	/* One read, one write per request: requests are looked at before libfuse sees them. */
	conn->want &= ~(unsigned)(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE |
				  FUSE_CAP_SPLICE_MOVE | FUSE_CAP_ATOMIC_O_TRUNC);
	conn->want |= conn->capable &
		      (FUSE_CAP_IOCTL_DIR | FUSE_CAP_PARALLEL_DIROPS | FUSE_CAP_CACHE_SYMLINKS);
	if (f->core.options.own_permissions)
		conn->want &= ~(unsigned)(FUSE_CAP_READDIRPLUS | FUSE_CAP_CACHE_SYMLINKS);
}

static const struct fuse_lowlevel_ops operations = {
	.init = front_init,
	.lookup = front_lookup,
	.forget = front_forget,
	.forget_multi = front_forget_multi,
	.getattr = front_getattr,
	.setattr = front_setattr,
	.readlink = front_readlink,
	.mknod = front_mknod,
	.mkdir = front_mkdir,
	.unlink = front_unlink,
	.rmdir = front_rmdir,
	.symlink = front_symlink,
	.rename = front_rename,
	.link = front_link,
	.open = front_open,
	.opendir = front_opendir,
	.read = front_read,
	.write = front_write,
	.fsync = front_fsync,
	.fsyncdir = front_fsync,
	.statfs = front_statfs,
	.setxattr = front_setxattr,
	.getxattr = front_getxattr,
	.listxattr = front_listxattr,
	.removexattr = front_removexattr,
	.access = front_access,
	.create = front_create,
	.ioctl = front_ioctl,
	.fallocate = front_fallocate,
	.readdir = front_readdir,
	.readdirplus = front_readdirplus,
	.copy_file_range = front_copy_file_range,
	.lseek = front_lseek,
};

static int new_session(struct front *f, const struct mount_options *options, struct err *err)
{
	char text[128] = "fsname=reffs,subtype=reffs";
	char name[] = "reffs", flag[] = "-o", *argv[] = { name, flag, text, NULL };
	struct fuse_args args = FUSE_ARGS_INIT(3, argv);

	if (!geteuid())
		strcat(text, ",dev,suid"); /* as any other mount of root's */
	if (!options->own_permissions)
		strcat(text, ",default_permissions");
	if (options->allow_other)
		strcat(text, ",allow_other");
	f->session = fuse_session_new(&args, &operations, sizeof(operations), f);
	fuse_opt_free_args(&args);
	return f->session ? 0 : err_set(err, EINVAL, "libfuse refuses the session");
}

/* On what clients may keep. The image is none of theirs. */
static void set_limits(struct core *c, uint64_t snapshots, uint64_t memory)
{
	c->options.snapshots_max = snapshots;
	c->options.memory_max = memory;
}

static int load_image(struct front *f, const char *image, struct err *err)
{
	struct buf bytes = BUF_INIT;
	struct err why = { 0 };
	struct state before;
	int r;

	if (!image || access(image, F_OK))
		return 0;
	r = buf_read_file(&bytes, image, SIZE_MAX, err);
	if (!r)
		r = pickle_unpack(&f->core, &image_key, &bytes, &why);
	if (why.code)
		err_set(err, -why.code, "%s: %s", image, why.text);
	if (!r) {
		core_restore(&f->core, image_key, true, &before);
		state_free(&before);
	}
	buf_free(&bytes);
	return r;
}

static int save_image(struct front *f, const char *image, struct err *err)
{
	struct buf bytes = BUF_INIT;
	int r;

	if (!image)
		return 0;
	set_limits(&f->core, UINT64_MAX, UINT64_MAX);
	r = core_save(&f->core, image_key, err);
	if (!r)
		r = pickle_pack(&f->core, &image_key, &bytes, err);
	if (!r)
		r = buf_write_file(&bytes, image, err);
	buf_free(&bytes);
	return r;
}

static void *thread_run(void *of)
{
	struct front *f = of;

	loop_serve(f);
	/* Unmounted from outside: the first thread to see it wakes the one that waits. */
	kill(getpid(), SIGTERM);
	return NULL;
}

/* How many threads were started: all, or the system has no more. */
static int start_threads(struct front *f, pthread_t *threads)
{
	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&threads[i], NULL, thread_run, f))
			return i;
	}
	return THREADS;
}

/* Serves until the unmount or one of the signals; then nothing is mounted any more. */
static int serve_mount(struct front *f, int ready_fd, const sigset_t *signals, struct err *err)
{
	pthread_t threads[THREADS];
	int signal_number, count = start_threads(f, threads);

	if (count == THREADS) {
		if (ready_fd >= 0) {
			(void)!write(ready_fd, "", 1);
			close(ready_fd);
		}
		sigwait(signals, &signal_number);
	}
	notifier_finish(f->notifier);
	fuse_session_exit(f->session);
	for (int i = 0; i < count; i++)
		pthread_cancel(threads[i]);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	/* Closes what they read from. */
	fuse_session_unmount(f->session);
	return count == THREADS ? 0 : err_set(err, EAGAIN, "no thread can be started");
}

static void block_signals(sigset_t *signals)
{
	sigemptyset(signals);
	sigaddset(signals, SIGTERM);
	sigaddset(signals, SIGINT);
	sigaddset(signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, signals, NULL);
	signal(SIGPIPE, SIG_IGN);
}

int mountpoint_check(const char *path, struct err *err)
{
	struct statx st;

	if (statx(AT_FDCWD, path, 0, STATX_TYPE, &st)) {
		if (errno == ENOTCONN)
			return err_set(err, errno,
				       "%s is the mount of a daemon that is gone: "
				       "unmount it first (umount -l)",
				       path);
		return err_sys(err, errno, "%s", path);
	}
	if (!S_ISDIR(st.stx_mode))
		return err_set(err, ENOTDIR, "%s is not a directory", path);
	if (st.stx_attributes & st.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT)
		return err_set(err, EBUSY, "%s is a mount point already", path);
	return 0;
}

/* One at a time looks whether something is mounted there, and mounts. A directory that cannot be
 * opened for reading is taken as it is. */
static int mount_once(struct front *f, const char *mountpoint, struct err *err)
{
	int fd = open(mountpoint, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r;

	if (fd >= 0)
		flock(fd, LOCK_EX);
	r = mountpoint_check(mountpoint, err);
	if (!r && fuse_session_mount(f->session, mountpoint))
		r = err_set(err, EIO, "cannot mount on %s", mountpoint);
	if (fd >= 0)
		close(fd);
	return r;
}

/* Mounts, serves to the end, and unmounts. */
static int serve_mounted(struct front *f, const char *mountpoint, int ready_fd,
			 const sigset_t *signals, struct err *err)
{
	struct guardian guardian;
	int r = guardian_start(&guardian, mountpoint, err);

	if (r)
		return r;
	f->notifier = notifier_new(f->session);
	r = transfers_new(&f->transfers, err);
	if (!r)
		r = mount_once(f, mountpoint, err);
	if (!r) {
		guardian_watch(&guardian, mountpoint);
		r = serve_mount(f, ready_fd, signals, err);
	}
	guardian_end(&guardian);
	transfers_free(f->transfers);
	notifier_free(f->notifier);
	return r;
}

int reffs_serve(const char *mountpoint, const struct mount_options *options, int ready_fd,
		struct err *err)
{
	struct core_options core_options = {
		.bytes_max = options->size,
		.inodes_max = options->inodes,
		.snapshots_max = UINT64_MAX,
		.memory_max = UINT64_MAX,
		.own_permissions = options->own_permissions,
	};
	struct front f = { .owner = geteuid(),
			   .timeout_seconds = options->own_permissions ? 0 : 1e9 };
	sigset_t signals;
	int r;

	memory_init();
	core_init(&f.core, &core_options, geteuid(), getegid());
	if (options->record_fd)
		f.core.recorder = recorder_new(options->record_fd);
	block_signals(&signals);
	r = load_image(&f, options->image, err);
	set_limits(&f.core, options->snapshots, options->memory);
	if (!r)
		r = new_session(&f, options, err);
	if (r)
		goto out;
	r = serve_mounted(&f, mountpoint, ready_fd, &signals, err);
	fuse_session_destroy(f.session);
	if (!r)
		r = save_image(&f, options->image, err);
out:
	recorder_free(f.core.recorder);
	core_free(&f.core);
	return r;
}
