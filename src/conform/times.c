/* times.c -- times of files, judged without a clock. */
#include "conform/times.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/clock.h"
#include "base/must.h"
#include "trace/script.h"

enum { STAMPS_MAX = 512, WAITS_MAX = 16 };

/* The model's times below this count calls; those above were set by a script, nanoseconds. */
static const int64_t ticks_max = INT64_C(100000000000);

/* One time that stat has returned. */
struct stamp {
	uint64_t ino;
	enum time_field field;
	bool is_dir;
	bool maybe; /* it may have been set later: by reading, say */
	bool alone; /* it says nothing about others: it is from before, and anyone may have set it
		     */
	int64_t tick, real_ns;
};

struct timing {
	struct walker *walker;
	struct script_walk *walk;
	struct model other; /* the model, where what need not set times does it, or not */
	struct state state; /* its state */
	struct state start; /* the model's, before the script */
	struct stamp stamps[STAMPS_MAX];
	unsigned stamp_count;
	int64_t waits[WAITS_MAX]; /* ticks after which time was let pass */
	unsigned wait_count;
	int64_t ticks[SUITE_CALLS_MAX]; /* of each call */
};

static int64_t stat_time_field(const struct stat_result *stat, enum time_field field)
{
	const int64_t all[TIME_FIELDS] = { stat->atime, stat->mtime, stat->ctime, stat->btime };

	return all[field];
}

/* The call that set a time, or the last one before `at` that may have set any. */
static unsigned timing_culprit(const struct timing *t, int64_t tick, unsigned at)
{
	unsigned i = 0;

	while (i < at && t->ticks[i] != tick)
		i++;
	if (i < at)
		return i;
	while (i && op_table[t->walk->calls[i].op].base == OP_stat)
		i--;
	return i;
}

static void timing_report(struct timing *t, unsigned at, const struct stamp *s, int64_t tick,
			  const char *what)
{
	struct deviation *d = t->walk->deviation;
	unsigned step = timing_culprit(t, tick, at);
	const struct call *c = &t->walk->calls[step];

	t->walk->fate = SCRIPT_REJECTED;
	deviation_begin(d, PROBLEM_TIMES, step, c);
	buf_addf(&d->seen, "the %s time of a %s %s", time_field_names[s->field],
		 s->is_dir ? "directory" : "file", what);
	buf_addf(&d->detail, "%s, as ", d->seen.data);
	call_print(&t->walk->calls[at], DIALECT_NATIVE, &d->detail);
	buf_addf(&d->detail, " returns: %lld.%09lld", (long long)(s->real_ns / 1000000000),
		 (long long)(s->real_ns % 1000000000));
}

static bool timing_waited_between(const struct timing *t, int64_t early, int64_t late)
{
	for (unsigned i = 0; i < t->wait_count; i++)
		if (early <= t->waits[i] && t->waits[i] < late)
			return true;
	return false;
}

static bool stamp_is_same(const struct stamp *a, const struct stamp *b)
{
	return a->ino == b->ino && a->field == b->field;
}

/* Two times that calls have set, one after the other. */
static bool stamps_in_order(const struct timing *t, const struct stamp *early,
			    const struct stamp *late)
{
	int64_t unit = (int64_t)t->walker->model.traits.time_unit;
	bool passed = unit == 1 && timing_waited_between(t, early->tick, late->tick);

	if (early->maybe)
		return true;
	/* One field is in one unit; others may be in finer ones. */
	if (!stamp_is_same(early, late))
		return early->real_ns / unit <= late->real_ns / unit - (passed ? 1 : 0);
	return passed ? early->real_ns < late->real_ns : early->real_ns <= late->real_ns;
}

/* What is wrong with the new time beside one that was returned before; NULL: nothing. */
static const char *stamp_compare(const struct timing *t, const struct stamp *old,
				 const struct stamp *new)
{
	bool same = stamp_is_same(old, new);

	if (old->tick >= ticks_max || (!same && (old->alone || new->alone)))
		return NULL;
	if (old->tick < new->tick && !stamps_in_order(t, old, new))
		return same ? "has not changed" : "is before one that was set earlier";
	if (old->tick > new->tick && !new->maybe && !stamps_in_order(t, new, old))
		return "is after one that was set later";
	if (!same || old->tick != new->tick)
		return NULL;
	if (new->real_ns < old->real_ns)
		return "has gone back";
	return new->real_ns > old->real_ns && !new->maybe ? "has changed" : NULL;
}

/* A time as it was set, in the file system's units. */
static bool stamp_is_as_set(const struct timing *t, const struct stamp *s)
{
	int64_t unit = (int64_t)t->walker->model.traits.time_unit;

	return s->maybe || s->real_ns / unit == s->tick / unit;
}

