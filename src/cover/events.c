/* events.c -- where the calls of a trace lead, and counting those that lead to a mount. */
#include "cover/events.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"

void events_open(struct events *e, struct coverage *c, const char *const *mounts,
		 size_t mount_count, const char *cwd)
{
	char *path;

	*e = (struct events){ .coverage = c, .mount_count = mount_count, .cwd = cwd };
	e->mounts = must_alloc((mount_count + 1) * sizeof(*e->mounts));
	for (size_t i = 0; i < mount_count; i++) {
		path = realpath(mounts[i], NULL); /* the trace may be another machine's */
		path = path ? path : must_strdup(mounts[i]);
		e->mounts[i] = (struct text){ path, strcmp(path, "/") ? strlen(path) : 0 };
	}
}

void events_free(struct events *e)
{
	for (size_t i = 0; i < e->mount_count; i++)
		free((char *)e->mounts[i].at);
	free(e->mounts);
	processes_free(&e->processes);
	buf_free(&e->scratch);
}

static enum whereabouts path_place(const struct events *e, const char *path, size_t len)
{
	size_t mount_len;

	for (size_t i = 0; i < e->mount_count; i++) {
		mount_len = e->mounts[i].len;
		if (len >= mount_len && !memcmp(path, e->mounts[i].at, mount_len) &&
		    (len == mount_len || path[mount_len] == '/'))
			return PLACE_INSIDE;
	}
	return e->mount_count ? PLACE_OUTSIDE : PLACE_INSIDE;
}

struct traced_process *events_process(struct events *e, uint32_t pid)
{
	struct traced_process *p = process_find(&e->processes, pid);

	if (p)
		return p;
	p = process_get(&e->processes, pid);
	if (e->cwd)
		process_chdir(p, must_strdup(e->cwd));
	return p;
}

/* To the directory above; the root is above itself. */
static void path_go_up(struct buf *out)
{
	const char *slash = out->len ? memrchr(out->data, '/', out->len) : NULL;

	if (!slash)
		return;
	out->len = (size_t)(slash - out->data);
	out->data[out->len] = 0;
}

/* Walks along the names of path, starting at out; out never ends in a slash. */
static void path_append(struct buf *out, const char *path, size_t len)
{
	const char *end = path + len, *name;

	while (path < end) {
		name = path;
		while (path < end && *path != '/')
			path++;
		len = (size_t)(path++ - name);
		if (!len || (len == 1 && *name == '.'))
			continue;
		if (len == 2 && name[0] == '.' && name[1] == '.') {
			path_go_up(out);
			continue;
		}
		buf_addch(out, '/');
		buf_add(out, name, len);
	}
}

/* Where a relative path of the call starts: the directory's path, or NULL where unknown. */
static struct text start_of(struct traced_process *p, const struct trace_event *ev, int fd_arg,
			    int which)
{
	const struct traced_file *dir;

	if (ev->fd_path[which].at)
		return ev->fd_path[which];
	if (fd_arg < 0 || (ev->known & 1u << fd_arg && (int)ev->value[fd_arg] == AT_FDCWD))
		return (struct text){ p->cwd->path, p->cwd->path ? strlen(p->cwd->path) : 0 };
	if (!(ev->known & 1u << fd_arg))
		return (struct text){ NULL, 0 };
	dir = process_file(p, (int)ev->value[fd_arg]);
	return dir && dir->path ? (struct text){ dir->path, strlen(dir->path) }
				: (struct text){ NULL, 0 };
}

/* The path by its names, in the scratch; false if its start is unknown. */
static bool resolve_event_path(struct events *e, struct traced_process *p,
			       const struct trace_event *ev, int which)
{
	const struct trace_row *row = &ev->call->row;
	struct text path = ev->path[which], start;

	buf_clear(&e->scratch);
	if (ev->paths_unknown)
		return false;
	if (!path.at || !path.len || path.at[0] != '/') {
		start = start_of(p, ev, which ? row->fd2 : row->fd, which);
		if (!start.at)
			return false;
		path_append(&e->scratch, start.at, start.len);
	}
	if (path.at)
		path_append(&e->scratch, path.at, path.len);
	return true;
}

static enum whereabouts place_by_names(struct events *e, struct traced_process *p,
				       const struct trace_event *ev, int which)
{
	if (!resolve_event_path(e, p, ev, which))
		return PLACE_UNKNOWN;
	return path_place(e, buf_str(&e->scratch), e->scratch.len);
}

static enum whereabouts place_by_fd(struct events *e, struct traced_process *p,
				    const struct trace_event *ev, int arg, int which)
{
	const struct traced_file *file;

	if (ev->fd_path[which].at)
		return path_place(e, ev->fd_path[which].at, ev->fd_path[which].len);
	file = process_file(p, ev->value[arg]);
	if (file)
		return file->place;
	return ev->ret == -EBADF ? PLACE_OUTSIDE : PLACE_UNKNOWN;
}

