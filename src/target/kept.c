/* kept.c -- what all targets with a keeper have in common. */
#include "target/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "target/caches.h"
#include "target/compile.h"
#include "target/privilege.h"
#include "target/program.h"
#include "target/sysctls.h"

/* The pages of an image that are not all zero, about. */
enum { SAVED_BYTES = 4 << 20 };

void kept_init(struct target *t, struct kept *kept, const struct target_description *d,
	       int (*start)(struct target *t, struct err *err))
{
	t->own = kept;
	sysctls_read(&t->traits);
	t->saved_bytes = SAVED_BYTES;
	description_copy(&kept->d, d);
	kept->start = start;
}

int kept_start(struct target *t, const struct keeping *keeping, struct err *err)
{
	struct kept *kept = t->own;
	struct keeping with_disk = *keeping;
	struct keeper_options options = {
		.fields = t->fields,
		.deadline_seconds = t->deadline_seconds,
		.uid = t->uid,
		.gid = t->gid,
	};

	t->traits.one_user = keeping->namespaces & CLONE_NEWUSER;
	if (kept->disk.image.size)
		with_disk.fds[with_disk.fd_count++] = kept->disk.image.fd;
	return keeper_start(&kept->keeper, &with_disk, &options, err);
}

void kept_end(struct target *t)
{
	struct kept *kept = t->own;

	keeper_stop(kept->keeper);
	disk_free(&kept->disk);
	description_free(&kept->d);
}

int kept_start_anew(struct target *t, const struct snapshot *contents, struct err *err)
{
	struct kept *kept = t->own;
	int ret = 0;

	keeper_stop(kept->keeper);
	kept->keeper = NULL;
	if (contents)
		ret = disk_put(&kept->disk, NULL, contents, err);
	return ret ? ret : kept->start(t, err);
}

int kept_put(struct target *t, const struct snapshot *contents, struct err *err)
{
	struct kept *kept = t->own;
	struct err why = { 0 };

	if (keeper_alive(kept->keeper) && !disk_put(&kept->disk, kept->keeper, contents, &why))
		return 0;
	return kept_start_anew(t, contents, err);
}

int kept_open_root(const char *mount, const char *name, int *ret_root_fd, struct err *err)
{
	int top = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC), root, error;

	if (top < 0)
		return err_sys(err, errno, "cannot open the file system");
	umask(0);
	if (mkdirat(top, name, KEEPER_ROOT_MODE) && errno != EEXIST) {
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

unsigned kept_namespaces(void)
{
	unsigned namespaces = CLONE_NEWNS | CLONE_NEWPID;

	return privilege_has(CAP_SYS_ADMIN) ? namespaces : namespaces | CLONE_NEWUSER;
}

unsigned kept_caps(const struct target_description *d)
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

int kept_call(struct target *t, const struct call *c, struct outcome *ret,
	      enum target_fate *ret_fate, struct err *err)
{
	struct kept *kept = t->own;

	return keeper_call(kept->keeper, c, ret, ret_fate, err);
}

int kept_observe(struct target *t, struct tree *ret, enum target_fate *ret_fate, struct err *err)
{
	struct kept *kept = t->own;

	return keeper_observe(kept->keeper, ret, ret_fate, err);
}

int kept_follow(struct target *t, const struct plan_step *steps, size_t count,
		struct plan_end *ret, struct err *err)
{
	struct kept *kept = t->own;

	return keeper_follow(kept->keeper, steps, count, ret, err);
}

static int need_disk(const struct target *t, const char *what, struct err *err)
{
	const struct kept *kept = t->own;

	if (!kept->disk.pristine)
		return err_set(err, ENOTSUP, "%s: %s needs an image", t->name, what);
	return 0;
}

int kept_race(struct target *t, const struct call *calls, size_t count, uint64_t seed,
	      struct raced *ret, enum target_fate *ret_fate, struct err *err)
{
	struct kept *k = t->own;

	return keeper_race(k->keeper, calls, count, seed, ret, ret_fate, err);
}

int kept_clear(struct target *t, struct err *err)
{
	struct kept *k = t->own;

	return keeper_clear(k->keeper, err);
}

int kept_save(struct target *t, uint64_t key, struct err *err)
{
	struct kept *kept = t->own;
	int ret = need_disk(t, "saving", err);

	return ret ? ret : disk_save(&kept->disk, kept->keeper, key, err);
}

int kept_restore(struct target *t, uint64_t key, struct err *err)
{
	struct kept *kept = t->own;
	const struct snapshot *saved = disk_saved(&kept->disk, key, err);

	return saved ? kept_put(t, saved, err) : -ENOENT;
}

void kept_drop(struct target *t, uint64_t key)
{
	struct kept *kept = t->own;

	disk_drop(&kept->disk, key);
}

int kept_fsck(struct target *t, enum verdict *ret, struct buf *report, struct err *err)
{
	struct kept *kept = t->own;

	if (!(t->caps & TARGET_FSCK))
		return err_set(err, ENOTSUP, "%s: there is no checker for it", t->name);
	return disk_check(&kept->disk, kept->keeper, &kept->d, ret, report, err);
}

int kept_image(struct target *t, const char *path, struct err *err)
{
	struct kept *kept = t->own;
	int ret = need_disk(t, "keeping", err);

	return ret ? ret : disk_write(&kept->disk, kept->keeper, path, err);
}

int kept_run_program(struct target *t, const char *source, double seconds, struct program_end *ret,
		     struct err *err)
{
	struct kept *kept = t->own;
	struct buf program = BUF_INIT;
	int r = compile_program(source, "", &program, ret, err);

	if (!r && ret->end == PROGRAM_EXITED) {
		program_end_free(ret);
		r = keeper_run_program(kept->keeper, &program, seconds, ret, err);
	}
	buf_free(&program);
	return r;
}