static void timing_judge_stamp(struct timing *t, unsigned at, const struct stamp *s)
{
	const char *wrong = NULL, *more;

	if (s->tick >= ticks_max) {
		wrong = stamp_is_as_set(t, s) ? NULL : "is not the one that was set";
	} else {
		for (unsigned i = 0; i < t->stamp_count; i++) {
			more = stamp_compare(t, &t->stamps[i], s);
			/* What a time was says more than what others are. */
			if (more && (!wrong || stamp_is_same(&t->stamps[i], s)))
				wrong = more;
		}
	}
	if (wrong)
		timing_report(t, at, s, s->tick, wrong);
}

/* The time that the model had before the script; -1 of what was not there. */
static int64_t timing_tick_before(const struct timing *t, uint64_t ino, enum time_field field)
{
	const struct inode *inode = tree_inode(&t->start.tree, ino);

	return inode ? inode_time(&inode->times, field) : -1;
}

/* When a time was set; the earlier moment where it may go either way. */
static void timing_set_tick(const struct timing *t, struct stamp *s)
{
	const struct inode *inode = tree_inode(&t->walker->state.tree, s->ino);
	int64_t one = inode_time(&inode->times, s->field);
	int64_t other = inode_time(&tree_inode(&t->state.tree, s->ino)->times, s->field);
	int64_t before = timing_tick_before(t, s->ino, s->field);

	s->maybe = one != other;
	s->tick = one < other ? one : other;
	if (one != before && other != before)
		return;
	s->alone = s->field == TIME_ACCESS || before >= ticks_max;
	s->tick = s->alone ? 0 : before;
}

/* The times of an answer of stat, beside those of the model. */
static void timing_judge_stat(struct timing *t, unsigned at, const struct stat_result *seen,
			      uint64_t ino)
{
	const struct inode *inode = tree_inode(&t->walker->state.tree, ino);

	for (unsigned f = 0; f < TIME_FIELDS && t->walk->fate == SCRIPT_ACCEPTED; f++) {
		struct stamp s = {
			.ino = ino,
			.field = (enum time_field)f,
			.is_dir = S_ISDIR(inode->mode),
			.real_ns = stat_time_field(seen, (enum time_field)f),
		};

		if (s.real_ns == STAT_UNKNOWN)
			continue;
		timing_set_tick(t, &s);
		timing_judge_stamp(t, at, &s);
		if (t->stamp_count < STAMPS_MAX)
			t->stamps[t->stamp_count++] = s;
	}
}

/* Where the target's time is not ours to advance, it passes. */
static int timing_wait(struct timing *t, const struct call *c, struct err *err)
{
	int64_t ms = c->advance_time.duration.num;
	struct timespec wait = { ms / 1000, ms % 1000 * 1000000 };
	enum target_fate fate;
	struct outcome outcome;

	if (t->wait_count < WAITS_MAX)
		t->waits[t->wait_count++] = t->walker->state.now;
	if (t->walker->target->caps & TARGET_TIME)
		return target_call(t->walker->target, c, &outcome, &fate, err);
	nanosleep(&wait, NULL);
	t->walker->figures.exec_seconds += (double)ms / 1e3;
	return 0;
}

static int timing_call(struct timing *t, unsigned at, struct err *err)
{
	struct walker *x = t->walker;
	const struct call *c = &t->walk->calls[at];
	struct outcome seen, same;
	double from = clock_seconds();
	enum target_fate fate;
	struct envelope env;
	int r;

	if (c->op == OP_advance_time)
		return timing_wait(t, c, err);
	r = target_call(x->target, c, &seen, &fate, err);
	x->figures.exec_seconds += clock_seconds() - from;
	if (r)
		return r;
	if (fate != FATE_FINE) {
		walker_report_fate(x, t->walk->deviation, fate, at, c);
		t->walk->fate = SCRIPT_REJECTED;
		t->walk->stopped = true;
		return 0;
	}
	seen = outcome_copy(&seen, &x->arena);
	t->walk->fate = walker_judge(x, at, c, &seen, t->walk->deviation, &env);
	t->ticks[at] = x->state.now;
	model_run(&t->other, &t->state, c, &same);
	if (t->walk->fate == SCRIPT_ACCEPTED && !seen.error && env.value.result == RESULT_STAT)
		timing_judge_stat(t, at, &seen.stat, (uint64_t)env.value.stat.ino);
	return 0;
}

int times_walk(struct walker *x, struct script_walk *w, struct err *err)
{
	struct timing *t = must_alloc(sizeof(*t));
	int r;

	must(w->count <= SUITE_CALLS_MAX);
	t->walker = x;
	t->walk = w;
	t->other = x->model;
	t->other.traits.atime = !x->model.traits.atime;
	t->other.traits.optional_times = !x->model.traits.optional_times;
	t->other.rule_hits = NULL;
	r = walker_prefix(x, w, err);
	t->state = state_copy(&x->state);
	t->start = state_copy(&x->state);
	for (unsigned i = 0;
	     i < w->count && !r && !w->prefix_failed && !w->stopped && w->fate == SCRIPT_ACCEPTED;
	     i++)
		r = timing_call(t, i, err);
	x->changed = true;
	state_free(&t->state);
	state_free(&t->start);
	free(t);
	return r;
}
