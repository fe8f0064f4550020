/* crash.c -- workloads, the crashes they could meet, and what is wrong after them. */
#include "crash/crash.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/must.h"
#include "crash/page_writes.h"
#include "model/giving_up.h"

/* Subsets of each group of writes without a flush between them. */
enum { SUBSETS_USUAL = 16, SECTOR_USUAL = 4096 };

void crash_options_init(struct crash_options *o, const struct target *t)
{
	*o = (struct crash_options){
		.rules = persist_rules_of(&t->traits),
		.views = { .views = (1u << VIEWS) - 1,
			   .subsets = SUBSETS_USUAL,
			   .sector = t->medium.erase_bytes ? t->medium.write_bytes : SECTOR_USUAL },
	};
}

int crash_open(struct crash_session *s, struct target *t, const struct crash_options *o,
	       enum sanity sanity, struct err *err)
{
	int status;

	*s = (struct crash_session){ .target = t, .options = *o };
	target_model(t, &s->model);
	status = target_reset(t, err);
	if (status)
		return status;
	status = target_initial_state(t, &s->start, err);
	if (!status)
		status = recovery_open(&s->recovery, t,
				       t->traits.crash_leaves_damage ? SANITY_NONE : sanity,
				       o->effort.during_recovery, err);
	if (status)
		state_free(&s->start);
	return status;
}

void crash_close(struct crash_session *s)
{
	recovery_close(&s->recovery);
	state_free(&s->start);
	hash_map_free(&s->images);
	hash_map_free(&s->repaired);
	buf_free(&s->not_judged_for);
	free(s->causes);
}

void crash_set_effort(struct crash_session *s, const struct crash_effort *effort)
{
	s->recovery.keeps_log = effort->during_recovery;
	s->recovery.unsound = effort->unsound;
	s->recovery.check_one_in = effort->check_one_in;
	s->options.effort = *effort;
}

/* ---- carrying out ---- */

void crash_leave(uint64_t *not_judged, struct buf *not_judged_for, const struct call *c,
		 const char *why)
{
	++*not_judged;
	if (!not_judged_for->len)
		buf_addf(not_judged_for, "%s: %s", c ? op_table[c->op].name : "at the end", why);
}

int crash_make_call(struct target *t, const struct model *m, const struct call *c,
		    struct state *state, struct persistence *history, struct arena *arena,
		    struct outcome *ret, const char **ret_why, struct err *err)
{
	enum target_fate fate = FATE_FINE;
	struct outcome outcome;
	struct envelope allowed;
	struct state before;
	int judged;

	/* Where the call that makes it was left out. */
	if (!state_process(state, c->pid) && c->op != OP_create_process) {
		*ret_why = "there is no such process";
		return 0;
	}
	before = state_copy(state);
	judged = target_call(t, c, &outcome, &fate, err);
	if (!judged && fate != FATE_FINE) {
		*ret_why = "the file system does not return";
	} else if (!judged && model_step(m, state, c, &outcome, &allowed) != VERDICT_OK) {
		*ret_why = "it returned what the model does not allow (assay explore)";
	} else if (!judged) {
		*ret = outcome_copy(&outcome, arena);
		persistence_add(history, &before, c, &outcome, state);
		judged = 1;
	}
	state_free(&before);
	return judged;
}

int crash_compare_tree(struct target *t, const struct tree *expected, const char **ret_why,
		       struct err *err)
{
	enum target_fate fate = FATE_FINE;
	struct tree tree;
	int status = target_observe(t, &tree, &fate, err), same;

	if (status)
		return status;
	if (fate != FATE_FINE) {
		*ret_why = "the tree cannot be read";
		return 0;
	}
	same = hash_equal(tree_hash(&tree), tree_hash(expected));
	if (!same)
		*ret_why = "the tree is not the model's (assay explore)";
	tree_free(&tree);
	return same;
}

/* A call that makes a file and writes to it may run out of space in between. What is wrong then
 * need not show in the tree at the end, but does so in that of a crash. */
static bool crash_may_be_half_done(const struct outcome *o)
{
	return o->error == ENOSPC || o->error == EDQUOT;
}

/* All calls, and the tree behind them. */
static int crash_run_calls(struct crash_session *s, struct crash_case *c, struct err *err)
{
	struct state state = state_copy(&s->start);
	const char *why = NULL;
	size_t i = 0;
	int judged = 1;

	for (; i < c->count && judged > 0; i++) {
		if (c->calls[i].op == OP_remount && giving_up_possible(&s->model, &state)) {
			why = "what a mount finds after a failed request is not known";
			judged = 0;
			continue;
		}
		judged = crash_make_call(s->target, &s->model, &c->calls[i], &state, &c->history,
					 &c->arena, &c->outcomes[i], &why, err);
		if (judged > 0 && crash_may_be_half_done(&c->outcomes[i]) &&
		    !giving_up_possible(&s->model, &state))
			judged = crash_compare_tree(s->target, &state.tree, &why, err);
	}
	/* One that has given up after a failed request need not show its tree any more. */
	if (judged > 0 && !giving_up_possible(&s->model, &state))
		judged = crash_compare_tree(s->target, &state.tree, &why, err);
	else if (judged <= 0)
		i--;
	if (!judged)
		crash_leave(&s->figures.not_judged, &s->not_judged_for,
			    i < c->count ? &c->calls[i] : NULL, why);
	state_free(&state);
	return judged;
}

