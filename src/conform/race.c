/* race.c -- calls that really overlap: made, put in order, judged. */
#include "conform/race.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/must.h"
#include "judge/judge.h"

/* A call, or a return. */
struct race_event {
	int64_t ns;
	bool is_return;
	uint16_t at; /* which of the calls */
};

/* At the same nanosecond nothing is known, so they overlap: calls come first. */
static int race_event_by_time(const void *a, const void *b)
{
	const struct race_event *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	if (x->is_return != y->is_return)
		return x->is_return ? 1 : -1;
	return x->at < y->at ? -1 : 1;
}

/* Calls and returns as a trace. */
void race_write_trace(struct race_run *r)
{
	struct race_event events[2 * TARGET_RACE_MAX] = { 0 };
	unsigned count = 0;

	for (unsigned i = 0; i < r->walk->count; i++) {
		events[count++] = (struct race_event){ r->raced[i].called_ns, false, (uint16_t)i };
		events[count++] = (struct race_event){ r->raced[i].returned_ns, true, (uint16_t)i };
		r->raced[i].outcome = outcome_copy(&r->raced[i].outcome, &r->walker->arena);
		r->returns[i] = (struct item_return){ &r->raced[i].outcome, 1, false };
	}
	qsort(events, count, sizeof(*events), race_event_by_time);
	script_reset(&r->trace);
	r->trace.is_trace = true;
	for (unsigned i = 0; i < count; i++) {
		const struct call *c = &r->walk->calls[events[i].at];
		struct item *item =
			script_add(&r->trace, events[i].is_return ? ITEM_RETURN : ITEM_CALL, i + 1);

		item->pid = c->pid;
		item->has_pid = true;
		if (events[i].is_return)
			item->ret = r->returns[events[i].at];
		else
			item->call = *c;
	}
}

/* The calls of all processes but one: "open and rename". */
static void race_add_calls(const struct script_walk *w, unsigned but, struct buf *out)
{
	bool named[OP_COUNT] = { false };

	for (unsigned i = 0; i < w->count; i++) {
		enum op op = op_table[w->calls[i].op].base;

		if (named[op] || w->calls[i].pid == but)
			continue;
		named[op] = true;
		buf_addf(out, "%s%s", out->len ? " and " : "", op_table[op].name);
	}
}

static void race_add_setup(const struct script_walk *w, struct buf *out)
{
	for (unsigned i = 0; i < w->setup_count; i++) {
		call_print(&w->setup_calls[i], DIALECT_NATIVE, out);
		buf_adds(out, " = ");
		outcome_print(&w->setup_outcomes[i], w->setup_calls[i].op, DIALECT_NATIVE, out);
		buf_addch(out, '\n');
	}
}

/* A complete trace: the set-up, the calls that overlapped, the tree afterwards. */
static void race_add_history(const struct race_run *r, struct buf *out)
{
	race_add_setup(r->walk, out);
	script_print(&r->trace, DIALECT_NATIVE, out);
	buf_adds(out, "dump-result \"/\"\n");
	tree_dump(&r->tree, "/", false, out);
	buf_adds(out, "end dump-result\n");
}

static void race_begin_report(const struct race_run *r, unsigned step, enum problem code)
{
	struct deviation *d = r->walk->deviation;
	const struct call *c = &r->walk->calls[step];

	deviation_begin(d, code, step, c);
	race_add_calls(r->walk, code == PROBLEM_TREE ? 0 : c->pid, &d->allowed);
	race_add_history(r, &d->history);
	r->walk->fate = SCRIPT_REJECTED;
}

static void race_report_outcome(const struct race_run *r, const struct mismatch *m, unsigned step)
{
	const struct outcome *seen = &r->raced[step].outcome;
	struct deviation *d = r->walk->deviation;

	race_begin_report(r, step, PROBLEM_OUTCOME);
	buf_adds(&d->seen, seen->error ? errno_name(seen->error) : "success");
	buf_addf(&d->detail, "%s, allowed by any order: %s", m->seen, m->allowed);
	d->outside_posix = m->reach == REACH_OUTSIDE_POSIX;
}

static void race_report_tree(struct race_run *r)
{
	const struct state *s = &r->checker.overlap.items[0].state;
	unsigned last = r->walk->count - 1;
	struct deviation *d = r->walk->deviation;
	struct discrepancy found;

	discrepancy_init(&found);
	judge_tree(s, &r->walk->calls[last], &r->tree, &found);
	race_begin_report(r, last, PROBLEM_TREE);
	discrepancy_print_seen(&found, &d->seen);
	tree_diff(&s->tree, &r->tree, 8, &d->detail);
	discrepancy_free(&found);
}

