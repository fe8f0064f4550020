/* served_runs.c -- the runs below a directory: opened without a way out of it. */
#include "serve/served_runs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/trust.h"

static int served_open(int dir_fd, const char *path, uint64_t flags)
{
	struct open_how how = {
		.flags = flags | O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	long fd = syscall(SYS_openat2, dir_fd, path, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

int served_open_directory(int dir_fd, const char *path)
{
	return served_open(dir_fd, path, O_DIRECTORY);
}

int served_open_file(int dir_fd, const char *path, off_t *ret_size)
{
	int fd = served_open(dir_fd, path, 0);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return -ENOENT;
	}
	*ret_size = st.st_size;
	return fd;
}

static bool served_has(int dir_fd, const char *name)
{
	off_t size;
	int fd = served_open_file(dir_fd, name, &size);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int served_root_open(struct served_root *r, const char *path, struct err *err)
{
	int status = trust_output(path, err);

	*r = (struct served_root){ .name = path, .fd = -1 };
	if (status)
		return status;
	r->path = realpath(path, NULL);
	if (r->path)
		r->fd = open(r->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r->fd < 0)
		return err_sys(err, errno, "cannot open %s", path);
	r->is_campaign = served_has(r->fd, "campaign.db");
	r->is_run = !r->is_campaign && served_has(r->fd, "run.json");
	return 0;
}

void served_root_close(struct served_root *r)
{
	if (r->fd >= 0)
		close(r->fd);
	free(r->path);
	*r = (struct served_root){ .fd = -1 };
}

static int served_check_trust(const struct served_root *r, const char *path, struct err *err)
{
	struct buf whole = BUF_INIT;
	int status;

	buf_addf(&whole, "%s/%s", r->path, path);
	status = trust_output(whole.data, err);
	buf_free(&whole);
	return status;
}

int served_open_run(const struct served_root *r, const char *path, struct err *err)
{
	int fd = served_open_directory(r->fd, path), run_fd, status = 0;
	off_t size = 0;

	if (fd < 0)
		return err_set(err, ENOENT, "no such run");
	run_fd = served_open_file(fd, "run.json", &size);
	if (run_fd < 0)
		status = err_set(err, ENOENT, "no such run");
	else if (size > RUN_JSON_BYTES_MAX)
		status = err_set(err, EFBIG, "its run.json is too large");
	else
		status = served_check_trust(r, path, err);
	if (run_fd >= 0)
		close(run_fd);
	if (status) {
		close(fd);
		return status;
	}
	return fd;
}

/* A run has a lock on this file as long as it lives. */
bool served_run_is_alive(int run_fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	off_t size;
	int fd = served_open_file(run_fd, "lock", &size);
	bool alive;

	if (fd < 0)
		return false;
	alive = fcntl(fd, F_GETLK, &lock) || lock.l_type != F_UNLCK;
	close(fd);
	return alive;
}
