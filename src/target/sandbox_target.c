/* sandbox_target.c -- what all targets with a sandbox have in common. */
#include "target/sandbox_target.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/must.h"
#include "process/capability.h"
#include "sandbox/compile.h"
#include "storage/caches.h"
#include "storage/mounting.h"
#include "storage/program.h"
#include "storage/recorder.h"
#include "target/content.h"
#include "target/sysctls.h"

/* The pages of an image that are not all zero, about. */
enum { SAVED_BYTES = 4 << 20 };

void sandbox_target_init(struct target *t, struct sandbox_target *s,
			 const struct target_description *d,
			 int (*start)(struct target *t, struct err *err))
{
	t->own = s;
	sysctls_read(&t->traits);
	t->traits.checks_unmounted = true;
	t->saved_bytes = SAVED_BYTES;
	description_copy(&s->d, d);
	s->start = start;
}

static void sandbox_target_called(void *own)
{
	const struct sandbox_target *s = own;

	recorder_mark(s->recorder);
}

bool sandbox_target_lost_disk(void *own)
{
	const struct sandbox_target *s = own;

	return s->recorder && recorder_is_gone(s->recorder);
}

int sandbox_target_report_lost_disk(void *own, struct err *err)
{
	if (!sandbox_target_lost_disk(own))
		return 0;
	return err_set(err, ECHILD,
		       "the process that serves and records the disk was killed: by "
		       "another process, or by the OOM killer");
}

/* The recorder is there before the sandbox that attaches the disk. */
static int sandbox_target_start_recorder(struct sandbox_target *s, struct sandbox_ops *ops,
					 struct err *err)
{
	int ret = recorder_start(s->recorder, &s->disk.image, err);

	if (!ret && recorder_fd(s->recorder) >= 0)
		ops->fds[ops->fd_count++] = recorder_fd(s->recorder);
	ops->called = sandbox_target_called;
	return ret;
}

static void sandbox_target_stop(struct target *t)
{
	struct sandbox_target *s = t->own;

	sandbox_stop(s->sandbox);
	s->sandbox = NULL;
	t->client = NULL;
	if (s->recorder)
		recorder_stop(s->recorder);
}

/* ---- content ---- */

static int below_begin(void *own, struct err *err)
{
	struct sandbox_target *s = own;
	int ret = s->mounted.begin(own, err);
	struct program_value dir = { "dir", s->dir };

	if (!ret)
		program_fill(&s->below, s->d.content_dir, &dir, 1);
	return ret;
}

static int below_attach(void *own, int *ret_root_fd, struct err *err)
{
	struct sandbox_target *s = own;

	return s->is_below ? sandbox_target_open_root(s->below.data, s->root_name, ret_root_fd, err)
			   : s->mounted.attach(own, ret_root_fd, err);
}

static int below_detach(void *own, struct err *err)
{
	struct sandbox_target *s = own;

	if (!s->is_below)
		return s->mounted.detach(own, err);
	s->is_below = false;
	return 0;
}

static bool below_gone(void *own)
{
	struct sandbox_target *s = own;

	return !s->is_below && s->mounted.gone && s->mounted.gone(own);
}

/* The sandbox begins below the file system. */
static void below_prepare(struct sandbox_target *s, struct sandbox_ops *ops)
{
	s->mounted = *ops;
	s->is_below = true;
	ops->begin = below_begin;
	ops->attach = below_attach;
	ops->detach = below_detach;
	ops->gone = below_gone;
}

/* Makes what is below; then the file system is mounted over it. */
static int below_fill(struct sandbox_target *s, struct err *err)
{
	int ret = content_make(&s->d, sandbox_client(s->sandbox), err);

	if (!ret)
		ret = sandbox_detach(s->sandbox, err);
	return ret ? ret : sandbox_attach(s->sandbox, err);
}

