/* daemon_report.c -- from what is wrong after a daemon was killed to a finding.
 *
 * The calls of a finding end where the daemon was killed, so a try costs one crash. One that needs
 * a moment during a call is tried at several. */
#include "crash/daemon_report.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/must.h"
#include "base/stop.h"
#include "crash/crash_report.h"
#include "target/description.h"
#include "trace/script.h"
#include "workload/workload.h"

/* Replays that decide whether it is a finding, and what shrinking may take. */
enum {
	SHOW_TIMES = 3,
	DURING_TRIES = 20,
	SHRINK_TRIES = 100,
	SHRINK_WINDOW = 4,
	IMPROVE_SECONDS = 60,
};

/* Calls behind which, or during the last of which, a crash shows the signature. */
struct shown_kill {
	struct call *calls; /* without the remount; their text is of another */
	size_t count, setup_count;
	bool during;
	struct daemon_crash_case c;
	struct daemon_violation v;
};

static void shown_kill_free(struct shown_kill *x)
{
	daemon_violation_free(&x->v);
	daemon_crash_case_free(&x->c);
	free(x->calls);
}

static int kill_once(struct daemon_crash_session *s, struct shown_kill *x, const char *signature,
		     struct err *err)
{
	int wrong = x->during ? daemon_crash_judge_during(s, &x->c, &x->v, err)
			      : daemon_crash_judge(s, &x->c, &x->v, err);

	if (wrong <= 0 || !strcmp(x->v.signature, signature))
		return wrong;
	daemon_violation_free(&x->v);
	return 0;
}

/* Whether the calls of *x, carried out again, show it: 1, with case and violation to be freed; 0;
 * or a negative errno. */
static int kill_shows(struct daemon_crash_session *s, struct shown_kill *x, const char *signature,
		      struct err *err)
{
	unsigned tries = x->during ? DURING_TRIES : 1;
	int shows = daemon_crash_execute(s, x->calls, x->count, x->setup_count, &x->c, err);

	if (shows > 0)
		for (shows = 0; tries && !shows; tries--)
			shows = kill_once(s, x, signature, err);
	if (shows <= 0)
		daemon_crash_case_free(&x->c);
	return shows;
}

/* ---- shrinking ---- */

/* Without calls [from, from + window); 1: it shows it, and is *x now. */
static int shown_kill_without(struct daemon_crash_session *s, struct shown_kill *x, size_t from,
			      size_t window, struct err *err)
{
	struct shown_kill less = { .count = x->count - window,
				   .setup_count = x->setup_count,
				   .during = x->during };
	int shows;

	less.calls = workload_without(x->calls, x->count, from, window, &less.setup_count);
	if (less.setup_count == less.count)
		less.setup_count--;
	shows = kill_shows(s, &less, x->v.signature, err);
	if (shows <= 0) {
		free(less.calls);
		return shows;
	}
	shown_kill_free(x);
	*x = less;
	return 1;
}

/* True: nothing simpler shows it. */
static int shown_kill_shrink(struct daemon_crash_session *s, struct shown_kill *x,
			     double until_seconds, bool *ret_to_the_end, struct err *err)
{
	unsigned tries = 0;

	for (size_t window = SHRINK_WINDOW; window; window--)
		for (size_t from = x->count; from-- > 0;) {
			int less;

			if (from + window > x->count || window == x->count)
				continue;
			if (tries++ == SHRINK_TRIES || clock_seconds() > until_seconds ||
			    stop_requested)
				return 0;
			less = shown_kill_without(s, x, from, window, err);
			if (less < 0)
				return less;
		}
	*ret_to_the_end = true;
	return 0;
}

/* ---- the finding ---- */

