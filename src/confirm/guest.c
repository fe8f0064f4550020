/* guest.c -- the files that a guest starts with: its first file system, and its disk. */
#include "confirm/guest.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/must.h"
#include "channel/request.h"
#include "confirm/archive.h"
#include "confirm/modules.h"
#include "confirm/stock_kernel.h"
#include "sandbox/compile.h"
#include "storage/program.h"
#include "target/description.h"

enum { CONSOLE_MAJOR = 5, CONSOLE_MINOR = 1, REPAIR_SECONDS = 60 };

#define BACK "/back"

/* What runs in the place of a reproducer where a disk cannot be mounted: then it can. */
static const char mounted_source[] = "int main(void) { return 0; }";

static const struct {
	const char *name, *text;
} guest_sources[] = {
#define EMBEDDED(name, text) { name, text },
#include "gen/embedded_guest.h"
#undef EMBEDDED
};

static const char *guest_source_text(const char *name)
{
	const char *text = NULL;

	for (size_t i = 0; i < ARRAY_LEN(guest_sources); i++)
		if (!strcmp(guest_sources[i].name, name))
			text = guest_sources[i].text;
	must(text);
	return text;
}

/* What file systems ask for by name while they are mounted, and the disk. */
static const char *const usual_modules[] = {
	"virtio_pci", "virtio_blk", "crc32c_generic", "crc32_generic",
	"nls_cp437",  "nls_ascii",  "nls_iso8859_1",  "nls_utf8",
};

/* Modules that have another name than their file system, or that it asks for. */
static const struct {
	const char *fs, *module;
} more_modules[] = {
	{ "ext2", "ext4" },     { "ext3", "ext4" },     { "ubifs", "lzo" },
	{ "ubifs", "lzo_rle" }, { "ubifs", "deflate" }, { "ubifs", "zstd" },
};

/* Simulated flash memory, of the size that the kernel in a process has. */
#define FLASH_PARAMETERS "total_size=1024 erase_size=16"

static bool guest_has_ubi(const struct target_description *d)
{
	return d->source && !strncmp(d->source, "ubi", 3);
}

static bool guest_has_flash(const struct target_description *d)
{
	return guest_has_ubi(d) || (d->source && !strncmp(d->source, "mtd", 3));
}

/* A program that does not compile is our failure: we wrote it. */
static int guest_compile(const char *what, const char *source, struct buf *out, struct err *err)
{
	struct program_report report;
	int r = compile_program(source, "-O1 -static", out, &report, err);

	if (r)
		return r;
	if (report.fate == PROGRAM_NO_COMPILER)
		r = err_set(err, ENOENT, "there is no compiler; Debian has one in gcc");
	else if (report.fate != PROGRAM_EXITED)
		r = err_set(err, EINVAL, "%s cannot be compiled and linked statically: %s", what,
			    buf_str(&report.output));
	program_report_free(&report);
	return r;
}

static void guest_path(char path[PATH_MAX], const char *dir, const char *name)
{
	snprintf(path, PATH_MAX, "%s/%s", dir, name);
}

static int guest_make_disk(struct guest *g, struct err *err)
{
	const struct target_description *d = g->d;
	struct buf lacking = BUF_INIT;
	int r = 0;

	program_lacking(d->mkfs, d->packages, &lacking);
	program_lacking_any(d->programs, d->packages, &lacking);
	if (lacking.len)
		r = err_set(err, ENOENT, "%s", lacking.data);
	buf_free(&lacking);
	return r ? r : disk_make(&g->disk, d, false, err);
}

/* Everything but the disk. */
static int guest_make_programs(struct guest *g, const struct target_description *d,
			       const char *source, struct err *err)
{
	int r;

	*g = (struct guest){ .d = d, .has_disk = disk_wanted(d) };
	if (!d->fs || (strcmp(d->kind, "kernel") && strcmp(d->kind, "host")))
		return err_set(err, ENOTSUP, "%s is no file system that a kernel mounts", d->name);
	r = guest_compile("the first program of a guest", guest_source_text("init"), &g->init, err);
	if (!r)
		r = guest_compile("the reproducer", source, &g->repro, err);
	return r;
}

/* By the checker of this machine: its writes are no kernel's. */
static int guest_repair_disk(struct guest *g, struct err *err)
{
	const char *repair = g->d->repair ? g->d->repair : g->d->repair_unmounted;
	struct program_value value = { "image", PROGRAM_FD_PATH };
	struct buf command = BUF_INIT, output = BUF_INIT;
	int code = 0, r;

	if (!repair)
		return err_set(err, ENOTSUP, "%s has no command that repairs it", g->d->name);
	program_fill(&command, repair, &value, 1);
	r = program_run(command.data, g->disk.image.fd, REPAIR_SECONDS, &code, &output, err);
	buf_free(&command);
	buf_free(&output);
	return r;
}

int guest_make_crashed(struct guest *g, const struct target_description *d,
		       const struct guest_crash *crash, struct err *err)
{
	int r = guest_make_programs(
		g, d, crash->recovered ? guest_source_text("compare") : mounted_source, err);

	g->crash = crash;
	if (!r && !g->has_disk)
		r = err_set(err, ENOTSUP, "%s has no disk that a guest can be given", d->name);
	if (!r)
		r = disk_copy(&g->disk, crash->image, err);
	if (!r && crash->repairs)
		r = guest_repair_disk(g, err);
	if (r)
		guest_free(g);
	return r;
}