int sandbox_target_start(struct target *t, const struct sandbox_ops *ops, struct err *err)
{
	struct sandbox_target *s = t->own;
	struct sandbox_ops with_disk = *ops;
	struct sandbox_options options = {
		.fields = t->fields,
		.deadline_seconds = t->deadline_seconds,
		.uid = t->uid,
		.gid = t->gid,
	};
	int ret = 0;

	t->traits.one_user = ops->namespaces & CLONE_NEWUSER;
	if (s->disk.image.size)
		with_disk.fds[with_disk.fd_count++] = s->disk.image.fd;
	if (s->d.content)
		below_prepare(s, &with_disk);
	if (s->recorder)
		ret = sandbox_target_start_recorder(s, &with_disk, err);
	if (!ret)
		ret = sandbox_start(&s->sandbox, &with_disk, &options, err);
	if (s->recorder)
		recorder_started(s->recorder);
	t->client = sandbox_client(s->sandbox);
	return ret || !s->d.content ? ret : below_fill(s, err);
}

void sandbox_target_end(struct target *t)
{
	struct sandbox_target *s = t->own;

	sandbox_target_stop(t);
	recorder_close(s->recorder);
	image_free(&s->base);
	disk_free(&s->disk);
	description_free(&s->d);
}

int sandbox_target_start_anew(struct target *t, const struct disk_copy *contents, struct err *err)
{
	struct sandbox_target *s = t->own;
	int ret = 0;

	sandbox_target_stop(t);
	if (contents)
		ret = disk_put(&s->disk, NULL, contents, err);
	return ret ? ret : s->start(t, err);
}

int sandbox_target_put(struct target *t, const struct disk_copy *contents, struct err *err)
{
	struct sandbox_target *s = t->own;
	struct err why = { 0 };

	if (sandbox_alive(s->sandbox) && !disk_put(&s->disk, s->sandbox, contents, &why))
		return 0;
	return sandbox_target_start_anew(t, contents, err);
}

/* What can only be read, or only by others, cannot be tested. */
static const char *advice_on(int error)
{
	switch (error) {
	case EROFS:
	case ENOSYS:
	case EOPNOTSUPP:
		return "; a file system that can only be read cannot be tested";
	case EACCES:
	case EPERM:
		return "; Assay needs one in which it can write (is it mounted read-only?)";
	default:
		return "";
	}
}

/* The directory of the test, and the one that it lies in. */
static int make_root(int top, const char *name)
{
	char *outer = must_strdup(name);
	int ret;

	if (strchr(name, '/')) {
		*strchr(outer, '/') = '\0';
		mkdirat(top, outer, SANDBOX_ROOT_MODE);
	}
	ret = mkdirat(top, name, SANDBOX_ROOT_MODE);
	free(outer);
	return ret;
}

int sandbox_target_open_root(const char *mount, const char *name, int *ret_root_fd, struct err *err)
{
	int top = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC), root, error;

	if (top < 0)
		return err_sys(err, errno, "cannot open the file system");
	umask(0);
	if (make_root(top, name) && errno != EEXIST) {
		error = errno;
		close(top);
		return err_set(err, error, "cannot make a directory in the file system: %s%s",
			       strerror(error), advice_on(error));
	}
	root = openat(top, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	error = errno;
	close(top);
	*ret_root_fd = root;
	return root < 0 ? err_sys(err, error, "cannot open the directory for the test") : 0;
}

unsigned sandbox_target_namespaces(void)
{
	unsigned namespaces = CLONE_NEWNS | CLONE_NEWPID;

	return capability_has(CAP_SYS_ADMIN) ? namespaces : namespaces | CLONE_NEWUSER;
}

unsigned sandbox_target_caps(const struct target_description *d)
{
	unsigned caps = TARGET_MMAP;

	if (caches_can_drop())
		caps |= TARGET_DROP_CACHES;
	if (capability_has(CAP_SETUID))
		caps |= TARGET_PROCESSES;
	if (disk_wanted(d))
		caps |= TARGET_IMAGE;
	if (disk_wanted(d) && d->fsck && program_exists(d->fsck))
		caps |= TARGET_FSCK;
	return caps;
}

