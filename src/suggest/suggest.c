/* suggest.c -- scripts for what no test has tried: the search.
 *
 * For each system call with a gap: first the operation is tried with simple values in every
 * prepared state (manual/states.h), which fills gaps of results and most flags. Of each state the
 * simplest call that succeeds is remembered; in these, one argument after the other gets the values
 * that are still untested. Costs some microseconds a try, and some seconds for all calls. */
#include "suggest/suggest.h"

#include <fcntl.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/must.h"
#include "base/rng.h"
#include "manual/states.h"
#include "suggest/gaps.h"

enum {
	TRIES_MAX = 30000,                   /* of an operation with simple values */
	TRIES_NODE_MIN = 8,                  /* in each state */
	SUCCESSES_MAX = 300,                 /* calls that get untested values */
	FAILURE_COST = 4 * MANUAL_LINE_COST, /* an untested input is better tried with success */
	VALUE_COST = 64,                     /* an untested value is less simple than the others */
	DATA_MAX = 1 << 20,                  /* bytes that a script writes, reads or allocates */
};
/* Where files end that every file system can have: sparse ones are cheap. */
#define EXTENT_MAX ((uint64_t)1 << 31)

struct success {
	const struct manual_node *node;
	struct call call;
	unsigned cost;
};

struct suggester {
	struct suggestions *to;
	struct gaps *gaps;
	struct manual_calls calls;
	struct manual_states states;
	struct success successes[SUCCESSES_MAX];
	size_t success_count;
	struct rng rng;
	struct arena arena; /* of one operation */
};

/* The one outcome that the model allows, as an errno; -1 if there are others. */
static int only_outcome(const struct envelope *env)
{
	if (env->undefined || env->open || errset_count(&env->errors) + env->success != 1)
		return -1;
	return env->success ? 0 : env->first;
}

/* Whether it would move or allocate more bytes than a test should, or than the model should hold.
 */
static bool moves_too_much(const struct call *call)
{
	const struct op_info *info = &op_table[call->op];

	for (unsigned i = 0; i < info->args; i++)
		if (info->arg[i].kind == KIND_COUNT && call->arg[i].num > DATA_MAX)
			return true;
	return call->op == OP_fallocate && call_extent(call) > DATA_MAX;
}

/* Such a call acts on no file system. */
static bool names_closed_file(const struct state *state, const struct call *call)
{
	const struct op_info *info = &op_table[call->op];

	for (unsigned i = 0; i < info->args; i++) {
		enum kind kind = info->arg[i].kind;

		if ((kind == KIND_FD || (kind == KIND_DIRFD && call->arg[i].num != AT_FDCWD)) &&
		    !state_file(state, call->pid, call->arg[i].num))
			return true;
	}
	return false;
}

struct candidate {
	const struct manual_node *node;
	const struct call *call;
	unsigned cost;
};

static void candidate_keep(void *to, struct gap *gap)
{
	const struct candidate *c = to;

	manual_example_keep(&gap->best, c->node, c->call, c->cost);
}

/* Tries a call. tried: the argument that has an untested value, or GAP_ALL_ARGUMENTS. Returns the
 * outcome as only_outcome(). */
static int suggester_try(struct suggester *s, const struct manual_node *node,
			 const struct call *call, unsigned cost, int tried)
{
	struct candidate c = { .node = node, .call = call, .cost = cost };
	struct envelope env;
	struct state state;
	int error;

	if (moves_too_much(call) || names_closed_file(&node->state, call))
		return -1;
	state = state_copy(&node->state);
	model_allow(&s->to->model, &state, call, &env);
	state_free(&state);
	error = only_outcome(&env);
	if (error < 0 || (!error && call_extent(call) > EXTENT_MAX))
		return -1;
	if (error && tried == GAP_ALL_ARGUMENTS)
		tried = OP_ARGS_MAX; /* what the call fails for is not known: only the result counts
				      */
	c.cost += error && tried != OP_ARGS_MAX ? FAILURE_COST : 0;
	gaps_visit(s->gaps, call, error, error ? tried : GAP_ALL_ARGUMENTS, candidate_keep, &c);
	return error;
}

/* Of each state the simplest. */
static void suggester_remember(struct suggester *s, const struct manual_node *node,
			       const struct call *call, unsigned cost)
{
	struct success *last = s->success_count ? &s->successes[s->success_count - 1] : NULL;

	if (last && last->node == node) {
		if (cost < last->cost)
			*last = (struct success){ node, *call, cost };
	} else if (s->success_count < SUCCESSES_MAX) {
		s->successes[s->success_count++] = (struct success){ node, *call, cost };
	}
}

static void suggester_try_node(struct suggester *s, const struct manual_node *node, uint64_t tries)
{
	bool all = s->calls.products <= tries;
	struct call call;

	for (uint64_t i = 0; i < (all ? s->calls.products : tries); i++) {
		uint64_t product = all ? i : manual_calls_draw(&s->calls, &s->rng);
		unsigned cost = node->cost + manual_calls_get(&s->calls, product, &call);

		if (!suggester_try(s, node, &call, cost, GAP_ALL_ARGUMENTS))
			suggester_remember(s, node, &call, cost);
		if (!node->has_user)
			continue;
		call.pid = 2;
		suggester_try(s, node, &call, cost, GAP_ALL_ARGUMENTS);
	}
}

static void suggester_try_simple(struct suggester *s)
{
	uint64_t tries = TRIES_MAX / s->states.count;

	if (tries < TRIES_NODE_MIN)
		tries = TRIES_NODE_MIN;
	for (size_t i = 0; i < s->states.count && i * tries < 2 * TRIES_MAX; i++)
		suggester_try_node(s, &s->states.nodes[i], tries);
}