void race_report_aftermath(struct race_run *r, const struct discrepancy *found)
{
	struct deviation *d = r->walk->deviation;

	deviation_fill(d, found, r->walk->count - 1);
	buf_clear(&d->allowed);
	race_add_calls(r->walk, 0, &d->allowed);
	if (!d->seen.len) /* "FSCK e2fsck complains" */
		buf_adds(&d->seen, strchr(found->signature, ' ') ?: found->signature);
	if (!d->detail.len)
		buf_adds(&d->detail, buf_str(&found->seen));
	race_add_history(r, &d->history);
	r->walk->fate = SCRIPT_REJECTED;
}

/* The call in which a line of the trace is: its own, or the one that returns there. */
static unsigned race_call_at(const struct race_run *r, size_t item)
{
	const struct item *at = &r->trace.items[item];

	for (unsigned i = 0; i < r->walk->count; i++)
		if (at->type == ITEM_RETURN && at->ret.outcomes == &r->raced[i].outcome)
			return i;
	return 0;
}

static bool race_has_tree(const struct state *s, void *own)
{
	const struct race_run *r = own;

	return hash_equal(tree_hash(&s->tree), tree_hash(&r->tree));
}

/* From the walker's state to where one of the orders leads. */
void race_judge(struct race_run *r)
{
	struct state begin = state_copy(&r->walker->state);
	enum verdict verdict = VERDICT_OK;
	struct mismatch mismatch;
	size_t i;

	trace_checker_begin_at(&r->checker, &begin);
	for (i = 0; i < r->trace.count && verdict == VERDICT_OK; i++)
		verdict = trace_checker_item(&r->checker, &r->trace, i, &mismatch);
	if (verdict == VERDICT_BAD)
		race_report_outcome(r, &mismatch, race_call_at(r, i - 1));
	else if (verdict == VERDICT_UNKNOWN)
		r->walk->fate = SCRIPT_UNKNOWN;
	else if (!overlap_keep(&r->checker.overlap, race_has_tree, r))
		race_report_tree(r);
	else if (!r->stays)
		walker_set_state(r->walker, state_copy(&r->checker.overlap.items[0].state));
}

/* The tree is looked at when all is quiet. */
static int race_look(struct race_run *r, enum target_fate *ret_fate, struct err *err)
{
	int ret = walker_observe(r->walker, &r->tree, ret_fate, err);

	if (ret || *ret_fate != FATE_FINE)
		return ret;
	race_judge(r);
	tree_free(&r->tree);
	return 0;
}

static int race_make(struct race_run *r, uint64_t seed, enum target_fate *ret_fate, struct err *err)
{
	struct script_walk *w = r->walk;
	double from = clock_seconds();
	int ret = target_race(r->walker->target, w->calls, w->count, seed, r->raced, ret_fate, err);

	r->walker->figures.exec_seconds += clock_seconds() - from;
	if (ret || *ret_fate != FATE_FINE)
		return ret;
	race_write_trace(r); /* what came back is gone with the next request */
	return race_look(r, ret_fate, err);
}

struct race_run *race_new(struct walker *x, struct script_walk *w)
{
	const struct state_options none = { 0 };
	struct race_run *r = must_alloc(sizeof(*r));

	must(w->count && w->count <= TARGET_RACE_MAX);
	*r = (struct race_run){ .walker = x, .walk = w };
	trace_checker_init(&r->checker, &x->model, &none);
	return r;
}

void race_free(struct race_run *r)
{
	trace_checker_free(&r->checker);
	script_free(&r->trace);
	free(r);
}

void race_report_fate(struct race_run *r, enum target_fate fate)
{
	struct script_walk *w = r->walk;

	walker_report_fate(r->walker, w->deviation, fate, 0, &w->calls[0]);
	if (r->stays) {
		buf_clear(&w->deviation->allowed);
		race_add_calls(w, w->calls[0].pid, &w->deviation->allowed);
		race_add_setup(w, &w->deviation->history);
	}
	w->fate = SCRIPT_REJECTED;
	w->stopped = true;
}

int race_walk(struct walker *x, struct script_walk *w, uint64_t seed, struct err *err)
{
	struct race_run *r = race_new(x, w);
	enum target_fate fate = FATE_FINE;
	int ret = walker_prefix(x, w, err);

	if (!ret && !w->prefix_failed)
		ret = race_make(r, seed, &fate, err);
	if (!ret && fate != FATE_FINE)
		race_report_fate(r, fate);
	race_free(r);
	return ret;
}
