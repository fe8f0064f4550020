/* target_reffs.c -- the model itself as a file system, in this process.
 *
 * A call is model_run(), observing is a copy of the tree, and saving a copy of the state: a few
 * reference counts each. With a fault it is a file system that is broken in one known way. */
#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/must.h"
#include "broken/reffs_race.h"
#include "broken/reffs_stale.h"
#include "broken/reffs_times.h"
#include "target/description.h"
#include "target/in_process.h"
#include "trace/script.h"

enum { SPACE_UNITS = 1 << 24 }; /* blocks, and inodes, that it says it has */

struct reffs {
	struct in_process base;
	struct fault_memory memory;
	const struct fault_info *fault; /* NULL: none */
	const struct race_fault *race_fault;
	const struct time_fault *time_fault;
	const struct stale_fault *stale_fault;
	struct arena raced; /* bytes of the last race's outcomes */
	struct faulty faulty;
	struct pmap saved; /* struct reffs_state by key */
};

struct reffs_state {
	struct ref ref;
	struct state state;
	struct fault_memory memory;
};

static struct ref *reffs_state_copy(const struct ref *object)
{
	const struct reffs_state *old = (const struct reffs_state *)object;
	struct reffs_state *copy = must_alloc(sizeof(*copy));

	*copy = (struct reffs_state){ { 1 }, state_copy(&old->state), old->memory };
	return &copy->ref;
}

static void reffs_state_free(struct ref *object)
{
	struct reffs_state *saved = (struct reffs_state *)object;

	state_free(&saved->state);
	free(saved);
}

static const struct pmap_type saved_type = { reffs_state_copy, reffs_state_free };

static void reffs_begin(struct target *t)
{
	struct reffs *r = t->own;

	in_process_begin(t);
	r->memory = (struct fault_memory){ 0 };
}

static void reffs_lacks(const struct target_description *d, struct buf *out)
{
}

static unsigned reffs_caps(const struct target_description *d)
{
	return TARGET_REMOUNT | TARGET_SAVE | TARGET_DROP_CACHES | TARGET_TIME | TARGET_PROCESSES |
	       TARGET_MMAP | TARGET_SPACE | TARGET_WAIT;
}

static int reffs_check(const struct target_description *d, const char *fault, struct err *err)
{
	if (d->argument)
		return err_set(err, EINVAL, "%s:%s: reffs takes no argument", d->name, d->argument);
	if (fault && !fault_find(fault) && !race_fault_find(fault) && !time_fault_find(fault) &&
	    !stale_fault_find(fault))
		return err_set(err, ENOENT, "%s: there is no such fault", fault);
	return 0;
}

/* The model itself has no size. */
static void reffs_fill_space(const struct reffs *r, struct statfs_result *ret)
{
	ret->bsize = TREE_BLOCK;
	ret->blocks = ret->files = SPACE_UNITS;
	ret->bfree = ret->bavail = SPACE_UNITS - (int64_t)r->base.state.tree.blocks;
	ret->ffree = SPACE_UNITS - (int64_t)r->base.state.tree.inodes.count;
}

static void reffs_run(struct target *t, const struct call *c, struct outcome *ret)
{
	struct reffs *r = t->own;

	if (r->fault)
		r->fault->run(&r->faulty, c, ret);
	else if (r->time_fault)
		time_fault_run(r->time_fault, &r->faulty, c, ret);
	else if (r->stale_fault)
		stale_fault_run(r->stale_fault, &r->faulty, c, ret);
	else
		model_run(&r->base.model, &r->base.state, c, ret);
	if (!ret->error && ret->result == RESULT_STATFS)
		reffs_fill_space(r, &ret->statfs);
}

/* A cache that is out of date is right again once everything was looked at. */
static void reffs_observed(struct target *t)
{
	struct reffs *r = t->own;

	if (r->stale_fault)
		r->memory = (struct fault_memory){ 0 };
}

static int reffs_open(struct target *t, const struct target_description *d,
		      const struct target_options *options, struct err *err)
{
	struct reffs *r = must_alloc(sizeof(*r));

	t->own = r;
	in_process_init(t, reffs_run);
	r->base.observed = reffs_observed;
	if (options->fault) {
		r->fault = fault_find(options->fault);
		r->race_fault = race_fault_find(options->fault);
		r->time_fault = time_fault_find(options->fault);
		r->stale_fault = stale_fault_find(options->fault);
	}
	r->faulty = (struct faulty){ &r->base.model, &r->base.state, &r->memory, BUF_INIT };
	reffs_begin(t);
	return 0;
}

static void reffs_close(struct target *t)
{
	struct reffs *r = t->own;

	in_process_free(t);
	pmap_drop(&r->saved, &saved_type);
	buf_free(&r->faulty.bytes);
	arena_free(&r->raced);
	free(r);
}

static int reffs_overlap(struct target *t, const struct call *calls, size_t count, uint64_t seed,
			 struct race_outcome *ret, enum target_fate *ret_fate, struct err *err)
{
	struct reffs *r = t->own;

	times_forget_objects(&r->base.times);
	arena_reset(&r->raced);
	reffs_race(&r->faulty, r->race_fault, calls, count, seed, &r->raced, ret);
	*ret_fate = FATE_FINE;
	return 0;
}

static int reffs_reset(struct target *t, struct err *err)
{
	struct reffs *r = t->own;

	state_free(&r->base.state);
	reffs_begin(t);
	return 0;
}

static int reffs_save(struct target *t, uint64_t key, struct err *err)
{
	struct reffs *r = t->own;
	struct reffs_state *saved = must_alloc(sizeof(*saved));

	*saved = (struct reffs_state){ { 1 }, state_copy(&r->base.state), r->memory };
	pmap_put(&r->saved, &saved_type, key, &saved->ref);
	return 0;
}

static int reffs_restore(struct target *t, uint64_t key, struct err *err)
{
	struct reffs *r = t->own;
	const struct reffs_state *saved = (const struct reffs_state *)pmap_get(&r->saved, key);

	if (!saved)
		return err_set(err, ENOENT, "%s: nothing is saved as %ju", t->name, (uintmax_t)key);
	in_process_restore(t, &saved->state);
	r->memory = saved->memory;
	return 0;
}

static void reffs_drop(struct target *t, uint64_t key)
{
	struct reffs *r = t->own;

	pmap_remove(&r->saved, &saved_type, key);
}

const struct target_kind target_reffs = {
	.name = "reffs",
	.summary = "the model as a file system, in this process",
	.lacks = reffs_lacks,
	.check = reffs_check,
	.has_faults = true,
	.in_process = true,
	.caps = reffs_caps,
	.open = reffs_open,
	.close = reffs_close,
	.call = in_process_call,
	.observe = in_process_observe,
	.follow = in_process_follow,
	.races = true,
	.race = reffs_overlap,
	.reset = reffs_reset,
	.save = reffs_save,
	.restore = reffs_restore,
	.drop = reffs_drop,
};
