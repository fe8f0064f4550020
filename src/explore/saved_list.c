/* saved_list.c -- a heap whose members know their places. */
#include "explore/saved_list.h"

#include <stdlib.h>

#include "base/must.h"

static bool saved_list_comes_later(const struct saved_list *l, size_t a, size_t b)
{
	return open_list_promise(l->list, l->items[a]) < open_list_promise(l->list, l->items[b]);
}

static void saved_list_swap(struct saved_list *l, size_t a, size_t b)
{
	struct open_state *o = l->items[a];

	l->items[a] = l->items[b];
	l->items[b] = o;
	l->items[a]->saved_at = a;
	l->items[b]->saved_at = b;
}

static void saved_list_sift(struct saved_list *l, size_t i)
{
	size_t child;

	for (; i && saved_list_comes_later(l, i, (i - 1) / 2); i = (i - 1) / 2)
		saved_list_swap(l, i, (i - 1) / 2);
	for (; (child = 2 * i + 1) < l->count; i = child) {
		if (child + 1 < l->count && saved_list_comes_later(l, child + 1, child))
			child++;
		if (!saved_list_comes_later(l, child, i))
			return;
		saved_list_swap(l, i, child);
	}
}

void saved_list_add(struct saved_list *l, struct open_state *o)
{
	must(!o->saved && l->count < l->max);
	if (l->count == l->cap) {
		l->cap = l->cap ? l->cap * 2 : 64;
		l->items = must_realloc(l->items, l->cap * sizeof(*l->items));
	}
	o->saved = true;
	o->saved_at = l->count;
	l->items[l->count++] = o;
	saved_list_sift(l, o->saved_at);
}

void saved_list_remove(struct saved_list *l, struct open_state *o)
{
	size_t i = o->saved_at;

	must(o->saved && l->items[i] == o);
	saved_list_swap(l, i, --l->count);
	o->saved = false;
	if (i < l->count)
		saved_list_sift(l, i);
}

void saved_list_update(struct saved_list *l, struct open_state *o)
{
	must(o->saved && l->items[o->saved_at] == o);
	saved_list_sift(l, o->saved_at);
}

struct open_state *saved_list_last(const struct saved_list *l)
{
	return l->count ? l->items[0] : NULL;
}

void saved_list_free(struct saved_list *l)
{
	must(!l->count);
	free(l->items);
	*l = (struct saved_list){ 0 };
}
