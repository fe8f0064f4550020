/* cause_finding.c -- from a cause to a finding. */
#include "conform/cause_finding.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/must.h"
#include "conform/explored_race.h"

static const char own_family[] = "race.ini";

/* Set-up and script in one. */
static struct call *whole_script(const struct suite *suite, const struct deviation *d,
				 size_t *ret_count)
{
	const struct suite_script *script = &suite->scripts[d->script];
	const struct setup *setup = &suite->setups[script->setup];
	size_t more = d->in_setup ? 0 : d->step + 1;
	struct call *calls = must_alloc((setup->count + more + 1) * sizeof(*calls));

	memcpy(calls, setup->calls, setup->count * sizeof(*calls));
	memcpy(calls + setup->count, script->calls, more * sizeof(*calls));
	*ret_count = setup->count + more;
	return calls;
}

/* A race does not show when its calls are made one after another, nor do times in a tree. */
static bool can_replay(const struct deviation *d)
{
	return !d->history.len && d->code != PROBLEM_TIMES;
}

/* For one cause: some targets take long to start again. */
static const double tell_seconds_max = 30;

/* Shrinks and lists a finding that a replay has shown. Failures of ours are reported with it: the
 * finding is there all the same. */
static void tell_finding(struct finding *f, const struct replay_on *on, struct run *run)
{
	struct target *t = on->target;
	struct err err = { 0 };
	int status;

	run_meet(run, f, t);
	run_update(run, f, t);
	status = finding_improve(f, on, TELL_SHRINK_TRIES, TELL_VERIFY_TIMES, &err);
	if (status < 0)
		buf_addf(&f->notes, "It was not shrunk to the end: %s.\n", err.text);
	run_update(run, f, t);
	if (run_folder(run))
		finding_keep_evidence(t, run_folder(run));
	run_settle(run);
}

/* A cause in the words of a finding; no calls yet. */
static void describe_cause(struct finding *f, const struct cause *cause, const struct target *t)
{
	struct discrepancy *d = &f->discrepancy;

	finding_init(f);
	d->code = cause->example->code;
	snprintf(d->signature, sizeof(d->signature), "%s %s", problem_table[d->code].name,
		 cause->text);
	buf_adds(&f->target, t->name);
	buf_addf(&d->title, "%s: %s", buf_str(&cause->example->call), cause->text);
	buf_adds(&d->seen, buf_str(&cause->example->detail));
	d->reach = cause->outside_posix ? REACH_OUTSIDE_POSIX : REACH_INSIDE_POSIX;
}

/* Where a finding of its group is there already, a cause is named under it. */
static bool join_cause(const struct cause *cause, const struct target *t, struct run *run)
{
	struct finding f;
	bool joined;

	describe_cause(&f, cause, t);
	joined = run_join_group(run, &f, buf_str(&cause->example->group), t);
	finding_free(&f);
	return joined;
}

/* What no replay shows is kept with its calls, as a search keeps it. */
static void keep_aside(struct cause *cause, const struct call *calls, size_t count,
		       const struct target *t, struct run *run)
{
	struct finding f;

	describe_cause(&f, cause, t);
	finding_reserve(&f, count);
	for (f.count = 0; f.count < count; f.count++)
		f.calls[f.count] = call_copy(&calls[f.count], &f.arena);
	f.tries = TELL_REPLAYS;
	run_meet(run, &f, t);
	run_settle(run);
	finding_free(&f);
	cause->unconfirmed = true;
}

/* 1 if a finding was added. */
static int tell_cause(const struct suite *suite, struct cause *cause, struct target *t,
		      const struct model *m, struct run *run, struct err *err)
{
	struct finding finding;
	size_t count;
	struct call *calls = whole_script(suite, cause->example, &count);
	struct replay_on on = { .target = t, .model = m };
	double until_seconds = clock_seconds() + tell_seconds_max;
	int ret = 0;
	bool is_new;

	for (unsigned i = 0; i < TELL_REPLAYS && !ret; i++)
		ret = judge_replay(&on, calls, count, NULL, &finding, err);
	if (!ret)
		keep_aside(cause, calls, count, t, run);
	free(calls);
	if (ret <= 0)
		return err_forget(err, ret, ETIME);
	is_new = !run_knows(run, &finding) && !run_join(run, &finding, t);
	on.until_seconds = until_seconds;
	if (is_new)
		tell_finding(&finding, &on, run);
	finding_free(&finding);
	return is_new;
}

