/* oracle.c -- when a search asks the checker of the file system, and whether space is lost.
 *
 * What is on a disk depends on the calls that led there, not only on the tree. Shapes of trees that
 * were not checked yet come first; others are checked as well while there is time. */
#include "explore/oracle.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/must.h"
#include "base/stop.h"
#include "explore/explorer.h"

/* Of the time of a search, CPU time of checkers included: for shapes of trees that were not checked
 * yet, for any state, and for space. */
static const double new_share = 0.12, any_share = 0.05, space_share = 0.03;
static const double space_pause_seconds = 0.25; /* at least, from one to the next */
enum { FAILURES_MAX = 3 };

/* What fails by injection may damage a file system, or lose space. */
static bool oracle_has_failures(const struct universe *u)
{
	for (size_t i = 0; i < u->op_count; i++)
		if (target_needs(u->ops[i].op) & TARGET_FAULTS)
			return true;
	return false;
}

void oracle_begin(struct oracle *o, const struct explorer *x)
{
	*o = (struct oracle){ 0 };
	path_visits_begin(&o->paths);
	o->started_seconds = clock_seconds();
	o->space_seconds = o->started_seconds + space_pause_seconds;
	o->caps = x->target->caps;
	if (x->follower_count > 1 || oracle_has_failures(x->universe))
		o->caps = 0;
}

void oracle_skip(struct oracle *o, double seconds)
{
	o->started_seconds += seconds;
	o->space_seconds += seconds;
	o->paths.started_seconds += seconds;
}

/* A call that unmounts closes files; it is made only where none is open, so that the search
 * continues in the same state. */
static bool oracle_is_unseen(const struct explorer *x, const struct call *c)
{
	struct state s = state_copy(&x->state);
	struct outcome outcome;
	bool same;

	model_run(x->predictor.model, &s, c, &outcome);
	same = hash_equal(state_hash(&s), state_hash(&x->state));
	state_free(&s);
	return same;
}

static struct call oracle_call(enum op op)
{
	return (struct call){ .op = (uint16_t)op, .pid = 1 };
}

/* Where it unmounts, it is part of what led to all that follows. */
static void oracle_record(struct explorer *x, enum op op, const struct outcome *seen)
{
	if (!x->target->traits.checks_unmounted)
		return;
	recent_add(&x->recent, x->history.count, seen);
	history_add(&x->history, history_own_call(op), x->node);
}

/* Our own failure. Where it comes again and again, or takes long, the search continues without. */
static void oracle_fail(struct explorer *x, int status)
{
	if (++x->oracle->failures >= FAILURES_MAX || status == -ETIME)
		x->oracle->caps = 0;
}

static int oracle_start_over(struct explorer *x, struct err *err)
{
	int status = explorer_reset(x, err);

	return status < 0 ? status : 1;
}

/* Judges what the call showed behind the present history. 1 and a fresh file system if it is a
 * finding, whether or not it is known already. */
static int oracle_judge(struct explorer *x, enum op op, const struct outcome *seen,
			enum target_fate fate, struct err *err)
{
	const struct plan_follower *on = &x->followers[0];
	struct state s = state_copy(&x->state);
	struct call c = oracle_call(op);
	struct finding f;
	int status;

	finding_init(&f);
	buf_adds(&f.target, x->target->name);
	if (fate != FATE_FINE)
		status = judge_fate(x->target, &on->model, &s, &c, fate, &f.discrepancy, err);
	else
		status = judge_answer(x->target, &on->model, &s, &c, seen, false, &f.discrepancy,
				      err);
	if (status == VERDICT_BAD)
		capture(x, on, history_own_call(op), &f);
	finding_free(&f);
	state_free(&s);
	if (status < 0 || (status != VERDICT_BAD && fate == FATE_FINE))
		return status < 0 ? status : 0;
	return oracle_start_over(x, err);
}

/* ---- the checker ---- */

/* What it complains of came from another history than the present one, which is lost: the target is
 * needed to replay it. */
static int check_complain(struct explorer *x, struct oracle_check *c, struct err *err)
{
	static const struct outcome complaint = { .error = EUCLEAN, .bytes = "" };

	history_free(&x->history);
	x->history = c->history;
	c->history = (struct call_history){ 0 };
	recent_forget(&x->recent);
	x->node = c->node;
	return oracle_judge(x, OP_fsck, &complaint, FATE_FINE, err);
}

/* The verdict of one that has ended, or is waited for. */
static int check_finish(struct explorer *x, struct oracle_check *c, struct err *err)
{
	enum verdict verdict = VERDICT_UNKNOWN;
	double cpu_seconds = 0;
	struct err why = { 0 };
	int status;

	buf_clear(&x->target->report);
	status = checker_finish(&c->checker, &verdict, &x->target->report, &cpu_seconds, &why);
	x->oracle->fsck_us += (uint64_t)(cpu_seconds * 1e6);
	x->oracle->fsck_unknown += verdict == VERDICT_UNKNOWN;
	if (status < 0)
		oracle_fail(x, status);
	status = verdict == VERDICT_BAD ? check_complain(x, c, err) : 0;
	history_free(&c->history);
	return status;
}

/* All that have ended; with `wait`, all. */
static int oracle_collect(struct explorer *x, bool wait, struct err *err)
{
	int status = 0;

	for (size_t i = 0; i < ORACLE_CHECKS_MAX && !status; i++) {
		struct oracle_check *c = &x->oracle->checks[i];

		if (c->checker.pid && (wait || checker_has_ended(&c->checker)))
			status = check_finish(x, c, err);
	}
	return status;
}