/* Which operations there are behind the setup, in their order. */
static struct hash crash_operations(const struct call *calls, size_t count, size_t setup_count)
{
	struct hash_stream *h = hash_stream_new();

	for (size_t i = setup_count; i < count; i++)
		hash_stream_add(h, &calls[i].op, sizeof(calls[i].op));
	return hash_stream_end(h);
}

int crash_execute(struct crash_session *s, const struct call *calls, size_t count,
		  size_t setup_count, struct crash_case *ret, struct err *err)
{
	int judged, status, image_fd;

	*ret = (struct crash_case){ .calls = calls, .count = count, .setup_count = setup_count };
	ret->outcomes = must_alloc((count + 1) * sizeof(*ret->outcomes));
	persistence_begin(&ret->history, &s->options.rules, &s->start.tree);
	page_store_init(&ret->store, s->recovery.base.bytes, s->recovery.base.size);
	s->recovery.behind = s->options.effort.checks_calls
				   ? crash_operations(calls, count, setup_count)
				   : (struct hash){ 0 };
	status = target_reset(s->target, err);
	judged = status ? status : crash_run_calls(s, ret, err);
	if (judged <= 0)
		return judged;
	status = s->target->kind->recorded(s->target, &image_fd, &ret->log, err);
	if (!status)
		status = disk_events_read(&ret->events, &ret->log, ret->store.size, err);
	return status ? status : 1;
}

void crash_case_free(struct crash_case *c)
{
	free(c->outcomes);
	persistence_free(&c->history);
	disk_events_free(&c->events);
	page_store_free(&c->store);
	buf_free(&c->log);
	arena_free(&c->arena);
}

/* ---- judging ---- */

bool crash_violation_is_second(const struct crash_violation *v)
{
	return v->end == RECOVERY_INTERRUPTED || v->end == RECOVERY_REPAIR_INTERRUPTED;
}

void crash_violation_free(struct crash_violation *v)
{
	free((void *)v->point.lost);
	page_disk_free(&v->disk);
	broken_promise_free(&v->broken);
	buf_free(&v->text);
	if (v->has_tree)
		tree_free(&v->tree);
	if (crash_violation_is_second(v))
		tree_free(&v->uninterrupted);
}

bool crash_was_unflushed(const struct crash_case *c, const struct crash_point *p,
			 const struct broken_promise *broken)
{
	/* A rename, which happens as a whole or not at all, has not said that it is durable. */
	if (!broken->what ||
	    persistence_behind(&c->history, broken->call)->promise.kind == PROMISE_NONE)
		return false;
	for (size_t i = 0; p->lost && i < p->at; i++)
		if (p->lost[i] && c->events.events[i].calls < broken->call)
			return true;
	return false;
}

static void violation_sign(struct crash_violation *v, const struct crash_case *c)
{
	v->unflushed =
		!crash_violation_is_second(v) && crash_was_unflushed(c, &v->point, &v->broken);
	if (v->unflushed)
		snprintf(v->signature, sizeof(v->signature), "LOST not flushed");
	else if (v->broken.what)
		snprintf(v->signature, sizeof(v->signature),
			 crash_violation_is_second(v) ? "LOST %s (%s)" : "LOST %s", v->broken.what,
			 recovery_end_names[v->end]);
	else
		snprintf(v->signature, sizeof(v->signature), "RECOVERY %s",
			 recovery_end_names[v->end]);
}

static void violation_keep(struct crash_violation *v, const struct crash_case *c,
			   const struct crash_point *p, const struct page_disk *d,
			   const struct recovered *r)
{
	v->point = *p;
	v->disk = page_disk_copy(d);
	if (p->lost) {
		bool *lost = must_alloc((c->events.count + 1) * sizeof(*lost));

		memcpy(lost, p->lost, p->at * sizeof(*lost));
		v->point.lost = lost;
	}
	v->end = r->end;
	buf_adds(&v->text, buf_str(&r->text));
	v->has_tree = r->has_tree;
	if (r->has_tree)
		v->tree = tree_copy(&r->tree);
	violation_sign(v, c);
}

/* Whether the calls allow the tree; all trees, where they are not known. */
static bool case_allows(const struct crash_case *c, const struct crash_point *p,
			const struct tree *tree, struct broken_promise *ret)
{
	return !c->calls || persistence_allows(&c->history, p->done, p->begun, tree, ret);
}