/* Runs a race of no family again: its own family, beside the finding. */
static int write_own_family(const struct finding *f, const struct run *run, struct err *err)
{
	struct buf text = BUF_INIT, path = BUF_INIT;
	int status = 0;

	if (run_folder(run)) {
		explored_race_print(f->calls, f->count, f->overlaps, &text);
		buf_addf(&path, "%s/%s", run_folder(run), own_family);
		status = buf_write_file(&text, buf_str(&path), err);
	}
	buf_free(&text);
	buf_free(&path);
	return status;
}

/* A race under a schedule: what shows it is that schedule, which the notes name. 1 if it is new. */
static int tell_race(const struct suite *suite, const struct cause *cause, const struct target *t,
		     struct run *run, struct err *err)
{
	static const char begin[] = "schedule ";
	const struct deviation *d = cause->example;
	struct deviation last = *d;
	const char *schedule = strstr(buf_str(&d->detail), begin);
	struct finding f;
	struct buf name = BUF_INIT;
	size_t count;
	struct call *calls;
	bool is_own = !suite->scripts[d->script].family;
	int status;

	schedule = schedule ? schedule + strlen(begin) : "";
	describe_cause(&f, cause, t);
	last.step = suite->scripts[d->script].count - 1;
	calls = whole_script(suite, &last, &count);
	finding_reserve(&f, count);
	for (f.count = 0; f.count < count; f.count++)
		f.calls[f.count] = call_copy(&calls[f.count], &f.arena);
	f.overlaps = suite->scripts[d->script].count;
	f.tries = f.shown = 1; /* no schedule is reported that was not run again */
	suite_name(&suite->scripts[d->script], &name);
	buf_addf(&f.notes,
		 "The calls overlap. This shows it again:\n"
		 "assay conform '%s' --races %s%s%s--schedule '%s:%.*s'\n"
		 "Programs that make the calls one after another do not. race.c makes them at "
		 "once, with\n"
		 "delays, and counts how often no order of theirs explains what came of it.\n",
		 t->name, is_own ? "--families " : "", is_own ? own_family : "", is_own ? " " : "",
		 name.data, (int)strcspn(schedule, ":"), schedule);
	status = !run_knows(run, &f);
	if (status) {
		run_meet(run, &f, t);
		run_update(run, &f, t);
		if (is_own && write_own_family(&f, run, err))
			status = -EIO;
		run_settle(run);
	}
	buf_free(&name);
	free(calls);
	finding_free(&f);
	return status;
}

int tell_causes(const struct survey *s, struct surveyed *t, const struct session_options *options,
		unsigned max, struct run *run, struct err *err)
{
	struct target *target;
	struct model model;
	unsigned told = 0;
	int ret;

	if (!t->causes.unexpected || !max)
		return 0;
	ret = target_open(&target, options->target, &options->target_options, err);
	if (ret)
		return ret;
	session_model(options, target, &model);
	for (size_t i = 0; i < t->causes.count && told < max && ret >= 0; i++) {
		/* Nothing is run for it: there is time also where a run was stopped. */
		if (options->schedules.preemptions && !t->causes.items[i].reason) {
			ret = tell_race(s->suite, &t->causes.items[i], target, run, err);
			told += ret > 0;
			continue;
		}
		if (stop_requested || t->causes.items[i].reason ||
		    !can_replay(t->causes.items[i].example) ||
		    join_cause(&t->causes.items[i], target, run))
			continue;
		ret = tell_cause(s->suite, &t->causes.items[i], target, &model, run, err);
		told += ret > 0;
		t->causes.unconfirmed += t->causes.items[i].unconfirmed;
	}
	target_close(target);
	return ret < 0 ? ret : 0;
}
