/* source_watch.c -- which files of a Linux source tree change, while it is edited. */
#include "cli/source_watch.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/must.h"
#include "base/stop.h"

/* How long nothing changes before a change is complete, how long that is waited for at most, and
 * how often it is looked whether we are to stop. */
enum { QUIET_MS = 300, SETTLE_SECONDS = 30, LOOK_MS = 1000, EVENTS_BYTES = 64 << 10 };

static const unsigned events_wanted = IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM |
				      IN_MOVED_TO | IN_ONLYDIR | IN_DONT_FOLLOW | IN_EXCL_UNLINK;

/* What no kernel in a process is built from, or what a build in the tree itself makes. */
static const char *const skipped_dirs[] = {
	".git",        "Documentation",   "LICENSES",       "drivers/gpu",       "drivers/media",
	"drivers/net", "drivers/staging", "include/config", "include/generated", "rust",
	"samples",     "sound",           "tools",
};

static const char *const source_endings[] = { ".c", ".h", ".S", ".lds", ".tbl", ".def" };
static const char *const source_names[] = { "Makefile", "Kbuild", "Kconfig" };

/* Of the architectures only those of a kernel in a process. */
static bool is_source_dir(const char *path)
{
	static const char arch[] = "arch/";

	for (size_t i = 0; i < ARRAY_LEN(skipped_dirs); i++)
		if (!strcmp(path, skipped_dirs[i]))
			return false;
	if (strncmp(path, arch, strlen(arch)) || strchr(path + strlen(arch), '/'))
		return true;
	return !strcmp(path, "arch/um") || !strcmp(path, "arch/x86");
}

static bool is_source_name(const char *name)
{
	const char *ending = strrchr(name, '.');

	if (*name == '.')
		return false;
	for (size_t i = 0; ending && i < ARRAY_LEN(source_endings); i++)
		if (!strcmp(ending, source_endings[i]))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(source_names); i++)
		if (!strcmp(name, source_names[i]))
			return true;
	return false;
}

static void source_add_dir(struct source_watch *w, int wd, const char *path)
{
	size_t at = (size_t)wd;

	if (at >= w->dir_count) {
		w->dirs = must_realloc(w->dirs, (at + 1) * sizeof(*w->dirs));
		while (w->dir_count <= at)
			w->dirs[w->dir_count++] = NULL;
	}
	free(w->dirs[at]);
	w->dirs[at] = must_strdup(path);
}

static void source_add_path(const char *dir, const char *name, struct buf *ret)
{
	buf_clear(ret);
	buf_addf(ret, "%s%s%s", dir, *dir ? "/" : "", name);
}

static int source_watch_error(const char *path, int code, struct err *err)
{
	if (code == ENOSPC)
		return err_set(err, ENOSPC,
			       "cannot watch %s: too many directories; raise the sysctl "
			       "fs.inotify.max_user_watches",
			       path);
	return err_sys(err, code, "cannot watch %s", path);
}

static bool may_be_dir(const struct dirent *entry)
{
	return (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN) &&
	       strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
}

/* Watches a directory and all below it. One that has gone in the meantime is no error. */
static int source_watch_below(struct source_watch *w, const char *dir, struct err *err)
{
	struct buf path = BUF_INIT, below = BUF_INIT;
	struct dirent *entry;
	DIR *entries = NULL;
	int wd, status = 0;

	source_add_path(w->tree, dir, &path);
	wd = inotify_add_watch(w->fd, path.data, events_wanted);
	if (wd < 0 && errno != ENOENT && errno != ENOTDIR)
		status = source_watch_error(path.data, errno, err);
	if (wd >= 0) {
		source_add_dir(w, wd, dir);
		entries = opendir(path.data);
	}
	while (entries && !status && (entry = readdir(entries))) {
		source_add_path(dir, entry->d_name, &below);
		if (may_be_dir(entry) && is_source_dir(below.data))
			status = source_watch_below(w, below.data, err);
	}
	if (entries)
		closedir(entries);
	buf_free(&path);
	buf_free(&below);
	return status;
}

int source_watch_open(struct source_watch *w, const char *tree, struct err *err)
{
	*w = (struct source_watch){ .tree = tree, .changed = STR_MAP_INIT };
	w->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (w->fd < 0)
		return err_sys(err, errno, "cannot watch %s", tree);
	return source_watch_below(w, "", err);
}

void source_watch_close(struct source_watch *w)
{
	for (size_t i = 0; i < w->dir_count; i++)
		free(w->dirs[i]);
	free(w->dirs);
	str_map_free(&w->changed);
	if (w->fd >= 0)
		close(w->fd);
}

/* A new directory may have files already. */
static int source_take_event(struct source_watch *w, const struct inotify_event *event,
			     struct err *err)
{
	struct buf path = BUF_INIT;
	int status = 0;

	if (event->mask & IN_Q_OVERFLOW)
		str_map_put(&w->changed, "more than the kernel could list", NULL);
	if (event->wd < 0 || (size_t)event->wd >= w->dir_count || !w->dirs[event->wd] ||
	    !event->len)
		return 0;
	source_add_path(w->dirs[event->wd], event->name, &path);
	if (!(event->mask & IN_ISDIR)) {
		if (is_source_name(event->name))
			str_map_put(&w->changed, path.data, NULL);
	} else if (is_source_dir(path.data)) {
		str_map_put(&w->changed, path.data, NULL);
		if (event->mask & (IN_CREATE | IN_MOVED_TO))
			status = source_watch_below(w, path.data, err);
	}
	buf_free(&path);
	return status;
}

/* All events there are now. */
static int source_take_events(struct source_watch *w, struct err *err)
{
	_Alignas(struct inotify_event) static char events[EVENTS_BYTES];
	const struct inotify_event *event;
	ssize_t len;
	int status = 0;

	while (!status && (len = read(w->fd, events, sizeof(events))) > 0)
		for (const char *at = events; !status && at < events + len;
		     at += sizeof(*event) + event->len) {
			event = (const struct inotify_event *)(const void *)at;
			status = source_take_event(w, event, err);
		}
	if (!status && len < 0 && errno != EAGAIN && errno != EINTR)
		status = err_sys(err, errno, "cannot watch %s", w->tree);
	return status;
}

int source_watch_await(struct source_watch *w, struct err *err)
{
	struct pollfd ready = { .fd = w->fd, .events = POLLIN };
	double since = 0;
	int status = 0;

	str_map_free(&w->changed);
	w->changed = (struct str_map)STR_MAP_INIT;
	while (!status && !stop_requested) {
		bool quiet = !poll(&ready, 1, w->changed.count ? QUIET_MS : LOOK_MS);

		if (w->changed.count && (quiet || clock_seconds() - since > SETTLE_SECONDS))
			break;
		if (!w->changed.count)
			since = clock_seconds();
		status = source_take_events(w, err);
	}
	return status;
}
