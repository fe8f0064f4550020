/* names.c -- the names of a directory: whether one is there twice. */
#include "audit/names.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/must.h"

void audit_names_add(struct audit_names *n, const uint8_t *name, size_t len)
{
	if (n->count == n->cap) {
		n->cap = n->cap ? 2 * n->cap : 64;
		n->hashes = must_realloc(n->hashes, n->cap * sizeof(*n->hashes));
	}
	n->hashes[n->count++] = hash64(name, len, 0);
}

static int audit_names_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

bool audit_names_twice(struct audit_names *n)
{
	if (n->count)
		qsort(n->hashes, n->count, sizeof(*n->hashes), audit_names_compare);
	for (size_t i = 1; i < n->count; i++)
		if (n->hashes[i] == n->hashes[i - 1])
			return true;
	return false;
}

void audit_names_free(struct audit_names *n)
{
	free(n->hashes);
	*n = (struct audit_names){ 0 };
}
