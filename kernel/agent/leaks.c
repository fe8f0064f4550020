// SPDX-License-Identifier: GPL-2.0
/* leaks.c -- whether calls leave memory behind.
 *
 * Some memory is taken the first time only, and some is given back late: so only what grows with
 * every one of the last rounds counts. What a mounted file system holds is its own affair; once it
 * is unmounted, nothing may be left. */
#include "leaks.h"

#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/must.h"
#include "kernel/driver/assay.h"
#include "op/op.h"

enum {
	HALF = 32, /* of the calls that are remembered: those before fade all at once */
	ROUNDS_FIRST = 3,
	ROUNDS = ROUNDS_FIRST + 4,
	HELD_MAX = 512,
};

struct leaks {
	struct {
		struct call calls[HALF];
		size_t count;
		struct arena arena;
	} halves[2]; /* the older and the newer one */
};

/* All caches after a round. */
struct census {
	struct assay_held held[HELD_MAX];
	unsigned count;
};

struct leaks *leaks_new(void)
{
	return must_alloc(sizeof(struct leaks));
}

/* Whoever opens a FIFO waits for the other end. */
static bool makes_fifo(const struct call *c)
{
	return (c->op == OP_mknod && S_ISFIFO(c->mknod.mode.num)) ||
	       (c->op == OP_mknodat && S_ISFIFO(c->mknodat.mode.num));
}

void leaks_note(struct leaks *l, const struct call *c)
{
	struct arena oldest = l->halves[0].arena;

	if (makes_fifo(c))
		return;
	if (l->halves[1].count == HALF) {
		l->halves[0] = l->halves[1];
		arena_reset(&oldest);
		l->halves[1].arena = oldest;
		l->halves[1].count = 0;
	}
	l->halves[1].calls[l->halves[1].count++] = call_copy(c, &l->halves[1].arena);
}

static bool make_round(const struct leaks *l, const struct leaks_cycle *cycle, struct census *ret)
{
	if (!cycle->begin(cycle->own))
		return false;
	for (size_t half = 0; half < 2; half++)
		for (size_t i = 0; i < l->halves[half].count; i++)
			cycle->call(cycle->own, &l->halves[half].calls[i]);
	if (!cycle->end(cycle->own))
		return false;
	ret->count = assay_memory_held(ret->held, HELD_MAX);
	return true;
}

static unsigned long held_as(const struct census *c, const char *name)
{
	unsigned long sum = 0;

	for (unsigned i = 0; i < c->count; i++)
		if (!strcmp(c->held[i].name, name))
			sum += c->held[i].count;
	return sum;
}

/* By how much it grew in each of the last rounds, at least; 0: it did not in one of them. */
static unsigned long growth_of(const struct census *rounds, const char *name)
{
	unsigned long least = ~0UL, before, now;

	for (unsigned i = ROUNDS_FIRST; i < ROUNDS; i++) {
		before = held_as(&rounds[i - 1], name);
		now = held_as(&rounds[i], name);
		if (now <= before)
			return 0;
		least = now - before < least ? now - before : least;
	}
	return least;
}

/* "memory leak of kmalloc-64, inode_cache: 2, 1 more each time" */
static void leaks_report_growth(const struct census *rounds, struct buf *out)
{
	const struct census *last = &rounds[ROUNDS - 1];
	struct buf numbers = BUF_INIT;
	unsigned long growth;

	for (unsigned i = 0; i < last->count; i++) {
		growth = growth_of(rounds, last->held[i].name);
		if (!growth)
			continue;
		buf_addf(out, "%s%s", out->len ? ", " : "memory leak of ", last->held[i].name);
		buf_addf(&numbers, "%s%lu", numbers.len ? ", " : ": ", growth);
	}
	if (numbers.len)
		buf_addf(out, "%s more each time", numbers.data);
	buf_free(&numbers);
}

void leaks_seek(const struct leaks *l, const struct leaks_cycle *cycle, struct buf *out)
{
	struct census *rounds = must_alloc(ROUNDS * sizeof(*rounds));
	bool whole = true;

	for (unsigned i = 0; i < ROUNDS && whole; i++)
		whole = make_round(l, cycle, &rounds[i]);
	if (whole)
		leaks_report_growth(rounds, out);
}
