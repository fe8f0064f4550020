/* functions.h -- functions of the C library that are treated as a whole. */
#ifndef PATHTOOL_FUNCTIONS_H
#define PATHTOOL_FUNCTIONS_H

#include <pub_tool_basics.h>

enum function_kind {
	FUNCTION_PLAIN,
	FUNCTION_PRINTS,    /* makes text for people: what it compares is no path of the checker */
	FUNCTION_ALLOCATES, /* sizes are taken as they are: lists of free memory are not followed */
};

/* Of a function that begins at this address. */
enum function_kind functions_kind(Addr at);

#endif
