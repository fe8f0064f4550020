// SPDX-License-Identifier: GPL-2.0
/*
 * coverage.c -- which code was run: a bit for each of its points, in memory that all states share.
 *
 * Where the kernel is built to report (CONFIG_ASSAY_COVERAGE), the compiler puts a call into every
 * basic block of fs/. The address behind it is the point: a call is longer than ASSAY_POINT_BYTES,
 * so that each has its own bit. Looking comes before writing, since a page that is only read
 * costs a copy of the kernel less.
 */
#include <linux/compiler.h>
#include <asm/sections.h>

#include "assay.h"

static struct {
	unsigned char *bits;
	unsigned long limit; /* 0: coverage is off */
	unsigned int *count;
} reached;

void assay_coverage_begin(unsigned char *bits, unsigned long limit, unsigned int *count)
{
	reached.bits = bits;
	reached.limit = limit;
	reached.count = count;
}

void __sanitizer_cov_trace_pc(void);
void notrace __sanitizer_cov_trace_pc(void)
{
	unsigned long address = (unsigned long)__builtin_return_address(0);
	unsigned long point = (address - (unsigned long)_stext) / ASSAY_POINT_BYTES;
	unsigned char bit = 1 << point % 8;

	if (unlikely(point >= reached.limit) || likely(reached.bits[point / 8] & bit))
		return;
	reached.bits[point / 8] |= bit;
	++*reached.count;
}
