/* op_open.c -- open and its variants: flags, what is found or made, a descriptor.
 *
 * The checks follow Linux's build_open_flags, open_last_lookups, do_open and may_open. */
#include "model/entry.h"

#include <linux/fs.h>
#include <linux/openat2.h>
#include <sys/sysmacros.h>

struct open_call {
	int64_t dirfd;
	const struct arg *path; /* NULL: w and inode are known */
	int64_t flags, mode;
	const int64_t *confined; /* openat2: RESOLVE_ flags, and nothing is forgiven */
	unsigned want;           /* MAY_ bits the file must grant */
	bool writes;             /* another access mode than reading: 3, which is none, too */
	struct where w;
	const struct inode *inode; /* what is there already */
	bool left_behind;          /* refused after the file was made */
};

enum {
	KNOWN_RESOLVE = RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS |
			RESOLVE_BENEATH | RESOLVE_IN_ROOT | RESOLVE_CACHED,
	PATH_FLAGS = O_DIRECTORY | O_NOFOLLOW | O_PATH | O_CLOEXEC,
	TMPFILE_BIT = O_TMPFILE & ~O_DIRECTORY,
	FLAGS_KNOWN = O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK |
		      O_SYNC | O_ASYNC | O_DIRECT | O_DIRECTORY | O_NOFOLLOW | O_NOATIME |
		      O_CLOEXEC | O_PATH | TMPFILE_BIT | 0100000 /* O_LARGEFILE */,
	FLAGS_OF_LINUX = O_PATH | TMPFILE_BIT | O_DIRECT | O_NOATIME,
};

static bool open_has(const struct open_call *o, int64_t flags)
{
	return (o->flags & flags) == flags;
}

/* What only openat2 looks at. */
static void refuse_how(struct step *x, const struct open_call *o)
{
	int64_t confined = *o->confined, named = OPEN_RDONLY | FLAGS_KNOWN;
	bool makes = o->flags & (O_CREAT | TMPFILE_BIT);

	if (o->flags & ~named || confined & ~(int64_t)KNOWN_RESOLVE ||
	    (confined & RESOLVE_BENEATH && confined & RESOLVE_IN_ROOT) ||
	    (open_has(o, O_PATH) && o->flags & ~(int64_t)(PATH_FLAGS | OPEN_RDONLY)))
		refuse(x, RULE_openat2_flags);
	if (makes ? o->mode & ~(int64_t)07777 : o->mode > 0)
		refuse(x, RULE_openat2_mode);
	if (confined & RESOLVE_CACHED && o->flags & (O_TRUNC | O_CREAT | TMPFILE_BIT))
		refuse(x, RULE_openat2_cached);
	else if (confined & RESOLVE_CACHED)
		may_refuse(x, RULE_openat2_cached);
}

/* How many ways of access are named; none at all means reading. */
static int access_modes(int64_t flags)
{
	int count = !!(flags & OPEN_RDONLY) + !!(flags & OPEN_EXEC) + !!(flags & OPEN_SEARCH);

	return count + !!(flags & O_WRONLY) + !!(flags & O_RDWR);
}

static void refuse_open_flags(struct step *x, const struct open_call *o)
{
	if (access_modes(o->flags) > 1)
		leave_undefined(x, RULE_open_access_modes);
	if (o->flags & FLAGS_OF_LINUX)
		leave_open(x, RULE_open_flags_of_linux);
	if (open_has(o, O_CREAT | O_DIRECTORY)) {
		refuse(x, RULE_open_create_directory);
		may_refuse(x, RULE_open_create_directory_backported);
		leave_open(x, RULE_open_create_directory_open);
	}
	if (open_has(o, TMPFILE_BIT) &&
	    (!open_has(o, O_DIRECTORY) || open_has(o, O_CREAT) || !o->writes))
		refuse(x, RULE_tmpfile_flags);
	if (open_has(o, O_EXCL) && !(o->flags & (O_CREAT | TMPFILE_BIT)))
		leave_undefined(x, RULE_open_exclusive_alone);
	if (open_has(o, O_TRUNC) && !o->writes)
		leave_undefined(x, RULE_open_truncate_reading);
	if (x->env->undefined)
		leave_open(x, RULE_open_flags_undefined);
	if (x->model->traits.fds_max &&
	    x->process->fds.count + STATE_FD_FIRST >= x->model->traits.fds_max)
		refuse(x, RULE_fds_too_many);
}

