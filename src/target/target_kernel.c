/* target_kernel.c -- Linux itself in a process of ours: kernel:ext4 and the like, of the usual
 * kernel or, as kernel:ext4@debug, of another one.
 *
 * The kernel is unmodified but for what lets it live without user space and be copied by fork().
 * It runs as another program; nothing of it is linked into this one. Its disk is a private
 * mapping of the image, so that the image stays as mkfs made it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "process/debugger.h"
#include "sandbox/compile.h"
#include "snapshot/snapshots.h"
#include "storage/program.h"
#include "target/content.h"
#include "target/description.h"
#include "target/disk.h"
#include "target/kernels.h"
#include "target/sysctls.h"
#include "target/target.h"

/* What a state does not share with others, and some more. */
enum { SAVED_BYTES = 2 << 20 };

/* For the name of one place in its code. */
enum { NAME_SECONDS = 30 };

struct kernel_target {
	struct disk disk; /* tmpfs and the like have none */
	struct snapshots *snapshots;
	struct buf points;  /* path of the table of its code */
	struct buf program; /* path of the kernel */
};

/* How kernels of this name are built. */
static const char *build_option(const char *name)
{
	if (name && strstr(name, "coverage"))
		return " --coverage";
	if (name && strstr(name, "overlap"))
		return " --overlap";
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
		ret = err_set(err, *build_option(d->argument) ? ENODEV : ENOENT, "%s@%s: %s",
			      d->name, d->argument, text.data);
	} else if (fault && !kernels_has_bug(d->argument, fault)) {
		ret = err_set(err, ENOENT, "%s: no such bug was put into this kernel", fault);
	}
	buf_free(&text);
	return ret;
}

/* Flash memory has no mkfs: mounting it for the first time is that. */
static bool kernel_has_flash(const struct target_description *d)
{
	return d->source && (!strncmp(d->source, "mtd", 3) || !strncmp(d->source, "ubi", 3));
}

static bool kernel_has_medium(const struct target_description *d)
{
	return disk_wanted(d) || kernel_has_flash(d);
}

/* Does anything outlive the mount? */
static bool kernel_keeps(const struct target_description *d)
{
	return disk_wanted(d) || d->source;
}

static bool kernel_reports_code(const struct target_description *d)
{
	struct buf path = BUF_INIT;
	bool readable;

	kernels_points_path(d->argument, &path);
	readable = !access(path.data, R_OK);
	buf_free(&path);
	return readable;
}

static bool kernel_takes_schedules(const struct target_description *d)
{
	struct buf flavour = BUF_INIT;
	bool takes;

	kernels_flavour(d->argument, &flavour);
	takes = !strcmp(buf_str(&flavour), "overlap");
	buf_free(&flavour);
	return takes;
}

static unsigned kernel_caps(const struct target_description *d)
{
	return TARGET_SAVE | TARGET_MMAP | TARGET_DROP_CACHES | TARGET_TIME | TARGET_PROCESSES |
	       TARGET_FAULTS | TARGET_LEAKS | (kernel_keeps(d) ? TARGET_REMOUNT : 0) |
	       (kernel_has_medium(d) ? TARGET_RECORD : 0) | (disk_wanted(d) ? TARGET_SPACE : 0) |
	       (disk_wanted(d) && d->fsck && program_exists(d->fsck) ? TARGET_FSCK : 0) |
	       (kernel_reports_code(d) ? TARGET_CODE : 0) |
	       (kernel_takes_schedules(d) ? TARGET_SCHEDULES : 0);
}

static void kernel_close(struct target *t)
{
	struct kernel_target *k = t->own;

	snapshots_stop(k->snapshots);
	disk_free(&k->disk);
	buf_free(&k->points);
	buf_free(&k->program);
	free(k);
}

static int kernel_fill_below(void *own, const struct channel_client *client, struct err *err)
{
	return content_make(own, client, err);
}

