/* target_kernel.c -- Linux itself in a process of ours: kernel:ext4 and the like, of the usual
 * kernel or, as kernel:ext4@debug, of another one.
 *
 * The kernel is unmodified but for what lets it live without user space and be copied by fork().
 * It runs as another program; nothing of it is linked into this one. Its disk is a private
 * mapping of the image, so that the image stays as mkfs made it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "sandbox/compile.h"
#include "snapshot/snapshots.h"
#include "storage/program.h"
#include "target/description.h"
#include "target/disk.h"
#include "target/kernels.h"
#include "target/sysctls.h"
#include "target/target.h"

/* What a state has of its own that it does not share with others, and some more. */
enum { SAVED_BYTES = 2 << 20 };

struct kernel {
	struct disk disk; /* tmpfs and the like have none */
	struct snapshots *states;
	struct buf points; /* path of the table of its code */
};

/* How kernels of this name are built. */
static const char *build_option(const char *name)
{
	if (name && strstr(name, "coverage"))
		return " --coverage";
	return name && strstr(name, "debug") ? " --debug" : "";
}

static void kernel_lacks(const struct target_description *d, struct buf *out)
{
	struct buf path = BUF_INIT;

	kernels_path(d->argument, &path);
	if (!d->fs)
		buf_adds(out, "its description names no file system (fs = ...)");
	else if (access(path.data, X_OK))
		buf_addf(out, "no kernel%s%s is built for it yet; `assay kernel build%s` does that",
			 d->argument ? " " : "", d->argument ? d->argument : "",
			 build_option(d->argument));
	else if (d->mkfs)
		program_lacking(d->mkfs, d->packages, out);
	program_lacking_any(d->programs, d->packages, out);
	buf_free(&path);
}

/* A kernel has its name from the build; the usual one is only lacking. */
static int kernel_check(const struct target_description *d, const char *fault, struct err *err)
{
	struct buf text = BUF_INIT;
	int ret = 0;

	kernels_path(d->argument, &text);
	if (d->argument && access(text.data, F_OK)) {
		buf_clear(&text);
		kernel_lacks(d, &text);
		ret = err_set(err, ENOENT, "%s@%s: %s", d->name, d->argument, text.data);
	}
	buf_free(&text);
	return ret;
}

/* Does anything outlive the mount? */
static bool keeps(const struct target_description *d)
{
	return disk_wanted(d) || d->source;
}

static bool tells_of_code(const struct target_description *d)
{
	struct buf path = BUF_INIT;
	bool tells;

	kernels_points_path(d->argument, &path);
	tells = !access(path.data, R_OK);
	buf_free(&path);
	return tells;
}

static unsigned kernel_caps(const struct target_description *d)
{
	return TARGET_SAVE | TARGET_DROP_CACHES | TARGET_TIME | TARGET_PROCESSES | TARGET_FAULTS |
	       TARGET_LEAKS | (keeps(d) ? TARGET_REMOUNT : 0) |
	       (disk_wanted(d) ? TARGET_RECORD : 0) | (tells_of_code(d) ? TARGET_CODE : 0);
}

static void kernel_close(struct target *t)
{
	struct kernel *k = t->own;

	snapshots_stop(k->states);
	disk_free(&k->disk);
	buf_free(&k->points);
	free(k);
}

static int start(struct target *t, const struct target_description *d, bool records,
		 struct err *err)
{
	struct kernel *k = t->own;
	struct buf path = BUF_INIT, memory = BUF_INIT;
	struct snapshots_options options = {
		.fs = d->fs,
		.source = d->source      ? d->source
			: disk_wanted(d) ? "/dev/disk"
					 : d->fs,
		.options = d->options ? d->options : "",
		.keeps = keeps(d),
		.records = records && disk_wanted(d),
		.image_fd = k->disk.image.size ? k->disk.image.fd : -1,
		.fields = t->fields,
		.deadline_seconds = t->deadline_seconds,
	};
	int ret;

	sysctls_choose(&t->traits, options.sysctls);
	kernels_path(d->argument, &path);
	kernels_points_path(d->argument, &k->points);
	kernels_memory(d->argument, &memory);
	options.kernel = path.data;
	options.memory = buf_str(&memory);
	ret = kernels_check(d->argument, err);
	if (!ret)
		ret = snapshots_start(&k->states, &options, err);
	buf_free(&path);
	buf_free(&memory);
	return ret;
}

