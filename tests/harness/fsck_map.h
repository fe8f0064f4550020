/* fsck_map.h -- for tests of damaged disks: a small disk with fields that a text lists. */
#ifndef TESTS_FSCK_MAP_H
#define TESTS_FSCK_MAP_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "damage/own_map.h"
#include "tests/harness/unit.h"

enum { SMALL_DISK = 8192 };

static inline void small_map(struct own_map *m, const char *fields)
{
	struct err err = { 0 };

	own_map_init(m, SMALL_DISK);
	if (own_map_parse(m, fields, &err))
		fail_msg("%s", err.text);
	own_map_finish(m);
}

#endif