int crash_judge(struct crash_session *s, struct crash_case *c, const struct crash_point *p,
		const struct page_disk *d, struct crash_violation *ret, struct err *err)
{
	const struct recovered *r;
	int status = recovery_of(&s->recovery, &c->store, d, &r, err);

	if (status)
		return status;
	*ret = (struct crash_violation){ 0 };
	if (r->end == RECOVERY_FINE && case_allows(c, p, &r->tree, &ret->broken)) {
		broken_promise_free(&ret->broken);
		return 0;
	}
	violation_keep(ret, c, p, d, r);
	return 1;
}

/* One workload that is judged crash by crash. */
struct crash_round {
	struct crash_session *s;
	struct crash_case *c;
	crash_visit *visit;
	void *to;
	uint64_t states, met_states, states_max; /* there are so many, and so many are judged */
	struct hash_map judged;                  /* disks at the moments they were judged at */
	struct str_map met;                      /* signatures */
	bool ended;
	int status;
	struct err *err;
};

static void round_meet(struct crash_round *x, const struct crash_violation *v)
{
	bool is_new;

	str_map_put(&x->met, v->signature, &is_new);
	if (is_new)
		x->ended |= !x->visit(x->to, x->c, v);
}

/* ---- crashes during recovery ---- */

/* A disk whose recovery is crashed: mounting, or the checker. */
struct second_crash {
	struct crash_round *x;
	const struct crash_point *first;
	const struct disk_events *events; /* of recovery */
	struct tree tree;                 /* what recovery gives without a crash */
	bool by_repair;
};

/* Recovery is repeated. */
static int second_recover(struct second_crash *second, const struct page_disk *d,
			  const struct recovered **ret)
{
	struct crash_session *s = second->x->s;
	struct page_store *store = &second->x->c->store;
	uint64_t before = second->by_repair ? s->recovery.repairs : s->recovery.recoveries;
	int status;

	if (!second->by_repair) {
		status = recovery_of(&s->recovery, store, d, ret, second->x->err);
		s->figures.recovery_states++;
		s->figures.recovery_skipped += s->recovery.recoveries == before;
		return status;
	}
	status = recovery_of_repaired(&s->recovery, store, d, NULL, ret, second->x->err);
	s->figures.repair_states++;
	s->figures.repair_skipped += s->recovery.repairs == before;
	return status;
}

static bool second_judge(void *to, const struct crash_point *p, const struct page_disk *d)
{
	struct second_crash *second = to;
	struct crash_violation v = { 0 };
	const struct recovered *r;
	int status = second_recover(second, d, &r);

	if (status) {
		second->x->status = status;
		return false;
	}
	if (r->end == RECOVERY_FINE && hash_equal(tree_hash(&r->tree), tree_hash(&second->tree)))
		return true;
	if (r->end == RECOVERY_FINE)
		case_allows(second->x->c, second->first, &r->tree, &v.broken);
	violation_keep(&v, second->x->c, second->first, d, r);
	v.end = second->by_repair ? RECOVERY_REPAIR_INTERRUPTED : RECOVERY_INTERRUPTED;
	v.uninterrupted = tree_copy(&second->tree);
	violation_sign(&v, second->x->c);
	buf_addf(&v.text, "%s was interrupted after %zu of its disk requests (%s: %s).\n",
		 second->by_repair ? recovery_repair_command(&second->x->s->recovery) : "Recovery",
		 p->at, view_names[p->view], view_sentences[p->view]);
	if (r->end != RECOVERY_FINE)
		buf_addf(&v.text, "When it was repeated, %s.\n", recovery_end_sentences[r->end]);
	if (r->has_tree)
		tree_diff(&second->tree, &r->tree, 10, &v.text);
	buf_addf(&v.text, "\nIts disk requests until then:\n");
	view_print_events(second->events, p, &v.text);
	round_meet(second->x, &v);
	crash_violation_free(&v);
	return false;
}

/* Recovery wrote something: it is crashed at every point of that, and repeated. */
static void round_crash_log(struct crash_round *x, const struct crash_point *p,
			    const struct page_disk *d, const struct buf *log,
			    const struct recovered *r, bool by_repair)
{
	struct disk_events events;
	struct second_crash second = {
		.x = x, .first = p, .events = &events, .by_repair = by_repair
	};

	second.tree = tree_copy(&r->tree); /* the result may be forgotten */
	x->status = disk_events_read(&events, log, x->c->store.size, x->err);
	if (!x->status)
		views_each(&events, &x->c->store, d, &x->s->options.views, second_judge, &second);
	disk_events_free(&events);
	tree_free(&second.tree);
}

