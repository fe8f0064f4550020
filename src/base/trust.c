/* trust.c -- a walk along a path that looks at who can change what. */
#include "base/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"

enum { LINKS_MAX = 40 };

/* Where a walk is, and what is left of it. */
struct trust_walk {
	const char *path; /* as it was given */
	bool output;      /* the rules of trust_output() */
	int dir_fd;
	struct stat dir;
	struct buf done; /* the way so far, for messages */
	struct buf rest;
	unsigned links;
};

static bool trust_is_sudo_user(uid_t uid)
{
	const char *text = getenv("SUDO_UID");
	char *end;

	return !geteuid() && text && *text && strtoul(text, &end, 10) == uid && !*end;
}

static bool trust_owner(const struct trust_walk *w, uid_t uid)
{
	return !uid || uid == geteuid() || (w->output && trust_is_sudo_user(uid));
}

/* A group by the name of the user, as many systems make it, in which there is no one else. */
static bool trust_group(gid_t gid)
{
	const struct passwd *user = getpwuid(geteuid());
	const struct group *group = user && gid == user->pw_gid ? getgrgid(gid) : NULL;

	if (!group || strcmp(group->gr_name, user->pw_name))
		return false;
	for (char **member = group->gr_mem; *member; member++)
		if (strcmp(*member, user->pw_name))
			return false;
	return true;
}

static bool trust_others_write(const struct stat *st)
{
	return st->st_mode & S_IWOTH || (st->st_mode & S_IWGRP && !trust_group(st->st_gid));
}

static int trust_refuse_owner(const struct trust_walk *w, const struct stat *st, struct err *err)
{
	return err_set(err, EPERM, "%s is refused: %s belongs to user %u", w->path,
		       buf_str(&w->done), st->st_uid);
}

static int trust_refuse_writers(const struct trust_walk *w, struct err *err)
{
	return err_set(err, EPERM, "%s is refused: others can write to %s", w->path,
		       buf_str(&w->done));
}

/* A directory on the way. */
static int trust_check_passed(const struct trust_walk *w, const struct stat *st, struct err *err)
{
	if (!w->output && !trust_owner(w, st->st_uid))
		return trust_refuse_owner(w, st, err);
	if (st->st_mode & S_ISVTX)
		return 0;
	if (w->output ? st->st_mode & S_IWOTH : trust_others_write(st))
		return trust_refuse_writers(w, err);
	return 0;
}

/* A link in a world-writable directory must belong to us or to the owner of the directory. */
static int trust_check_link(const struct trust_walk *w, const struct stat *st, struct err *err)
{
	bool fine = trust_owner(w, st->st_uid);

	if (w->output)
		fine |= !(w->dir.st_mode & S_IWOTH) || st->st_uid == w->dir.st_uid;
	return fine ? 0 : trust_refuse_owner(w, st, err);
}

/* The object that the path names. A hard link of another user can put a file into a sticky
 * directory. */
static int trust_check_end(const struct trust_walk *w, const struct stat *st, struct err *err)
{
	if (!trust_owner(w, st->st_uid))
		return trust_refuse_owner(w, st, err);
	if (trust_others_write(st))
		return trust_refuse_writers(w, err);
	if (!S_ISDIR(st->st_mode) && st->st_nlink > 1 && trust_others_write(&w->dir))
		return err_set(err, EPERM, "%s is refused: it has other hard links", w->path);
	return 0;
}

/* Continues the walk in that directory; the walk owns the descriptor from now on. */
static int trust_enter(struct trust_walk *w, int fd, struct err *err)
{
	struct stat st;
	int r = fstat(fd, &st) ? err_sys(err, errno, "%s", w->path) : 0;

	if (!r)
		r = trust_check_passed(w, &st, err);
	if (w->dir_fd >= 0)
		close(w->dir_fd);
	w->dir_fd = fd;
	w->dir = st;
	return r;
}

static int trust_enter_root(struct trust_walk *w, struct err *err)
{
	int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	buf_clear(&w->done);
	buf_addch(&w->done, '/');
	return fd < 0 ? err_sys(err, errno, "/") : trust_enter(w, fd, err);
}

