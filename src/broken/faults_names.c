/* faults_names.c -- RefFS broken: directories, links and renames. */
#include <errno.h>
#include <linux/fs.h>
#include <string.h>

#include "broken/faults.h"

void fault_mkdir_enoent(struct faulty *f, const struct call *c, struct outcome *ret)
{
	fault_confuse(f, c, ret, OP_mkdir, EEXIST, ENOENT);
}

void fault_mkdir_umask(struct faulty *f, const struct call *c, struct outcome *ret)
{
	uint64_t made;

	fault_pass(f, c, ret);
	if (!call_is(c, OP_mkdir) || ret->error)
		return;
	made = call_names(f, c, 0, false);
	fault_edit(f, made)->mode |= (uint32_t)call_num(c, KIND_MODE) & 0777;
	fault_settle(f);
}

void fault_mkdir_setgid(struct faulty *f, const struct call *c, struct outcome *ret)
{
	fault_pass(f, c, ret);
	if (!call_is(c, OP_mkdir) || ret->error)
		return;
	fault_edit(f, call_names(f, c, 0, false))->mode &= ~(uint32_t)S_ISGID;
	fault_settle(f);
}

void fault_mkdir_space(struct faulty *f, const struct call *c, struct outcome *ret)
{
	bool full = call_is(c, OP_mkdir) && faulty_tree(f)->inodes.count > 2;

	fault_pass_undone(f, c, ret, full);
	if (full && !ret->error)
		ret->error = ENOSPC;
}

/* Raises the link count of the directory in which a call that succeeds changes a name. */
static void count_once_more(struct faulty *f, const struct call *c, struct outcome *ret,
			    enum op base)
{
	struct place place = call_place(f, c, 0);

	fault_pass(f, c, ret);
	if (!call_is(c, base) || ret->error || !place.dir)
		return;
	fault_edit(f, place.dir)->nlink++;
	fault_settle(f);
}

void fault_mkdir_nlink(struct faulty *f, const struct call *c, struct outcome *ret)
{
	count_once_more(f, c, ret, OP_mkdir);
}

void fault_rmdir_nlink(struct faulty *f, const struct call *c, struct outcome *ret)
{
	count_once_more(f, c, ret, OP_rmdir);
}

/* Removes what is below a directory. */
static void fault_empty_directory(struct faulty *f, uint64_t dir)
{
	const struct entry *entry;
	struct buf name = BUF_INIT;
	uint64_t cookie;

	while (cookie = 0, (entry = tree_next_entry(faulty_tree(f), dir, &cookie))) {
		if (S_ISDIR(fault_inode(f, entry->ino)->mode))
			fault_empty_directory(f, entry->ino);
		buf_clear(&name);
		buf_add(&name, entry->name, entry->len);
		tree_unlink(faulty_tree(f), dir, name.data, name.len);
	}
	buf_free(&name);
}

void fault_rmdir_full(struct faulty *f, const struct call *c, struct outcome *ret)
{
	fault_pass(f, c, ret);
	if (!call_is(c, OP_rmdir) || ret->error != ENOTEMPTY)
		return;
	fault_empty_directory(f, call_names(f, c, 0, false));
	fault_settle(f);
	fault_pass(f, c, ret);
}

void fault_rmdir_enotempty(struct faulty *f, const struct call *c, struct outcome *ret)
{
	fault_confuse(f, c, ret, OP_rmdir, ENOTEMPTY, EBUSY);
}

void fault_unlink_dir(struct faulty *f, const struct call *c, struct outcome *ret)
{
	struct place place = call_place(f, c, 0);
	const struct inode *dir;

	fault_pass(f, c, ret);
	if (!call_is(c, OP_unlink) || ret->error != EISDIR || !place.dir)
		return;
	dir = fault_inode(f, call_names(f, c, 0, false));
	if (!dir || dir->dir.entries.count ||
	    !tree_find(faulty_tree(f), place.dir, place.name, place.len))
		return;
	tree_unlink(faulty_tree(f), place.dir, place.name, place.len);
	fault_settle(f);
	ret->error = 0;
}

/* The file that loses one of several names by this call, 0 if none does. */
static uint64_t shared_victim(struct faulty *f, const struct call *c, unsigned nth)
{
	uint64_t ino = call_names(f, c, nth, false);

	return fault_is_file(f, ino) && fault_inode(f, ino)->nlink > 1 ? ino : 0;
}

