/* core.c -- the state behind a mounted RefFS.
 *
 * Who holds an object is not part of the state: the kernel's references survive a restore, a
 * snapshot's do not. So the tree's own holds are used only for objects that were removed while
 * the kernel held them (orphans), and each snapshot lists its orphans. */
#include "reffs/core.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/must.h"
#include "reffs/record.h"
#include "tree/pool.h"

void core_init(struct core *c, const struct core_options *options, uint32_t uid, uint32_t gid)
{
	struct state_options state_options = {
		.fields = CORE_TREE_FIELDS,
		.root_mode = 0755,
		.uid = uid,
		.gid = gid,
		.owner_1 = true,
	};
	struct timespec now;

	memset(c, 0, sizeof(*c));
	pthread_mutex_init(&c->lock, NULL);
	c->options = *options;
	model_init(&c->model, PLATFORM_LINUX, KERNEL_CURRENT);
	/* Cloning shares blocks, so it is cheap enough to offer to all users. */
	c->model.traits.no_reflink = false;
	state_init(&c->state, &state_options);
	c->next_ino = c->state.tree.next_ino;
	clock_gettime(CLOCK_REALTIME, &now);
	struct inode_times *times = &tree_edit(&c->state.tree, TREE_ROOT)->times;
	times->access = times->modify = times->change = times->birth =
		now.tv_sec * 1000000000 + now.tv_nsec;
	tree_settle(&c->state.tree);
}

static void core_ref_free(struct ref *ref)
{
	free(ref);
}

/* None of these is ever edited in a shared map, so nothing is copied. An orphan is its number. */
static const struct pmap_type orphan_type = { .free = core_ref_free };

static void core_snapshot_free(struct ref *ref)
{
	struct core_snapshot *s = (struct core_snapshot *)ref;

	state_free(&s->state);
	pmap_drop(&s->orphans, &orphan_type);
	free(s);
}

static const struct pmap_type snapshot_type = { .free = core_snapshot_free };

struct lookups {
	struct ref ref;
	uint64_t times;
	uint64_t generation;
};

static const struct pmap_type lookups_type = { .free = core_ref_free };

void core_free(struct core *c)
{
	pmap_drop(&c->pool, &snapshot_type);
	pmap_drop(&c->lookups, &lookups_type);
	pmap_drop(&c->orphans, &orphan_type);
	state_free(&c->state);
	pthread_mutex_destroy(&c->lock);
}

/* ---- requests ---- */

void core_enter(struct core *c, const struct requester *caller)
{
	struct process *p = state_edit_process(&c->state, CORE_PID);
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	c->state.now = now.tv_sec * 1000000000 + now.tv_nsec;
	p->uid = caller->uid;
	p->gid = caller->gid;
	p->umask = 0; /* the kernel has applied it */
	p->trusted = !c->options.own_permissions;
	if (c->options.own_permissions)
		state_set_groups(&c->state, caller->uid, caller->groups, caller->group_count);
}

int core_open(struct core *c, uint64_t ino, int64_t flags)
{
	return state_open(&c->state, CORE_PID, ino, flags);
}

int core_call(struct core *c, struct call *call, struct outcome *ret)
{
	call->pid = CORE_PID;
	model_run(&c->model, &c->state, call, ret);
	if (c->next_ino < c->state.tree.next_ino)
		c->next_ino = c->state.tree.next_ino;
	if (c->recorder && !ret->error)
		recorder_add(c->recorder, &c->state, call, ret);
	return ret->error;
}

void core_sync(struct core *c, uint64_t ino, bool data_only)
{
	if (c->recorder)
		recorder_add_sync(c->recorder, &c->state, ino, data_only);
}

void core_leave(struct core *c)
{
	for (int fd = STATE_FD_FIRST; state_close(&c->state, CORE_PID, fd); fd++)
		;
	tree_settle(&c->state.tree);
}

