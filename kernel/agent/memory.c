// SPDX-License-Identifier: GPL-2.0
/* memory.c -- memory and the end of everything, as the kernel has them (instead of must.c). */
#include <string.h>

#include "base/must.h"
#include "kernel/driver/assay.h"

static void *checked(void *memory)
{
	if (!memory)
		assay_failed("out of memory");
	return memory;
}

_Noreturn void must_failed(const char *condition, const char *file, int line)
{
	assay_failed(condition);
}

void *must_alloc(unsigned long size)
{
	return checked(assay_alloc(size ? size : 1));
}

void *must_realloc(void *old, unsigned long size)
{
	return checked(assay_realloc(old, size ? size : 1));
}

char *must_strdup(const char *text)
{
	size_t size = strlen(text) + 1;

	return memcpy(must_alloc(size), text, size);
}