int guest_make(struct guest *g, const struct target_description *d, const char *source,
	       struct err *err)
{
	int r = guest_make_programs(g, d, source, err);

	if (!r && g->has_disk)
		r = guest_make_disk(g, err);
	if (r)
		guest_free(g);
	return r;
}

void guest_free(struct guest *g)
{
	disk_free(&g->disk);
	buf_free(&g->init);
	buf_free(&g->repro);
}

static int guest_choose_modules(const struct target_description *d, struct modules *m,
				struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < ARRAY_LEN(usual_modules); i++)
		r = modules_choose(m, usual_modules[i], "", err);
	if (!r && guest_has_flash(d))
		r = modules_choose(m, "mtdram", FLASH_PARAMETERS, err);
	if (!r && guest_has_ubi(d))
		r = modules_choose(m, "ubi", "mtd=0", err);
	for (size_t i = 0; !r && i < ARRAY_LEN(more_modules); i++)
		if (!strcmp(d->fs, more_modules[i].fs))
			r = modules_choose(m, more_modules[i].module, "", err);
	return r ? r : modules_choose(m, d->fs, "", err);
}

/* {dir} is a directory in memory, where also those are that the options of a kernel in a process
 * name from its root directory. */
static void guest_add_options(const struct target_description *d, struct buf *out)
{
	static const struct program_value values[] = { { "dir", BACK } };
	struct buf filled = BUF_INIT;

	program_fill(&filled, d->options ? d->options : "", values, ARRAY_LEN(values));
	for (const char *at = buf_str(&filled); *at; at++) {
		buf_addch(out, *at);
		if (!strcmp(d->kind, "kernel") && at[0] == '=' && at[1] == '/')
			buf_adds(out, BACK);
	}
	buf_free(&filled);
}

static const char *guest_source(const struct guest *g)
{
	if (g->has_disk)
		return "/dev/vda";
	return g->d->source ? g->d->source : "none";
}

static void guest_add_modules(struct archive *a, const struct modules *m, struct buf *plan)
{
	struct buf name = BUF_INIT;

	for (size_t i = 0; i < m->count; i++) {
		buf_clear(&name);
		buf_addf(&name, "%s.ko", m->chosen[i].name);
		archive_add_file(a, name.data, 0644, m->chosen[i].object.data,
				 m->chosen[i].object.len);
		buf_addf(plan, "module\t/%s\t%s\n", name.data, m->chosen[i].parameters);
	}
	buf_free(&name);
}

static void guest_add_plan(const struct guest *g, const struct modules *m, struct archive *a)
{
	const char *volume = guest_has_ubi(g->d) ? strchr(g->d->source, ':') : NULL;
	struct buf plan = BUF_INIT;

	guest_add_modules(a, m, &plan);
	if (volume)
		buf_addf(&plan, "volume\t%s\n", volume + 1);
	if (!strcmp(g->d->fs, "overlay"))
		buf_adds(&plan, "layers\n");
	if (g->crash)
		buf_addf(&plan, "crash\t%d\n", g->crash->recovered ? 2 : 1);
	buf_addf(&plan, "mount\t%s\t%s\t", g->d->fs, guest_source(g));
	guest_add_options(g->d, &plan);
	buf_addch(&plan, '\n');
	archive_add_file(a, "plan", 0644, plan.data, plan.len);
	buf_free(&plan);
}

int guest_write_archive(const struct guest *g, const struct stock_kernel *kernel, const char *dir,
			struct err *err)
{
	static const char *const directories[] = { "dev", "proc", "sys", "bin", "mnt", "back" };
	struct archive a = { 0 };
	struct modules m;
	char path[PATH_MAX];
	int r = modules_open(&m, kernel->modules, err);

	if (!r)
		r = guest_choose_modules(g->d, &m, err);
	for (size_t i = 0; i < ARRAY_LEN(directories); i++)
		archive_add_directory(&a, directories[i]);
	archive_add_device(&a, "dev/console", CONSOLE_MAJOR, CONSOLE_MINOR);
	archive_add_file(&a, "init", 0755, g->init.data, g->init.len);
	archive_add_link(&a, "bin/sh", "/init");
	archive_add_file(&a, "repro", 0755, g->repro.data, g->repro.len);
	if (g->crash && g->crash->recovered)
		archive_add_file(&a, "recovered", 0644, g->crash->recovered,
				 strlen(g->crash->recovered));
	guest_add_plan(g, &m, &a);
	archive_end(&a);
	guest_path(path, dir, GUEST_ARCHIVE);
	if (!r)
		r = buf_write_file(&a.bytes, path, err);
	archive_free(&a);
	modules_close(&m);
	return r;
}

int guest_write_disk(const struct guest *g, const char *dir, struct err *err)
{
	char path[PATH_MAX];

	guest_path(path, dir, GUEST_DISK);
	return g->has_disk ? image_write(&g->disk.image, path, err) : 0;
}
