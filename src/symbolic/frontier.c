/* frontier.c -- inputs that wait to be run, the most promising first. */
#include "symbolic/frontier.h"

#include <stdlib.h>
#include <string.h>

#include "base/must.h"

void frontier_init(struct frontier *f, size_t len)
{
	*f = (struct frontier){ .len = len };
}

void frontier_free(struct frontier *f)
{
	for (size_t i = 0; i < f->count; i++)
		free(f->heap[i].values);
	free(f->heap);
	hash_map_free(&f->known);
	hash_map_free(&f->places);
}

static bool frontier_before(const struct frontier_input *a, const struct frontier_input *b)
{
	return a->rank != b->rank ? a->rank < b->rank : a->number < b->number;
}

static void frontier_swap(struct frontier *f, size_t i, size_t j)
{
	struct frontier_input input = f->heap[i];

	f->heap[i] = f->heap[j];
	f->heap[j] = input;
}

bool frontier_add(struct frontier *f, const uint8_t *values, struct hash edge, uint64_t place)
{
	uint64_t *turned = hash_map_put(&f->places, (struct hash){ place, 0 }, NULL);
	size_t i = f->count;
	bool new;

	hash_map_put(&f->known, hash128(values, f->len, 0), &new);
	if (!new)
		return false;
	if (f->count == f->cap) {
		f->cap = f->cap ? 2 * f->cap : 64;
		f->heap = must_realloc(f->heap, f->cap * sizeof(*f->heap));
	}
	f->heap[i] = (struct frontier_input){ must_alloc(f->len + 1), edge, place ? ++*turned : 0,
					      f->added++ };
	memcpy(f->heap[i].values, values, f->len);
	f->count++;
	while (i && frontier_before(&f->heap[i], &f->heap[(i - 1) / 2])) {
		frontier_swap(f, i, (i - 1) / 2);
		i = (i - 1) / 2;
	}
	return true;
}

bool frontier_take(struct frontier *f, struct frontier_input *ret)
{
	size_t i = 0;

	if (!f->count)
		return false;
	*ret = f->heap[0];
	f->heap[0] = f->heap[--f->count];
	for (;;) {
		size_t least = i;

		for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < f->count; child++) {
			if (frontier_before(&f->heap[child], &f->heap[least]))
				least = child;
		}
		if (least == i)
			return true;
		frontier_swap(f, i, least);
		i = least;
	}
}
