/* faults_attr.c -- RefFS broken: modes, owners, extended attributes, permissions. */
#include <errno.h>
#include <string.h>
#include <sys/xattr.h>

#include "broken/faults.h"

/* The object that a call of this base succeeded on, 0 if it is another or failed. */
static uint64_t pass_on(struct faulty *f, const struct call *c, struct outcome *ret, enum op base)
{
	uint64_t ino = call_is(c, base) ? call_subject(f, c) : 0;

	fault_pass(f, c, ret);
	return ret->error || !fault_inode(f, ino) ? 0 : ino;
}

void fault_chmod_bit(struct faulty *f, const struct call *c, struct outcome *ret)
{
	struct call changed = call_is(c, OP_chmod) ? call_without(c, KIND_MODE, S_IXOTH) : *c;

	fault_pass(f, &changed, ret);
}

void fault_chmod_sticky(struct faulty *f, const struct call *c, struct outcome *ret)
{
	struct call changed = call_is(c, OP_chmod) ? call_without(c, KIND_MODE, S_ISVTX) : *c;

	fault_pass(f, &changed, ret);
}

void fault_chown_group(struct faulty *f, const struct call *c, struct outcome *ret)
{
	struct call changed = *c;
	struct arg *gid = call_is(c, OP_chown) ? call_arg(&changed, KIND_GID) : NULL;

	if (gid)
		gid->num = -1;
	fault_pass(f, &changed, ret);
}

void fault_chown_leave(struct faulty *f, const struct call *c, struct outcome *ret)
{
	struct call changed = *c;
	struct arg *uid = call_is(c, OP_chown) ? call_arg(&changed, KIND_UID) : NULL;

	if (uid && (int32_t)uid->num == -1)
		uid->num = 0;
	fault_pass(f, &changed, ret);
}

void fault_chown_setuid(struct faulty *f, const struct call *c, struct outcome *ret)
{
	const struct inode *before =
		call_is(c, OP_chown) ? fault_inode(f, call_subject(f, c)) : NULL;
	uint32_t setuid = before ? before->mode & S_ISUID : 0;
	uint64_t ino = pass_on(f, c, ret, OP_chown);

	if (!ino)
		return;
	fault_edit(f, ino)->mode |= setuid;
	fault_settle(f);
}

void fault_stat_size(struct faulty *f, const struct call *c, struct outcome *ret)
{
	fault_pass(f, c, ret);
	if (call_is(c, OP_stat) && !ret->error && S_ISREG(ret->stat.mode))
		ret->stat.size = (ret->stat.size + TREE_BLOCK - 1) / TREE_BLOCK * TREE_BLOCK;
}

void fault_strip(struct faulty *f, uint64_t ino)
{
	const struct xattr *xattr;
	struct buf name = BUF_INIT;
	uint64_t cookie;

	while (cookie = 0, (xattr = tree_next_xattr(fault_inode(f, ino), &cookie))) {
		buf_clear(&name);
		buf_adds(&name, xattr->bytes);
		tree_remove_xattr(faulty_tree(f), ino, name.data);
	}
	buf_free(&name);
}

void fault_xattr_survives(struct faulty *f, const struct call *c, struct outcome *ret)
{
	fault_pass_undone(f, c, ret, call_is(c, OP_removexattr));
}

void fault_xattr_create(struct faulty *f, const struct call *c, struct outcome *ret)
{
	struct call changed = call_without(c, KIND_XATTR_FLAGS, XATTR_CREATE);

	fault_pass(f, &changed, ret);
}

void fault_xattr_replace(struct faulty *f, const struct call *c, struct outcome *ret)
{
	struct call changed = call_without(c, KIND_XATTR_FLAGS, XATTR_REPLACE);

	fault_pass(f, &changed, ret);
}

void fault_xattr_missing(struct faulty *f, const struct call *c, struct outcome *ret)
{
	fault_confuse(f, c, ret, OP_removexattr, ENODATA, 0);
}

void fault_xattr_short(struct faulty *f, const struct call *c, struct outcome *ret)
{
	struct call changed = *c;
	struct arg *size = call_is(c, OP_setxattr) ? call_arg(&changed, KIND_COUNT) : NULL;

	if (size && size->num > 0)
		size->num--;
	fault_pass(f, &changed, ret);
}

void fault_xattr_other(struct faulty *f, const struct call *c, struct outcome *ret)
{
	uint64_t ino = call_is(c, OP_setxattr) ? call_subject(f, c) : 0;
	struct state trial = state_copy(f->state);

	/* Whether it succeeds is tried out first: only then do the others go. */
	model_run(f->model, &trial, c, ret);
	state_free(&trial);
	if (fault_inode(f, ino) && !ret->error) {
		fault_strip(f, ino);
		fault_settle(f);
	}
	fault_pass(f, c, ret);
}

/* The call as root would make it, where it is refused with this error. */
static void as_root(struct faulty *f, const struct call *c, struct outcome *ret, int error)
{
	const struct process *process;
	uint32_t uid;

	fault_pass(f, c, ret);
	process = state_process(f->state, c->pid);
	if (!process || ret->error != error)
		return;
	uid = process->uid;
	state_edit_process(f->state, c->pid)->uid = 0;
	fault_pass(f, c, ret);
	state_edit_process(f->state, c->pid)->uid = uid;
}

void fault_sticky_ignored(struct faulty *f, const struct call *c, struct outcome *ret)
{
	if (call_is(c, OP_unlink) || call_is(c, OP_rmdir) || call_is(c, OP_rename))
		as_root(f, c, ret, EPERM);
	else
		fault_pass(f, c, ret);
}

void fault_owner_ignored(struct faulty *f, const struct call *c, struct outcome *ret)
{
	if (call_is(c, OP_chmod))
		as_root(f, c, ret, EPERM);
	else
		fault_pass(f, c, ret);
}

void fault_write_ignored(struct faulty *f, const struct call *c, struct outcome *ret)
{
	if (call_is(c, OP_open) && !call_names(f, c, 0, true))
		as_root(f, c, ret, EACCES);
	else
		fault_pass(f, c, ret);
}
