/* explore.c -- from the options to a search, and what all strategies share. */
#include "explore/explore.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/must.h"
#include "explore/differential.h"
#include "explore/sharing.h"

static const double progress_interval_seconds = 0.2, watch_interval_seconds = 0.5;
/* Of the time, at most one part in so many goes into checkpoints. */
static const double checkpoint_share = 20;

/* How much more often than its profile says a search makes other calls for each that is dear. */
enum { DEAR_CALLS = 4 };

bool strategy_branches(enum strategy s)
{
	return s != STRATEGY_TOUR && s != STRATEGY_RANDOM;
}

const char *const strategy_names[] = { "tour", "dfs", "bfs", "random", "best", "remount", NULL };

/* One that cannot be written is tried again later, and at the end. */
static void explorer_make_checkpoint(struct explorer *x, double now)
{
	double cost;
	struct err err = { 0 };

	checkpoint_write(x, &err);
	cost = clock_seconds() - now;
	x->checkpoint_seconds = now + fmax(cost * checkpoint_share, x->options->checkpoint_seconds);
}

/* Neither memory nor numbers for further states are left. */
static bool explorer_is_full(const struct explorer *x)
{
	uint64_t bytes = graph_bytes(&x->graph) + open_list_bytes(&x->list) +
			 open_list_bytes(&x->foreign) + open_list_bytes(&x->received);

	return bytes > x->options->memory_max || graph_is_full(&x->graph) || x->share_full;
}

/* It is another search's turn (portfolio.h). */
static bool explorer_slice_ends(const struct explorer *x, double now)
{
	return x->dry || (x->slice_calls && x->figures.calls >= x->slice_calls) ||
	       (x->slice_until_seconds > 0 && now >= x->slice_until_seconds);
}

static void explorer_count_reach(struct explorer *x)
{
	struct tally_reach reach = tally_reach(&x->tally);

	x->figures.inputs = reach.inputs;
	x->figures.inputs_seen = reach.inputs_seen;
	x->figures.outcomes_seen = reach.outcomes_seen;
}

static void explorer_show(struct explorer *x)
{
	/* One of several searches knows only a part of that. */
	if (!x->options->name && run_sample_is_due(x->run))
		explorer_count_reach(x);
	x->options->progress(x->options->progress_to, &x->figures, x->run);
}

bool explorer_ends(struct explorer *x)
{
	const struct explore_options *o = x->options;
	double now = clock_seconds();

	if (stop_requested)
		x->figures.end = "stopped";
	else if (o->calls && x->figures.calls >= o->calls)
		x->figures.end = "calls";
	else if (o->seconds > 0 && now >= x->deadline_seconds)
		x->figures.end = "time";
	else if (explorer_is_full(x))
		x->figures.end = "memory";
	else if (json_array_size(x->run->findings) >= o->findings_max)
		x->figures.end = "findings";
	if (now >= x->watch_seconds || x->figures.end || explorer_slice_ends(x, now)) {
		if (watch_kernel(x))
			x->figures.end = "a damaged kernel: reboot the machine";
		x->watch_seconds = now + watch_interval_seconds;
	}
	if (x->figures.end)
		return true;
	if (o->progress && now >= x->progress_seconds) {
		explorer_show(x);
		x->progress_seconds = now + progress_interval_seconds;
	}
	if (now >= x->checkpoint_seconds)
		explorer_make_checkpoint(x, now);
	return explorer_slice_ends(x, now);
}

size_t explorer_room(const struct explorer *x, size_t most)
{
	uint64_t bounds[] = { x->options->calls, x->slice_calls };

	for (size_t i = 0; i < ARRAY_LEN(bounds); i++)
		if (bounds[i] > x->figures.calls && bounds[i] - x->figures.calls < most)
			most = (size_t)(bounds[i] - x->figures.calls);
	return most;
}

uint32_t explorer_visit(struct explorer *x, const struct state *s, struct hash hash, uint32_t from)
{
	uint32_t node = NODE_NONE;
	bool is_new;

	if (x->bits.words) {
		is_new = bitstate_add(&x->bits, hash);
		x->figures.states += is_new;
	} else {
		node = graph_put(&x->graph, hash, &is_new);
		if (is_new && from != NODE_NONE)
			graph_found_from(&x->graph, node, from);
		if (is_new && x->visited)
			hash_set_expect(&x->visited->states, hash);
	}
	if (is_new)
		x->figures.shapes += utility_add(&x->utility, s);
	return node;
}

void explorer_rest(struct explorer *x)
{
	history_rest(&x->history);
	recent_forget(&x->recent);
	recent_free(&x->recent);
}

