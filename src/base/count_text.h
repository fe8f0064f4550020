/* count_text.h -- a number and what it counts, in English: "1 state", "2 searches". */
#ifndef BASE_COUNT_TEXT_H
#define BASE_COUNT_TEXT_H

#include <stdint.h>

/* The noun is in the singular, and its plural is regular. Valid until some further calls: one
 * message may have up to COUNT_TEXTS. */
enum { COUNT_TEXTS = 8 };
const char *count_text(uint64_t count, const char *noun);

#endif
