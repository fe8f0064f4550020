/* evidence.h -- files of a finding that a damaged disk shows. */
#ifndef FSCK_EVIDENCE_H
#define FSCK_EVIDENCE_H

#include <stdint.h>

#include "base/buf.h"
#include "finding/finding.h"

struct err;

/* A fence with the beginning of a text. */
void evidence_add_fenced(struct buf *out, const char *text);
int evidence_write_text(const char *folder, const char *name, const struct buf *text,
			struct err *err);
/* Compressed (gzip). */
int evidence_write_disk(const char *folder, const char *name, const uint8_t *disk, uint64_t size,
			struct err *err);
/* Runs FOLDER/reproduce.sh so many times as a maintainer would: only what it shows is a finding.
 * Counts in tries and shown. */
int evidence_run_script(const char *folder, unsigned times, struct finding *f, struct err *err);

#endif
