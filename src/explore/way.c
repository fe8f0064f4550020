/* way.c -- counted references from the end of a way to its beginning. */
#include "explore/way.h"

#include <stdlib.h>

#include "base/must.h"

struct way *way_share(struct way *w)
{
	if (w)
		w->refs++;
	return w;
}

struct way *way_new(struct ways *ways, struct way *from, uint32_t call, uint32_t node)
{
	struct way *w = must_alloc(sizeof(*w));

	*w = (struct way){
		.from = way_share(from),
		.call = call,
		.node = node,
		.depth = way_depth(from) + 1,
		.refs = 1,
	};
	ways->count++;
	return w;
}

void way_drop(struct ways *ways, struct way *w)
{
	struct way *from;

	for (; w && !--w->refs; w = from) {
		from = w->from;
		free(w);
		ways->count--;
	}
}
