/* kernels.c -- where the kernels lie that run in a process. */
#include "target/kernels.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/dirs.h"
#include "base/trust.h"
#include "gen/kernel_hash.h"
#include "settings/ini.h"

/* The names of all bugs that were put into a kernel. */
enum { BUGS_BYTES_MAX = 64 << 10 };

const char kernels_fitting[] = ASSAY_KERNEL_HASH;

void kernels_directory(struct buf *ret)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache && *cache == '/')
		buf_addf(ret, "%s/assay/kernel", cache);
	else if (home && *home == '/')
		buf_addf(ret, "%s/.cache/assay/kernel", home);
}

static void kernels_add_path(const char *name, const char *file, struct buf *ret)
{
	kernels_directory(ret);
	buf_addf(ret, "/%s/%s/%s", kernels_fitting, name ? name : "usual", file);
}

void kernels_path(const char *name, struct buf *ret)
{
	kernels_add_path(name, "linux", ret);
}

int kernels_check(const char *name, struct err *err)
{
	struct buf path = BUF_INIT;
	int status;

	kernels_path(name, &path);
	status = trust_check(path.data, err);
	buf_free(&path);
	return status;
}

int kernels_make_directory(const char *path, struct err *err)
{
	int status = dirs_make_all(path, err);

	return status ? status : trust_check(path, err);
}

/* What the build wrote down about it. */
static void kernels_add_about(const char *name, const char *key, struct buf *ret)
{
	struct buf path = BUF_INIT;
	const char *value;
	struct ini about;

	kernels_add_path(name, "about", &path);
	ini_read(&about, path.data, NULL);
	value = ini_get(&about, "kernel", key);
	if (value)
		buf_adds(ret, value);
	ini_free(&about);
	buf_free(&path);
}

void kernels_version(const char *name, struct buf *ret)
{
	kernels_add_about(name, "version", ret);
}

void kernels_flavour(const char *name, struct buf *ret)
{
	kernels_add_about(name, "flavour", ret);
}

void kernels_memory(const char *name, struct buf *ret)
{
	kernels_add_about(name, "memory", ret);
}

void kernels_points_path(const char *name, struct buf *ret)
{
	kernels_add_path(name, "points", ret);
}

bool kernels_has_bug(const char *name, const char *bug)
{
	struct buf path = BUF_INIT, bugs = BUF_INIT, line = BUF_INIT;
	bool found;

	kernels_add_path(name, "seeded", &path);
	buf_adds(&bugs, "\n");
	buf_addf(&line, "\n%s\n", bug);
	found = !buf_read_file(&bugs, path.data, BUGS_BYTES_MAX, NULL) &&
		strstr(buf_str(&bugs), line.data);
	buf_free(&line);
	buf_free(&bugs);
	buf_free(&path);
	return found;
}

void kernels_source_name(const char *directory, struct buf *ret)
{
	for (const char *c = strrchr(directory, '/') + 1; *c; c++)
		buf_addch(ret, isascii(*c) && (isalnum(*c) || strchr("._+-", *c)) ? *c : '-');
}

void kernels_coverage_name(const char *name, struct buf *ret)
{
	static const char coverage[] = "coverage";
	size_t len = name ? strlen(name) : 0, ending = sizeof(coverage) - 1;

	buf_addf(ret, "%s", name ? name : "");
	if (len < ending || strcmp(name + len - ending, coverage))
		buf_addf(ret, "%s%s", len ? "-" : "", coverage);
}
