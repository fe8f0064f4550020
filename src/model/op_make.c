/* op_make.c -- mkdir, mknod, symlink: new objects under a name that must not exist. */
#include <sys/sysmacros.h>

#include "model/entry.h"

/* What all of them ask of the place for the new name, as Linux's filename_create does. */
static void refuse_place(struct step *x, const struct where *w, bool directory)
{
	if (w->kind == WHERE_DIR || w->kind == WHERE_FILE)
		refuse(x, RULE_name_exists);
	else if (w->kind == WHERE_ERROR && w->blocked)
		refuse_taken(x);
	refuse_where(x, w);
	refuse_removed(x, w);
	if (w->kind == WHERE_NONE && w->slash && !directory) {
		refuse(x, RULE_make_slash);
		refuse(x, RULE_make_slash_posix);
		refuse(x, RULE_make_slash_directory);
	}
	refuse_read_only(x);
	if (w->kind == WHERE_NONE)
		refuse_write(x, w->parent);
}

static void step_make_directory(struct step *x, int64_t dirfd, const struct arg *path, int64_t mode)
{
	uint64_t link_max = x->model->traits.link_max;
	struct where w;

	resolve(x, dirfd, path, 0, NULL, &w);
	refuse_place(x, &w, true);
	if (w.kind == WHERE_ERROR && w.rule == RULE_not_a_directory)
		refuse(x, RULE_mkdir_below_file);
	if (w.kind == WHERE_NONE && link_max &&
	    tree_inode(&x->state->tree, w.parent)->nlink >= link_max)
		refuse(x, RULE_links_too_many);
	if (w.kind == WHERE_NONE &&
	    (mode & ~(int64_t)0777 || tree_inode(&x->state->tree, w.parent)->mode & S_ISGID))
		leave_undefined(x, RULE_mkdir_bits_open);
	if (!proceed(x))
		return;
	mode &= holds(x, RULE_mkdir_drops_setid) ? 01777 : 07777;
	make_object(x, &w, S_IFDIR | (uint32_t)mode);
}

void model_mkdir(struct step *x)
{
	const struct call *c = x->call;

	step_make_directory(x, AT_FDCWD, &c->mkdir.path, c->mkdir.mode.num);
}

void model_mkdirat(struct step *x)
{
	const struct call *c = x->call;

	step_make_directory(x, c->mkdirat.dirfd.num, &c->mkdirat.path, c->mkdirat.mode.num);
}

static void refuse_node_type(struct step *x, int64_t mode, int64_t dev)
{
	switch (mode & S_IFMT) {
	case 0:
	case S_IFREG:
		/* A daemon that makes files by another call may have no mknod at all. */
		if (x->model->traits.no_mknod && x->model->traits.times_cached)
			may_refuse_unsupported(x, RULE_mknod_unsupported);
		break;
	case S_IFIFO:
	case S_IFSOCK:
		if (x->model->traits.no_mknod)
			refuse_unsupported(x, RULE_mknod_unsupported);
		break;
	case S_IFCHR:
	case S_IFBLK:
		if (!is_machine_root(x) && ((mode & S_IFMT) != S_IFCHR || dev))
			refuse(x, RULE_mknod_device);
		if (x->model->traits.no_mknod)
			refuse_unsupported(x, RULE_mknod_unsupported);
		if (x->model->traits.no_whiteout_node && (mode & S_IFMT) == S_IFCHR && !dev)
			refuse(x, RULE_mknod_whiteout);
		if (major((uint64_t)dev) > x->model->traits.dev_major_max)
			refuse(x, RULE_mknod_major);
		break;
	}
}

static void step_make_node(struct step *x, int64_t dirfd, const struct arg *path, int64_t mode,
			   int64_t dev)
{
	uint32_t type = mode & S_IFMT ? (uint32_t)mode & S_IFMT : S_IFREG;
	struct where w;
	uint64_t ino;

	if (type == S_IFDIR)
		refuse(x, RULE_mknod_directory);
	else if (type == S_IFLNK || !(type == S_IFREG || type == S_IFCHR || type == S_IFBLK ||
				      type == S_IFIFO || type == S_IFSOCK))
		refuse(x, RULE_mknod_type);
	resolve(x, dirfd, path, 0, NULL, &w);
	refuse_place(x, &w, false);
	refuse_node_type(x, mode, dev);
	if (!proceed(x))
		return;
	ino = make_object(x, &w, type | ((uint32_t)mode & 07777));
	if (type == S_IFCHR || type == S_IFBLK)
		tree_edit(&x->state->tree, ino)->rdev = (uint64_t)dev;
}

void model_mknod(struct step *x)
{
	const struct call *c = x->call;

	step_make_node(x, AT_FDCWD, &c->mknod.path, c->mknod.mode.num, c->mknod.dev.num);
}

void model_mknodat(struct step *x)
{
	const struct call *c = x->call;

	step_make_node(x, c->mknodat.dirfd.num, &c->mknodat.path, c->mknodat.mode.num,
		       c->mknodat.dev.num);
}

static void make_symlink(struct step *x, const struct arg *target, int64_t dirfd,
			 const struct arg *path)
{
	uint32_t mode = 0777;
	struct where w;
	uint64_t ino;

	if (!target->text)
		refuse(x, RULE_path_null);
	else if (!target->len && !refuse(x, RULE_symlink_empty))
		may_refuse(x, RULE_symlink_empty_posix);
	else if (target->len >= x->model->traits.path_max)
		refuse(x, RULE_path_too_long);
	resolve(x, dirfd, path, 0, NULL, &w);
	refuse_place(x, &w, false);
	if (x->model->traits.no_symlink)
		refuse_unsupported(x, RULE_symlink_unsupported);
	if (target->len > x->model->traits.symlink_max)
		refuse(x, RULE_symlink_too_long);
	if (!proceed(x))
		return;
	if (holds(x, RULE_symlink_umask))
		mode &= ~x->process->umask;
	ino = make_object(x, &w, S_IFLNK | mode);
	tree_set_target(&x->state->tree, ino, target->text, target->len);
}

void model_symlink(struct step *x)
{
	const struct call *c = x->call;

	make_symlink(x, &c->symlink.target, AT_FDCWD, &c->symlink.path);
}

void model_symlinkat(struct step *x)
{
	const struct call *c = x->call;

	make_symlink(x, &c->symlinkat.target, c->symlinkat.dirfd.num, &c->symlinkat.path);
}
