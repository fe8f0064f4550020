/* turns.h -- the order in which races are searched: one of each family in turn, and those of a
 * family far apart from one another, so that a limit of time leaves out a bit of everything. */
#ifndef CONFORM_TURNS_H
#define CONFORM_TURNS_H

#include <stddef.h>

struct suite;

/* The numbers of all scripts, to be freed by the caller. */
size_t *turns_order(const struct suite *s);

#endif
