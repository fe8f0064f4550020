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

static void frontier_insert(struct frontier *f, struct frontier_input input)
{
	uint8_t *values = must_alloc(f->len + 1);
	size_t i = f->count;

	memcpy(values, input.values, f->len);
	input.values = values;
	input.number = f->added++;
	if (f->count == f->cap) {
		f->cap = f->cap ? 2 * f->cap : 64;
		f->heap = must_realloc(f->heap, f->cap * sizeof(*f->heap));
	}
	f->heap[i] = input;
	f->count++;
	while (i && frontier_before(&f->heap[i], &f->heap[(i - 1) / 2])) {
		frontier_swap(f, i, (i - 1) / 2);
		i = (i - 1) / 2;
	}
}

uint64_t frontier_turned(const struct frontier *f, uint64_t place)
{
	const uint64_t *turned = hash_map_get(&f->places, (struct hash){ place, 0 });

	return turned ? *turned : 0;
}

bool frontier_add(struct frontier *f, const uint8_t *values, struct hash edge, uint64_t place)
{
	uint64_t *turned = hash_map_put(&f->places, (struct hash){ place, 0 }, NULL);
	struct frontier_input input = { .values = (uint8_t *)(uintptr_t)values,
					.edge = edge,
					.rank = place ? ++*turned : 0 };
	bool new;

	hash_map_put(&f->known, hash128(values, f->len, 0), &new);
	if (new)
		frontier_insert(f, input);
	return new;
}

void frontier_again(struct frontier *f, const struct frontier_input *input, unsigned level,
		    uint64_t rank)
{
	frontier_insert(
		f, (struct frontier_input){
			   .values = input->values, .again = true, .level = level, .rank = rank });
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
