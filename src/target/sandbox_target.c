/* sandbox_target.c -- what all targets with a sandbox have in common. */
#include "target/sandbox_target.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "process/capability.h"
#include "sandbox/compile.h"
#include "storage/caches.h"
#include "storage/program.h"
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
	int ret;

	t->traits.one_user = ops->namespaces & CLONE_NEWUSER;
	if (s->disk.image.size)
		with_disk.fds[with_disk.fd_count++] = s->disk.image.fd;
	if (s->d.content)
		below_prepare(s, &with_disk);
	ret = sandbox_start(&s->sandbox, &with_disk, &options, err);
	t->client = sandbox_client(s->sandbox);
	return ret || !s->d.content ? ret : below_fill(s, err);
}

void sandbox_target_end(struct target *t)
{
	struct sandbox_target *s = t->own;

	sandbox_stop(s->sandbox);
	disk_free(&s->disk);
	description_free(&s->d);
}

int sandbox_target_start_anew(struct target *t, const struct disk_copy *contents, struct err *err)
{
	struct sandbox_target *s = t->own;
	int ret = 0;

	sandbox_stop(s->sandbox);
	s->sandbox = NULL;
	t->client = NULL;
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

int sandbox_target_open_root(const char *mount, const char *name, int *ret_root_fd, struct err *err)
{
	int top = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC), root, error;

	if (top < 0)
		return err_sys(err, errno, "cannot open the file system");
	umask(0);
	if (mkdirat(top, name, SANDBOX_ROOT_MODE) && errno != EEXIST) {
		error = errno;
		close(top);
		return err_sys(err, error, "cannot make a directory in the file system");
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

	return saved ? sandbox_target_put(t, saved, err) : -ENOENT;
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
