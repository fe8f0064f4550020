/* handle.h -- numbers of file handles. */
#ifndef OP_HANDLE_H
#define OP_HANDLE_H

#include <stdint.h>

enum { HANDLES_MAX = 4 };

/* Where the handle of a number is kept: every number has a place. */
static inline unsigned handle_slot(int64_t number)
{
	return (uint64_t)number % HANDLES_MAX;
}

#endif