int core_access(struct core *c, uint64_t ino, int want)
{
	struct call call = { .op = OP_faccessat2 };
	struct outcome outcome;

	if (!c->options.own_permissions)
		return 0;
	call.faccessat2.dirfd.num = core_open(c, ino, O_PATH);
	call.faccessat2.path.text = "";
	call.faccessat2.mode.num = want;
	call.faccessat2.flags.num = AT_EMPTY_PATH | AT_EACCESS;
	return core_call(c, &call, &outcome);
}

/* ---- who holds what ---- */

const struct inode *core_inode(const struct core *c, uint64_t ino)
{
	return tree_inode(&c->state.tree, ino);
}

void core_hold(struct core *c, uint64_t ino)
{
	struct lookups *l = (struct lookups *)pmap_get(&c->lookups, ino);

	if (!l) {
		l = must_alloc(sizeof(*l));
		l->ref.count = 1;
		pmap_put(&c->lookups, &lookups_type, ino, &l->ref);
	}
	l->times++;
}

uint64_t core_generation(const struct core *c, uint64_t ino)
{
	const struct lookups *l = (const struct lookups *)pmap_get(&c->lookups, ino);

	return l ? l->generation : 0;
}

bool core_is_held(const struct core *c, uint64_t ino)
{
	return ino == TREE_ROOT || pmap_get(&c->lookups, ino);
}

/* False where it is kept already: an unnamed file that was given a name and loses it again. */
static bool orphan_add(struct core *c, uint64_t ino)
{
	struct ref *orphan;

	if (pmap_get(&c->orphans, ino))
		return false;
	orphan = must_alloc(sizeof(*orphan));
	orphan->count = 1;
	pmap_put(&c->orphans, &orphan_type, ino, orphan);
	tree_hold(&c->state.tree, ino);
	return true;
}

static void orphan_remove(struct core *c, uint64_t ino)
{
	if (!pmap_remove(&c->orphans, &orphan_type, ino))
		return;
	tree_unhold(&c->state.tree, ino);
	tree_settle(&c->state.tree);
}

void core_keep(struct core *c, uint64_t ino)
{
	orphan_add(c, ino);
}

void core_forget(struct core *c, uint64_t ino, uint64_t times)
{
	struct lookups *l = (struct lookups *)pmap_get(&c->lookups, ino);

	if (!l)
		return;
	if (l->times > times) {
		l->times -= times;
		return;
	}
	pmap_remove(&c->lookups, &lookups_type, ino);
	orphan_remove(c, ino);
}

int core_call_removing(struct core *c, struct call *call, uint64_t dir, const char *name,
		       struct outcome *ret)
{
	const struct entry *entry = tree_find(&c->state.tree, dir, name, strlen(name));
	uint64_t victim = entry && core_is_held(c, entry->ino) ? entry->ino : 0;
	bool added = victim && orphan_add(c, victim);

	core_call(c, call, ret);
	if (added && core_inode(c, victim)->nlink)
		orphan_remove(c, victim);
	return ret->error;
}

/* ---- space ---- */

uint64_t core_blocks_max(const struct core *c)
{
	return c->options.bytes_max / TREE_BLOCK;
}

uint64_t core_memory_left(const struct core *c)
{
	uint64_t used = pool_bytes();

	return c->options.memory_max > used ? c->options.memory_max - used : 0;
}

static uint64_t memory_left(uint64_t max, uint64_t used, uint64_t memory)
{
	uint64_t left = max > used ? max - used : 0;

	return left < memory ? left : memory;
}

uint64_t core_blocks_free(const struct core *c)
{
	return memory_left(core_blocks_max(c), c->state.tree.blocks,
			   core_memory_left(c) / TREE_BLOCK);
}

uint64_t core_inodes_free(const struct core *c)
{
	return memory_left(c->options.inodes_max, c->state.tree.inodes.count,
			   core_memory_left(c) / sizeof(struct inode));
}