bool explorer_is_long(const struct explorer *x)
{
	return history_is_long(&x->history, x->options->history_max);
}

void explorer_call(const struct explorer *x, uint32_t n, struct arena *arena, struct call *ret)
{
	/* It was made, or is about to be: so there are values for it. */
	must(history_call(x->universe, n, &x->state, arena, ret));
}

void visited_add(struct explorer_visited *v, struct hash state)
{
	if (hash_set_add(&v->states, state))
		v->sum = hash_add(v->sum, state);
}

bool explorer_reach(struct explorer *x, uint32_t n)
{
	struct hash hash = graph_node(&x->graph, n)->hash;

	if (!graph_reach(&x->graph, n))
		return false;
	x->figures.states++;
	x->figures.states_sum = hash_add(x->figures.states_sum, hash);
	if (x->visited)
		visited_add(x->visited, hash);
	sharing_count(x, hash);
	return true;
}

static void explorer_go(struct explorer *x, uint32_t n)
{
	uint32_t depth = graph_node(&x->graph, n)->depth;

	explorer_reach(x, n);
	x->node = n;
	if (depth > x->figures.depth)
		x->figures.depth = depth;
}

/* In a state that another worker has, a call is only made to walk through it. */
static void explorer_count_transition(struct explorer *x)
{
	bool foreign =
		x->node != NODE_NONE && graph_node(&x->graph, x->node)->whose == NODE_FOREIGN;

	*(foreign ? &x->figures.duplicates : &x->figures.transitions) += 1;
}

struct call explorer_process_call(const struct explorer *x, unsigned i)
{
	struct call c = { .op = OP_create_process, .pid = (uint16_t)i };

	c.create_process.uid.num = c.create_process.gid.num = x->universe->users[i - 2];
	return c;
}

bool explorer_is_shortage(int status)
{
	static const int errors[] = {
		ENOMEM, EAGAIN, EBUSY, EINTR, EMFILE, ENFILE, ENOSPC, EDQUOT
	};

	for (size_t i = 0; i < ARRAY_LEN(errors); i++)
		if (status == -errors[i])
			return true;
	return false;
}

/* A fresh file system. What the machine lacks for a moment, it may have a little later. */
static int explorer_reset_target(struct target *t, struct err *err)
{
	static const unsigned pauses_ms[] = { 50, 500, 2000 };
	struct err why = { 0 };
	int status;

	for (size_t i = 0; i < ARRAY_LEN(pauses_ms) && !stop_requested; i++) {
		status = target_reset(t, &why);
		if (!explorer_is_shortage(status))
			return status < 0 ? err_set(err, -status, "%s", why.text) : status;
		usleep(pauses_ms[i] * 1000);
		why = (struct err){ 0 };
	}
	return target_reset(t, err);
}

/* A fresh file system with all processes. */
static int explorer_make_fresh(const struct explorer *x, struct target *t, struct err *err)
{
	int status = explorer_reset_target(t, err);
	enum target_fate fate;
	struct outcome outcome;
	struct call call;

	for (unsigned i = 2; status >= 0 && i <= x->universe->processes; i++) {
		call = explorer_process_call(x, i);
		status = target_call(t, &call, &outcome, &fate, err);
		if (status >= 0 && (fate != FATE_FINE || outcome.error))
			status = err_set(err, EPERM, "%s: cannot make a process of user %u",
					 t->name, x->universe->users[i - 2]);
	}
	return status;
}

static int explorer_make_all_fresh(const struct explorer *x, struct err *err)
{
	int status = 0;

	for (size_t i = 0; status >= 0 && i < x->follower_count; i++)
		status = explorer_make_fresh(x, x->followers[i].target, err);
	return status;
}

void explorer_restart(struct explorer *x)
{
	state_free(&x->state);
	x->state = state_copy(&x->start);
	x->node = x->root;
	history_cut(&x->history, 0);
}

int explorer_reset(struct explorer *x, struct err *err)
{
	int status = explorer_make_all_fresh(x, err);

	if (status < 0)
		return status;
	x->figures.resets++;
	explorer_restart(x);
	return 0;
}

int explorer_follow(struct explorer *x, struct plan *p, size_t *ret_done, struct err *err)
{
	return plan_follow_all(p, &x->state, x->followers, x->follower_count, ret_done, err);
}