static enum whereabouts place_of_call(struct events *e, struct traced_process *p,
				      const struct trace_event *ev)
{
	const struct trace_row *row = &ev->call->row;
	enum whereabouts first, second = PLACE_OUTSIDE;

	if (row->where == WHERE_ANYWHERE || !e->mount_count)
		return PLACE_INSIDE;
	if (row->where == WHERE_FD) {
		first = place_by_fd(e, p, ev, row->fd, 0);
		if (row->fd2 >= 0)
			second = place_by_fd(e, p, ev, row->fd2, 1);
	} else {
		if (row->descriptor && ev->ret >= 0 && ev->ret_path.at)
			return path_place(e, ev->ret_path.at, ev->ret_path.len);
		first = place_by_names(e, p, ev, 0);
		if (row->path2 >= 0)
			second = place_by_names(e, p, ev, 1);
		e->coverage->exact = false;
	}
	if (first == PLACE_INSIDE || second == PLACE_INSIDE)
		return PLACE_INSIDE;
	return first == PLACE_UNKNOWN || second == PLACE_UNKNOWN ? PLACE_UNKNOWN : PLACE_OUTSIDE;
}

/* A call that opened something. A trace with the path of the descriptor will print it again;
 * otherwise the names of the path are used. */
static void remember_open(struct events *e, struct traced_process *p, const struct trace_event *ev,
			  enum whereabouts place)
{
	if (!ev->ret_path.at && resolve_event_path(e, p, ev, 0))
		process_open(p, ev->ret, buf_str(&e->scratch), e->scratch.len, place);
	else
		process_open(p, ev->ret, NULL, 0, place);
}

static void remember_dir(struct events *e, struct traced_process *p, const struct trace_event *ev)
{
	const struct traced_file *dir;

	if (ev->call->op == OP_chdir) {
		process_chdir(p, resolve_event_path(e, p, ev, 0) ? must_strdup(buf_str(&e->scratch))
								 : NULL);
	} else if (ev->fd_path[0].at) {
		buf_clear(&e->scratch);
		buf_add(&e->scratch, ev->fd_path[0].at, ev->fd_path[0].len);
		process_chdir(p, must_strdup(buf_str(&e->scratch)));
	} else {
		dir = process_file(p, ev->value[0]);
		process_chdir(p, dir && dir->path ? must_strdup(dir->path) : NULL);
	}
}

static void remember_event(struct events *e, struct traced_process *p, const struct trace_event *ev,
			   enum whereabouts place)
{
	enum op op = ev->call->op;

	if (op == OP_close)
		process_close(p, ev->value[0], ev->value[0]);
	else if (ev->ret < 0)
		return;
	else if (op == OP_dup || op == OP_dup2)
		process_dup(p, ev->value[0], ev->ret);
	else if (op == OP_chdir || op == OP_fchdir)
		remember_dir(e, p, ev);
	else if (ev->call->row.descriptor)
		remember_open(e, p, ev, place);
}

/* A trace that prints the path of AT_FDCWD has the working directory. */
static void learn_cwd(struct traced_process *p, const struct trace_event *ev)
{
	const struct trace_row *row = &ev->call->row;
	char *path;

	if (row->where != WHERE_PATH || row->fd < 0 || (int)ev->value[row->fd] != AT_FDCWD ||
	    !ev->fd_path[0].at || p->cwd->path)
		return;
	path = must_alloc(ev->fd_path[0].len + 1);
	memcpy(path, ev->fd_path[0].at, ev->fd_path[0].len);
	process_chdir(p, path);
}

void events_call(struct events *e, const struct trace_event *ev)
{
	struct traced_process *p = events_process(e, ev->pid);
	const struct syscall *call = syscall_exactly(ev->call, ev->value);
	enum whereabouts place;

	e->coverage->understood++;
	learn_cwd(p, ev);
	place = place_of_call(e, p, ev);
	if (place == PLACE_INSIDE) {
		coverage_result(e->coverage, call, ev->ret, 1);
		coverage_values(e->coverage, call, ev->value, ev->known);
	} else if (place == PLACE_UNKNOWN) {
		e->coverage->unattributed++;
	}
	remember_event(e, p, ev, place);
}

void events_clone(struct events *e, uint32_t parent, uint32_t child, uint64_t flags)
{
	process_clone(&e->processes, events_process(e, parent), child, flags & CLONE_FILES,
		      flags & CLONE_FS);
}

void events_dup(struct events *e, uint32_t pid, int64_t fd, int64_t to)
{
	process_dup(events_process(e, pid), fd, to);
}

void events_close_range(struct events *e, uint32_t pid, int64_t first, int64_t last)
{
	process_close(events_process(e, pid), first, last);
}

void events_other_fd(struct events *e, uint32_t pid, int64_t fd)
{
	process_open(events_process(e, pid), fd, NULL, 0, PLACE_OUTSIDE);
}

void events_exit(struct events *e, uint32_t pid)
{
	process_end(&e->processes, pid);
}