void fault_unlink_shared(struct faulty *f, const struct call *c, struct outcome *ret)
{
	uint64_t victim = call_is(c, OP_unlink) ? shared_victim(f, c, 0) : 0;

	fault_pass(f, c, ret);
	if (!victim || ret->error)
		return;
	tree_truncate(faulty_tree(f), victim, 0);
	fault_settle(f);
}

void fault_unlink_nlink(struct faulty *f, const struct call *c, struct outcome *ret)
{
	uint64_t victim = call_is(c, OP_unlink) ? shared_victim(f, c, 0) : 0;

	fault_pass(f, c, ret);
	if (!victim || ret->error)
		return;
	fault_edit(f, victim)->nlink++;
	fault_settle(f);
}

void fault_unlink_other(struct faulty *f, const struct call *c, struct outcome *ret)
{
	uint64_t victim = call_is(c, OP_unlink) ? call_names(f, c, 0, false) : 0, other;

	fault_pass(f, c, ret);
	if (!victim || ret->error)
		return;
	other = fault_next_file(f, victim);
	if (!other || !fault_inode(f, other)->size)
		return;
	tree_truncate(faulty_tree(f), other, fault_inode(f, other)->size - 1);
	fault_settle(f);
}

/* As if it were still open. */
void fault_unlink_space(struct faulty *f, const struct call *c, struct outcome *ret)
{
	uint64_t victim = call_is(c, OP_unlink) ? call_names(f, c, 0, false) : 0;
	bool held = fault_is_file(f, victim) && fault_inode(f, victim)->size;

	if (held)
		tree_hold(faulty_tree(f), victim);
	fault_pass(f, c, ret);
	if (held && (ret->error || fault_inode(f, victim)->nlink))
		tree_unhold(faulty_tree(f), victim);
	fault_settle(f);
}

void fault_unlink_forgotten(struct faulty *f, const struct call *c, struct outcome *ret)
{
	uint64_t victim = call_is(c, OP_unlink) ? call_names(f, c, 0, false) : 0;
	bool is_empty = fault_is_file(f, victim) && !fault_inode(f, victim)->size;

	fault_pass_undone(f, c, ret, is_empty);
}

/* Renames by other means than exchange. */
static bool is_move(const struct call *c)
{
	return call_is(c, OP_rename) && !call_num(c, KIND_RENAME_FLAGS);
}

void fault_rename_stays(struct faulty *f, const struct call *c, struct outcome *ret)
{
	struct place from = call_place(f, c, 0);
	uint64_t moved = is_move(c) ? call_names(f, c, 0, false) : 0;

	fault_pass(f, c, ret);
	if (!fault_is_file(f, moved) || ret->error || !from.dir ||
	    tree_find(faulty_tree(f), from.dir, from.name, from.len))
		return;
	tree_link(faulty_tree(f), from.dir, from.name, from.len, moved);
	fault_settle(f);
}

void fault_rename_keeps_old(struct faulty *f, const struct call *c, struct outcome *ret)
{
	struct place from = call_place(f, c, 0), to = call_place(f, c, 1);
	uint64_t old = is_move(c) ? call_names(f, c, 1, false) : 0;

	if (fault_is_file(f, old) && to.dir && from.dir && call_names(f, c, 0, false) != old) {
		tree_hold(faulty_tree(f), old);
		fault_pass(f, c, ret);
		if (!ret->error) {
			tree_unlink(faulty_tree(f), to.dir, to.name, to.len);
			tree_link(faulty_tree(f), to.dir, to.name, to.len, old);
		}
		tree_unhold(faulty_tree(f), old);
		fault_settle(f);
	} else {
		fault_pass(f, c, ret);
	}
}

void fault_rename_nlink(struct faulty *f, const struct call *c, struct outcome *ret)
{
	uint64_t victim = is_move(c) ? shared_victim(f, c, 1) : 0;

	if (victim && call_names(f, c, 0, false) == victim)
		victim = 0;
	fault_pass(f, c, ret);
	if (!victim || ret->error)
		return;
	fault_edit(f, victim)->nlink++;
	fault_settle(f);
}

void fault_rename_same(struct faulty *f, const struct call *c, struct outcome *ret)
{
	struct place from = call_place(f, c, 0), to = call_place(f, c, 1);
	uint64_t ino = is_move(c) ? shared_victim(f, c, 0) : 0;
	bool same = ino && call_names(f, c, 1, false) == ino && from.dir && to.dir &&
		    tree_find(faulty_tree(f), from.dir, from.name, from.len) !=
			    tree_find(faulty_tree(f), to.dir, to.name, to.len);

	fault_pass(f, c, ret);
	if (!same || ret->error)
		return;
	tree_unlink(faulty_tree(f), from.dir, from.name, from.len);
	fault_settle(f);
}