static int sandbox_target_need_disk(const struct target *t, const char *what, struct err *err)
{
	const struct sandbox_target *s = t->own;

	if (!s->disk.pristine)
		return err_set(err, ENOTSUP, "%s: %s needs an image", t->name, what);
	return 0;
}

/* ---- what is written to the disk ---- */

int sandbox_target_record(struct target *t, const struct target_options *options,
			  enum recorder_means means, struct err *err)
{
	struct sandbox_target *s = t->own;
	int ret;

	if (!options->record || !(t->caps & TARGET_RECORD))
		return 0;
	ret = recorder_open(&s->recorder, means, err);
	if (!ret)
		recorder_describe(s->recorder, &t->recorder);
	return ret;
}

int sandbox_target_attach_disk(struct sandbox_target *s, const char *place, struct buf *device,
			       int *ret_loop_fd, struct err *err)
{
	if (s->recorder)
		return recorder_attach(s->recorder, place, device, ret_loop_fd, err);
	return loop_attach(s->disk.image.fd, device, ret_loop_fd, err);
}

int sandbox_target_prepare_disk(struct sandbox_target *s, int loop_fd, struct err *err)
{
	int ret = loop_fd < 0 ? 0 : loop_forget(loop_fd, err);

	if (!ret && s->recorder)
		recorder_begin(s->recorder);
	return ret;
}

int sandbox_target_reset_disk(struct target *t, struct err *err)
{
	struct sandbox_target *s = t->own;

	if (s->recorder)
		recorder_restart(s->recorder);
	return sandbox_target_put(t, s->disk.pristine, err);
}

static int sandbox_target_make_base(struct sandbox_target *s, struct err *err)
{
	return s->base.size ? 0 : disk_copy_fresh(&s->disk, &s->base, err);
}

int sandbox_target_recorded(struct target *t, int *ret_image_fd, struct buf *out, struct err *err)
{
	struct sandbox_target *s = t->own;
	int ret;

	if (!s->recorder)
		return err_set(err, ENOTSUP, "%s: it was not opened to record", t->name);
	ret = sandbox_target_make_base(s, err);
	if (!ret)
		ret = recorder_copy(s->recorder, out, err);
	if (!ret)
		*ret_image_fd = s->base.fd;
	return ret;
}

/* Nothing is mounted then, whatever became of the sandbox. */
static int sandbox_target_unmount(struct target *t, struct err *err)
{
	struct sandbox_target *s = t->own;
	struct err why = { 0 };
	int ret;

	if (sandbox_alive(s->sandbox) && !sandbox_detach(s->sandbox, &why))
		return 0;
	ret = sandbox_target_start_anew(t, s->disk.pristine, err);
	return ret ? ret : sandbox_detach(s->sandbox, err);
}

/* Of a failure to mount: an answer of the file system, its death, or our own. */
static int sandbox_target_mount_failed(const struct sandbox_target *s, int failure,
				       const struct err *why, int *ret_error,
				       enum target_fate *ret_fate, struct err *err)
{
	bool ours = failure_is_ours(failure) || failure == -EUSERS || failure == -ETIMEDOUT;

	if (sandbox_target_report_lost_disk((void *)s, err))
		return -ECHILD;
	if (sandbox_alive(s->sandbox) && !ours) {
		*ret_error = -failure;
		return 0;
	}
	if (failure == -ETIME)
		*ret_fate = FATE_HUNG;
	else if (sandbox_oopsed(s->sandbox))
		*ret_fate = FATE_DIED;
	else
		return err_set(err, -failure, "%s", why->text);
	return 0;
}

/* Mounts what was put on the disk; the record begins with that. */
static int sandbox_target_mount_loaded(struct target *t, int *ret_error, enum target_fate *ret_fate,
				       struct err *err)
{
	struct sandbox_target *s = t->own;
	struct err why = { 0 };
	int failure;

