/* code_map.h -- the executed code of a kernel, in memory that it shares with the checker.
 *
 * One bit for each instrumented point of the code. A state of the kernel sets it when it first
 * reaches the point, from the first mount on. The table beside the kernel maps bits to source lines
 * (codecov/code.h). */
#ifndef CODECOV_CODE_MAP_H
#define CODECOV_CODE_MAP_H

#include <stdint.h>

enum { CODE_BITS_MAX = 1 << 23, NEW_COVERAGE_MAX = 256 };

/* A step of the plan that reached new points. */
struct new_coverage {
	uint32_t step, points;
};

struct code_map {
	uint32_t count;              /* of bits that are set */
	uint32_t first_step;         /* number of the plan's first step (channel.progress) */
	uint32_t new_coverage_count; /* since the plan began */
	struct new_coverage new_coverage[NEW_COVERAGE_MAX];
	uint8_t bits[CODE_BITS_MAX / 8];
};

#endif