static struct oracle_check *oracle_free_check(struct oracle *o)
{
	for (size_t i = 0; i < ORACLE_CHECKS_MAX; i++)
		if (!o->checks[i].checker.pid)
			return &o->checks[i];
	return NULL;
}

static void check_keep_history(const struct explorer *x, struct oracle_check *c)
{
	history_copy(&c->history, &x->history);
	c->node = x->node;
}

static int oracle_start_check(struct explorer *x, struct oracle_check *c, struct err *err)
{
	static const struct outcome clean = { .bytes = "" };
	struct outcome answer = { .bytes = "" };
	enum target_fate fate = FATE_FINE;
	double before = clock_seconds();
	struct err why = { 0 };
	int status = target_check_disk(x->target, &c->checker, &answer.error, &fate, &why);

	x->oracle->fsck_us += (uint64_t)((clock_seconds() - before) * 1e6);
	x->oracle->fsck_runs++;
	if (status < 0) {
		c->checker.pid = 0;
		oracle_fail(x, status);
		return 0;
	}
	if (answer.error || fate != FATE_FINE)
		return oracle_judge(x, OP_fsck, &answer, fate, err);
	check_keep_history(x, c);
	oracle_record(x, OP_fsck, &clean);
	return 0;
}

/* Whether the present state is worth a check now. */
static bool oracle_wants_check(struct explorer *x)
{
	double elapsed = clock_seconds() - x->oracle->started_seconds;
	double spent = (double)x->oracle->fsck_us * 1e-6;
	struct call c = oracle_call(OP_fsck);

	if (!(x->oracle->caps & TARGET_FSCK) || spent > new_share * elapsed ||
	    !oracle_is_unseen(x, &c))
		return false;
	return spent <= any_share * elapsed || utility_score(&x->oracle->shapes, &x->state, 0) >= 1;
}

/* ---- space ---- */

static int oracle_seek_space(struct explorer *x, struct err *err)
{
	struct call c = oracle_call(OP_seek_space);
	double before = clock_seconds(), cost;
	struct outcome answer = { 0 };
	enum target_fate fate = FATE_FINE;
	struct err why = { 0 };
	int status = target_call(x->target, &c, &answer, &fate, &why);

	cost = clock_seconds() - before;
	x->oracle->space_us += (uint64_t)(cost * 1e6);
	x->oracle->space_runs++;
	x->oracle->space_seconds = before + fmax(cost / space_share, space_pause_seconds);
	if (status < 0) { /* where the target is now is not known */
		oracle_fail(x, status);
		return oracle_start_over(x, err);
	}
	if (fate == FATE_FINE && !answer.error && !answer.len) {
		oracle_record(x, OP_seek_space, &answer);
		return 0;
	}
	return oracle_judge(x, OP_seek_space, &answer, fate, err);
}

/* The last calls are those of one history only where nothing is restored. Where a disk is restored
 * after the search, processes and file handles are not. */
static bool oracle_wants_space(const struct explorer *x)
{
	struct call c = oracle_call(OP_seek_space);

	return x->oracle->caps & TARGET_SPACE && !strategy_branches(x->options->strategy) &&
	       ((x->universe->processes == 1 && !state_has_handles(&x->state)) ||
		x->target->caps & TARGET_SAVE) &&
	       clock_seconds() >= x->oracle->space_seconds && oracle_is_unseen(x, &c);
}

/* ---- both ---- */

int oracle_look(struct explorer *x, struct err *err)
{
	struct oracle_check *check = oracle_free_check(x->oracle);
	int status = oracle_collect(x, false, err);

	if (!status && x->history.count && check && oracle_wants_check(x))
		status = oracle_start_check(x, check, err);
	if (!status && x->history.count && oracle_wants_space(x))
		status = oracle_seek_space(x, err);
	if (!status)
		status = path_visits_look(&x->oracle->paths, x, err);
	return status;
}

static bool oracle_is_idle(const struct oracle *o)
{
	for (size_t i = 0; i < ORACLE_CHECKS_MAX; i++)
		if (o->checks[i].checker.pid)
			return false;
	return true;
}

int oracle_wait(struct explorer *x, struct err *err)
{
	int status = 0, found = 0;

	while (status >= 0 && !oracle_is_idle(x->oracle)) {
		status = oracle_collect(x, true, err);
		found |= status > 0;
	}
	return status < 0 ? status : found;
}

int oracle_end(struct explorer *x, struct err *err)
{
	int status = 0;

	if (!x->oracle->space_runs)
		x->oracle->space_seconds = 0;
	if (!stop_requested)
		status = oracle_look(x, err);
	if (status >= 0)
		status = oracle_wait(x, err);
	return status < 0 ? status : 0;
}

void oracle_free(struct oracle *o, struct explore_figures *figures)
{
	struct err none = { 0 };
	struct buf report = BUF_INIT;
	enum verdict verdict;

	for (size_t i = 0; i < ORACLE_CHECKS_MAX; i++) {
		struct oracle_check *c = &o->checks[i];

		if (c->checker.pid)
			checker_finish(&c->checker, &verdict, &report, NULL, &none);
		history_free(&c->history);
	}
	buf_free(&report);
	utility_free(&o->shapes);
	path_visits_free(&o->paths);
	figures->fsck_runs += o->fsck_runs;
	figures->fsck_unknown += o->fsck_unknown;
	figures->fsck_us += o->fsck_us;
	figures->space_runs += o->space_runs;
	figures->space_us += o->space_us;
	figures->visits += o->paths.count;
	figures->visit_us += o->paths.us;
}