void explorer_advance(struct explorer *x, uint32_t n, const struct call *c,
		      const struct outcome *seen, uint32_t to, bool fresh)
{
	recent_add(&x->recent, x->history.count, seen);
	history_add(&x->history, n, to);
	tally_count(&x->tally, n, c, seen->error);
	x->figures.calls++;
	if (fresh)
		explorer_count_transition(x);
	if (to == NODE_NONE)
		x->node = to;
	else
		explorer_go(x, to);
}

uint32_t explorer_new_coverage(const struct explorer *x, size_t step)
{
	const struct code_map *map = x->reached;

	if (!map || !x->options->code_score)
		return 0;
	for (uint32_t i = 0; i < map->new_coverage_count; i++)
		if (map->new_coverage[i].step == step)
			return map->new_coverage[i].points;
	return 0;
}

/* What an earlier part of the search has reached is not new; where that did not ask, all is. */
static int explorer_recall_code(struct explorer *x, struct err *err)
{
	size_t known = 0;
	int status = 0;

	if (x->options->code && code_is_saved(x->run->dir))
		status = code_load(x->options->code, x->reached->bits, x->run->dir, &known, err);
	if (x->reached)
		x->reached->count += (uint32_t)known;
	return status;
}

int explorer_begin(struct explorer *x, struct err *err)
{
	int status = explorer_make_all_fresh(x, err);
	struct outcome outcome;
	struct call call;
	bool is_new;

	if (status >= 0)
		status = target_initial_state(x->target, &x->fresh, err);
	if (status < 0)
		return status;
	predictor_begin(&x->predictor, &x->fresh);
	x->start = state_copy(&x->fresh);
	for (unsigned i = 2; i <= x->universe->processes; i++) {
		call = explorer_process_call(x, i);
		model_run(x->predictor.model, &x->start, &call, &outcome);
	}
	x->state = state_copy(&x->start);
	history_init(&x->history);
	if (x->options->code)
		x->reached = x->target->kind->code(x->target, NULL);
	if (x->options->resume)
		status = checkpoint_read(x, err);
	x->root = graph_put(&x->graph, state_hash(&x->start), &is_new);
	explorer_go(x, x->root);
	if (status >= 0 && x->options->resume)
		sharing_resume(x);
	if (status >= 0 && x->options->against_count)
		status = differential_begin(x, err);
	return status;
}

int explorer_take_up(struct explorer *x, struct err *err)
{
	int status = explorer_recall_code(x, err);

	return status < 0 ? status : capture_pending(x, err);
}

/* Does it leave something in its process that matters to later calls: a descriptor, a stream, a
 * working directory, a mask? */
static bool op_changes_process(enum op op)
{
	enum op base = op_table[op].base;

	return op_table[op].traits & (TRAIT_OPENS | TRAIT_PROC) || base == OP_chdir ||
	       base == OP_umask;
}

/* Operations that the target does not know are no part of its universe. Nor is what a restored disk
 * does not bring back, where that is how the strategy goes back to a state: processes, and what
 * they hold. */
static void universe_keep_possible(struct universe *u, const struct target *t,
				   enum strategy strategy)
{
	bool forgets = strategy_branches(strategy) && !(t->caps & TARGET_SAVE);
	size_t kept = 0, processes = u->processes;

	if (!(t->caps & TARGET_PROCESSES) || forgets)
		u->processes = 1;
	for (size_t i = 0; i < u->op_count; i++) {
		enum op op = u->ops[i].op;

		if (target_needs(op) & ~t->caps || (forgets && op_changes_process(op)))
			continue;
		u->ops[kept] = u->ops[i];
		u->ops[kept].calls = u->ops[i].calls / processes * u->processes;
		kept++;
	}
	u->op_count = kept;
	universe_index(u);
}

bool explorer_is_dear(const struct explorer *x, enum op op)
{
	return (op == OP_remount || op == OP_drop_caches) && !x->target->kind->in_process &&
	       !(x->target->caps & TARGET_SAVE);
}

/* What one of them shows, the next one mostly shows as well. */
static void explorer_spare_dear(const struct explorer *x)
{
	struct universe *u = x->universe;
	size_t op = 0;

	while (op < u->op_count && !explorer_is_dear(x, u->ops[op].op))
		op++;
	if (op == u->op_count)
		return;
	for (op = 0; op < u->op_count; op++)
		if (!explorer_is_dear(x, u->ops[op].op))
			u->ops[op].weight *= DEAR_CALLS;
	universe_weigh(u);
}

static int explore_check_restores(const struct explore_options *o, const struct target *t,
				  struct err *err)
{
	if (!strategy_branches(o->strategy) || (t->kind->save && t->kind->restore))
		return 0;
	return err_set(err, ENOTSUP, "%s cannot be saved and restored, which %s needs", t->name,
		       strategy_names[o->strategy]);
}