	*ret_error = 0;
	*ret_fate = FATE_FINE;
	if (s->recorder)
		recorder_restart(s->recorder);
	failure = sandbox_attach(s->sandbox, &why);
	return failure ? sandbox_target_mount_failed(s, failure, &why, ret_error, ret_fate, err)
		       : 0;
}

int sandbox_target_load(struct target *t, int image_fd, int *ret_error, enum target_fate *ret_fate,
			struct err *err)
{
	struct sandbox_target *s = t->own;
	int ret = sandbox_target_need_disk(t, "mounting an image", err);

	if (!ret)
		ret = sandbox_target_unmount(t, err);
	if (!ret)
		ret = image_become(&s->disk.image, image_fd, err);
	return ret ? ret : sandbox_target_mount_loaded(t, ret_error, ret_fate, err);
}

int sandbox_target_load_pages(struct target *t, const struct page_change *pages, size_t count,
			      int *ret_error, enum target_fate *ret_fate, struct err *err)
{
	struct sandbox_target *s = t->own;
	int ret = sandbox_target_need_disk(t, "mounting an image", err);

	for (size_t i = 0; i < count && !ret; i++)
		if (pages[i].page >= s->disk.image.size / DISK_PAGE_BYTES)
			ret = err_set(err, EINVAL, "a page to load lies behind the disk's end");
	if (!ret)
		ret = sandbox_target_make_base(s, err);
	if (!ret)
		ret = sandbox_target_unmount(t, err);
	if (!ret)
		ret = image_become(&s->disk.image, s->base.fd, err);
	for (size_t i = 0; i < count && !ret; i++)
		memcpy(s->disk.image.bytes + pages[i].page * DISK_PAGE_BYTES, pages[i].bytes,
		       DISK_PAGE_BYTES);
	return ret ? ret : sandbox_target_mount_loaded(t, ret_error, ret_fate, err);
}

/* ---- members of a kind ---- */

int sandbox_target_clear(struct target *t, struct err *err)
{
	struct sandbox_target *s = t->own;

	return sandbox_clear(s->sandbox, err);
}

int sandbox_target_save(struct target *t, uint64_t key, struct err *err)
{
	struct sandbox_target *s = t->own;
	int ret = sandbox_target_need_disk(t, "saving", err);

	return ret ? ret : disk_save(&s->disk, s->sandbox, key, err);
}

int sandbox_target_restore(struct target *t, uint64_t key, struct err *err)
{
	struct sandbox_target *s = t->own;
	const struct disk_copy *saved = disk_saved(&s->disk, key, err);
	int ret = saved ? sandbox_target_put(t, saved, err) : -ENOENT;

	if (s->recorder)
		recorder_spoil(s->recorder, "a saved disk was put back");
	return ret;
}

void sandbox_target_drop(struct target *t, uint64_t key)
{
	struct sandbox_target *s = t->own;

	disk_drop(&s->disk, key);
}

int sandbox_target_unmounted_disk(struct target *t, struct image *ret, int *ret_error,
				  enum target_fate *ret_fate, struct err *err)
{
	struct sandbox_target *s = t->own;

	return disk_copy_unmounted(&s->disk, s->sandbox, ret, ret_error, err);
}

int sandbox_target_fresh_disk(struct target *t, struct image *ret, struct err *err)
{
	const struct sandbox_target *s = t->own;

	return disk_copy_fresh(&s->disk, ret, err);
}

int sandbox_target_image(struct target *t, const char *path, struct err *err)
{
	struct sandbox_target *s = t->own;
	int ret = sandbox_target_need_disk(t, "keeping", err);

	return ret ? ret : disk_write(&s->disk, s->sandbox, path, err);
}

int sandbox_target_run_program(struct target *t, const char *source, double seconds,
			       struct program_report *ret, struct err *err)
{
	struct buf program = BUF_INIT;
	int r = compile_program(source, "", &program, ret, err);

	if (!r && ret->fate == PROGRAM_EXITED) {
		program_report_free(ret);
		r = channel_run_program(t->client, &program, seconds, ret, err);
	}
	buf_free(&program);
	return r;
}
