/* findings_text.h -- what a run has found, as text: findings, and what no replay has shown. */
#ifndef REPORT_FINDINGS_TEXT_H
#define REPORT_FINDINGS_TEXT_H

#include <jansson.h>

struct buf;

/* Rows of run.json. Each names the target that it was made on, if that is not the one given: a run
 * on kernel:ext4 also searches its variants. */
void findings_text(const json_t *findings, const json_t *unconfirmed, const char *target,
		   struct buf *out);

#endif
