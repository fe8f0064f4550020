/* kernel_trace.h -- the function that a kernel log makes suspect. */
#ifndef JUDGE_KERNEL_TRACE_H
#define JUDGE_KERNEL_TRACE_H

#include <stdbool.h>

#include "judge/kernel_log.h"

/* The first function that the log names with an offset ("ext4_put_super+0x1a/0x30"), in the line of
 * the complaint or in its call trace. Functions that report, allocate or lock are skipped, and so
 * are frames that the kernel marks as unreliable ("? f+0x1/0x2"). False if there is none. */
bool kernel_trace_function(const char *log, char ret[KERNEL_PLACE_MAX]);

#endif
