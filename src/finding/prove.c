/* prove.c -- a finding's own program, compiled and run on a fresh file system.
 *
 * First the plain one. Where it does not show the bug, what the search read between the calls may
 * be part of the cause: then programs that read more and more. The first that shows is kept. */
#include "finding/prove.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/stop.h"
#include "finding/finding.h"
#include "judge/kernel_log.h"

enum {
	PROGRAM_SECONDS = 60,
	LEAST_SECONDS = 5, /* however little time is left */
	WAITS = 3,         /* a program waits for a call so many times as long as the target */
	SAID_MAX = 80,
	SOURCE_MAX = 1 << 20, /* bytes: beyond, a compiler takes minutes and gigabytes */
};

const char *program_proof_word(const struct program_proof *p)
{
	static const char *const words[] = {
		[PROOF_NONE] = "not run",     [PROOF_SHOWN] = "shown",
		[PROOF_ABSENT] = "not shown", [PROOF_UNKNOWN] = "unknown",
		[PROOF_NOT_RUN] = "not run",
	};

	return words[p->end];
}

void program_proof_print(const struct program_proof *p, struct buf *out)
{
	static const char *const ends[] = {
		[PROOF_NONE] = " was not run",
		[PROOF_SHOWN] = ", compiled and run on a fresh file system, shows it",
		[PROOF_ABSENT] = ", compiled and run on a fresh file system, does NOT show it",
		[PROOF_UNKNOWN] = ", compiled and run on a fresh file system, cannot tell",
		[PROOF_NOT_RUN] = " could not be run",
	};

	buf_addf(out, "Its program%s", ends[p->end]);
	if (p->why[0])
		buf_addf(out, ": %s", p->why);
	if (p->end == PROOF_SHOWN && p->watch != WATCH_NOTHING)
		buf_adds(out, "; what it reads between the calls is part of the cause");
	if (p->end == PROOF_ABSENT)
		buf_adds(out, "; it is not kept");
	buf_addch(out, '.');
}

