/* recent_calls.c -- the last calls that were made on a target, to be repeated. */
#include "target/recent_calls.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/must.h"

enum { HALF = 32 }; /* of the calls that are remembered: those before fade all at once */

struct recent_calls {
	struct {
		struct call calls[HALF];
		size_t count;
		struct arena arena;
	} halves[2]; /* the older and the newer one */
};

struct recent_calls *recent_calls_new(void)
{
	return must_alloc(sizeof(struct recent_calls));
}

void recent_calls_free(struct recent_calls *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < ARRAY_LEN(r->halves); i++)
		arena_free(&r->halves[i].arena);
	free(r);
}

void recent_calls_forget(struct recent_calls *r)
{
	if (r)
		r->halves[0].count = r->halves[1].count = 0;
}

/* Calls that can be repeated by themselves: by the process that is always there, and without
 * waiting for another, as opening a FIFO and taking a lock may. Failures that were injected may
 * well lose space. */
static bool call_is_repeatable(const struct call *c)
{
	if (c->pid != 1 || op_table[c->op].traits & TRAIT_PROC)
		return false;
	switch (c->op) {
	case OP_fsck:
	case OP_seek_space:
	case OP_seek_leaks:
	case OP_fail_alloc:
	case OP_fail_read:
	case OP_fail_write:
	case OP_flock:
		return false;
	case OP_mknod:
		return !S_ISFIFO(c->mknod.mode.num);
	case OP_mknodat:
		return !S_ISFIFO(c->mknodat.mode.num);
	default:
		return true;
	}
}

static void recent_calls_add_one(struct recent_calls *r, const struct call *c)
{
	struct arena oldest = r->halves[0].arena;

	if (!call_is_repeatable(c))
		return;
	if (r->halves[1].count == HALF) {
		r->halves[0] = r->halves[1];
		r->halves[1].arena = oldest;
		r->halves[1].count = 0;
	}
	if (!r->halves[1].count)
		arena_reset(&r->halves[1].arena);
	r->halves[1].calls[r->halves[1].count++] = call_copy(c, &r->halves[1].arena);
}

void recent_calls_add(struct recent_calls *r, const struct plan_step *steps, size_t count)
{
	for (size_t i = count > 2 * HALF ? count - 2 * HALF : 0; r && i < count; i++)
		recent_calls_add_one(r, &steps[i].call);
}

const struct call *recent_calls_get(const struct recent_calls *r, size_t i)
{
	size_t older = r->halves[0].count;

	if (i < older)
		return &r->halves[0].calls[i];
	return i - older < r->halves[1].count ? &r->halves[1].calls[i - older] : NULL;
}
