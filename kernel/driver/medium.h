/* SPDX-License-Identifier: GPL-2.0 */
/* medium.h -- what disk and flash memory have in common: their bytes, and what was done to them. */
#ifndef ASSAY_MEDIUM_H
#define ASSAY_MEDIUM_H

#include <linux/types.h>

/* A private mapping of the image, which fork() copies; -ENOENT: there is none. */
int medium_begin(void);
u8 *medium_at(u64 offset);

/* What a request is about to do: the bytes that a write leaves are those of the request, of whole
 * sectors; what a change leaves also depends on what was there. */
void medium_reads(u64 offset, u64 size);
void medium_writes(u64 offset, u64 size);
void medium_changes(u64 offset, u64 size);
/* What it did, with the bytes that are there now if it wrote them: ASSAY_RECORD_. */
void medium_record(unsigned int what, u64 offset, unsigned int size);

#endif