void fault_rename_xattr(struct faulty *f, const struct call *c, struct outcome *ret)
{
	uint64_t moved = is_move(c) ? call_names(f, c, 0, false) : 0;

	fault_pass(f, c, ret);
	if (!fault_inode(f, moved) || ret->error)
		return;
	fault_strip(f, moved);
	fault_settle(f);
}

void fault_rename_below(struct faulty *f, const struct call *c, struct outcome *ret)
{
	fault_confuse(f, c, ret, OP_rename, EINVAL, 0);
}

void fault_rename_dir_nlink(struct faulty *f, const struct call *c, struct outcome *ret)
{
	struct place from = call_place(f, c, 0), to = call_place(f, c, 1);
	const struct inode *moved = is_move(c) ? fault_inode(f, call_names(f, c, 0, false)) : NULL;
	bool away = moved && S_ISDIR(moved->mode) && from.dir && to.dir && from.dir != to.dir;

	fault_pass(f, c, ret);
	if (!away || ret->error)
		return;
	fault_edit(f, from.dir)->nlink++;
	fault_settle(f);
}

void fault_rename_full(struct faulty *f, const struct call *c, struct outcome *ret)
{
	fault_confuse(f, c, ret, OP_rename, ENOTEMPTY, 0);
}

void fault_rename_noreplace(struct faulty *f, const struct call *c, struct outcome *ret)
{
	struct call changed = call_without(c, KIND_RENAME_FLAGS, RENAME_NOREPLACE);

	fault_pass(f, &changed, ret);
}

/* Another inode with the same contents and attributes but extended ones. */
static uint64_t copy_file(struct faulty *f, uint64_t from)
{
	const struct inode *old = fault_inode(f, from);
	uint64_t copy = tree_new(faulty_tree(f), old->mode, old->uid, old->gid, f->state->now);

	tree_truncate(faulty_tree(f), copy, fault_inode(f, from)->size);
	tree_clone(faulty_tree(f), from, 0, copy, 0, fault_inode(f, from)->size);
	return copy;
}

void fault_link_copies(struct faulty *f, const struct call *c, struct outcome *ret)
{
	struct place to = call_place(f, c, 1);
	uint64_t copy;

	fault_pass(f, c, ret);
	if (!call_is(c, OP_link) || ret->error || !to.dir ||
	    !fault_is_file(f, call_names(f, c, 1, false)))
		return;
	copy = copy_file(f, call_names(f, c, 1, false));
	tree_unlink(faulty_tree(f), to.dir, to.name, to.len);
	tree_link(faulty_tree(f), to.dir, to.name, to.len, copy);
	fault_settle(f);
}

void fault_link_exists(struct faulty *f, const struct call *c, struct outcome *ret)
{
	fault_confuse(f, c, ret, OP_link, EEXIST, 0);
}

void fault_link_data(struct faulty *f, const struct call *c, struct outcome *ret)
{
	uint64_t linked;

	fault_pass(f, c, ret);
	if (!call_is(c, OP_link) || ret->error)
		return;
	linked = call_names(f, c, 1, false);
	if (!fault_is_file(f, linked))
		return;
	tree_truncate(faulty_tree(f), linked, 0);
	fault_settle(f);
}

void fault_symlink_short(struct faulty *f, const struct call *c, struct outcome *ret)
{
	struct call changed = *c;
	struct arg *target = call_arg(&changed, KIND_TARGET);
	char text[4096];

	if (!call_is(c, OP_symlink) || target->len < 2 || target->len >= sizeof(text)) {
		fault_pass(f, c, ret);
		return;
	}
	target->len--;
	memcpy(text, target->text, target->len);
	text[target->len] = '\0';
	target->text = text;
	fault_pass(f, &changed, ret);
}

void fault_symlink_followed(struct faulty *f, const struct call *c, struct outcome *ret)
{
	uint64_t named = call_is(c, OP_chmod) ? call_names(f, c, 0, false) : 0;

	fault_pass_undone(f, c, ret, named && S_ISLNK(fault_inode(f, named)->mode));
}

void fault_not_a_directory(struct faulty *f, const struct call *c, struct outcome *ret)
{
	fault_pass(f, c, ret);
	if (ret->error == ENOTDIR)
		ret->error = ENOENT;
}
