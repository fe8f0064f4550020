/* campaign_report.h -- what the database of a campaign has, as rows, and these as text.
 *
 * Text, Markdown and JSON are made from the same rows. */
#ifndef CAMPAIGN_CAMPAIGN_REPORT_H
#define CAMPAIGN_CAMPAIGN_REPORT_H

#include <jansson.h>
#include <stdbool.h>

#include "campaign/campaign_db.h"

struct buf;

/* Findings by severity, then by the time they were first seen, those since then: target, code,
 * title, severity, signature, group, confirmed, known (the reason), first_seen, last_seen, times,
 * kernels, instruments, folder, path. dir: the path to the campaign, as it is to be printed.
 * `whole`: with the rest of the row that the run reported. NULL: a failure. */
json_t *campaign_report_findings(struct campaign_db *d, const char *dir, int64_t since, bool whole,
				 struct err *err);
/* Arms in the order of the file: name, instrument, target, state, reason, turns, failures, seconds,
 * cpu_seconds, states, code, findings. */
json_t *campaign_report_arms(struct campaign_db *d, struct err *err);

/* "bad" where a finding is not known, "unknown" where something could not be tested or confirmed.
 */
enum campaign_verdict { CAMPAIGN_OK, CAMPAIGN_UNKNOWN, CAMPAIGN_BAD };
extern const char *const campaign_verdict_names[];
enum campaign_verdict campaign_report_verdict(const json_t *findings, const json_t *arms);

void campaign_report_arms_text(const json_t *arms, struct buf *out);
void campaign_report_findings_text(const json_t *findings, struct buf *out);
/* A table: the file system, what is wrong, by what it was found, and so on. */
void campaign_report_findings_markdown(const json_t *findings, struct buf *out);

#endif
