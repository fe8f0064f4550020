/* kernel_list.c -- which kernels were built, and what each is called.
 *
 * Below the cache there is a directory for everything that kernel and checker can agree on, and in
 * it one for each kernel, with a file `about` and the kernel itself. Links to it are its other
 * names. */
#include "cli/kernel_list.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "settings/ini.h"
#include "target/kernels.h"

enum { HASH_DIGITS = 16 };

struct kernel_row {
	struct buf path;  /* of its directory */
	struct buf names; /* each behind the other's NUL */
	struct ini about;
	bool usable;
	long long size;
};

static const char *kernel_about(const struct kernel_row *row, const char *key)
{
	const char *value = ini_get(&row->about, "kernel", key);

	return value && *value ? value : NULL;
}

static void print_kernel_row(const struct kernel_row *row)
{
	const char *version = kernel_about(row, "version"), *flavour = kernel_about(row, "flavour");
	struct buf names = BUF_INIT;

	for (size_t at = 0; at < row->names.len; at += strlen(row->names.data + at) + 1)
		buf_addf(&names, "%s%s", at ? ", " : "", row->names.data + at);
	printf("%-12s %-6s %-8s %5.1f MB  %s\n", version ? version : "?", flavour ? flavour : "-",
	       row->usable ? "usable" : "outdated", (double)row->size / 1e6, buf_str(&names));
	buf_free(&names);
}

static json_t *kernel_row_json(const struct kernel_row *row)
{
	json_t *names = json_array();

	for (size_t at = 0; at < row->names.len; at += strlen(row->names.data + at) + 1)
		json_array_append_new(names, json_string(row->names.data + at));
	return json_pack("{s:o, s:s?, s:s?, s:s?, s:s?, s:s?, s:b, s:I, s:s}", "names", names,
			 "version", kernel_about(row, "version"), "flavour",
			 kernel_about(row, "flavour"), "source", kernel_about(row, "source"),
			 "config", kernel_about(row, "config"), "patch", kernel_about(row, "patch"),
			 "usable", row->usable, "size", (json_int_t)row->size, "path",
			 buf_str(&row->path));
}

static void kernel_add_name(struct kernel_row *row, const char *name)
{
	buf_add(&row->names, name, strlen(name) + 1);
}

/* Other names first: they are the shorter ones. */
static void fill_names(struct kernel_row *row, const char *directory, const char *name,
		       struct dirent **entries, int count)
{
	struct buf path = BUF_INIT;
	char to[256];
	ssize_t len;

	for (int i = 0; i < count; i++) {
		if (entries[i]->d_type != DT_LNK)
			continue;
		buf_clear(&path);
		buf_addf(&path, "%s/%s", directory, entries[i]->d_name);
		len = readlink(path.data, to, sizeof(to) - 1);
		if (len < 0)
			continue;
		to[len] = '\0';
		if (!strcmp(to, name))
			kernel_add_name(row, entries[i]->d_name);
	}
	kernel_add_name(row, name);
	buf_free(&path);
}

static void fill_about(struct kernel_row *row)
{
	struct buf path = BUF_INIT;
	struct stat st;

	buf_addf(&path, "%s/about", row->path.data);
	ini_read(&row->about, path.data, NULL);
	buf_clear(&path);
	buf_addf(&path, "%s/linux", row->path.data);
	if (!stat(path.data, &st))
		row->size = (long long)st.st_blocks * 512;
	buf_free(&path);
}

static void list_kernel(const char *directory, struct dirent **entries, int count, int at,
			bool usable, json_t *array)
{
	struct kernel_row row = { .path = BUF_INIT, .names = BUF_INIT, .usable = usable };

	buf_addf(&row.path, "%s/%s", directory, entries[at]->d_name);
	fill_about(&row);
	fill_names(&row, directory, entries[at]->d_name, entries, count);
	if (array)
		json_array_append_new(array, kernel_row_json(&row));
	else
		print_kernel_row(&row);
	ini_free(&row.about);
	buf_free(&row.path);
	buf_free(&row.names);
}

static int is_kernel_name(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Beside them the cache has sources, kernels of distributions and clones. */
static int is_agreement(const struct dirent *entry)
{
	size_t digits = strspn(entry->d_name, "0123456789abcdef");

	return digits == HASH_DIGITS && !entry->d_name[digits];
}

/* The kernels of one agreement: all that fit this program, or none. */
static void list_agreeing(const char *cache, const char *hash, json_t *array)
{
	struct buf path = BUF_INIT;
	struct dirent **entries;
	int count;

	buf_addf(&path, "%s/%s", cache, hash);
	count = scandir(path.data, &entries, is_kernel_name, alphasort);
	for (int i = 0; i < count; i++)
		if (entries[i]->d_type == DT_DIR)
			list_kernel(path.data, entries, count, i, !strcmp(hash, kernels_fitting),
				    array);
	for (int i = 0; i < count; i++)
		free(entries[i]);
	if (count >= 0)
		free(entries);
	buf_free(&path);
}

void kernel_list_print(const char *cache, bool json)
{
	json_t *array = json ? json_array() : NULL;
	struct dirent **hashes;
	int count = scandir(cache, &hashes, is_agreement, alphasort);

	for (int i = 0; i < count; i++) {
		list_agreeing(cache, hashes[i]->d_name, array);
		free(hashes[i]);
	}
	if (count >= 0)
		free(hashes);
	if (!json)
		return;
	json_dumpf(array, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(array);
}
