/* run_dir.c -- the directory of a run: made, kept apart from other runs, named `latest`.
 *
 * The lock is one of fcntl(2): unlike flock(2) it is not passed on to processes that outlive the
 * run for a moment, and it says who holds it. */
#include "run/run_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/dirs.h"
#include "base/err.h"
#include "base/must.h"
#include "base/trust.h"
#include "storage/remove_tree.h"

/* Processes of a run that was killed end by themselves, in a moment. */
enum { LOCK_TRIES = 40, LOCK_TRY_USEC = 50 * 1000 };

static int run_dir_make_named(struct run_dir *d, const char *out, struct err *err)
{
	int status = dirs_make_all(out, err);

	if (!status)
		status = trust_output(out, err);
	if (!status)
		d->path = must_strdup(out);
	return status;
}

/* A target's name as part of a file name. */
static void run_dir_add_plain(struct buf *out, const char *text)
{
	for (; *text && out->len < NAME_MAX; text++)
		buf_addch(out, strchr("/:!'\" \t\n", *text) ? '_' : *text);
}

/* runs/latest is exchanged at once, so that it always points to some run. Until then the link lies
 * in the run's own directory. */
static int run_dir_name_latest(const char *path, struct err *err)
{
	struct buf link = BUF_INIT;
	int status = 0;

	buf_addf(&link, "%s/latest", path);
	if (symlink(strrchr(path, '/') + 1, link.data) || rename(link.data, "runs/latest")) {
		status = err_sys(err, errno, "cannot make runs/latest");
		unlink(link.data);
	}
	buf_free(&link);
	return status;
}

/* runs/<time>-<command>-<target>, with a number behind it where that is taken. */
static int run_dir_make_usual(struct run_dir *d, const char *command, const char *target,
			      struct err *err)
{
	struct buf path = BUF_INIT;
	time_t now = time(NULL);
	struct tm tm;
	char stamp[32];
	size_t len;
	int status = dirs_make("runs", err);

	if (!status)
		status = trust_output("runs", err);
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", localtime_r(&now, &tm));
	buf_addf(&path, "runs/%s-%s-", stamp, command);
	run_dir_add_plain(&path, target);
	len = path.len;
	for (int i = 2; !status && mkdir(path.data, 0755); i++) {
		if (errno != EEXIST)
			status = err_sys(err, errno, "cannot make the directory %s", path.data);
		path.len = len;
		buf_addf(&path, "-%d", i);
	}
	if (!status)
		status = run_dir_name_latest(path.data, err);
	if (!status)
		d->path = must_strdup(path.data);
	buf_free(&path);
	return status;
}

/* The process that holds the lock; 0 if it is not known. */
static pid_t run_dir_holder(int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(fd, F_GETLK, &lock) || lock.l_type == F_UNLCK ? 0 : lock.l_pid;
}

static int run_dir_lock(struct run_dir *d, struct err *err)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	struct buf path = BUF_INIT;
	int status = 0, tries = 0;

	buf_addf(&path, "%s/lock", d->path);
	d->lock_fd = open(path.data, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (d->lock_fd < 0)
		status = err_sys(err, errno, "cannot open %s", path.data);
	while (!status && fcntl(d->lock_fd, F_SETLK, &lock)) {
		if (errno != EACCES && errno != EAGAIN)
			status = err_sys(err, errno, "cannot lock %s", path.data);
		else if (++tries == LOCK_TRIES)
			status = err_set(err, EBUSY, "%s: another run, process %d, is using it",
					 d->path, (int)run_dir_holder(d->lock_fd));
		else
			usleep(LOCK_TRY_USEC);
	}
	buf_free(&path);
	return status;
}

int run_dir_open(struct run_dir *d, const char *command, const char *target, const char *out,
		 struct err *err)
{
	int status;

	*d = (struct run_dir){ .lock_fd = -1 };
	status =
		out ? run_dir_make_named(d, out, err) : run_dir_make_usual(d, command, target, err);
	if (!status)
		status = run_dir_lock(d, err);
	if (status)
		run_dir_close(d);
	return status;
}

void run_dir_close(struct run_dir *d)
{
	if (d->path && d->lock_fd >= 0)
		close(d->lock_fd);
	free(d->path);
	*d = (struct run_dir){ .lock_fd = -1 };
}

static bool run_dir_has(const char *path, const char *name)
{
	struct buf full = BUF_INIT;
	bool has;

	buf_addf(&full, "%s/%s", path, name);
	has = !access(full.data, F_OK);
	buf_free(&full);
	return has;
}

bool run_dir_has_checkpoint(const char *path)
{
	struct buf pattern = BUF_INIT;
	glob_t found = { 0 };
	bool has;

	buf_addf(&pattern, "%s/checkpoint*", path);
	has = !glob(pattern.data, GLOB_NOSORT, NULL, &found);
	globfree(&found);
	buf_free(&pattern);
	return has;
}

int run_dir_check(const char *path, struct err *err)
{
	if (access(path, F_OK))
		return err_sys(err, errno, "%s", path);
	if (!run_dir_has(path, "run.json") && !run_dir_has(path, "findings"))
		return err_set(err, EINVAL, "%s: not the directory of a run", path);
	return trust_output(path, err);
}

static char *run_dir_free_name(const char *path)
{
	size_t len = strlen(path);
	struct buf name = BUF_INIT;
	unsigned number = 0;
	char *copy;

	while (len > 1 && path[len - 1] == '/')
		len--;
	do {
		buf_clear(&name);
		buf_addf(&name, "%.*s.%u", (int)len, path, ++number);
	} while (!access(name.data, F_OK));
	copy = must_strdup(name.data);
	buf_free(&name);
	return copy;
}

int run_dir_set_aside(const char *path, char **ret_name, struct err *err)
{
	struct run_dir d = { .lock_fd = -1 };
	int status;

	*ret_name = NULL;
	if (!run_dir_has(path, "run.json") && !run_dir_has(path, "findings"))
		return 0;
	status = run_dir_make_named(&d, path, err);
	if (!status)
		status = run_dir_lock(&d, err);
	if (!status)
		*ret_name = run_dir_free_name(path);
	if (!status && rename(path, *ret_name)) {
		status = err_sys(err, errno, "%s holds an earlier run, and cannot become %s", path,
				 *ret_name);
		free(*ret_name);
		*ret_name = NULL;
	}
	run_dir_close(&d);
	return status;
}

void run_dir_remove(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return;
	remove_tree_below(fd, NULL);
	close(fd);
	rmdir(path);
}