uint64_t core_room(const struct core *c, uint64_t ino, uint64_t offset, uint64_t len)
{
	const struct inode *inode = core_inode(c, ino);
	uint64_t left = core_blocks_free(c), end = offset + len;
	/* A write to a block that a saved state shares needs a new block. */
	uint64_t memory = core_memory_left(c) / TREE_BLOCK;

	if (len == 0 || left > len / TREE_BLOCK + 1)
		return len;
	for (uint64_t at = offset - offset % TREE_BLOCK; at < end; at += TREE_BLOCK) {
		bool new = !pmap_get(&inode->file.blocks, at / TREE_BLOCK);

		if (!memory || (new && !left))
			return at > offset ? at - offset : 0;
		left -= new;
		memory--;
	}
	return len;
}

/* ---- snapshots ---- */

const struct core_snapshot *core_find(const struct core *c, uint64_t key)
{
	return (const struct core_snapshot *)pmap_get(&c->pool, key);
}

static void core_put_snapshot(struct core *c, uint64_t key, const struct state *state,
			      struct pmap orphans)
{
	struct core_snapshot *s = must_alloc(sizeof(*s));

	s->ref.count = 1;
	s->state = *state;
	s->orphans = orphans;
	pmap_put(&c->pool, &snapshot_type, key, &s->ref);
}

int core_need_snapshots(const struct core *c, uint64_t more, struct err *err)
{
	uint64_t max = c->options.snapshots_max;

	if (more > max || c->pool.count > max - more)
		return err_set(err, ENOSPC, "%llu states are saved, and no more can be",
			       (unsigned long long)c->pool.count);
	if (!core_memory_left(c))
		return err_set(err, ENOSPC, "the memory for states is used up");
	return 0;
}

int core_save(struct core *c, uint64_t key, struct err *err)
{
	int r = core_need_snapshots(c, !core_find(c, key), err);
	struct state state;

	if (r)
		return r;
	state = state_copy(&c->state);
	core_put_snapshot(c, key, &state, pmap_share(&c->orphans));
	return 0;
}

void core_put(struct core *c, uint64_t key, struct tree *tree)
{
	struct state state = state_copy(&c->state);

	tree_free(&state.tree);
	state.tree = *tree;
	tree_hold(&state.tree, TREE_ROOT); /* the working directory of our only process */
	if (c->next_ino < tree->next_ino)
		c->next_ino = tree->next_ino;
	core_put_snapshot(c, key, &state, (struct pmap)PMAP_INIT);
}

int core_drop(struct core *c, uint64_t key)
{
	return pmap_remove(&c->pool, &snapshot_type, key) ? 0 : -ENOENT;
}

/* What the kernel saw removed stays dead to it, if it is a directory; one that comes back must
 * not be taken for it. */
static void renew_directories(struct core *c)
{
	uint64_t ino = 0;

	for (bool first = true; pmap_next(&c->orphans, first, &ino); first = false) {
		const struct inode *inode = core_inode(c, ino);

		if (inode && S_ISDIR(inode->mode) && inode->nlink)
			((struct lookups *)pmap_get(&c->lookups, ino))->generation++;
	}
}

/* The orphans become those of the snapshot that the kernel still holds; the others go now. */
static void restore_orphans(struct core *c, const struct core_snapshot *s)
{
	uint64_t ino = 0;

	pmap_drop(&c->orphans, &orphan_type);
	c->orphans = pmap_share(&s->orphans);
	for (bool first = true; pmap_next(&s->orphans, first, &ino); first = false) {
		if (!core_is_held(c, ino))
			orphan_remove(c, ino);
	}
}

int core_restore(struct core *c, uint64_t key, bool discard, struct state *ret_before)
{
	const struct core_snapshot *s = core_find(c, key);

	if (!s)
		return -ENOENT;
	*ret_before = c->state;
	c->state = state_copy(&s->state);
	c->state.tree.next_ino = c->next_ino;
	renew_directories(c);
	restore_orphans(c, s);
	tree_settle(&c->state.tree);
	if (discard)
		core_drop(c, key);
	return 0;
}