/* In calls that succeed, until one succeeds with this value. */
static void suggester_try_value(struct suggester *s, unsigned argument, const struct arg *value)
{
	const struct trace_row *row = &s->gaps->row->row;
	struct call call;

	if (!gaps_want_value(s->gaps, argument, value))
		return;
	for (size_t i = 0; i < s->success_count; i++) {
		const struct success *success = &s->successes[i];

		call = success->call;
		call.arg[argument] = *value;
		if (row->makes && argument == row->arg[1].to)
			call.arg[row->arg[0].to].num |= O_CREAT;
		if (!suggester_try(s, success->node, &call, success->cost + VALUE_COST,
				   (int)argument))
			break;
	}
}

/* A flag alone, and with the simple values. */
static void suggester_try_flags(struct suggester *s, unsigned argument)
{
	const struct manual_values *simple = &s->calls.values[argument];
	const struct kind_name *row = kind_names(op_table[s->calls.op].arg[argument].kind);

	for (; row && row->name; row++) {
		struct arg value = { .num = row->value };

		suggester_try_value(s, argument, &value);
		for (size_t i = 0; i < simple->count; i++) {
			value.num = row->value | simple->list[i].num;
			suggester_try_value(s, argument, &value);
		}
	}
}

static void suggester_try_values(struct suggester *s)
{
	const struct trace_row *row = &s->gaps->row->row;
	struct arg value;

	for (unsigned a = 0; a < row->args; a++) {
		unsigned argument = row->arg[a].to;
		enum kind kind = op_table[s->calls.op].arg[argument].kind;

		for (size_t i = 0; i < s->calls.values[argument].count; i++)
			suggester_try_value(s, argument, &s->calls.values[argument].list[i]);
		suggester_try_flags(s, argument);
		for (size_t i = 0; kind_boundary(kind, i, true, &value); i++)
			suggester_try_value(s, argument, &value);
	}
}

struct taking {
	const struct gaps *gaps;
	json_t *names;
};

static void gap_take(void *to, struct gap *gap)
{
	struct taking *t = to;

	gap->filled = true;
	json_array_append_new(t->names,
			      json_string(gaps_name(t->gaps, (size_t)(gap - t->gaps->list))));
}

/* The call again, for all that it fills. */
static void suggester_take(struct suggester *s, struct manual_example *best)
{
	struct suggestions *to = s->to;
	struct suggestion *new = &to->items[to->count];
	const struct call *last = &best->calls[best->count - 1];
	struct state_options options = MANUAL_STATE_OPTIONS;
	struct taking taking = { .gaps = s->gaps, .names = json_array() };
	struct envelope env = { 0 };
	struct state state;

	state_init(&state, &options);
	for (unsigned i = 0; i < best->count; i++)
		model_move(&to->model, &state, &best->calls[i], &env);
	gaps_visit(s->gaps, last, env.success ? 0 : env.first,
		   env.success ? GAP_ALL_ARGUMENTS : OP_ARGS_MAX, gap_take, &taking);
	state_free(&state);
	*new = (struct suggestion){ .script = *best, .gaps = taking.names };
	manual_example_own(&new->script, &to->arena);
	to->count++;
}

/* One after the other, in the order of the gaps: what a script fills besides needs no other one. */
static void suggester_take_all(struct suggester *s)
{
	for (size_t i = 0; i < s->gaps->count; i++) {
		struct gap *gap = &s->gaps->list[i];

		if (gap->filled || !gap->best.count)
			continue;
		suggester_take(s, &gap->best);
		if (!gap->filled) { /* an input that makes the call fail */
			struct suggestion *last = &s->to->items[s->to->count - 1];

			gap_take(&(struct taking){ s->gaps, last->gaps }, gap);
		}
	}
}

static int suggester_search(struct suggester *s, const struct syscall *row, struct err *err)
{
	struct manual_setups setups = { 0 };
	int status = manual_calls_read(&s->calls, row->op, &s->arena, err);

	if (!status)
		status = manual_setups_read(&setups, row->op, err);
	if (!status) {
		must_note("suggestions for %s", row->name);
		s->success_count = 0;
		rng_seed(&s->rng, row->op + 1u);
		manual_states_prepare(&s->states, &s->to->model, &setups);
		suggester_try_simple(s);
		suggester_try_values(s);
		suggester_take_all(s);
		manual_states_free(&s->states);
	}
	manual_setups_free(&setups);
	arena_reset(&s->arena);
	return status;
}

static void list_missing(struct suggestions *to, const struct gaps *gaps)
{
	for (size_t i = 0; i < gaps->count; i++)
		if (!gaps->list[i].filled)
			json_array_append_new(to->missing, json_string(gaps_name(gaps, i)));
}

int suggest(struct suggestions *ret, const json_t *gaps, const struct model *model, struct err *err)
{
	struct suggester *s = must_alloc(sizeof(*s));
	const struct syscall *rows = syscall_rows();
	int status = 0;

	*ret = (struct suggestions){ .model = *model, .missing = json_array() };
	s->to = ret;
	s->gaps = gaps_new(gaps);
	ret->items = must_alloc((s->gaps->count + 1) * sizeof(*ret->items));
	for (size_t i = 0; i < syscall_count && !status; i++) {
		gaps_select(s->gaps, &rows[i]);
		if (rows[i].number >= 0 && gaps_are_open(s->gaps))
			status = suggester_search(s, &rows[i], err);
	}
	list_missing(ret, s->gaps);
	gaps_free(s->gaps);
	arena_free(&s->arena);
	free(s);
	return status;
}

void suggestions_free(struct suggestions *s)
{
	for (size_t i = 0; i < s->count; i++)
		json_decref(s->items[i].gaps);
	free(s->items);
	json_decref(s->missing);
	arena_free(&s->arena);
}
