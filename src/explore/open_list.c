/* open_list.c -- a stack, a queue or a heap of openings. */
#include "explore/open_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/must.h"

bool open_list_is_stack(const struct open_list *l)
{
	return l->strategy == STRATEGY_DFS || l->strategy == STRATEGY_REMOUNT;
}

static void make_room(struct open_list *l)
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

static void swap(struct open_list *l, size_t a, size_t b)
{
	struct opening *o = l->items[a];

	l->items[a] = l->items[b];
	l->items[b] = o;
}

/* A heap's head is always 0. */
static void sift_up(struct open_list *l, size_t i)
{
	for (; i && l->items[i]->score > l->items[(i - 1) / 2]->score; i = (i - 1) / 2)
		swap(l, i, (i - 1) / 2);
}

static void sift_down(struct open_list *l, size_t i)
{
	size_t child;

	while ((child = 2 * i + 1) < l->tail) {
		if (child + 1 < l->tail && l->items[child + 1]->score > l->items[child]->score)
			child++;
		if (l->items[i]->score >= l->items[child]->score)
			return;
		swap(l, i, child);
		i = child;
	}
}

void open_list_add(struct open_list *l, struct opening *o)
{
	make_room(l);
	l->items[l->tail++] = o;
	if (l->strategy == STRATEGY_BEST)
		sift_up(l, l->tail - 1);
}

struct opening *open_list_first(const struct open_list *l)
{
	if (l->head == l->tail)
		return NULL;
	return l->items[open_list_is_stack(l) ? l->tail - 1 : l->head];
}

struct opening *open_list_take(struct open_list *l)
{
	struct opening *o = open_list_first(l);

	if (open_list_is_stack(l)) {
		l->tail--;
	} else if (l->strategy == STRATEGY_BEST) {
		l->items[0] = l->items[--l->tail];
		sift_down(l, 0);
	} else {
		l->head++;
	}
	return o;
}

void open_list_free(struct open_list *l)
{
	must(l->head == l->tail);
	free(l->items);
	*l = (struct open_list){ 0 };
}
