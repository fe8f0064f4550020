/* sandbox_target.c -- what all targets with a sandbox have in common. */
#include "target/sandbox_target.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "sandbox/compile.h"
#include "sandbox/privilege.h"
#include "storage/caches.h"
#include "storage/program.h"
#include "target/sysctls.h"

/* The pages of an image that are not all zero, about. */
enum { SAVED_BYTES = 4 << 20 };

void sandbox_target_init(struct target *t, struct sandbox_target *kept,
			 const struct target_description *d,
			 int (*start)(struct target *t, struct err *err))
{
	t->own = kept;
	sysctls_read(&t->traits);
	t->saved_bytes = SAVED_BYTES;
	description_copy(&kept->d, d);
	kept->start = start;
}

int sandbox_target_start(struct target *t, const struct sandbox_ops *keeping, struct err *err)
{
	struct sandbox_target *kept = t->own;
	struct sandbox_ops with_disk = *keeping;
	struct sandbox_options options = {
		.fields = t->fields,
		.deadline_seconds = t->deadline_seconds,
		.uid = t->uid,
		.gid = t->gid,
	};

	t->traits.one_user = keeping->namespaces & CLONE_NEWUSER;
	if (kept->disk.image.size)
		with_disk.fds[with_disk.fd_count++] = kept->disk.image.fd;
	return sandbox_start(&kept->sandbox, &with_disk, &options, err);
}

void sandbox_target_end(struct target *t)
{
	struct sandbox_target *kept = t->own;

	sandbox_stop(kept->sandbox);
	disk_free(&kept->disk);
	description_free(&kept->d);
}

int sandbox_target_start_anew(struct target *t, const struct disk_copy *contents, struct err *err)
{
	struct sandbox_target *kept = t->own;
	int ret = 0;

	sandbox_stop(kept->sandbox);
	kept->sandbox = NULL;
	if (contents)
		ret = disk_put(&kept->disk, NULL, contents, err);
	return ret ? ret : kept->start(t, err);
}

int sandbox_target_put(struct target *t, const struct disk_copy *contents, struct err *err)
{
	struct sandbox_target *kept = t->own;
	struct err why = { 0 };

	if (sandbox_alive(kept->sandbox) && !disk_put(&kept->disk, kept->sandbox, contents, &why))
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

	return privilege_has(CAP_SYS_ADMIN) ? namespaces : namespaces | CLONE_NEWUSER;
}

unsigned sandbox_target_caps(const struct target_description *d)
{
	unsigned caps = TARGET_MMAP;

	if (caches_can_drop())
		caps |= TARGET_DROP_CACHES;
	if (privilege_has(CAP_SETUID))
		caps |= TARGET_PROCESSES;
	if (disk_wanted(d))
		caps |= TARGET_IMAGE;
	if (disk_wanted(d) && d->fsck && program_exists(d->fsck))
		caps |= TARGET_FSCK;
	return caps;
}

int sandbox_target_call(struct target *t, const struct call *c, struct outcome *ret,
			enum target_fate *ret_fate, struct err *err)
{
	struct sandbox_target *kept = t->own;

	return sandbox_call(kept->sandbox, c, ret, ret_fate, err);
}

int kept_admits(struct target *t, const struct call *c, struct err *err)
{
	const struct sandbox_target *kept = t->own;

	return sandbox_admits(kept->sandbox, c, err);
}

int sandbox_target_observe(struct target *t, struct tree *ret, enum target_fate *ret_fate,
			   struct err *err)
{
	struct sandbox_target *kept = t->own;

	return sandbox_observe(kept->sandbox, ret, ret_fate, err);
}

int sandbox_target_follow(struct target *t, const struct plan_step *steps, size_t count,
			  struct plan_end *ret, struct err *err)
{
	struct sandbox_target *kept = t->own;

	return sandbox_follow(kept->sandbox, steps, count, ret, err);
}

static int need_disk(const struct target *t, const char *what, struct err *err)
{
	const struct sandbox_target *kept = t->own;

	if (!kept->disk.pristine)
		return err_set(err, ENOTSUP, "%s: %s needs an image", t->name, what);
	return 0;
}

int sandbox_target_race(struct target *t, const struct call *calls, size_t count, uint64_t seed,
			struct raced *ret, enum target_fate *ret_fate, struct err *err)
{
	struct sandbox_target *k = t->own;

	return sandbox_race(k->sandbox, calls, count, seed, ret, ret_fate, err);
}

int sandbox_target_clear(struct target *t, struct err *err)
{
	struct sandbox_target *k = t->own;

	return sandbox_clear(k->sandbox, err);
}

int sandbox_target_save(struct target *t, uint64_t key, struct err *err)
{
	struct sandbox_target *kept = t->own;
	int ret = need_disk(t, "saving", err);

	return ret ? ret : disk_save(&kept->disk, kept->sandbox, key, err);
}

int sandbox_target_restore(struct target *t, uint64_t key, struct err *err)
{
	struct sandbox_target *kept = t->own;
	const struct disk_copy *saved = disk_saved(&kept->disk, key, err);

	return saved ? sandbox_target_put(t, saved, err) : -ENOENT;
}

void sandbox_target_drop(struct target *t, uint64_t key)
{
	struct sandbox_target *kept = t->own;

	disk_drop(&kept->disk, key);
}

int sandbox_target_fsck(struct target *t, enum verdict *ret, struct buf *report, struct err *err)
{
	struct sandbox_target *kept = t->own;

	if (!(t->caps & TARGET_FSCK))
		return err_set(err, ENOTSUP, "%s: there is no checker for it", t->name);
	return disk_check(&kept->disk, kept->sandbox, &kept->d, ret, report, err);
}

int sandbox_target_image(struct target *t, const char *path, struct err *err)
{
	struct sandbox_target *kept = t->own;
	int ret = need_disk(t, "keeping", err);

	return ret ? ret : disk_write(&kept->disk, kept->sandbox, path, err);
}

int sandbox_target_run_program(struct target *t, const char *source, double seconds,
			       struct program_end *ret, struct err *err)
{
	struct sandbox_target *kept = t->own;
	struct buf program = BUF_INIT;
	int r = compile_program(source, "", &program, ret, err);

	if (!r && ret->end == PROGRAM_EXITED) {
		program_end_free(ret);
		r = sandbox_run_program(kept->sandbox, &program, seconds, ret, err);
	}
	buf_free(&program);
	return r;
}
