/* warm.c -- a copy of the process finds its code in memory.
 *
 * fork() copies the page tables of a file's mapping only where the process has private pages in
 * it; all others are filled by page faults, in every copy again. So each mapping of code and
 * constants gets one such page, by writing to it what is there, and all others are looked up
 * once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

enum { MAPPINGS_MAX = 128 };

struct memory_mapping {
	unsigned long from, to;
	int protection;
};

static void warm_mapping(const struct memory_mapping *m)
{
	volatile char *first = (volatile char *)m->from;
	size_t len = m->to - m->from;

	if (mprotect((void *)m->from, len, PROT_READ | PROT_WRITE | m->protection))
		return;
	*first = *first;
	mprotect((void *)m->from, len, m->protection);
	madvise((void *)m->from, len, MADV_POPULATE_READ);
}

/* "7f0a-7f0b r-xp 00000000 fe:00 1234 /usr/lib/libc.so.6": private, of a file, not written to. */
static bool warm_take_line(const char *line, struct memory_mapping *ret)
{
	char rights[5], path[8];

	if (sscanf(line, "%lx-%lx %4s %*s %*s %*s %7s", &ret->from, &ret->to, rights, path) != 4)
		return false;
	ret->protection = PROT_READ | (rights[2] == 'x' ? PROT_EXEC : 0);
	return rights[0] == 'r' && rights[1] == '-' && rights[3] == 'p' && path[0] == '/';
}

void warm_code(void)
{
	struct memory_mapping mappings[MAPPINGS_MAX];
	char line[512];
	int count = 0;
	FILE *maps = preload_next()->fopen("/proc/self/maps", "r");

	if (!maps)
		return;
	while (count < MAPPINGS_MAX && fgets(line, sizeof(line), maps))
		count += warm_take_line(line, &mappings[count]);
	fclose(maps);
	for (int i = 0; i < count; i++)
		warm_mapping(&mappings[i]);
}
