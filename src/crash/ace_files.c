/* ace_files.c -- the names, files and descriptors that exist at one point of a workload. */
#include "crash/ace_files.h"

#include <stdio.h>
#include <string.h>

#include "base/must.h"

enum { FD_FIRST = 3 };

static struct ace_name *files_row(struct ace_files *f, const char *path)
{
	for (unsigned i = 0; i < f->name_count; i++)
		if (!strcmp(f->names[i].path, path))
			return &f->names[i];
	return NULL;
}

struct ace_name *files_find(struct ace_files *f, const char *path)
{
	struct ace_name *name = files_row(f, path);

	return name && name->exists ? name : NULL;
}

bool files_had(struct ace_files *f, const char *path)
{
	return files_row(f, path);
}

void files_parent(const char *path, char ret[ACE_PATH_BYTES])
{
	const char *slash = strrchr(path, '/');
	int len = slash ? (int)(slash - path) : 1;

	snprintf(ret, ACE_PATH_BYTES, "%.*s", len, slash ? path : ".");
}

/* Does the path begin with the directory and a slash? */
static bool path_is_inside(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	return !strncmp(path, dir, len) && path[len] == '/';
}

struct ace_name *files_last_inside(struct ace_files *f, const char *dir)
{
	struct ace_name *last = NULL;

	for (unsigned i = 0; i < f->name_count; i++) {
		struct ace_name *name = &f->names[i];

		if (name->exists && path_is_inside(name->path, dir) &&
		    (!last || strlen(name->path) > strlen(last->path)))
			last = name;
	}
	return last;
}

static struct ace_name *files_add(struct ace_files *f, const char *path)
{
	struct ace_name *name = files_row(f, path);

	if (!name) {
		must(f->name_count < ACE_NAMES_MAX && strlen(path) < ACE_PATH_BYTES);
		name = &f->names[f->name_count++];
	}
	must(!name->exists);
	*name = (struct ace_name){ .exists = true, .fd = ACE_FD_NONE };
	snprintf(name->path, sizeof(name->path), "%s", path);
	return name;
}

struct ace_name *files_add_dir(struct ace_files *f, const char *path)
{
	struct ace_name *name = files_add(f, path);

	name->is_dir = true;
	return name;
}

struct ace_name *files_add_link(struct ace_files *f, const char *path, unsigned file)
{
	struct ace_name *name = files_add(f, path);

	name->file = file;
	return name;
}

struct ace_name *files_add_file(struct ace_files *f, const char *path)
{
	must(f->file_count < ACE_FILES_MAX);
	f->files[f->file_count] = (struct ace_file){ 0 };
	return files_add_link(f, path, f->file_count++);
}

static void files_move(struct ace_files *f, struct ace_name *name, const char *to)
{
	struct ace_name moved = *name, *new;

	name->exists = false;
	new = files_add(f, to);
	moved.in_setup = false;
	memcpy(moved.path, new->path, sizeof(moved.path));
	*new = moved;
}

void files_rename(struct ace_files *f, const char *from, const char *to)
{
	struct ace_name *name = files_find(f, from), *replaced = files_find(f, to);
	unsigned count = f->name_count;
	char path[2 * ACE_PATH_BYTES];

	must(name);
	if (replaced)
		replaced->exists = false;
	files_move(f, name, to);
	for (unsigned i = 0; i < count; i++) {
		name = &f->names[i];
		if (!name->exists || !path_is_inside(name->path, from))
			continue;
		snprintf(path, sizeof(path), "%s%s", to, name->path + strlen(from));
		files_move(f, name, path);
	}
}

int files_open_fd(struct ace_files *f)
{
	int fd = FD_FIRST;

	for (; f->fd_is_open[fd]; fd++)
		must(fd + 1 < ACE_FDS_MAX);
	f->fd_is_open[fd] = true;
	return fd;
}

void files_init(struct ace_files *f)
{
	f->name_count = f->file_count = 0;
	memset(f->fd_is_open, 0, sizeof(f->fd_is_open));
	files_add_dir(f, ".")->in_setup = true;
}