static void find_access(struct step *x, struct open_call *o)
{
	int64_t access = o->flags & O_ACCMODE;

	o->writes = access != O_RDONLY;
	o->want = access == O_WRONLY ? 0 : MAY_READ;
	if (o->flags & (OPEN_EXEC | OPEN_SEARCH) && holds(x, RULE_open_exec_search))
		o->want = o->flags & OPEN_EXEC ? MAY_EXEC : 0;
	if (access != O_RDONLY || open_has(o, O_TRUNC))
		o->want |= MAY_WRITE;
	if (open_has(o, O_PATH))
		o->want = 0;
}

/* A name that slashes follow cannot be a new file's, wherever the path leads. */
static void refuse_create_slash(struct step *x, const struct open_call *o)
{
	bool missing = o->w.kind == WHERE_NONE || o->w.kind == WHERE_ERROR;

	refuse(x, RULE_open_create_slash);
	refuse(x, RULE_open_create_slash_file);
	if (missing)
		refuse(x, RULE_open_create_slash_missing);
	if (missing && !o->w.via_symlink)
		refuse(x, RULE_open_create_slash_direct);
}

static void refuse_missing(struct step *x, struct open_call *o)
{
	bool makes;

	if (!open_has(o, O_CREAT)) {
		refuse(x, RULE_name_missing);
		return;
	}
	refuse_removed(x, &o->w);
	refuse_read_only(x);
	refuse_write(x, o->w.parent);
	makes = !refused(x);
	if (open_has(o, O_DIRECTORY) && refuse(x, RULE_open_create_directory_missing))
		o->left_behind = makes;
}

/* Objects of other users in a sticky directory that others can write to. Sysctls protect regular
 * files and FIFOs, everything else is always protected: may_create_in_sticky. */
static void refuse_planted(struct step *x, const struct open_call *o)
{
	const struct traits *traits = &x->model->traits;
	const struct inode *dir = o->w.parent ? tree_inode(&x->state->tree, o->w.parent) : NULL;
	uint64_t setting = S_ISREG(o->inode->mode)  ? traits->protected_regular
			 : S_ISFIFO(o->inode->mode) ? traits->protected_fifos
						    : 1;

	if (!dir || !(dir->mode & S_ISVTX) || o->inode->uid == dir->uid ||
	    o->inode->uid == x->process->uid || x->process->trusted)
		return;
	if (dir->mode & S_IWOTH)
		refuse_by_setting(x, setting, 1, RULE_open_planted);
	else if (dir->mode & S_IWGRP)
		refuse_by_setting(x, setting, 2, RULE_open_planted);
}

static bool fifo_has(const struct step *x, uint64_t ino, int64_t access)
{
	const struct open_file *file;
	uint64_t key;

	for (bool first = true; (file = (void *)pmap_next(&x->state->files, first, &key));
	     first = false)
		if (file->ino == ino && !(file->flags & O_PATH) &&
		    ((file->flags & O_ACCMODE) == access || (file->flags & O_ACCMODE) == O_RDWR))
			return true;
	return false;
}

/* Whether opening a FIFO returns depends on who else has it open. */
static void refuse_fifo(struct step *x, const struct open_call *o, int64_t access)
{
	bool met = fifo_has(x, o->inode->ino, access == O_RDONLY ? O_WRONLY : O_RDONLY);
	/* A FUSE daemon may give the kernel an inode for each name: then they do not meet. */
	bool apart = x->model->traits.times_cached;

	if (met && !apart)
		return;
	if (!open_has(o, O_NONBLOCK))
		leave_undefined(x, RULE_open_fifo_waits);
	else if (access == O_WRONLY && met)
		may_refuse(x, RULE_open_fifo_unread);
	else if (access == O_WRONLY)
		refuse(x, RULE_open_fifo_unread);
}

static void refuse_special(struct step *x, const struct open_call *o)
{
	int64_t access = o->flags & O_ACCMODE;

	switch (o->inode->mode & S_IFMT) {
	case S_IFSOCK:
		refuse(x, RULE_open_socket);
		break;
	case S_IFCHR:
	case S_IFBLK:
		may_refuse(x, RULE_open_device_denied);
		if (major(o->inode->rdev))
			leave_undefined(x, RULE_open_device);
		else
			refuse(x, RULE_open_device_missing);
		break;
	case S_IFIFO:
		if (access == O_ACCMODE && refuse(x, RULE_open_fifo_neither))
			break;
		if (access != O_RDWR)
			refuse_fifo(x, o, access);
		break;
	}
}

