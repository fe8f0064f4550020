/* findings_text.h -- what a run has found, as text: findings, and what no replay has shown. */
#ifndef REPORT_FINDINGS_TEXT_H
#define REPORT_FINDINGS_TEXT_H

#include <jansson.h>
#include <stdbool.h>

struct buf;

/* Rows of run.json. with_target: each names the target it was made on. */
void findings_text(const json_t *findings, const json_t *unconfirmed, bool with_target,
		   struct buf *out);

#endif
