/* stock_kernel.c -- a kernel of a distribution: its image and its modules, installed or unpacked.
 */
#include "confirm/stock_kernel.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/dirs.h"
#include "base/err.h"
#include "base/must.h"
#include "process/shell.h"
#include "storage/janitor.h"
#include "storage/program.h"
#include "target/kernels.h"

enum { DOWNLOAD_SECONDS = 3600, UNPACK_SECONDS = 600, CLEAN_SECONDS = 60 };

#define IMAGE_PREFIX "vmlinuz-"

static bool is_directory(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static void stock_kernels_put(struct stock_kernels *k, const char *name, const char *image,
			      const char *modules)
{
	k->list = must_realloc(k->list, (k->count + 1) * sizeof(*k->list));
	k->list[k->count++] = (struct stock_kernel){
		must_strdup(name),
		must_strdup(image),
		modules ? must_strdup(modules) : NULL,
	};
}

void stock_kernels_free(struct stock_kernels *k)
{
	for (size_t i = 0; i < k->count; i++) {
		free(k->list[i].name);
		free(k->list[i].image);
		free(k->list[i].modules);
	}
	free(k->list);
}

/* The modules of ROOT/boot/vmlinuz-VERSION are in ROOT/lib/modules/VERSION. */
static void add_image(struct stock_kernels *k, const char *name, const char *image)
{
	static const char *const places[] = { "lib/modules", "usr/lib/modules" };
	const char *file = strrchr(image, '/') ? strrchr(image, '/') + 1 : image;
	bool versioned = !strncmp(file, IMAGE_PREFIX, strlen(IMAGE_PREFIX));
	const char *modules = NULL;
	char path[PATH_MAX];

	for (size_t i = 0; versioned && !modules && i < ARRAY_LEN(places); i++) {
		snprintf(path, sizeof(path), "%.*s../%s/%s", (int)(file - image), image, places[i],
			 file + strlen(IMAGE_PREFIX));
		if (is_directory(path))
			modules = path;
	}
	stock_kernels_put(k, name, image, modules);
}

/* All kernels below the root directory of a system or of an unpacked package. name: of all, or
 * NULL, for that of the file. */
static size_t add_root(struct stock_kernels *k, const char *name, const char *root)
{
	struct buf pattern = BUF_INIT;
	glob_t found = { 0 };
	size_t before = k->count;

	buf_addf(&pattern, "%s/boot/" IMAGE_PREFIX "*", root);
	glob(pattern.data, 0, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc; i++)
		add_image(k, name ? name : strrchr(found.gl_pathv[i], '/') + 1, found.gl_pathv[i]);
	globfree(&found);
	buf_free(&pattern);
	return k->count - before;
}

static int add_directory(struct stock_kernels *k, const char *name, const char *dir,
			 struct err *err)
{
	if (!add_root(k, name, dir))
		return err_set(err, ENOENT, "%s has no kernel (boot/" IMAGE_PREFIX "*)", dir);
	return 0;
}

/* Runs the command in the directory. */
static int run_in(const char *dir, const char *command, double seconds, struct err *err)
{
	struct buf text = BUF_INIT, output = BUF_INIT;
	int status = 0, r;

	buf_adds(&text, "env --chdir=");
	shell_add_quoted(&text, dir, strlen(dir));
	buf_addf(&text, " %s", command);
	r = program_run_terminated(text.data, -1, seconds, &status, &output, err);
	if (!r && status)
		r = err_set(err, EIO, "%s ends with status %d: %s", command, status,
			    buf_str(&output));
	buf_free(&text);
	buf_free(&output);
	return r;
}

static int unpack(const char *deb, const char *dir, struct err *err)
{
	struct buf command = BUF_INIT, lacking = BUF_INIT;
	int r = dirs_make(dir, err);

	program_lacking("dpkg-deb", "dpkg", &lacking);
	if (!r && lacking.len)
		r = err_set(err, ENOENT, "%s", lacking.data);
	buf_adds(&command, "dpkg-deb -x ");
	shell_add_quoted(&command, deb, strlen(deb));
	buf_adds(&command, " .");
	if (!r)
		r = run_in(dir, command.data, UNPACK_SECONDS, err);
	buf_free(&command);
	buf_free(&lacking);
	return r;
}

static int add_deb(struct stock_kernels *k, const char *deb, const char *work, struct err *err)
{
	const char *file = strrchr(deb, '/') ? strrchr(deb, '/') + 1 : deb;
	struct buf dir = BUF_INIT;
	char absolute[PATH_MAX];
	int r = realpath(deb, absolute) ? 0 : err_sys(err, errno, "%s", deb);

	buf_addf(&dir, "%s/kernel-%zu", work, k->count);
	if (!r)
		r = unpack(absolute, dir.data, err);
	if (!r)
		r = add_directory(k, file, dir.data, err);
	buf_free(&dir);
	return r;
}

/* Where packages are unpacked to, one directory for each; empty where the user has no cache. */
static void stock_directory(struct buf *ret)
{
	kernels_directory(ret);
	if (ret->len)
		buf_adds(ret, "/stock");
}

/* The only file of the directory. */
static int find_download(const char *dir, struct buf *ret, struct err *err)
{
	struct buf pattern = BUF_INIT;
	glob_t found = { 0 };
	int r = 0;

	buf_addf(&pattern, "%s/*.deb", dir);
	glob(pattern.data, 0, NULL, &found);
	if (found.gl_pathc == 1)
		buf_adds(ret, found.gl_pathv[0]);
	else
		r = err_set(err, ENOENT, "apt-get has downloaded no package");
	globfree(&found);
	buf_free(&pattern);
	return r;
}

/* Under its name it is whole: it is made beside it and renamed. */
static int download(const char *package, const char *cache, const char *dir, struct err *err)
{
	struct buf command = BUF_INIT, deb = BUF_INIT, unpacked = BUF_INIT, lacking = BUF_INIT;
	struct janitor *janitor = NULL;
	int r = kernels_make_directory(cache, err);

	program_lacking("apt-get", "apt", &lacking);
	if (!r && lacking.len)
		r = err_set(err, ENOENT, "%s", lacking.data);
	if (!r)
		r = janitor_open(&janitor, cache, err);
	buf_addf(&command, "apt-get -q download %s", package);
	if (!r)
		r = run_in(janitor_path(janitor), command.data, DOWNLOAD_SECONDS, err);
	if (!r)
		r = find_download(janitor_path(janitor), &deb, err);
	if (!r) {
		buf_addf(&unpacked, "%s/unpacked", janitor_path(janitor));
		r = unpack(deb.data, unpacked.data, err);
	}
	if (!r && rename(unpacked.data, dir))
		r = err_sys(err, errno, "cannot keep %s", dir);
	if (janitor)
		janitor_close(janitor, CLEAN_SECONDS);
	buf_free(&command);
	buf_free(&deb);
	buf_free(&unpacked);
	buf_free(&lacking);
	return r;
}

/* Lower case letters, digits and + - . are what names of Debian's packages have. */
static bool is_package_name(const char *text)
{
	return *text >= 'a' && *text <= 'z' &&
	       !text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789+-.")];
}

static int add_package(struct stock_kernels *k, const char *package, struct err *err)
{
	struct buf cache = BUF_INIT, dir = BUF_INIT;
	int r = 0;

	stock_directory(&cache);
	buf_addf(&dir, "%s/%s", buf_str(&cache), package);
	if (!is_package_name(package))
		r = err_set(err, ENOENT, "%s is neither a file, nor a directory, nor a package",
			    package);
	else if (!cache.len)
		r = err_set(err, ENOENT,
			    "cannot find the cache: neither XDG_CACHE_HOME nor HOME is set");
	else if (!is_directory(dir.data))
		r = download(package, cache.data, dir.data, err);
	if (!r)
		r = add_directory(k, package, dir.data, err);
	buf_free(&cache);
	buf_free(&dir);
	return r;
}

/* IMAGE,DIR */
static int add_pair(struct stock_kernels *k, const char *text, const char *comma, struct err *err)
{
	struct buf image = BUF_INIT;
	int r = 0;

	buf_add(&image, text, (size_t)(comma - text));
	if (access(buf_str(&image), R_OK))
		r = err_sys(err, errno, "%s", buf_str(&image));
	else if (!is_directory(comma + 1))
		r = err_sys(err, ENOTDIR, "%s", comma + 1);
	else
		stock_kernels_put(k, buf_str(&image), buf_str(&image), comma + 1);
	buf_free(&image);
	return r;
}

int stock_kernels_add(struct stock_kernels *k, const char *text, const char *work, struct err *err)
{
	const char *comma = strrchr(text, ','), *dot = strrchr(text, '.');

	if (is_directory(text))
		return add_directory(k, text, text, err);
	if (!access(text, R_OK)) {
		if (dot && !strcmp(dot, ".deb"))
			return add_deb(k, text, work, err);
		add_image(k, text, text);
		return 0;
	}
	return comma ? add_pair(k, text, comma, err) : add_package(k, text, err);
}

int stock_kernels_add_all(struct stock_kernels *k, struct err *err)
{
	struct buf pattern = BUF_INIT;
	glob_t found = { 0 };

	add_root(k, NULL, "");
	stock_directory(&pattern);
	buf_adds(&pattern, "/*");
	if (pattern.len > 2)
		glob(pattern.data, 0, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc; i++)
		add_root(k, strrchr(found.gl_pathv[i], '/') + 1, found.gl_pathv[i]);
	globfree(&found);
	buf_free(&pattern);
	if (k->count)
		return 0;
	return err_set(err, ENOENT,
		       "no kernel of a distribution is installed or unpacked here; name one with "
		       "--kernel PACKAGE (apt-cache search --names-only '^linux-image-[0-9]')");
}
