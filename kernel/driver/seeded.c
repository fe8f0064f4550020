// SPDX-License-Identifier: GPL-2.0
/*
 * seeded.c -- which of the bugs is active that were put into the kernel on purpose.
 *
 * Its name comes through the shared memory: the command line feeds the random generator, and a
 * kernel with a bug is to differ from one without it by the bug alone.
 */
#include <linux/string.h>

#include "assay.h"
#include "seeded.h"

bool assay_is_seeded;
static char active[ASSAY_SEEDED_MAX];

void assay_seed(const char *name)
{
	strscpy(active, name, sizeof(active));
	assay_is_seeded = *active;
}

bool assay_seeded(const char *name)
{
	return !strcmp(active, name);
}
