/* readers.c -- the list of readers. */
#include "cover/readers.h"

#include "base/must.h"

const struct trace_reader readers[] = {
	{ "strace", read_strace },
	{ "ftrace", read_ftrace },
	{ "ctf", read_ctf },
	{ "trace", read_native },
};