/* Repairs are slow: once for each tree, or for each disk where all are to be checked. */
static bool round_wants_repair(struct crash_round *x, const struct tree *recovered)
{
	bool is_new;

	if (!recovery_records_repair(&x->s->recovery))
		return false;
	hash_map_put(&x->s->repaired, tree_hash(recovered), &is_new);
	return is_new || x->s->recovery.sanity == SANITY_ALL;
}

/* The checker is crashed; and mounting behind it, where nothing else can be mounted. */
static void round_crash_repair(struct crash_round *x, const struct crash_point *p,
			       const struct page_disk *d)
{
	struct crash_session *s = x->s;
	struct page_disk start = page_disk_copy(d);
	struct page_store *store = &x->c->store;
	struct buf written = BUF_INIT, log = BUF_INIT;
	const struct recovered *r = NULL;
	int status = recovery_prepare_repair(&s->recovery, store, &start, x->err);

	if (status > 0) {
		s->figures.repair_logs++;
		status = recovery_of_repaired(&s->recovery, store, &start, &written, &r, x->err);
	}
	if (!status && r)
		status =
			page_writes(&written, store, &start, s->options.views.sector, &log, x->err);
	x->status = status;
	if (!status && r && r->end == RECOVERY_FINE) {
		if (s->target->traits.crash_needs_fsck)
			buf_add(&log, buf_str(&r->log), r->log.len);
		round_crash_log(x, p, &start, &log, r, true);
	}
	page_disk_free(&start);
	buf_free(&log);
	buf_free(&written);
}

static void round_crash_recovery(struct crash_round *x, const struct crash_point *p,
				 const struct page_disk *d)
{
	struct buf log = BUF_INIT;
	const struct recovered *r;
	bool repairs;

	x->status = recovery_of(&x->s->recovery, &x->c->store, d, &r, x->err);
	if (x->status || r->end != RECOVERY_FINE)
		return;
	repairs = round_wants_repair(x, &r->tree);
	if (!x->s->target->traits.crash_needs_fsck) {
		buf_add(&log, buf_str(&r->log), r->log.len);
		round_crash_log(x, p, d, &log, r, false);
		buf_free(&log);
	}
	if (!x->status && !x->ended && repairs)
		round_crash_repair(x, p, d);
}

/* What is judged whatever the bound is: that what was promised is there, the simplest crash shows
 * most often. */
static bool round_is_free(const struct crash_round *x, const struct crash_point *p)
{
	return x->s->options.effort.all_in_order && p->view == VIEW_ORDER;
}

static bool round_count(void *to, const struct crash_point *p, const struct page_disk *d)
{
	struct crash_round *x = to;

	x->states += !round_is_free(x, p);
	return true;
}

/* Whether the next one is among those that are judged, where there are too many. */
static bool round_chooses(struct crash_round *x, const struct crash_point *p)
{
	uint64_t n;

	if (round_is_free(x, p))
		return true;
	n = x->met_states++;
	return x->states <= x->states_max ||
	       (n + 1) * x->states_max / x->states > n * x->states_max / x->states;
}

static bool round_judge(void *to, const struct crash_point *p, const struct page_disk *d)
{
	struct crash_round *x = to;
	struct hash moment = { p->done, p->begun };
	struct crash_violation v;
	bool new_image, new_moment;
	int wrong;

	if (!round_chooses(x, p))
		return true;
	x->s->figures.crash_states++;
	hash_map_put(&x->s->images, d->hash, &new_image);
	x->s->figures.unique_images += new_image;
	hash_map_put(&x->judged, hash_add(d->hash, hash128(&moment, sizeof(moment), 0)),
		     &new_moment);
	if (!new_moment)
		return true;
	x->s->recovery.checks_next = p->view == VIEW_ORDER && p->done == x->c->count;
	wrong = crash_judge(x->s, x->c, p, d, &v, x->err);
	x->s->recovery.checks_next = false;
	if (wrong < 0)
		x->status = wrong;
	if (wrong > 0) {
		round_meet(x, &v);
		crash_violation_free(&v);
	} else if (!wrong && x->s->options.effort.during_recovery) {
		round_crash_recovery(x, p, d);
	}
	return !x->status && !x->ended;
}

int crash_each(struct crash_session *s, struct crash_case *c, crash_visit *visit, void *to,
	       struct err *err)
{
	struct crash_round x = { .s = s, .c = c, .visit = visit, .to = to, .err = err };
	struct views_options views = s->options.views;
	const struct page_disk start = { 0 };

	s->figures.workloads++;
	views.from_calls = c->setup_count;
	x.states_max = s->options.effort.states_max;
	if (x.states_max)
		views_each(&c->events, &c->store, &start, &views, round_count, &x);
	views_each(&c->events, &c->store, &start, &views, round_judge, &x);
	hash_map_free(&x.judged);
	str_map_free(&x.met);
	return x.status;
}
