/* files.c -- from operands to files. */
#include "cli/files.h"

#include <errno.h>
#include <fts.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/must.h"

enum { PATHS_MIN = 64 };

static void input_files_add(struct input_files *list, const char *path)
{
	if (list->count == list->cap) {
		list->cap = list->cap ? 2 * list->cap : PATHS_MIN;
		list->paths = must_realloc(list->paths, list->cap * sizeof(*list->paths));
	}
	list->paths[list->count++] = must_strdup(path);
}

static int by_file_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static bool ends_in(const char *name, const char *suffix)
{
	size_t len = strlen(name), suffix_len = strlen(suffix);

	return len >= suffix_len && !strcmp(name + len - suffix_len, suffix);
}

static int add_below(struct input_files *list, char *dir, const char *suffix, struct err *err)
{
	char *const roots[] = { dir, NULL };
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_file_name);
	size_t before = list->count;
	FTSENT *entry;
	int error = 0;

	if (!walk)
		return err_sys(err, errno, "%s", dir);
	while (!error && (entry = fts_read(walk))) {
		if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR)
			error = err_sys(err, entry->fts_errno, "%s", entry->fts_path);
		else if (entry->fts_info == FTS_F && ends_in(entry->fts_name, suffix))
			input_files_add(list, entry->fts_path);
	}
	fts_close(walk);
	if (!error && list->count == before)
		error = err_set(err, ENOENT, "%s: no file that ends in %s", dir, suffix);
	return error;
}

int files_expand(struct input_files *list, char *const *operands, const char *suffix,
		 struct err *err)
{
	struct stat st;
	int error = 0;

	for (; !error && *operands; operands++) {
		if (!stat(*operands, &st) && S_ISDIR(st.st_mode))
			error = add_below(list, *operands, suffix, err);
		else
			input_files_add(list, *operands);
	}
	return error;
}

void files_free(struct input_files *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->paths[i]);
	free(list->paths);
	*list = (struct input_files){ 0 };
}