static int explore_check(const struct explore_options *o, const struct target *t,
			 const struct universe *u, struct err *err)
{
	int status;

	if (!u->calls || u->calls >= UNIVERSE_CALLS_MAX)
		return err_set(err, E2BIG, "%s: a universe of %llu calls cannot be explored",
			       u->name, (unsigned long long)u->calls);
	status = explore_check_restores(o, t, err);
	for (size_t i = 0; i < o->against_count && !status; i++)
		status = explore_check_restores(o, o->against[i], err);
	return status;
}

/* The target, and those against it, each with the model that judges it. */
static void explorer_add_followers(struct explorer *x)
{
	const struct explore_options *o = x->options;

	x->follower_count = o->against_count + 1;
	x->followers = must_alloc(x->follower_count * sizeof(*x->followers));
	for (size_t i = 0; i < x->follower_count; i++) {
		struct plan_follower *f = &x->followers[i];

		f->target = i ? o->against[i - 1] : x->target;
		target_model(f->target, &f->model);
		run_judged_by(x->run, f->target, &f->model);
	}
	x->predictor = (struct predictor){
		.model = &x->followers[0].model,
		.universe = x->universe,
		.failures_max = o->failures_max,
		.followers = x->followers,
		.follower_count = x->follower_count,
	};
}

int explorer_open(struct explorer *x, const struct explore_options *o, struct target *t,
		  struct universe *u, struct run *run, struct err *err)
{
	int status;

	*x = (struct explorer){ .options = o, .target = t, .universe = u, .run = run };
	universe_keep_possible(u, t, o->strategy);
	for (size_t i = 0; i < o->against_count; i++)
		universe_keep_possible(u, o->against[i], o->strategy);
	status = explore_check(o, t, u, err);
	if (status)
		return status;
	explorer_spare_dear(x);
	explorer_add_followers(x);
	rng_seed(&x->rng, o->seed);
	graph_init(&x->graph, u->calls);
	tally_init(&x->tally, u, o->before);
	x->deadline_seconds = clock_seconds() + o->seconds;
	x->list.strategy = o->strategy;
	x->foreign.strategy = x->received.strategy = STRATEGY_BFS;
	if (o->bitstate && strategy_branches(o->strategy))
		bitstate_init(&x->bits, o->memory_max);
	return 0;
}

int explorer_work(struct explorer *x, struct err *err)
{
	return strategy_branches(x->options->strategy) ? branch(x, err) : tour(x, err);
}

void explorer_close(struct explorer *x, struct cover *cover, struct explore_figures *ret)
{
	branch_forget(x);
	tally_cover(&x->tally, cover);
	explorer_count_reach(x);
	x->figures.state_bytes = graph_bytes(&x->graph) - x->graph.edge_bytes;
	x->figures.edge_bytes = x->graph.edge_bytes;
	*ret = x->figures;
	state_free(&x->fresh);
	state_free(&x->start);
	state_free(&x->state);
	history_free(&x->history);
	arena_free(&x->scratch);
	recent_free(&x->recent);
	utility_free(&x->utility);
	free(x->followers);
	str_map_free(&x->differences);
	buf_free(&x->others);
	tally_free(&x->tally);
	graph_free(&x->graph);
	sharing_leave(x);
}

int explore(const struct explore_options *o, struct target *t, struct universe *u, struct run *run,
	    struct cover *cover, struct explore_figures *ret, struct err *err)
{
	struct kernel_watch watch;
	struct oracle oracle;
	struct explorer x;
	int status = explorer_open(&x, o, t, u, run, err);

	if (status)
		return status;
	sharing_join(&x, 0);
	kernel_watch_open(&watch, o->kernel_log, t);
	x.watch = &watch;
	x.oracle = &oracle;
	status = explorer_begin(&x, err);
	if (status >= 0 && o->resume)
		status = explorer_take_up(&x, err);
	oracle_begin(&oracle, &x);
	if (status >= 0)
		status = explorer_work(&x, err);
	if (status >= 0)
		status = oracle_end(&x, err);
	if (status >= 0)
		status = checkpoint_write(&x, err);
	else
		watch_kernel(&x); /* its log may say what ended us */
	if (o->progress)
		o->progress(o->progress_to, &x.figures, run);
	json_object_set_new(run->figures, "state_graph", graph_json(&x.graph, u));
	explorer_close(&x, cover, ret);
	oracle_free(&oracle, ret);
	kernel_watch_close(&watch);
	return status;
}