/* Puts a link's text in front of what is left. */
static int trust_follow(struct trust_walk *w, int link_fd, struct err *err)
{
	char text[PATH_MAX];
	ssize_t len = readlinkat(link_fd, "", text, sizeof(text) - 1);
	struct buf rest = BUF_INIT;

	if (len < 0 || ++w->links > LINKS_MAX)
		return err_sys(err, len < 0 ? errno : ELOOP, "cannot open %s", w->path);
	text[len] = '\0';
	buf_addf(&rest, "%s/%s", text, buf_str(&w->rest));
	buf_free(&w->rest);
	w->rest = rest;
	return *text == '/' ? trust_enter_root(w, err) : 0;
}

/* Takes the first name off the rest; false at its end. */
static bool trust_next_name(struct trust_walk *w, char *ret_name)
{
	const char *rest = buf_str(&w->rest);
	size_t slashes = strspn(rest, "/"), len = strcspn(rest + slashes, "/");

	if (!len || len > NAME_MAX)
		return false;
	memcpy(ret_name, rest + slashes, len);
	ret_name[len] = '\0';
	w->rest.len -= slashes + len;
	memmove(w->rest.data, w->rest.data + slashes + len, w->rest.len + 1);
	return true;
}

static bool trust_at_end(const struct trust_walk *w)
{
	return !buf_str(&w->rest)[strspn(buf_str(&w->rest), "/")];
}

static void trust_note_name(struct trust_walk *w, const char *name)
{
	if (w->done.len > 1)
		buf_addch(&w->done, '/');
	buf_adds(&w->done, name);
}

/* One component. At the end of the path *ret_fd is what it names, opened with `flags`. */
static int trust_step(struct trust_walk *w, const char *name, int flags, int *ret_fd,
		      struct err *err)
{
	size_t before = w->done.len;
	struct stat st;
	int fd = openat(w->dir_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), r = 0;

	trust_note_name(w, name);
	if (fd < 0 || fstat(fd, &st)) {
		r = err_sys(err, errno, "cannot open %s", w->path);
	} else if (S_ISLNK(st.st_mode)) {
		r = trust_check_link(w, &st, err);
		w->done.len = before;
		if (!r)
			r = trust_follow(w, fd, err);
	} else if (!trust_at_end(w)) {
		return trust_enter(w, fd, err);
	} else {
		*ret_fd = openat(w->dir_fd, name, flags | O_NOFOLLOW | O_CLOEXEC);
		if (*ret_fd < 0 || fstat(*ret_fd, &st))
			r = err_sys(err, errno, "cannot open %s", w->path);
		else
			r = trust_check_end(w, &st, err);
	}
	if (fd >= 0)
		close(fd);
	return r;
}

static int trust_begin(struct trust_walk *w, struct err *err)
{
	char *cwd;

	if (*w->path != '/') {
		cwd = getcwd(NULL, 0);
		if (!cwd)
			return err_sys(err, errno, "cannot read the current directory");
		buf_addf(&w->rest, "%s/", cwd);
		free(cwd);
	}
	buf_adds(&w->rest, w->path);
	return trust_enter_root(w, err);
}

static int trust_walk(const char *path, bool output, int flags, struct err *err)
{
	struct trust_walk w = {
		.path = path, .output = output, .dir_fd = -1, .done = BUF_INIT, .rest = BUF_INIT
	};
	char name[NAME_MAX + 1];
	int fd = -1, r = trust_begin(&w, err);

	while (!r && fd < 0) {
		if (trust_next_name(&w, name))
			r = trust_step(&w, name, flags, &fd, err);
		else
			r = err_sys(err, trust_at_end(&w) ? EISDIR : ENAMETOOLONG, "cannot open %s",
				    path);
	}
	if (r && fd >= 0)
		close(fd);
	if (w.dir_fd >= 0)
		close(w.dir_fd);
	buf_free(&w.done);
	buf_free(&w.rest);
	return r ? r : fd;
}

int trust_open(const char *path, int flags, struct err *err)
{
	return trust_walk(path, false, flags, err);
}

/* Closes what was opened only to be looked at. */
static int trust_release(int fd)
{
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

int trust_check(const char *path, struct err *err)
{
	return trust_release(trust_walk(path, false, O_PATH, err));
}

int trust_output(const char *path, struct err *err)
{
	return trust_release(trust_walk(path, true, O_PATH | O_DIRECTORY, err));
}