static int kernel_start(struct target *t, const struct target_description *d,
			const struct target_options *wanted, bool blank, struct err *err)
{
	struct kernel_target *k = t->own;
	struct buf path = BUF_INIT, memory = BUF_INIT;
	struct snapshots_options options = {
		.fs = d->fs,
		.source = d->source      ? d->source
			: disk_wanted(d) ? "/dev/disk"
					 : d->fs,
		.options = d->options ? d->options : "",
		.keeps = kernel_keeps(d),
		.seeded = wanted->fault,
		.whole = wanted->whole || d->image,
		.records = wanted->record && kernel_has_medium(d),
		.flash = kernel_has_flash(d),
		.blank = blank,
		.image_fd = k->disk.image.size ? k->disk.image.fd : -1,
		.fields = t->fields,
		.deadline_seconds = t->deadline_seconds,
		.below = d->content ? d->content_dir : NULL,
		.fill_below = kernel_fill_below,
		.own = t->description,
	};
	int ret;

	sysctls_choose(&t->traits, options.sysctls);
	kernels_path(d->argument, &path);
	kernels_points_path(d->argument, &k->points);
	buf_clear(&k->program);
	kernels_path(d->argument, &k->program);
	kernels_memory(d->argument, &memory);
	options.kernel = path.data;
	options.memory = buf_str(&memory);
	ret = kernels_check(d->argument, err);
	if (!ret)
		ret = snapshots_start(&k->snapshots, &options, err);
	if (!ret)
		t->client = snapshots_client(k->snapshots);
	buf_free(&path);
	buf_free(&memory);
	return ret;
}

static void pages_put(const struct image *image, const struct disk_page *pages, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if ((pages[i].page + 1) * sizeof(pages[i].bytes) <= image->size)
			memcpy(image->bytes + pages[i].page * sizeof(pages[i].bytes),
			       pages[i].bytes, sizeof(pages[i].bytes));
}

/* The disk is as a kernel leaves it that has mounted and unmounted it: with the directory of the
 * test; blank: flash memory, which it formats. */
static int kernel_mount_once(struct target *t, const struct target_description *d,
			     const struct target_options *options, bool blank, struct err *err)
{
	struct kernel_target *k = t->own;
	const struct disk_page *pages;
	enum target_fate fate = FATE_FINE;
	int error = 0, r = kernel_start(t, d, options, blank, err);
	size_t count;

	if (!r)
		r = snapshots_disk(k->snapshots, &pages, &count, &error, &fate, err);
	if (!r && (error || fate != FATE_FINE))
		r = err_set(err, EIO, "%s cannot be mounted and unmounted", t->name);
	if (r)
		return r;
	pages_put(&k->disk.image, pages, count);
	disk_keep(&k->disk);
	snapshots_stop(k->snapshots);
	k->snapshots = NULL;
	buf_clear(&k->points);
	return 0;
}

static void kernel_describe_medium(struct target *t, const struct target_description *d)
{
	const struct kernel_target *k = t->own;

	t->medium.bytes = k->disk.image.size;
	t->medium.write_bytes = KERNEL_SHM_SECTOR_BYTES;
	if (!kernel_has_flash(d))
		return;
	t->medium.write_bytes = KERNEL_SHM_FLASH_WRITE_BYTES;
	t->medium.erase_bytes = KERNEL_SHM_FLASH_ERASE_BYTES;
}

static int kernel_open(struct target *t, const struct target_description *d,
		       const struct target_options *options, struct err *err)
{
	struct kernel_target *k = must_alloc(sizeof(*k));
	int ret = 0;

	t->own = k;
	t->saved_bytes = SAVED_BYTES;
	if (kernel_has_flash(d))
		ret = disk_make_blank(&k->disk, d, 0xff, err);
	else if (disk_wanted(d))
		ret = disk_make(&k->disk, d, options->record, err);
	/* What crashes is what the calls do, not what made the directory that they begin in: a
	 * journal has all of that or nothing. */
	if (!ret && (kernel_has_flash(d) || (options->record && t->traits.crash_stale_inodes)))
		ret = kernel_mount_once(t, d, options, kernel_has_flash(d), err);
	if (!ret)
		ret = kernel_start(t, d, options, false, err);
	kernel_describe_medium(t, d);
	if (ret)
		kernel_close(t);
	return ret;
}

