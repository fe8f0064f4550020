/* aftermath.c -- what overlapping calls leave behind: in memory, on the disk, after a remount. */
#include "conform/aftermath.h"

#include <errno.h>

#include "base/err.h"
#include "conform/walk.h"
#include "judge/examined.h"
#include "judge/judge.h"
#include "target/examine.h"

/* No set-up is saved by this key. */
static const uint64_t raced_key = 2;

typedef int aftermath_looks(struct aftermath *a, struct walker *x, const struct state *s,
			    struct discrepancy *found, bool *ret_bad, struct err *err);

static int aftermath_fsck(struct aftermath *a, struct walker *x, const struct state *s,
			  struct discrepancy *found, bool *ret_bad, struct err *err)
{
	struct call c = { .op = OP_fsck, .pid = 1 };
	enum target_fate fate = FATE_FINE;
	struct outcome answer;
	int r;

	if (!(x->target->caps & TARGET_FSCK))
		return 0;
	r = target_call(x->target, &c, &answer, &fate, err);
	if (r == -ENOTSUP) { /* it complains of fresh disks */
		a->means_nothing[AFTERMATH_FSCK] = true;
		return err_forget(err, r, ENOTSUP);
	}
	if (r)
		return r;
	*ret_bad = fate != FATE_FINE || examined_found(&c, &answer);
	if (fate != FATE_FINE)
		judge_describe_fate(x->target, &c, fate, found);
	else if (*ret_bad)
		examined_describe(x->target, &c, found);
	return 0;
}

/* Ends the processes of the races, and with them what they hold open. */
static int aftermath_end_processes(struct walker *x, const struct state *s, struct err *err)
{
	uint64_t pid;
	int r = 0;

	for (bool first = true; !r && pmap_next(&s->processes, first, &pid); first = false) {
		struct call end = { .op = OP_destroy_process, .pid = (uint16_t)pid };
		enum target_fate fate;
		struct outcome answer;

		if (pid > 1)
			r = target_call(x->target, &end, &answer, &fate, err);
	}
	return r;
}

/* A name that is looked up in a directory while that is removed stays in the cache of names, and
 * keeps the directory's inode until the cache shrinks. Linux allows itself that: no space is lost.
 */
static int aftermath_drop_caches(struct walker *x, struct err *err)
{
	struct call c = { .op = OP_drop_caches, .pid = 1 };
	enum target_fate fate;
	struct outcome answer;

	if (!(x->target->caps & TARGET_DROP_CACHES))
		return 0;
	return target_call(x->target, &c, &answer, &fate, err);
}

static void aftermath_describe_loss(struct walker *x, int64_t blocks, int64_t inodes,
				    struct discrepancy *found)
{
	struct call c = { .op = OP_seek_space, .pid = 1 };
	struct buf *report = &x->target->report;

	buf_clear(report);
	if (blocks)
		buf_addf(report, "%lld blocks", (long long)blocks);
	if (inodes)
		buf_addf(report, "%s%lld inodes", blocks ? ", " : "", (long long)inodes);
	examined_describe(x->target, &c, found);
	buf_clear(&found->seen);
	buf_addf(&found->seen,
		 "less than if the calls do not overlap, once everything is removed: %s",
		 buf_str(report));
}

static int aftermath_space(struct aftermath *a, struct walker *x, const struct state *s,
			   struct discrepancy *found, bool *ret_bad, struct err *err)
{
	struct statfs_result free = { 0 };
	int r = aftermath_end_processes(x, s, err);

	if (!r)
		r = aftermath_drop_caches(x, err);
	if (r)
		return r;
	if (!examine_emptied(x->target, &free)) {
		a->means_nothing[AFTERMATH_SPACE] |= a->serial;
		return 0;
	}
	if (!a->space_known) {
		a->space_known = a->serial;
		a->free_blocks = free.bfree;
		a->inodes = free.ffree;
		return 0;
	}
	*ret_bad = free.bfree != a->free_blocks || free.ffree != a->inodes;
	if (*ret_bad)
		aftermath_describe_loss(x, a->free_blocks - free.bfree, a->inodes - free.ffree,
					found);
	return 0;
}

static int aftermath_remount(struct aftermath *a, struct walker *x, const struct state *s,
			     struct discrepancy *found, bool *ret_bad, struct err *err)
{
	struct call c = { .op = OP_remount, .pid = 1 };
	enum target_fate fate = FATE_FINE;
	struct state expected;
	struct outcome answer;
	struct envelope env;
	struct tree seen;
	int r;

	if (!(x->target->caps & TARGET_REMOUNT))
		return 0;
	r = target_call(x->target, &c, &answer, &fate, err);
	if (r)
		return r;
	expected = state_copy(s);
	if (fate == FATE_FINE)
		*ret_bad =
			judge_outcome(&x->model, &expected, &c, &answer, &env, found) != VERDICT_OK;
	if (fate == FATE_FINE && !*ret_bad) {
		r = walker_observe(x, &seen, &fate, err);
		if (!r && fate == FATE_FINE) {
			*ret_bad = judge_tree(&expected, &c, &seen, found) != VERDICT_OK;
			tree_free(&seen);
		}
	}
	if (!r && fate != FATE_FINE) {
		judge_describe_fate(x->target, &c, fate, found);
		*ret_bad = true;
	}
	state_free(&expected);
	return r;
}

int aftermath_examine(struct aftermath *a, struct walker *x, const struct state *s,
		      struct discrepancy *found, bool *ret_bad, struct err *err)
{
	static aftermath_looks *const looks[AFTERMATH_LOOKS] = {
		[AFTERMATH_FSCK] = aftermath_fsck,
		[AFTERMATH_SPACE] = aftermath_space,
		[AFTERMATH_REMOUNT] = aftermath_remount,
	};
	const struct target_kind *kind = x->target->kind;
	int r = kind->save(x->target, raced_key, err);

	*ret_bad = false;
	for (unsigned i = 0; i < AFTERMATH_LOOKS && !r && !*ret_bad; i++) {
		if (a->means_nothing[i])
			continue;
		r = kind->restore(x->target, raced_key, err);
		if (!r)
			r = looks[i](a, x, s, found, ret_bad, err);
		if (a->serial && *ret_bad) {
			a->means_nothing[i] = true;
			discrepancy_free(found);
			discrepancy_init(found);
			*ret_bad = false;
		}
	}
	kind->drop(x->target, raced_key);
	return r;
}
