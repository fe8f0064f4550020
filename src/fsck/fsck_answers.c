/* fsck_answers.c -- what a checker answers, and what it answers next: do they fit together? */
#include "base/buf.h"
#include "fsck/fsck.h"
#include "fsck/pairs.h"
#include "target/checker.h"

enum checker_answer fsck_run_answer(const struct fsck_session *s, int mode,
				    const struct checker_run *r)
{
	return r->end == CHECKER_EXITED
		     ? checker_program_answer(s->program, mode, r->status, r->wrote)
		     : ANSWER_UNKNOWN;
}

/* What it says of an undamaged disk is reported of that. */
static bool answers_are_usual(const struct fsck_session *s, const struct fsck_test *t)
{
	return !t->undamaged && t->answers[0] == s->usual[t->mode][0] &&
	       t->answers[1] == s->usual[t->mode][1];
}

void fsck_judge_pair(const struct fsck_session *s, struct fsck_test *t)
{
	const char *problem = t->run_count > 1 ? pair_problem(t->answers[0], t->answers[1]) : NULL;
	bool changed = t->runs[0].wrote;

	/* A disk that was not changed gives the same answer again: only "repaired" is wrong then,
	 * as nothing was. */
	if (t->run_count == 1 && !changed && t->answers[0] == ANSWER_REPAIRED)
		problem = "says that all is repaired, and has changed nothing";
	if (!problem || (t->run_count > 1 && answers_are_usual(s, t)))
		return;
	t->fault = FSCK_INCONSISTENT;
	buf_adds(&t->text, problem);
	if (t->run_count == FSCK_RUNS_MAX && t->answers[2] == ANSWER_CLEAN)
		buf_adds(&t->text, "; a third run finds nothing");
	else if (t->run_count == FSCK_RUNS_MAX)
		buf_addf(&t->text, "; a third run answers \"%s\"",
			 checker_answer_names[t->answers[2]]);
}

static bool session_is_usual(const struct fsck_session *s, const struct audit *a)
{
	for (size_t i = 0; i < a->count; i++)
		if (!audit_has(&s->usual_breaches, a->breaches[i].rule))
			return false;
	return true;
}

static bool run_is_silent(const struct fsck_session *s, const struct fsck_test *t,
			  const struct checker_run *r)
{
	struct buf complaint = BUF_INIT;
	bool silent;

	checker_complaint(buf_str(&r->output), buf_str(&s->usual_output[t->mode]), &complaint);
	silent = !complaint.len;
	buf_free(&complaint);
	return silent;
}

/* Whether the check was right to find nothing: it has complained of nothing, and neither has the
 * repair, or the disk that it was given breaks no rule. A repair may add what need not be there,
 * such as lost+found, and mark a disk as clean. */
static bool test_check_is_right(const struct fsck_session *s, const struct fsck_test *t)
{
	struct audit a;

	if (!run_is_silent(s, t, &t->check))
		return false;
	if (run_is_silent(s, t, &t->runs[0]))
		return true;
	audit_disk(&a, s->damaged.bytes, s->damaged.size);
	return a.has_rules && session_is_usual(s, &a);
}

/* A checker that answers the same for a disk that was clean and one that it has repaired. */
static bool test_may_be_repaired(const struct fsck_session *s, const struct fsck_test *t)
{
	return t->runs[0].wrote &&
	       checker_program_has_code(s->program, ANSWER_REPAIRED, t->runs[0].status);
}

/* A way to repair that corrects something of every disk says nothing of this one. */
void fsck_judge_check(const struct fsck_session *s, struct fsck_test *t)
{
	const char *problem;

	if (!s->program->check.command || s->usual_check != ANSWER_CLEAN ||
	    checker_program_is_partial(s->program, t->mode) || s->usual[t->mode][0] != ANSWER_CLEAN)
		return;
	problem = pair_check_problem(fsck_run_answer(s, CHECKER_CHECK, &t->check), t->answers[0]);
	if (!problem || (t->answers[0] == ANSWER_CLEAN ? test_may_be_repaired(s, t)
						       : test_check_is_right(s, t)))
		return;
	t->fault = FSCK_CHECK_DIFFERS;
	buf_adds(&t->text, problem);
}