/* Only a program that needs no libraries: it would look for them in the kernel's file systems. */
static int kernel_run_program(struct target *t, const char *source, double seconds,
			      struct program_report *ret, struct err *err)
{
	const struct kernel_target *k = t->own;
	struct buf program = BUF_INIT;
	int r = compile_program(source, "-static", &program, ret, err);

	if (!r && ret->fate == PROGRAM_EXITED) {
		program_report_free(ret);
		r = snapshots_run_program(k->snapshots, &program, seconds, ret, err);
	}
	buf_free(&program);
	return r;
}

static void kernel_log(struct target *t, struct buf *out)
{
	const struct kernel_target *k = t->own;
	const char *console = snapshots_console(k->snapshots);

	if (*console)
		buf_addf(out, "; the kernel says:\n%s", console);
}

static int kernel_recorded(struct target *t, int *ret_image_fd, struct buf *out, struct err *err)
{
	const struct kernel_target *k = t->own;

	*ret_image_fd = k->disk.image.fd;
	return snapshots_recorded(k->snapshots, out, err);
}

static int kernel_load_pages(struct target *t, const struct page_change *pages, size_t count,
			     int *ret_error, enum target_fate *ret_fate, struct err *err)
{
	const struct kernel_target *k = t->own;

	return snapshots_load(k->snapshots, pages, count, ret_error, ret_fate, err);
}

static int kernel_load(struct target *t, int image_fd, int *ret_error, enum target_fate *ret_fate,
		       struct err *err)
{
	const struct image *fresh = &((const struct kernel_target *)t->own)->disk.image;
	struct page_change *pages;
	size_t count = 0;
	char *bytes;
	int r;

	if (lseek(image_fd, 0, SEEK_END) != (off_t)fresh->size)
		return err_set(err, EINVAL, "an image to load is not as large as the disk");
	bytes = mmap(NULL, fresh->size, PROT_READ, MAP_PRIVATE, image_fd, 0);
	if (bytes == MAP_FAILED)
		return err_sys(err, errno, "cannot map an image");
	pages = must_alloc(fresh->size / DISK_PAGE_BYTES * sizeof(*pages));
	for (uint64_t at = 0; at < fresh->size; at += DISK_PAGE_BYTES)
		if (memcmp(bytes + at, fresh->bytes + at, DISK_PAGE_BYTES) != 0)
			pages[count++] = (struct page_change){ at / DISK_PAGE_BYTES, bytes + at };
	r = kernel_load_pages(t, pages, count, ret_error, ret_fate, err);
	free(pages);
	munmap(bytes, fresh->size);
	return r;
}

static int kernel_disk_read(struct target *t, struct buf *ret_sectors, struct err *err)
{
	const struct kernel_target *k = t->own;

	snapshots_read(k->snapshots, ret_sectors);
	return 0;
}

static int kernel_unmounted_pages(struct target *t, const struct disk_page **ret, size_t *ret_count,
				  int *ret_error, enum target_fate *ret_fate, struct err *err)
{
	const struct kernel_target *k = t->own;

	return snapshots_unmount(k->snapshots, ret, ret_count, ret_error, ret_fate, err);
}

/* Those of the description, with the pages that the kernel in the process has written. */
static int kernel_unmounted_disk(struct target *t, struct image *ret, int *ret_error,
				 enum target_fate *ret_fate, struct err *err)
{
	const struct kernel_target *k = t->own;
	const struct disk_page *pages;
	size_t count;
	int r = snapshots_disk(k->snapshots, &pages, &count, ret_error, ret_fate, err);

	if (r || *ret_error || *ret_fate != FATE_FINE)
		return r;
	r = disk_copy_fresh(&k->disk, ret, err);
	if (!r)
		pages_put(ret, pages, count);
	return r;
}

static int kernel_fresh_disk(struct target *t, struct image *ret, struct err *err)
{
	const struct kernel_target *k = t->own;

	return disk_copy_fresh(&k->disk, ret, err);
}

static struct code_map *kernel_code(struct target *t, struct buf *ret_table)
{
	const struct kernel_target *k = t->own;

	if (ret_table)
		buf_adds(ret_table, k->points.data);
	return snapshots_code(k->snapshots);
}

