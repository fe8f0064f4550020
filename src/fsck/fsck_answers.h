/* fsck_answers.h -- what a checker answers, and what it answers next: do they fit together? */
#ifndef FSCK_FSCK_ANSWERS_H
#define FSCK_FSCK_ANSWERS_H

#include "fsck/fsck.h"

enum checker_answer fsck_run_answer(const struct fsck_session *s, int mode,
				    const struct checker_run *r);

/* Each sets the fault of a test, and its text, where something is wrong: */
/* two runs of a repair, */
void fsck_judge_pair(const struct fsck_session *s, struct fsck_test *t);
/* a check and a repair. */
void fsck_judge_check(const struct fsck_session *s, struct fsck_test *t);

#endif
