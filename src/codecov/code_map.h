/* code_map.h -- which of its code a kernel has run, in memory that it shares with the checker.
 *
 * A bit for each point of code that the kernel tells of, set when one of its states first comes
 * there from mounting on; the table beside the kernel says what each stands for (codecov/code.h).
 */
#ifndef CODECOV_CODE_MAP_H
#define CODECOV_CODE_MAP_H

#include <stdint.h>

enum { CODE_BITS_MAX = 1 << 23, CODE_NEWS_MAX = 256 };

/* A step of the plan that came to points where nobody had been. */
struct code_news {
	uint32_t step, points;
};

struct code_map {
	uint32_t count;      /* of bits that are set */
	uint32_t first_step; /* number of the plan's first step (channel.progress) */
	uint32_t news_count; /* since the plan began */
	struct code_news news[CODE_NEWS_MAX];
	uint8_t bits[CODE_BITS_MAX / 8];
};

#endif