/* Permissions and flags of what is there: may_open. */
static void refuse_access(struct step *x, const struct open_call *o)
{
	const struct inode *inode = o->inode;

	if (o->want & MAY_WRITE && x->state->read_only &&
	    (S_ISREG(inode->mode) || S_ISDIR(inode->mode)))
		refuse(x, RULE_read_only);
	if (o->want & MAY_WRITE && inode->flags & FS_IMMUTABLE_FL)
		refuse(x, RULE_open_immutable);
	refuse_denied(x, inode, o->want, RULE_open_denied);
	if (inode->flags & FS_APPEND_FL && ((o->writes && !open_has(o, O_APPEND)) ||
					    (open_has(o, O_TRUNC) && S_ISREG(inode->mode))))
		refuse(x, RULE_open_append_only);
	if (open_has(o, O_NOATIME))
		refuse_stranger(x, inode, RULE_open_noatime);
}

static void refuse_existing(struct step *x, const struct open_call *o)
{
	bool directory = o->w.kind == WHERE_DIR;

	if (open_has(o, O_CREAT | O_EXCL))
		refuse(x, RULE_open_exists);
	if (directory && open_has(o, O_CREAT))
		refuse(x, RULE_open_create_over_directory);
	if (directory && open_has(o, O_CREAT))
		may_refuse(x, RULE_open_create_names_directory);
	if (open_has(o, O_CREAT))
		refuse_planted(x, o);
	if (!directory && open_has(o, O_DIRECTORY))
		refuse(x, RULE_open_not_directory);
	if (o->w.is_symlink && open_has(o, O_NOFOLLOW) && !open_has(o, O_PATH)) {
		refuse(x, RULE_open_symlink);
		refuse(x, RULE_open_symlink_links);
	}
	if (o->w.is_symlink)
		return;
	if (directory && o->writes)
		refuse(x, RULE_open_directory_writing);
	if (directory && open_has(o, O_TRUNC))
		refuse(x, RULE_open_directory_truncating);
	if (o->flags & OPEN_EXEC && directory)
		leave_undefined(x, RULE_open_exec_directory);
	if (o->flags & OPEN_SEARCH && !directory)
		leave_undefined(x, RULE_open_search_file);
	if (open_has(o, O_PATH))
		return;
	refuse_access(x, o);
	if (!directory && !S_ISREG(o->inode->mode))
		refuse_special(x, o);
	/* A device knows itself whether it has O_DIRECT; what waits has not been refused yet. */
	if (open_has(o, O_DIRECT) && !x->env->undefined && !S_ISBLK(o->inode->mode) &&
	    !S_ISCHR(o->inode->mode) && (!S_ISREG(o->inode->mode) || x->model->traits.no_direct_io))
		refuse(x, RULE_open_direct);
}

static void refuse_tmpfile(struct step *x, const struct open_call *o)
{
	refuse_where(x, &o->w);
	if (o->w.kind == WHERE_NONE)
		refuse(x, RULE_name_missing);
	if (o->w.kind == WHERE_FILE)
		refuse(x, RULE_open_not_directory);
	refuse_read_only(x);
	if (o->w.kind != WHERE_DIR)
		return;
	refuse_write(x, o->w.ino);
	if (!o->inode->nlink)
		may_refuse(x, RULE_tmpfile_removed);
	if (x->model->traits.no_tmpfile)
		refuse(x, RULE_tmpfile_unsupported);
}

static void refuse_opening(struct step *x, struct open_call *o)
{
	unsigned how = open_has(o, O_NOFOLLOW) ? WALK_KEEP_SLASH : 0;

	if (!open_has(o, O_NOFOLLOW) && !open_has(o, O_CREAT | O_EXCL))
		how |= WALK_FOLLOW;
	if (open_has(o, O_CREAT))
		how |= WALK_OPEN_CREATE;
	resolve(x, o->dirfd, o->path, how, o->confined, &o->w);
	if (o->w.via_symlink)
		ignore_slash(x, &o->w, RULE_open_ignores_slash);
	o->inode = where_inode(x, &o->w);
	if (open_has(o, TMPFILE_BIT)) {
		refuse_tmpfile(x, o);
		return;
	}
	refuse_where(x, &o->w);
	if (open_has(o, O_CREAT) && o->w.slash)
		refuse_create_slash(x, o);
	if (o->w.kind == WHERE_NONE)
		refuse_missing(x, o);
	else if (o->inode)
		refuse_existing(x, o);
}