static int kernel_overlap(struct target *t, uint64_t key, const struct call *calls, size_t count,
			  struct race_outcome *ret, struct tree *ret_tree,
			  enum target_fate *ret_fate, struct err *err)
{
	const struct kernel_target *k = t->own;
	bool made = false;
	int r = 0;

	for (bool again = true; !r && !made; again = false) {
		r = snapshots_begin_race(k->snapshots, key, again, err);
		if (r)
			return r;
		r = channel_race_look(t->client, calls, count, ret, ret_tree, ret_fate, err);
		made = snapshots_end_race(k->snapshots, key);
	}
	return r;
}

/* The kernel in the process uses signals, which gdb is not to stop at. */
static int kernel_debug(struct target *t, pid_t *ret_debugger, pid_t *ret_pid, struct err *err)
{
	static const char commands[] = "set pagination off\n"
				       "handle all nostop noprint\n"
				       "break assay_overlap_switch\n"
				       "commands\n"
				       "backtrace 12\n"
				       "end\n"
				       "continue\n";
	const struct kernel_target *k = t->own;

	*ret_pid = snapshots_racer(k->snapshots);
	return debugger_start(ret_debugger, k->program.data, *ret_pid, commands, err);
}

static struct schedule_board *kernel_board(struct target *t)
{
	const struct kernel_target *k = t->own;

	return snapshots_board(k->snapshots);
}

/* The address is behind a call. Of a place only what is below the directory of the sources is
 * sure: compilers are cached. */
static void kernel_name_code(struct target *t, uint64_t address, struct buf *out)
{
	const struct kernel_target *k = t->own;
	struct buf command = BUF_INIT, said = BUF_INIT;
	char function[128], place[512], *at;
	int status;

	buf_addf(&command, "addr2line -f -e '%s' 0x%jx 2>/dev/null", k->program.data,
		 (uintmax_t)(address - 1));
	if (program_run(command.data, -1, NAME_SECONDS, &status, &said, NULL) || status ||
	    sscanf(buf_str(&said), "%127s %511s", function, place) != 2) {
		buf_addf(out, "0x%jx", (uintmax_t)address);
	} else {
		at = strstr(place, "/source/");
		buf_addf(out, "%s", function);
		if (place[0] != '?')
			buf_addf(out, " (%s)", at ? at + strlen("/source/") : place);
	}
	buf_free(&command);
	buf_free(&said);
}

static int kernel_reset(struct target *t, struct err *err)
{
	const struct kernel_target *k = t->own;

	snapshots_reset(k->snapshots);
	return 0;
}

static int kernel_save(struct target *t, uint64_t key, struct err *err)
{
	const struct kernel_target *k = t->own;

	return snapshots_save(k->snapshots, key, err);
}

static int kernel_restore(struct target *t, uint64_t key, struct err *err)
{
	const struct kernel_target *k = t->own;

	return snapshots_restore(k->snapshots, key, err);
}

static void kernel_drop(struct target *t, uint64_t key)
{
	const struct kernel_target *k = t->own;

	snapshots_drop(k->snapshots, key);
}

const struct target_kind target_kernel = {
	.name = "kernel",
	.summary = "a file system of a Linux kernel that runs in a process",
	.has_argument = true,
	.has_faults = true,
	.has_content = true,
	.lacks = kernel_lacks,
	.check = kernel_check,
	.caps = kernel_caps,
	.open = kernel_open,
	.close = kernel_close,
	.run_program = kernel_run_program,
	.log = kernel_log,
	.reset = kernel_reset,
	.save = kernel_save,
	.restore = kernel_restore,
	.drop = kernel_drop,
	.unmounted_disk = kernel_unmounted_disk,
	.fresh_disk = kernel_fresh_disk,
	.recorded = kernel_recorded,
	.load = kernel_load,
	.load_pages = kernel_load_pages,
	.disk_read = kernel_disk_read,
	.unmounted_pages = kernel_unmounted_pages,
	.code = kernel_code,
	.overlap = kernel_overlap,
	.board = kernel_board,
	.debug = kernel_debug,
	.name_code = kernel_name_code,
};
