/* SPDX-License-Identifier: GPL-2.0 */
/*
 * seeded.h -- bugs put into the kernel on purpose, each behind `if (seeded("NAME"))`.
 *
 * At most one of them is active in a kernel; without one all its code is as it was. The build
 * includes this before everything else in files that patches with such bugs change, which is why
 * it includes nothing itself.
 */
#ifndef ASSAY_SEEDED_H
#define ASSAY_SEEDED_H

extern _Bool assay_is_seeded;
_Bool assay_seeded(const char *name);

#define seeded(name) (__builtin_expect(assay_is_seeded, 0) && assay_seeded(name))

#endif
