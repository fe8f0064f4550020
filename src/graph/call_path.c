/* call_path.c -- counted references from the end of a path to its beginning. */
#include "graph/call_path.h"

#include <stdlib.h>

#include "base/must.h"

struct call_path *call_path_share(struct call_path *p)
{
	if (p)
		p->refs++;
	return p;
}

struct call_path *call_path_new(struct call_paths *paths, struct call_path *from, uint32_t call,
				uint32_t node)
{
	struct call_path *p = must_alloc(sizeof(*p));

	*p = (struct call_path){
		.from = call_path_share(from),
		.call = call,
		.node = node,
		.depth = call_path_depth(from) + 1,
		.refs = 1,
	};
	paths->count++;
	return p;
}

void call_path_drop(struct call_paths *paths, struct call_path *p)
{
	struct call_path *from;

	for (; p && !--p->refs; p = from) {
		from = p->from;
		free(p);
		paths->count--;
	}
}
