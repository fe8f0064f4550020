/* open_list.c -- a stack, a queue or a heap of open states. */
#include "explore/open_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/must.h"

bool open_list_is_stack(const struct open_list *l)
{
	return l->strategy == STRATEGY_DFS || l->strategy == STRATEGY_REMOUNT;
}

struct open_state *open_state_new(struct open_list *l, struct hash hash, uint32_t node,
				  struct call_path *path)
{
	struct open_state *o = must_alloc(sizeof(*o));

	*o = (struct open_state){
		.hash = hash,
		.key = ++l->keys,
		.node = node,
		.path = call_path_share(path),
	};
	return o;
}

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
	uint64_t rest;

	for (; b; a = b, b = rest)
		rest = a % b;
	return a;
}

bool open_state_has_order(const struct open_state *o, uint64_t calls)
{
	return o->next <= calls && o->first < calls && o->stride && o->stride <= calls &&
	       greatest_common_divisor(o->stride, calls) == 1;
}

void open_state_order(struct open_state *o, struct rng *rng, uint64_t calls)
{
	o->first = (uint32_t)rng_below(rng, calls);
	do
		o->stride = (uint32_t)rng_below(rng, calls) + 1;
	while (!open_state_has_order(o, calls));
}

void open_state_free(struct open_list *l, struct open_state *o)
{
	must(!o->saved);
	call_path_drop(&l->paths, o->path);
	free(o);
}

static void open_list_make_room(struct open_list *l)
{
	if (l->tail < l->cap)
		return;
	if (l->head > l->cap / 2) {
		memmove(l->items, l->items + l->head, (l->tail - l->head) * sizeof(*l->items));
		l->tail -= l->head;
		l->head = 0;
		return;
	}
	l->cap = l->cap ? l->cap * 2 : 64;
	l->items = must_realloc(l->items, l->cap * sizeof(*l->items));
}

static void open_list_swap(struct open_list *l, size_t a, size_t b)
{
	struct open_state *o = l->items[a];

	l->items[a] = l->items[b];
	l->items[b] = o;
}

/* A heap's head is always 0. */
static void open_list_sift_up(struct open_list *l, size_t i)
{
	for (; i && l->items[i]->score > l->items[(i - 1) / 2]->score; i = (i - 1) / 2)
		open_list_swap(l, i, (i - 1) / 2);
}

static void open_list_sift_down(struct open_list *l, size_t i)
{
	size_t child;

	while ((child = 2 * i + 1) < l->tail) {
		if (child + 1 < l->tail && l->items[child + 1]->score > l->items[child]->score)
			child++;
		if (l->items[i]->score >= l->items[child]->score)
			return;
		open_list_swap(l, i, child);
		i = child;
	}
}

void open_list_add(struct open_list *l, struct open_state *o)
{
	open_list_make_room(l);
	l->items[l->tail++] = o;
	if (l->strategy == STRATEGY_BEST)
		open_list_sift_up(l, l->tail - 1);
}

struct open_state *open_list_first(const struct open_list *l)
{
	if (l->head == l->tail)
		return NULL;
	return l->items[open_list_is_stack(l) ? l->tail - 1 : l->head];
}

struct open_state *open_list_take(struct open_list *l)
{
	struct open_state *o = open_list_first(l);

	if (open_list_is_stack(l)) {
		l->tail--;
	} else if (l->strategy == STRATEGY_BEST) {
		l->items[0] = l->items[--l->tail];
		open_list_sift_down(l, 0);
	} else {
		l->head++;
	}
	return o;
}

struct open_state *open_list_last(const struct open_list *l)
{
	if (open_list_count(l) < 2)
		return NULL;
	return l->items[open_list_is_stack(l) ? l->head : l->tail - 1];
}

void open_list_take_last(struct open_list *l)
{
	if (open_list_is_stack(l))
		l->head++;
	else
		l->tail--;
}

struct open_state *open_list_take_hash(struct open_list *l, struct hash hash)
{
	struct open_state *o;

	for (size_t i = l->head; i < l->tail; i++) {
		o = l->items[i];
		if (!hash_equal(o->hash, hash))
			continue;
		l->items[i] = l->items[--l->tail];
		return o;
	}
	return NULL;
}

double open_list_promise(const struct open_list *l, const struct open_state *o)
{
	if (l->strategy == STRATEGY_BEST)
		return o->score;
	return open_list_is_stack(l) ? call_path_depth(o->path) : -(double)o->key;
}

size_t open_list_bytes(const struct open_list *l)
{
	return (l->tail - l->head) * sizeof(struct open_state) + l->cap * sizeof(*l->items) +
	       l->paths.count * sizeof(struct call_path);
}

void open_list_free(struct open_list *l)
{
	must(l->head == l->tail);
	free(l->items);
	*l = (struct open_list){ 0 };
}