static void add_kill_note(const struct daemon_crash_session *s, const struct daemon_crash_case *c,
			  const struct daemon_violation *v, bool has_script, struct buf *out)
{
	const struct daemon_kill *k = &v->kill;

	if (s->target->description->restart)
		buf_addf(out, "Crash: behind call %zu, by the restart command of the target.\n",
			 k->done);
	else
		buf_addf(
			out,
			"Crash: %s call %zu the daemon was killed by SIGKILL, with files open. Its "
			"mount was taken down, and the same command started it again on what it "
			"had left.\n"
			"Lost is what the daemon held in memory, and pages of its mount that the "
			"kernel had not sent to it. The kernel and what lies below the daemon "
			"stayed alive.\n",
			k->begun > k->done ? "during" : "behind", k->begun);
	crash_print_promise(&v->broken, c->calls, out);
	if (has_script)
		buf_adds(out,
			 "`sh crash.sh` makes the file system, makes the calls (crash.c), kills "
			 "the daemon, starts it again and looks.\n");
	else if (k->begun > k->done)
		buf_addf(out,
			 "No script meets that moment. To show it, in this folder and with several "
			 "seeds: assay crash --daemon --kill during --workloads trace --seed N "
			 "'%s'\n",
			 s->target->name);
}

/* A script does not meet a moment during a call. */
static bool has_script(const struct daemon_crash_session *s, const struct daemon_violation *v)
{
	return v->kill.begun == v->kill.done && !strcmp(s->target->kind->name, "fuse");
}

static void describe_lost(const struct daemon_violation *v, struct discrepancy *d)
{
	const char *seen = buf_str(&v->broken.seen);

	d->code = PROBLEM_LOST;
	buf_adds(&d->title, "after its daemon was killed, ");
	buf_add_clipped(&d->title, seen, strcspn(seen, "\n"));
	buf_addf(&d->seen, "%s\n%s", seen, buf_str(&v->text));
	buf_adds(&d->expected, buf_str(&v->broken.reason));
}

static void describe_recovery(const struct daemon_violation *v, struct discrepancy *d)
{
	d->code = PROBLEM_RECOVERY;
	buf_addf(&d->title, "after its daemon was killed, %s", recovery_end_sentences[v->end]);
	buf_addf(&d->seen, "%s\n%s", recovery_end_sentences[v->end], buf_str(&v->text));
	buf_adds(&d->expected,
		 "A daemon that was killed can be started again with the same command, "
		 "and the file system can be read and used then.");
}

static void describe_kill(const struct daemon_crash_session *s, const struct daemon_crash_case *c,
			  const struct daemon_violation *v, struct finding *f)
{
	struct discrepancy *d = &f->discrepancy;

	finding_init(f);
	memcpy(d->signature, v->signature, sizeof(d->signature));
	buf_adds(&f->target, s->target->name);
	finding_reserve(f, c->count);
	f->count = v->kill.begun;
	for (size_t i = 0; i < f->count; i++) {
		f->calls[i] = call_copy(&c->calls[i], &f->arena);
		if (i >= v->kill.done)
			continue;
		f->outcomes[i] = outcome_copy(&c->outcomes[i], &f->arena);
		f->evidence[i] = EVIDENCE_OBSERVED;
	}
	d->call = f->calls[v->broken.call ? v->broken.call - 1 : f->count - 1];
	if (v->broken.what)
		describe_lost(v, d);
	else
		describe_recovery(v, d);
	if (v->has_tree)
		tree_diff(&persistence_behind(&c->history, v->kill.done)->tree, &v->tree, 20,
			  &d->diff);
	add_kill_note(s, c, v, has_script(s, v), &f->notes);
}

static int write_text_file(const char *dir, const char *name, const struct buf *text,
			   struct err *err)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%.4000s/%s", dir, name);
	return buf_write_file(text, path, err);
}

