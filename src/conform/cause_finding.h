/* cause_finding.h -- causes as findings: shrunk, verified, each with a program that shows it. */
#ifndef CONFORM_CAUSE_FINDING_H
#define CONFORM_CAUSE_FINDING_H

#include "conform/survey.h"
#include "run/run.h"

enum { TELL_SHRINK_TRIES = 300, TELL_VERIFY_TIMES = 3, TELL_REPLAYS = 3 };

/* Replays the smallest script of each unexpected cause of a target and adds what it shows to the
 * run, at most `max` findings. A cause that does not show again, a few times over, is marked and
 * kept aside as unconfirmed. */
int tell_causes(const struct survey *s, struct surveyed *t, const struct session_options *options,
		unsigned max, struct run *run, struct err *err);

#endif
