/* holder.c -- which process holds a mount that does not come off. */
#include "storage/holder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"

static bool is_on(const char *path, dev_t dev)
{
	struct stat st;

	return !stat(path, &st) && st.st_dev == dev;
}

static bool holder_has_open(const char *process, dev_t dev)
{
	struct buf path = BUF_INIT;
	struct dirent *entry;
	bool found = false;
	DIR *dir;

	buf_addf(&path, "%s/fd", process);
	dir = opendir(path.data);
	while (dir && !found && (entry = readdir(dir))) {
		buf_clear(&path);
		buf_addf(&path, "%s/fd/%s", process, entry->d_name);
		found = *entry->d_name != '.' && is_on(path.data, dev);
	}
	if (dir)
		closedir(dir);
	buf_free(&path);
	return found;
}

static bool holder_is(const char *process, dev_t dev)
{
	struct buf path = BUF_INIT;
	bool found;

	buf_addf(&path, "%s/cwd", process);
	found = is_on(path.data, dev);
	buf_clear(&path);
	buf_addf(&path, "%s/root", process);
	found = found || is_on(path.data, dev) || holder_has_open(process, dev);
	buf_free(&path);
	return found;
}

static void holder_add_name(const char *process, const char *pid, struct buf *out)
{
	struct buf path = BUF_INIT, name = BUF_INIT;

	buf_addf(&path, "%s/comm", process);
	if (buf_read_file(&name, path.data, 4096, NULL))
		buf_clear(&name);
	buf_addf(out, "process %s (%.*s) holds it", pid, (int)strcspn(buf_str(&name), "\n"),
		 buf_str(&name));
	buf_free(&path);
	buf_free(&name);
}

bool holder_find(const char *mount, struct buf *out)
{
	struct buf process = BUF_INIT;
	struct dirent *entry;
	bool found = false;
	struct stat st, self, other;
	DIR *dir;

	if (stat(mount, &st) || stat("/proc/self", &self))
		return false;
	dir = opendir("/proc");
	while (dir && !found && (entry = readdir(dir))) {
		if (strtol(entry->d_name, NULL, 10) <= 0)
			continue;
		buf_clear(&process);
		buf_addf(&process, "/proc/%s", entry->d_name);
		found = !stat(process.data, &other) && other.st_ino != self.st_ino &&
			holder_is(process.data, st.st_dev);
		if (found)
			holder_add_name(process.data, entry->d_name, out);
	}
	if (dir)
		closedir(dir);
	buf_free(&process);
	return found;
}