/* The object to open: found and cut, or made. */
static uint64_t open_create(struct step *x, const struct open_call *o)
{
	uint32_t mode = S_IFREG | (o->mode == MODE_ABSENT ? 0 : (uint32_t)o->mode & 07777);
	uint64_t ino;

	if (open_has(o, TMPFILE_BIT)) {
		ino = make_unnamed(x, o->w.ino, mode);
		if (!open_has(o, O_EXCL))
			tree_edit(&x->state->tree, ino)->flags |= INODE_LINKABLE;
		return ino;
	}
	if (!o->inode)
		return make_object(x, &o->w, mode);
	if (open_has(o, O_TRUNC) && S_ISREG(o->inode->mode)) {
		/* FUSE sends it as a truncation, which need not set the times of an empty file. */
		if (!o->inode->size && x->model->traits.times_cached)
			may_touch(x, o->w.ino, TIME_BIT_MODIFY | TIME_BIT_CHANGE);
		tree_truncate(&x->state->tree, o->w.ino, 0);
		drop_privileges(x, o->w.ino);
		touch_modify(x, o->w.ino);
	}
	return o->w.ino;
}

/* The descriptor, or -1 where it is not to be opened. */
static int open_resolved(struct step *x, struct open_call *o)
{
	int64_t flags;

	if (o->confined)
		refuse_how(x, o);
	if (open_has(o, O_PATH))
		o->flags &= PATH_FLAGS;
	find_access(x, o);
	refuse_open_flags(x, o);
	if (o->path)
		refuse_opening(x, o);
	else
		refuse_existing(x, o);
	if (o->left_behind && fails_with(x, ENOTDIR))
		open_create(x, o);
	if (!proceed(x))
		return -1;
	flags = o->flags;
	/* Neither reading nor writing. */
	if (flags & (OPEN_EXEC | OPEN_SEARCH) && holds(x, RULE_open_exec_search))
		flags |= O_ACCMODE;
	return state_open(x->state, x->pid, open_create(x, o), flags);
}

static void open_fd(struct step *x, struct open_call *o)
{
	int fd = open_resolved(x, o);

	if (fd >= 0)
		give_num(x, RESULT_FD, fd);
}

void open_inode(struct step *x, uint64_t ino, int64_t flags)
{
	struct open_call o = { .flags = flags, .inode = tree_inode(&x->state->tree, ino) };

	o.w.kind = S_ISDIR(o.inode->mode) ? WHERE_DIR : WHERE_FILE;
	o.w.ino = ino;
	o.w.is_symlink = S_ISLNK(o.inode->mode);
	open_fd(x, &o);
}

void model_open(struct step *x)
{
	const struct call *c = x->call;

	open_fd(x, &(struct open_call){ .dirfd = AT_FDCWD,
					.path = &c->open.path,
					.flags = c->open.flags.num,
					.mode = c->open.mode.num });
}

void model_openat(struct step *x)
{
	const struct call *c = x->call;

	open_fd(x, &(struct open_call){ .dirfd = c->openat.dirfd.num,
					.path = &c->openat.path,
					.flags = c->openat.flags.num,
					.mode = c->openat.mode.num });
}

void model_openat2(struct step *x)
{
	const struct call *c = x->call;

	leave_open(x, RULE_call_of_linux);
	open_fd(x, &(struct open_call){ .dirfd = c->openat2.dirfd.num,
					.path = &c->openat2.path,
					.flags = c->openat2.flags.num,
					.mode = c->openat2.mode.num,
					.confined = &c->openat2.resolve.num });
}

void model_creat(struct step *x)
{
	const struct call *c = x->call;

	open_fd(x, &(struct open_call){ .dirfd = AT_FDCWD,
					.path = &c->creat.path,
					.flags = O_CREAT | O_WRONLY | O_TRUNC,
					.mode = c->creat.mode.num });
}

void model_open_close(struct step *x)
{
	const struct call *c = x->call;
	struct open_call o = { .dirfd = AT_FDCWD,
			       .path = &c->open_close.path,
			       .flags = c->open_close.flags.num,
			       .mode = c->open_close.mode.num };
	int fd = open_resolved(x, &o);

	if (fd >= 0)
		state_close(x->state, x->pid, fd);
}