/* The last line of what it wrote, behind how it ended. */
static void add_said(struct program_proof *p, const struct program_report *end)
{
	const char *text = buf_str(&end->output), *line = text;
	size_t len = strlen(text), used = strlen(p->why);

	while (len && text[len - 1] == '\n')
		len--;
	for (size_t i = 0; i < len; i++)
		if (text[i] == '\n')
			line = text + i + 1;
	len -= (size_t)(line - text);
	if (!len)
		return;
	snprintf(p->why + used, sizeof(p->why) - used, " (%.*s)",
		 (int)(len < SAID_MAX ? len : SAID_MAX), line);
	for (char *c = p->why; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
}

static enum proof_end judge_status(int status)
{
	return status == 1 ? PROOF_SHOWN : status == 0 ? PROOF_ABSENT : PROOF_UNKNOWN;
}

/* A kernel that is heard says itself what no program in it may be left to say. */
static bool kernel_complained(const struct finding *f, struct target *t)
{
	char place[KERNEL_PLACE_MAX] = "";
	struct buf log = BUF_INIT;
	bool complained;

	if ((f->discrepancy.code != PROBLEM_KERNEL && f->discrepancy.code != PROBLEM_DEATH) ||
	    !t->kind->log)
		return false;
	t->kind->log(t, &log);
	complained = kernel_log_first(buf_str(&log), place) != ALARM_NONE &&
		     (!*place || strstr(f->discrepancy.signature, place));
	buf_free(&log);
	return complained;
}

static void judge_end(struct finding *f, struct target *t, const struct program_report *end)
{
	struct program_proof *p = &f->proof;

	p->end = PROOF_UNKNOWN;
	switch (end->fate) {
	case PROGRAM_EXITED:
		p->end = judge_status(end->status);
		snprintf(p->why, sizeof(p->why), "exit status %d", end->status);
		break;
	case PROGRAM_KILLED:
		snprintf(p->why, sizeof(p->why), "killed by signal %d", end->status);
		break;
	case PROGRAM_HUNG:
		/* The whole of it hung, not only the process that makes the call. */
		p->end = f->discrepancy.code == PROBLEM_HANG ? PROOF_SHOWN : PROOF_UNKNOWN;
		snprintf(p->why, sizeof(p->why), "it does not end");
		break;
	case PROGRAM_NOT_COMPILED:
		p->end = PROOF_NOT_RUN;
		snprintf(p->why, sizeof(p->why), "it does not compile");
		break;
	case PROGRAM_NO_COMPILER:
		p->end = PROOF_NOT_RUN;
		snprintf(p->why, sizeof(p->why), "there is no compiler");
		break;
	}
	if (p->end != PROOF_SHOWN && kernel_complained(f, t)) {
		p->end = PROOF_SHOWN;
		snprintf(p->why, sizeof(p->why), "the kernel complained while it ran");
	}
	if (p->end != PROOF_SHOWN && end->fate != PROGRAM_NOT_COMPILED)
		add_said(p, end);
}

/* One program, that watches as f->proof.watch says. */
static int prove_once(struct finding *f, struct target *t, double seconds, struct err *err)
{
	struct buf source = BUF_INIT;
	struct program_report end;
	struct err why = { 0 };
	int status = target_reset(t, err);

	if (status)
		return status;
	finding_repro_c(f, &source);
	if (source.len > SOURCE_MAX) {
		f->proof.end = PROOF_NOT_RUN;
		snprintf(f->proof.why, sizeof(f->proof.why),
			 "with %zu calls it is too long to be compiled", f->count);
		buf_free(&source);
		return 0;
	}
	status = target_run_program(t, buf_str(&source), seconds, &end, &why);
	if (status) {
		f->proof.end = PROOF_NOT_RUN;
		snprintf(f->proof.why, sizeof(f->proof.why), "%.190s", why.text);
	} else {
		judge_end(f, t, &end);
		program_report_free(&end);
	}
	buf_free(&source);
	return 0;
}

static bool is_over(double until_seconds)
{
	return stop_requested || (until_seconds > 0 && clock_seconds() >= until_seconds);
}

/* One that waits for a call that hangs needs the time; others may have to do with less. */
static double time_for(const struct finding *f, double until_seconds)
{
	double left = until_seconds > 0 ? until_seconds - clock_seconds() : PROGRAM_SECONDS;

	if (f->discrepancy.code == PROBLEM_HANG)
		return f->proof.wait_seconds + PROGRAM_SECONDS / 2.0;
	return fmax(LEAST_SECONDS, fmin(PROGRAM_SECONDS, left));
}

/* More can help only where a program ran and did not see it. */
static bool may_show_with_more(const struct finding *f)
{
	return f->proof.end == PROOF_ABSENT || f->proof.end == PROOF_UNKNOWN;
}

int finding_prove(struct finding *f, struct target *t, double until_seconds, struct err *err)
{
	struct program_proof plain;
	int status;

	f->proof = (struct program_proof){
		.wait_seconds = (unsigned)fmax(LEAST_SECONDS, WAITS * t->deadline_seconds),
	};
	if (!t->kind->run_program) {
		f->proof.end = PROOF_NOT_RUN;
		snprintf(f->proof.why, sizeof(f->proof.why),
			 t->kind->in_process
				 ? "%.100s is inside Assay, where no program can reach it"
				 : "no program can run on %.100s",
			 t->name);
		return 0;
	}
	if (is_over(until_seconds))
		return 0;
	status = prove_once(f, t, time_for(f, until_seconds), err);
	plain = f->proof;
	for (enum repro_watch watch = WATCH_SINCE_REMOUNT;
	     !status && watch <= WATCH_ALL && may_show_with_more(f) && !is_over(until_seconds);
	     watch++) {
		f->proof.watch = watch;
		status = prove_once(f, t, time_for(f, until_seconds), err);
	}
	if (f->proof.end != PROOF_SHOWN)
		f->proof = plain;
	return status;
}