static int write_script(const struct daemon_crash_session *s, const struct finding *f,
			bool has_tree, const char *dir, struct err *err)
{
	struct buf text = BUF_INIT, look = BUF_INIT;
	int status;

	if (has_tree) {
		buf_adds(&look, "root=$ASSAY_ROOT\nwork=$ASSAY_WORK\n");
		crash_print_look(&look);
	} else {
		buf_adds(&look, "echo 'the daemon starts again'\nresult=0\n");
	}
	finding_crash_c(f, &text);
	status = write_text_file(dir, "crash.c", &text, err);
	buf_clear(&text);
	if (!status && finding_crash_sh(f, s->target, buf_str(&look), &text))
		status = write_text_file(dir, "crash.sh", &text, err);
	buf_free(&text);
	buf_free(&look);
	return status;
}

/* What was there after the restart, and the script. */
static int write_kill_evidence(const struct daemon_crash_session *s, const struct shown_kill *x,
			       const struct finding *f, const char *dir, struct err *err)
{
	struct buf text = BUF_INIT;
	int status = 0;

	if (x->v.has_tree) {
		crash_print_tree(&x->v.tree, &text);
		status = write_text_file(dir, "recovered", &text, err);
		buf_clear(&text);
	}
	buf_addf(&text, "%sexpected: %s\n", buf_str(&f->discrepancy.seen),
		 buf_str(&f->discrepancy.expected));
	if (!status)
		status = write_text_file(dir, "expected", &text, err);
	if (!status && has_script(s, &x->v))
		status = write_script(s, f, x->v.has_tree, dir, err);
	buf_free(&text);
	return status;
}

/* Carried out again, shrunk and explained. *x has shown it. */
static int kill_improve(struct daemon_crash_session *s, struct shown_kill *x, struct run *run,
			struct finding *f, struct err *err)
{
	double until_seconds = clock_seconds() + IMPROVE_SECONDS;
	unsigned tries = 1, shown = 1;
	bool to_the_end = false;
	int status = 0;

	for (; tries < SHOW_TIMES && status >= 0; tries++) {
		struct shown_kill again = *x;

		status = kill_shows(s, &again, x->v.signature, err);
		if (status <= 0)
			continue;
		shown++;
		daemon_violation_free(&again.v);
		daemon_crash_case_free(&again.c);
	}
	if (status >= 0)
		status = shown_kill_shrink(s, x, until_seconds, &to_the_end, err);
	if (status < 0)
		return status;
	finding_free(f);
	describe_kill(s, &x->c, &x->v, f);
	f->tries = tries;
	f->shown = shown;
	f->shrunk = to_the_end;
	run_update(run, f, s->target);
	return run_folder(run) ? write_kill_evidence(s, x, f, run_folder(run), err) : 0;
}

/* The calls of the case up to the crash, without the remount that was put in. */
static void shown_kill_begin(struct shown_kill *x, const struct daemon_crash_case *c,
			     const struct daemon_violation *v)
{
	*x = (struct shown_kill){ .setup_count = c->setup_count - 1,
				  .during = v->kill.begun > v->kill.done };
	x->calls = must_alloc(c->count * sizeof(*x->calls));
	for (size_t i = 0; i < c->count; i++)
		if (i != c->remount_at)
			x->calls[x->count++] = c->calls[i];
}

int daemon_crash_report(struct daemon_crash_session *s, struct run *run,
			const struct daemon_crash_case *c, const struct daemon_violation *v,
			struct err *err)
{
	struct daemon_crash_figures figures = s->figures;
	struct shown_kill x;
	struct finding f;
	int status;

	describe_kill(s, c, v, &f);
	if (run_knows(run, &f)) {
		finding_free(&f);
		return 0;
	}
	run_meet(run, &f, s->target);
	shown_kill_begin(&x, c, v);
	status = kill_shows(s, &x, v->signature, err);
	if (status > 0) {
		status = kill_improve(s, &x, run, &f, err);
		shown_kill_free(&x);
	} else {
		f.tries = 1;
		run_update(run, &f, s->target);
		free(x.calls);
	}
	run_settle(run);
	s->figures = figures; /* work on a finding is not part of the search */
	finding_free(&f);
	return status < 0 ? status : 0;
}
