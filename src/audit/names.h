/* names.h -- the names of a directory: whether one is there twice. */
#ifndef AUDIT_NAMES_H
#define AUDIT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct audit_names {
	uint64_t *hashes;
	size_t count, cap;
};

void audit_names_add(struct audit_names *n, const uint8_t *name, size_t len);
/* Puts them into another order. */
bool audit_names_twice(struct audit_names *n);
void audit_names_free(struct audit_names *n);

#endif
