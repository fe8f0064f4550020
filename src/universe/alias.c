/* alias.c -- tables of aliases from weights. */
#include "universe/alias.h"

#include <stdlib.h>

#include "base/must.h"

/* What a place has left to give, where a place that is even has `all`. */
struct alias_filler {
	unsigned __int128 *left;
	uint32_t *small, *large; /* places with less, and with at least as much */
	size_t small_count, large_count;
	uint64_t all;
};

static void alias_sort_in(struct alias_filler *f, uint32_t place)
{
	if (f->left[place] < f->all)
		f->small[f->small_count++] = place;
	else
		f->large[f->large_count++] = place;
}

/* A small place is filled up from a large one, which is sorted in again with what it keeps. */
static void alias_fill_up(struct alias_filler *f, struct alias *table)
{
	while (f->small_count && f->large_count) {
		uint32_t small = f->small[--f->small_count], large = f->large[--f->large_count];

		table[small] = (struct alias){ (uint32_t)((f->left[small] << 32) / f->all), large };
		f->left[large] -= f->all - f->left[small];
		alias_sort_in(f, large);
	}
}

void alias_fill(struct alias *table, const uint64_t *sums, size_t count)
{
	struct alias_filler f = { .all = sums[count - 1] };

	must(f.all);
	f.left = must_alloc(count * sizeof(*f.left));
	f.small = must_alloc(count * sizeof(*f.small));
	f.large = must_alloc(count * sizeof(*f.large));
	for (uint32_t i = 0; i < count; i++) {
		f.left[i] = (unsigned __int128)(sums[i] - (i ? sums[i - 1] : 0)) * count;
		table[i] = (struct alias){ 0, i };
		alias_sort_in(&f, i);
	}
	alias_fill_up(&f, table);
	free(f.left);
	free(f.small);
	free(f.large);
}
