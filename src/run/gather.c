/* gather.c -- findings of several processes in one place.
 *
 * Each of several processes of a command has its own directory in that of the run, which it needs
 * to be resumed. What a user looks for is in findings/ and unconfirmed/ of the run, whichever found
 * it: the same files under a second name. Where there can be none, a row keeps its folder. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/must.h"
#include "run/rows.h"
#include "storage/remove_tree.h"

#define JOB "job-" /* cli/jobs.h */

/* Directories are made, files get another name. */
static int gather_link_tree(int from, int to)
{
	DIR *dir = fdopendir(from);
	const struct dirent *entry;
	int r = 0;

	if (!dir) {
		close(from);
		return -1;
	}
	while (!r && (entry = readdir(dir))) {
		const char *name = entry->d_name;
		int below;

		if (!strcmp(name, ".") || !strcmp(name, ".."))
			continue;
		below = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below < 0) {
			r = linkat(from, name, to, name, 0);
			continue;
		}
		r = mkdirat(to, name, 0755);
		if (!r) {
			int copy = openat(to, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

			r = copy < 0 ? -1 : gather_link_tree(below, copy);
			if (copy >= 0)
				close(copy);
		} else {
			close(below);
		}
	}
	closedir(dir);
	return r;
}

static int gather_folder(const struct run *r, const char *old, const char *folder)
{
	int dir = open(r->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), from, to, status = -1;

	if (dir < 0)
		return -1;
	from = openat(dir, old, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (from >= 0 && !mkdirat(dir, folder, 0755)) {
		to = openat(dir, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (to >= 0)
			status = gather_link_tree(from, to);
		else
			close(from);
		if (to >= 0)
			close(to);
	} else if (from >= 0) {
		close(from);
	}
	close(dir);
	return status;
}

/* Of what lies below a row, the folder is where the row's is now. */
static void gather_others(const struct run *r, json_t *row, const char *old, const char *folder)
{
	size_t i, len = strlen(old);
	struct buf path = BUF_INIT;
	json_t *other;

	json_array_foreach(json_object_get(row, "others"), i, other)
	{
		const char *its = json_text(other, "folder");

		if (strncmp(its, old, len) != 0 || its[len] != '/')
			continue;
		buf_clear(&path);
		buf_addf(&path, "%s%s", folder, its + len);
		row_set_folder(r, other, buf_str(&path));
	}
	buf_free(&path);
}

/* Whatever an earlier part of the run has gathered is made again. */
static void gather_clear(const struct run *r, const char *place)
{
	struct buf path = BUF_INIT;
	struct err none = { 0 };
	int fd;

	buf_addf(&path, "%s/%s", r->dir, place);
	if (mkdir(buf_str(&path), 0755) && errno == EEXIST) {
		fd = open(buf_str(&path), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0) {
			remove_tree_below(fd, &none);
			close(fd);
		}
	}
	buf_free(&path);
}

static bool row_is_of_job(const json_t *row)
{
	return !strncmp(json_text(row, "folder"), JOB, sizeof(JOB) - 1);
}

static void gather_list(const struct run *r, json_t *rows, const char *place)
{
	struct buf folder = BUF_INIT;
	bool cleared = false;
	unsigned number = 0;
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		char *old;
		const char *name;

		if (!row_is_of_job(row))
			continue;
		if (!cleared)
			gather_clear(r, place);
		cleared = true;
		old = must_strdup(json_text(row, "folder"));
		name = strrchr(old, '-'); /* NNN-CODE */
		buf_clear(&folder);
		buf_addf(&folder, "%s/%03u%s", place, ++number, name);
		if (!gather_folder(r, old, buf_str(&folder))) {
			gather_others(r, row, old, buf_str(&folder));
			row_set_folder(r, row, buf_str(&folder));
		}
		free(old);
	}
	buf_free(&folder);
}

void run_gather(struct run *r)
{
	gather_list(r, r->findings, FINDINGS);
	gather_list(r, r->unconfirmed, UNCONFIRMED);
}
