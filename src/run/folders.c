/* folders.c -- a folder for each finding of a run. */
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "run/rows.h"

/* Of a finding that could not be written, so much of its trace is kept in the list. */
enum { TRACE_KEPT_MAX = 8192, NUMBER_MAX = 999999, README_MAX = 1 << 24 };

void row_set_folder(const struct run *r, json_t *row, const char *folder)
{
	struct buf path = BUF_INIT;

	buf_addf(&path, "%s/%s", r->dir, folder);
	json_object_set_new(row, "folder", row_json_text(folder));
	json_object_set_new(row, "path", row_json_text(buf_str(&path)));
	buf_free(&path);
}

/* PLACE/NNN-CODE, the first that is not there yet. */
static int row_new_folder(const struct run *r, const char *place, const char *code,
			  char ret[PATH_MAX], struct err *err)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%.3000s/%s", r->dir, place);
	if (mkdir(path, 0755) && errno != EEXIST)
		return err_sys(err, errno, "cannot make the directory %s", path);
	for (unsigned number = 1; number <= NUMBER_MAX; number++) {
		glob_t there;
		int found;

		snprintf(path, sizeof(path), "%.3000s/%s/%03u-*", r->dir, place, number);
		found = glob(path, 0, NULL, &there);
		globfree(&there);
		if (!found)
			continue;
		snprintf(ret, PATH_MAX, "%s/%03u-%s", place, number, code);
		return 0;
	}
	return err_set(err, ENOSPC, "%s: too many findings", r->dir);
}

int row_new_folder_below(const struct run *r, const json_t *row, const char *code,
			 char ret[PATH_MAX], struct err *err)
{
	char place[PATH_MAX];

	snprintf(place, sizeof(place), "%.900s/" OTHERS, json_text(row, "folder"));
	return row_new_folder(r, place, code, ret, err);
}

/* The folder goes to where the finding is listed now, under its present code. */
static int row_move_folder(struct run *r, json_t *row, const char *place, const char *code,
			   struct err *err)
{
	char folder[PATH_MAX], from[PATH_MAX], to[PATH_MAX];
	const char *old = json_text(row, "folder"), *dash = strrchr(old, '-');
	size_t len = strlen(place);

	if (*old && !strncmp(old, place, len) && old[len] == '/' && dash) {
		if (!strcmp(dash + 1, code))
			return 0;
		snprintf(folder, sizeof(folder), "%.*s-%s", (int)(dash - old), old, code);
	} else {
		int status = row_new_folder(r, place, code, folder, err);

		if (status)
			return status;
	}
	snprintf(from, sizeof(from), "%s/%s", r->dir, old);
	snprintf(to, sizeof(to), "%.3000s/%.1000s", r->dir, folder);
	if (*old && rename(from, to))
		return err_sys(err, errno, "cannot make %s", to);
	row_set_folder(r, row, folder);
	return 0;
}

void row_remove_folder(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
	rmdir(path);
}

/* What could not be written stays in the list, with the reason and its calls. */
static void row_keep_failure(json_t *row, const struct finding *f, const struct err *err)
{
	struct buf calls = BUF_INIT, clipped = BUF_INIT;

	finding_print_calls(f, &calls);
	buf_add_clipped(&clipped, buf_str(&calls), TRACE_KEPT_MAX);
	json_object_set_new(row, "failure", row_json_text(err->text));
	json_object_set_new(row, "trace", row_json_text(buf_str(&clipped)));
	buf_free(&calls);
	buf_free(&clipped);
}

void row_write_folder(struct run *r, json_t *row, const char *place, const struct finding *f,
		      const struct target *t)
{
	struct err err = { 0 };
	int status = row_move_folder(r, row, place, problem_table[f->discrepancy.code].name, &err);

	if (!status)
		status = finding_write(f, t, json_text(row, "path"), &err);
	if (status) {
		row_keep_failure(row, f, &err);
		return;
	}
	json_object_del(row, "failure");
	json_object_del(row, "trace");
}

static const char others_heading[] = "\n## Same cause\n";

/* Takes the place of what was said of them before. */
void row_write_others(const struct run *r, const json_t *row)
{
	const json_t *others = json_object_get(row, "others"), *other;
	struct buf text = BUF_INIT;
	struct err none = { 0 };
	char path[PATH_MAX], *before;
	size_t i;

	snprintf(path, sizeof(path), "%.3000s/%.900s/README.md", r->dir, json_text(row, "folder"));
	if (!json_array_size(others) || buf_read_file(&text, path, README_MAX, &none)) {
		buf_free(&text);
		return;
	}
	before = strstr(buf_str(&text), others_heading);
	if (before)
		text.len = (size_t)(before - text.data);
	buf_addf(&text, "%s\nThe same shows after other calls (%s), not shrunk:\n\n",
		 others_heading, row_group(row));
	json_array_foreach(others, i, other)
	{
		const char *folder = strrchr(json_text(other, "folder"), '/');

		buf_addf(&text, "- `%s`", json_text(other, "signature"));
		buf_addf(&text, folder ? " (`" OTHERS "/%s`)\n" : "%s\n", folder ? folder + 1 : "");
	}
	buf_write_file(&text, path, &none);
	buf_free(&text);
}
