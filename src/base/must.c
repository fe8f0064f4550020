/* must.c -- the end of the program where it is itself at fault, or out of memory. */
#include "base/must.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { EXIT_NO_MEMORY = 70 };

static char note[512];

void must_note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(note, sizeof(note), format, args);
	va_end(args);
}

_Noreturn void must_failed(const char *condition, const char *file, int line)
{
	fprintf(stderr, "assay: internal error at %s:%d: %s does not hold\n", file, line,
		condition);
	if (note[0])
		fprintf(stderr, "assay: %s\n", note);
	abort();
}

static void *must_have_memory(void *memory, unsigned long size)
{
	if (memory)
		return memory;
	fprintf(stderr, "assay: out of memory (%lu bytes wanted)\n", size);
	exit(EXIT_NO_MEMORY);
}

/* Size 0 is made 1, since malloc(0) may be NULL. */
void *must_alloc(unsigned long size)
{
	return must_have_memory(calloc(1, size ? size : 1), size);
}

void *must_map(unsigned long size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return must_have_memory(memory == MAP_FAILED ? NULL : memory, size);
}

void must_unmap(void *memory, unsigned long size)
{
	if (memory)
		munmap(memory, size);
}

void *must_realloc(void *old, unsigned long size)
{
	return must_have_memory(realloc(old, size ? size : 1), size);
}

char *must_strdup(const char *text)
{
	return must_have_memory(strdup(text), strlen(text) + 1);
}
