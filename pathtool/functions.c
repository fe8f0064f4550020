/* functions.c -- functions of the C library that are treated as a whole. */
#include "pathtool/functions.h"

#include <pub_tool_debuginfo.h>
#include <pub_tool_libcbase.h>

static const HChar *const prints_like[] = { "printf", "strftime", "localtime", "gmtime" };
static const HChar *const prints[] = { "ctime",   "asctime", "puts",  "fputs", "fwrite",
				       "putchar", "putc",    "fputc", "perror" };
static const HChar *const allocates[] = { "malloc",      "calloc",         "realloc",
					  "memalign",    "posix_memalign", "aligned_alloc",
					  "reallocarray" };

#define IS_ONE_OF(name, list) is_one_of(name, list, sizeof(list) / sizeof((list)[0]))

static Bool is_one_of(const HChar *name, const HChar *const *list, UInt count)
{
	for (UInt i = 0; i < count; i++) {
		if (!VG_(strcmp)(name, list[i]))
			return True;
	}
	return False;
}

enum function_kind functions_kind(Addr at)
{
	const HChar *name;

	if (!VG_(get_fnname_if_entry)(VG_(current_DiEpoch)(), at, &name))
		return FUNCTION_PLAIN;
	if (IS_ONE_OF(name, allocates))
		return FUNCTION_ALLOCATES;
	if (IS_ONE_OF(name, prints))
		return FUNCTION_PRINTS;
	for (UInt i = 0; i < sizeof(prints_like) / sizeof(prints_like[0]); i++) {
		if (VG_(strstr)(name, prints_like[i]))
			return FUNCTION_PRINTS;
	}
	return FUNCTION_PLAIN;
}
