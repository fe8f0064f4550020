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

#define IMAGE_NAME "vmlinuz"
#define IMAGE_PREFIX IMAGE_NAME "-"

static bool is_directory(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static void stock_kernels_put(struct stock_kernels *k, const char *name, const char *image,
			      const char *modules)
{
	char absolute[PATH_MAX]; /* it is opened from another directory */

	k->list = must_realloc(k->list, (k->count + 1) * sizeof(*k->list));
	k->list[k->count++] = (struct stock_kernel){
		must_strdup(name),
		must_strdup(realpath(image, absolute) ? absolute : image),
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

/* Below the root directory of a system or of an unpacked package. */
static const char *const module_places[] = { "usr/lib/modules", "lib/modules" };

/* The modules of ROOT/boot/vmlinuz-VERSION are in ROOT/lib/modules/VERSION; those of
 * ROOT/lib/modules/VERSION/vmlinuz lie beside it. */
static void add_image(struct stock_kernels *k, const char *name, const char *image)
{
	const char *file = strrchr(image, '/') ? strrchr(image, '/') + 1 : image;
	const char *modules = NULL;
	char path[PATH_MAX];

	if (!strcmp(file, IMAGE_NAME)) {
		snprintf(path, sizeof(path), "%.*s.", (int)(file - image), image);
		modules = path;
	}
	for (size_t i = 0; !strncmp(file, IMAGE_PREFIX, strlen(IMAGE_PREFIX)) && !modules &&
			   i < ARRAY_LEN(module_places);
	     i++) {
		snprintf(path, sizeof(path), "%.*s../%s/%s", (int)(file - image), image,
			 module_places[i], file + strlen(IMAGE_PREFIX));
		if (is_directory(path))
			modules = path;
	}
	stock_kernels_put(k, name, image, modules);
}

/* name: of all that fit, or NULL, for that of the file. */
static size_t add_matching(struct stock_kernels *k, const char *name, const char *root,
			   const char *pattern)
{
	struct buf path = BUF_INIT;
	glob_t found = { 0 };
	size_t before = k->count;

	buf_addf(&path, "%s/%s", root, pattern);
	glob(path.data, 0, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc; i++)
		add_image(k, name ? name : found.gl_pathv[i], found.gl_pathv[i]);
	globfree(&found);
	buf_free(&path);
	return k->count - before;
}

/* All kernels of a system or of an unpacked package, each once: where distributions have them. */
static size_t add_root(struct stock_kernels *k, const char *name, const char *root)
{
	size_t added = add_matching(k, name, root, "boot/" IMAGE_PREFIX "*");

	if (!added)
		added = add_matching(k, name, root, "usr/lib/modules/*/" IMAGE_NAME);
	return added ? added : add_matching(k, name, root, "lib/modules/*/" IMAGE_NAME);
}

static int add_directory(struct stock_kernels *k, const char *name, const char *dir,
			 struct err *err)
{
	if (!add_root(k, name, dir))
		return err_set(err, ENOENT,
			       "%s has no kernel (boot/" IMAGE_PREFIX "*, lib/modules/*/" IMAGE_NAME
			       ")",
			       dir);
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

/* Downloads a package into the directory and unpacks it below it, in "unpacked". */
static int download(const char *package, const char *dir, struct err *err)
{
	struct buf text = BUF_INIT, unpacked = BUF_INIT;
	glob_t found = { 0 };
	int r;

	buf_addf(&text, "apt-get -q download %s", package);
	r = run_in(dir, text.data, DOWNLOAD_SECONDS, err);
	buf_clear(&text);
	buf_addf(&text, "%s/%s_*.deb", dir, package);
	buf_addf(&unpacked, "%s/unpacked", dir);
	if (!r && glob(text.data, 0, NULL, &found))
		r = err_set(err, ENOENT, "apt-get has downloaded no %s", package);
	if (!r)
		r = unpack(found.gl_pathv[0], unpacked.data, err);
	globfree(&found);
	buf_free(&text);
	buf_free(&unpacked);
	return r;
}

static bool has_modules(const char *root)
{
	char path[PATH_MAX];
	bool found = false;

	for (size_t i = 0; !found && i < ARRAY_LEN(module_places); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, module_places[i]);
		found = is_directory(path);
	}
	return found;
}

/* linux-image-VERSION has the image and the modules, or, since Debian 14, needs
 * linux-binary-VERSION and linux-modules-VERSION, which have them. */
static int download_parts(const char *package, const char *dir, struct err *err)
{
	static const char prefix[] = "linux-image-";
	static const char *const parts[] = { "linux-binary-", "linux-modules-" };
	struct buf text = BUF_INIT;
	int r = download(package, dir, err);

	buf_addf(&text, "%s/unpacked", dir);
	if (r || has_modules(text.data) || strncmp(package, prefix, strlen(prefix))) {
		buf_free(&text);
		return r;
	}
	for (size_t i = 0; !r && i < ARRAY_LEN(parts); i++) {
		buf_clear(&text);
		buf_addf(&text, "%s%s", parts[i], package + strlen(prefix));
		r = download(text.data, dir, err);
	}
	buf_free(&text);
	return r;
}

/* Under its name it is whole: it is made beside it and renamed. */
static int fetch_package(const char *package, const char *cache, const char *dir, struct err *err)
{
	struct buf unpacked = BUF_INIT, lacking = BUF_INIT;
	struct janitor *janitor = NULL;
	int r = kernels_make_directory(cache, err);

	program_lacking("apt-get", "apt", &lacking);
	if (!r && lacking.len)
		r = err_set(err, ENOENT, "%s", lacking.data);
	if (!r)
		r = janitor_open(&janitor, cache, err);
	if (!r)
		r = download_parts(package, janitor_path(janitor), err);
	if (!r) {
		buf_addf(&unpacked, "%s/unpacked", janitor_path(janitor));
		if (rename(unpacked.data, dir))
			r = err_sys(err, errno, "cannot keep %s", dir);
	}
	if (janitor)
		janitor_close(janitor, CLEAN_SECONDS);
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
		r = fetch_package(package, cache.data, dir.data, err);
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