static int kernel_open(struct target *t, const struct target_description *d,
		       const struct target_options *options, struct err *err)
{
	struct kernel *k = must_alloc(sizeof(*k));
	int ret = 0;

	t->own = k;
	t->saved_bytes = SAVED_BYTES;
	if (disk_wanted(d))
		ret = disk_make(&k->disk, d, err);
	if (!ret)
		ret = start(t, d, options->record, err);
	if (ret)
		kernel_close(t);
	return ret;
}

static int kernel_call(struct target *t, const struct call *c, struct outcome *ret,
		       enum target_fate *ret_fate, struct err *err)
{
	const struct kernel *k = t->own;

	return channel_call(snapshots_client(k->states), c, ret, ret_fate, err);
}

static int kernel_observe(struct target *t, struct tree *ret, enum target_fate *ret_fate,
			  struct err *err)
{
	const struct kernel *k = t->own;

	return channel_observe(snapshots_client(k->states), ret, ret_fate, err);
}

static int kernel_follow(struct target *t, const struct plan_step *steps, size_t count,
			 struct plan_end *ret, struct err *err)
{
	const struct kernel *k = t->own;
	const struct channel_client *requests = snapshots_client(k->states);
	struct code_map *code = snapshots_code(k->states);

	code->first_step = atomic_load(&requests->channel->progress) + 1;
	code->news_count = 0;
	return channel_follow(requests, steps, count, ret, err);
}

/* Only a program that needs no libraries: it would look for them in the kernel's file systems. */
static int kernel_run_program(struct target *t, const char *source, double seconds,
			      struct program_end *ret, struct err *err)
{
	const struct kernel *k = t->own;
	struct buf program = BUF_INIT;
	int r = compile_program(source, "-static", &program, ret, err);

	if (!r && ret->end == PROGRAM_EXITED) {
		program_end_free(ret);
		r = snapshots_run_program(k->states, &program, seconds, ret, err);
	}
	buf_free(&program);
	return r;
}

static void kernel_log(struct target *t, struct buf *out)
{
	const struct kernel *k = t->own;
	const char *console = snapshots_console(k->states);

	if (*console)
		buf_addf(out, "; the kernel says:\n%s", console);
}

static int kernel_recorded(struct target *t, int *ret_image_fd, struct buf *out, struct err *err)
{
	const struct kernel *k = t->own;

	*ret_image_fd = k->disk.image.fd;
	return snapshots_recorded(k->states, out, err);
}

static int kernel_load(struct target *t, int image_fd, int *ret_error, enum target_fate *ret_fate,
		       struct err *err)
{
	const struct kernel *k = t->own;

	return snapshots_load(k->states, image_fd, ret_error, ret_fate, err);
}

static struct code_map *kernel_code(struct target *t, struct buf *ret_table)
{
	const struct kernel *k = t->own;

	if (ret_table)
		buf_adds(ret_table, k->points.data);
	return snapshots_code(k->states);
}

static int kernel_reset(struct target *t, struct err *err)
{
	const struct kernel *k = t->own;

	snapshots_reset(k->states);
	return 0;
}

static int kernel_save(struct target *t, uint64_t key, struct err *err)
{
	const struct kernel *k = t->own;

	return snapshots_save(k->states, key, err);
}

static int kernel_restore(struct target *t, uint64_t key, struct err *err)
{
	const struct kernel *k = t->own;

	return snapshots_restore(k->states, key, err);
}

static void kernel_drop(struct target *t, uint64_t key)
{
	const struct kernel *k = t->own;

	snapshots_drop(k->states, key);
}

const struct target_kind target_kernel = {
	.name = "kernel",
	.summary = "a file system of a Linux kernel that runs in a process",
	.has_argument = true,
	.lacks = kernel_lacks,
	.check = kernel_check,
	.caps = kernel_caps,
	.open = kernel_open,
	.close = kernel_close,
	.call = kernel_call,
	.observe = kernel_observe,
	.follow = kernel_follow,
	.run_program = kernel_run_program,
	.log = kernel_log,
	.reset = kernel_reset,
	.save = kernel_save,
	.restore = kernel_restore,
	.drop = kernel_drop,
	.recorded = kernel_recorded,
	.load = kernel_load,
	.code = kernel_code,
};
