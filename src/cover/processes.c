/* processes.c -- tables of descriptors and working directories, shared or copied. */
#include "cover/processes.h"

#include <stdlib.h>
#include <string.h>

#include "base/must.h"

static char *copy_text(const char *text, size_t len)
{
	char *copy = must_alloc(len + 1);

	memcpy(copy, text, len);
	return copy;
}

static void drop_files(struct files *f)
{
	if (--f->refs)
		return;
	for (size_t i = 0; i < f->count; i++)
		free(f->file[i].path);
	free(f->file);
	free(f);
}

static void drop_dir(struct working_dir *d)
{
	if (--d->refs)
		return;
	free(d->path);
	free(d);
}

static struct files *new_files(void)
{
	struct files *f = must_alloc(sizeof(*f));

	f->refs = 1;
	return f;
}

static struct working_dir *new_dir(char *path)
{
	struct working_dir *d = must_alloc(sizeof(*d));

	d->refs = 1;
	d->path = path;
	return d;
}

static struct files *copy_files(const struct files *from)
{
	struct files *f = new_files();

	f->file = must_alloc((from->count + 1) * sizeof(*f->file));
	f->count = from->count;
	for (size_t i = 0; i < f->count; i++) {
		f->file[i] = from->file[i];
		if (f->file[i].path)
			f->file[i].path = must_strdup(f->file[i].path);
	}
	return f;
}

static void processes_free_one(struct traced_process *p)
{
	drop_files(p->files);
	drop_dir(p->cwd);
	free(p->pending);
	free(p);
}

void processes_free(struct traced_processes *all)
{
	struct traced_process *p, *next;

	for (size_t i = 0; i < PROCESS_SLOTS; i++) {
		for (p = all->slots[i]; p; p = next) {
			next = p->next;
			processes_free_one(p);
		}
	}
	*all = (struct traced_processes){ 0 };
}

struct traced_process *process_find(struct traced_processes *all, uint32_t pid)
{
	struct traced_process *p = all->last;

	if (p && p->pid == pid)
		return p;
	for (p = all->slots[pid % PROCESS_SLOTS]; p && p->pid != pid;)
		p = p->next;
	if (p)
		all->last = p;
	return p;
}

static struct traced_process *processes_add(struct traced_processes *all, uint32_t pid,
					    struct files *files, struct working_dir *cwd)
{
	struct traced_process *p = must_alloc(sizeof(*p)),
			      **slot = &all->slots[pid % PROCESS_SLOTS];

	*p = (struct traced_process){ .pid = pid, .files = files, .cwd = cwd, .next = *slot };
	*slot = p;
	return p;
}

struct traced_process *process_get(struct traced_processes *all, uint32_t pid)
{
	struct traced_process *p = process_find(all, pid);

	return p ? p : processes_add(all, pid, new_files(), new_dir(NULL));
}

void process_clone(struct traced_processes *all, struct traced_process *parent, uint32_t pid,
		   bool share_files, bool share_dir)
{
	const char *path = parent->cwd->path;

	if (process_find(all, pid))
		return;
	parent->files->refs += share_files;
	parent->cwd->refs += share_dir;
	processes_add(all, pid, share_files ? parent->files : copy_files(parent->files),
		      share_dir ? parent->cwd : new_dir(path ? must_strdup(path) : NULL));
}

void process_end(struct traced_processes *all, uint32_t pid)
{
	struct traced_process **at = &all->slots[pid % PROCESS_SLOTS], *p;

	while (*at && (*at)->pid != pid)
		at = &(*at)->next;
	p = *at;
	if (!p)
		return;
	*at = p->next;
	if (all->last == p)
		all->last = NULL;
	processes_free_one(p);
}

void process_open(struct traced_process *p, int64_t fd, const char *path, size_t len,
		  enum whereabouts place)
{
	struct files *f = p->files;
	size_t count = f->count ? f->count : 16;
	struct traced_file *file;

	if (fd < 0 || fd >= PROCESS_FDS_MAX)
		return;
	while (count <= (size_t)fd)
		count *= 2;
	if (count > f->count) {
		f->file = must_realloc(f->file, count * sizeof(*f->file));
		memset(f->file + f->count, 0, (count - f->count) * sizeof(*f->file));
		f->count = count;
	}
	file = &f->file[fd];
	free(file->path);
	*file = (struct traced_file){ path ? copy_text(path, len) : NULL, place };
}

void process_dup(struct traced_process *p, int64_t fd, int64_t to)
{
	const struct traced_file *file = process_file(p, fd);
	char *path;

	if (fd == to)
		return;
	if (!file) {
		process_close(p, to, to);
		return;
	}
	path = file->path ? must_strdup(file->path) : NULL;
	process_open(p, to, path, path ? strlen(path) : 0, file->place);
	free(path);
}

void process_close(struct traced_process *p, int64_t first, int64_t last)
{
	struct files *f = p->files;

	for (int64_t fd = first < 0 ? 0 : first; fd <= last && (uint64_t)fd < f->count; fd++) {
		free(f->file[fd].path);
		f->file[fd] = (struct traced_file){ 0 };
	}
}

void process_chdir(struct traced_process *p, char *path)
{
	free(p->cwd->path);
	p->cwd->path = path;
}

void process_pend(struct traced_process *p, const char *text, size_t len)
{
	free(p->pending);
	p->pending = text ? copy_text(text, len) : NULL;
	p->pending_len = text ? len : 0;
}
