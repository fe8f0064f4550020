/* fsck_export.h -- a finding as a test of the checker's own: in the layout of e2fsprogs' tests. */
#ifndef FSCK_FSCK_EXPORT_H
#define FSCK_FSCK_EXPORT_H

#include "fsck/fsck.h"

/* Writes f_NAME/{image.gz,name,expect.1,expect.2} in the directory, which is made. What is expected
 * is what the checker prints now, for its maintainer to correct. Nothing is written of a fault
 * without a repair. The damaged disk is the session's. */
int fsck_export(struct fsck_session *s, const struct fsck_test *t, const char *directory,
		struct err *err);

#endif
