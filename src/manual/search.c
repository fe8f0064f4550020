/* search.c -- which rules an operation meets, and the simplest script for each.
 *
 * States are prepared by at most two calls behind each way to begin. In every state the operation
 * is tried with all values, or with as many as the limit allows, the simple ones more often. Rules
 * that none of this meets are sought once more on file systems with one trait that is not usual,
 * and on one that is mounted read-only. */
#include "manual/search.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/map.h"
#include "base/must.h"
#include "base/rng.h"
#include "manual/values.h"
#include "op/kind.h"

/* States that differ in flags are different, too. */
#define STATE_OPTIONS \
	{ \
		.fields = TREE_FIELDS_DEFAULT | TREE_FLAGS, .hashed = true, .root_mode = 0777 \
	}

/* No rule has it. */
enum { OTHER_ERRNO = ENOTBLK };

enum {
	VECTOR_BYTES_MAX = 1 << 20,
	NODES_MAX = 6000,
	TRIES_MAX = 80000,    /* of the operation on a usual file system */
	TRIES_UNUSUAL = 1500, /* with each trait */
	TRIES_NODE_MIN = 16,  /* in each state */
	ASKED_MAX = 1000,     /* until a rule that is never the answer counts as allowed only */
	LINE_COST = 1000,     /* a line more is worse than any value */
	BEGIN_COST = 50,      /* the usual state is the best to begin with */
	DOUBT_COST = 100 * LINE_COST, /* several errnos are allowed */
};

/* A prepared state. */
struct manual_node {
	struct state state;
	struct call calls[MANUAL_LINES_MAX];
	unsigned count, cost;
	bool has_user;  /* process 2 */
	unsigned round; /* of the traits that `holds` is about */
	bool holds;
};

struct manual_searcher {
	struct manual *m;
	struct rules_seen *seen;
	struct manual_values values[OP_ARGS_MAX];
	uint64_t products; /* calls of one process */
	struct manual_node *nodes;
	size_t node_count;
	struct hash_map known;
	struct model in_order; /* the first error does not end the checks */
	struct model unusual;
	const struct model *model; /* the page's, or unusual */
	char trait[sizeof(((struct manual_example *)NULL)->trait)];
	bool read_only;
	unsigned round; /* of traits */
	struct rng rng;
	uint64_t hits[RULE_COUNT];
};

static void searcher_add_node(struct manual_searcher *s, struct state state,
			      const struct manual_node *from, const struct call *call,
			      unsigned cost)
{
	struct manual_node *node = &s->nodes[s->node_count];
	bool new = false;

	if (s->node_count < NODES_MAX)
		hash_map_put(&s->known, state_hash(&state), &new);
	if (!new) {
		state_free(&state);
		return;
	}
	*node = (struct manual_node){ .state = state, .cost = from->cost + cost };
	memcpy(node->calls, from->calls, from->count * sizeof(*node->calls));
	node->count = from->count;
	node->has_user = from->has_user;
	if (call) {
		must(node->count < MANUAL_LINES_MAX - 1);
		node->calls[node->count++] = *call;
		node->has_user |= call->op == OP_create_process;
	}
	s->node_count++;
}

/* Calls that fail prepare nothing. */
static bool node_step(const struct model *model, struct state *state, const struct call *call)
{
	struct envelope env;

	if (!state_process(state, call->pid) && call->op != OP_create_process)
		return false;
	model_move(model, state, call, &env);
	return env.success && !env.undefined;
}

static void searcher_extend(struct manual_searcher *s, const struct script *setups, size_t from)
{
	size_t end = s->node_count;

	for (size_t n = from; n < end; n++) {
		for (size_t i = 0; i < setups->count; i++) {
			struct state state = state_copy(&s->nodes[n].state);
			const struct call *call = &setups->items[i].call;

			if (node_step(&s->m->model, &state, call))
				searcher_add_node(s, state, &s->nodes[n], call,
						  LINE_COST + (unsigned)i);
			else
				state_free(&state);
		}
	}
}

static void searcher_begin(struct manual_searcher *s, const struct script *begin, unsigned cost)
{
	struct state_options options = STATE_OPTIONS;
	struct manual_node node = { .count = 0 };

	state_init(&node.state, &options);
	for (size_t i = 0; i < begin->count; i++) {
		must(node_step(&s->m->model, &node.state, &begin->items[i].call));
		node.calls[node.count++] = begin->items[i].call;
		node.has_user |= begin->items[i].call.op == OP_create_process;
	}
	searcher_add_node(s, node.state, &node, NULL, cost + (unsigned)begin->count * LINE_COST);
}

/* Shorter scripts come first, so that of two equal ones the shorter is kept. */
static void searcher_prepare(struct manual_searcher *s, const struct manual_setups *setups)
{
	size_t level = 0, next;

	for (size_t i = 0; i < setups->begin_count; i++)
		searcher_begin(s, &setups->begins[i], (unsigned)i * BEGIN_COST);
	for (unsigned depth = 0; depth < 2; depth++) {
		next = s->node_count;
		searcher_extend(s, &setups->calls, level);
		level = next;
	}
}

static void example_keep(struct manual_searcher *s, struct manual_example *e,
			 const struct manual_node *node, const struct call *call, unsigned cost)
{
	if (e->count && e->cost <= cost)
		return;
	*e = (struct manual_example){ .count = node->count + 1, .cost = cost };
	memcpy(e->calls, node->calls, node->count * sizeof(*e->calls));
	e->calls[node->count] = *call;
	memcpy(e->trait, s->trait, sizeof(e->trait));
	e->read_only = s->read_only;
}

static unsigned errset_count(const struct errset *set)
{
	unsigned n = 0;

	for (size_t i = 0; i < ARRAY_LEN(set->bits); i++)
		n += (unsigned)__builtin_popcountll(set->bits[i]);
	return n;
}

/* Is it this rule that refuses the call first? With another errno of the rule the answer is that
 * one. */
static bool rule_answers(struct manual_searcher *s, struct manual_node *node,
			 const struct call *call, enum rule rule)
{
	struct model changed = *s->model;
	struct envelope env;

	changed.rule_hits = NULL;
	changed.mutant = (struct mutant){ .rule = (int)rule, .error = OTHER_ERRNO };
	model_allow(&changed, &node->state, call, &env);
	return !env.success && !env.undefined && env.first == OTHER_ERRNO;
}

/* A better kind of example replaces what there was. */
static void note_required(struct manual_searcher *s, struct rule_seen *r,
			  const struct manual_node *node, const struct call *call, unsigned cost)
{
	if (!r->required)
		r->example.count = 0;
	r->required = true;
	r->elsewhere = false;
	example_keep(s, &r->example, node, call, cost);
}

static void note_allowed(struct manual_searcher *s, struct rule_seen *r,
			 const struct manual_node *node, const struct call *call, unsigned cost)
{
	if (r->required)
		return;
	if (!r->allowed)
		r->example.count = 0;
	r->allowed = true;
	r->elsewhere = false;
	example_keep(s, &r->example, node, call, cost);
}

/* On an unusual file system: do the calls before the last one still do what they did? */
static bool node_holds(struct manual_searcher *s, struct manual_node *node)
{
	struct state_options options = STATE_OPTIONS;
	struct state state;
	bool same = true;

	if (!s->trait[0])
		return true;
	if (node->round == s->round)
		return node->holds;
	state_init(&state, &options);
	for (unsigned i = 0; i < node->count && same; i++)
		same = node_step(s->model, &state, &node->calls[i]);
	node->holds = same && hash_equal(state_hash(&state), state_hash(&node->state));
	node->round = s->round;
	state_free(&state);
	return node->holds;
}

static bool is_worth_noting(const struct manual_searcher *s, const struct rule_seen *r,
			    unsigned cost)
{
	bool unusual = s->trait[0] || s->read_only;

	/* What a usual file system shows needs no trait. */
	if (unusual && (r->required || r->allowed) && !r->example.trait[0] && !r->example.read_only)
		return false;
	if (r->required || r->asked >= ASKED_MAX)
		return !r->example.count || r->example.cost > cost;
	return true;
}

static void note_rules(struct manual_searcher *s, const struct envelope *env,
		       struct manual_node *node, const struct call *call, unsigned cost)
{

	if (errset_count(&env->errors) > 1)
		cost += DOUBT_COST;
	for (unsigned i = 0; i < env->rule_count; i++) {
		struct rule_seen *r = &s->seen->rules[env->rules[i]];

		if (!rule_table[env->rules[i]].error || !is_worth_noting(s, r, cost) ||
		    !node_holds(s, node))
			continue;
		r->asked++;
		if (!env->success && !env->undefined &&
		    rule_answers(s, node, call, (enum rule)env->rules[i]))
			note_required(s, r, node, call, cost);
		else
			note_allowed(s, r, node, call, cost);
	}
}

static void note_order(struct manual_searcher *s, const struct envelope *env)
{
	for (unsigned i = 0; i < env->rule_count; i++)
		for (unsigned j = i + 1; j < env->rule_count; j++)
			s->seen->before[env->rules[i]][env->rules[j]]++;
}

static void note_elsewhere(struct manual_searcher *s, const struct envelope *env, unsigned place,
			   const struct manual_node *node, const struct call *call, unsigned cost)
{
	for (unsigned i = 0; i < env->rule_count; i++) {
		struct rule_seen *r = &s->seen->rules[env->rules[i]];

		if (!rule_table[env->rules[i]].error || r->required || r->allowed ||
		    (r->elsewhere && r->place != place))
			continue;
		r->elsewhere = true;
		r->place = place;
		example_keep(s, &r->example, node, call, cost);
	}
}

static void searcher_try(struct manual_searcher *s, struct manual_node *node,
			 const struct call *call, unsigned cost)
{
	uint64_t n = s->seen->scripts++;
	unsigned place = (unsigned)(n % s->m->place_count);
	struct envelope env;

	model_allow(s->model, &node->state, call, &env);
	note_rules(s, &env, node, call, cost);
	model_allow(&s->in_order, &node->state, call, &env);
	note_order(s, &env);
	if (s->model != &s->m->model)
		return;
	model_allow(&s->m->places[place].model, &node->state, call, &env);
	note_elsewhere(s, &env, place, node, call, cost);
}

/* Call number `product`; its cost is how far its values are from the simplest. */
static unsigned searcher_call(const struct manual_searcher *s, uint64_t product, struct call *ret)
{
	const struct op_info *info = &op_table[s->m->op];
	unsigned cost = 0;

	*ret = (struct call){ .op = (uint16_t)s->m->op, .pid = 1 };
	for (unsigned i = 0; i < info->args; i++) {
		size_t at = product % s->values[i].count;

		product /= s->values[i].count;
		ret->arg[i] = s->values[i].list[at];
		cost += (unsigned)at;
	}
	return cost;
}

/* The smaller of two draws, for each value. */
static uint64_t draw_product(struct manual_searcher *s)
{
	uint64_t product = 0, factor = 1, a, b;

	for (unsigned i = 0; i < op_table[s->m->op].args; i++) {
		a = rng_below(&s->rng, s->values[i].count);
		b = rng_below(&s->rng, s->values[i].count);
		product += factor * (a < b ? a : b);
		factor *= s->values[i].count;
	}
	return product;
}

static void searcher_try_node(struct manual_searcher *s, struct manual_node *node, uint64_t tries)
{
	bool all = s->products <= tries;
	struct call call;

	must_note("manual of %s", op_table[s->m->op].name);
	for (uint64_t i = 0; i < (all ? s->products : tries); i++) {
		unsigned cost = node->cost + searcher_call(s, all ? i : draw_product(s), &call);

		searcher_try(s, node, &call, cost);
		if (!node->has_user)
			continue;
		call.pid = 2;
		searcher_try(s, node, &call, cost);
	}
}

static void searcher_try_all(struct manual_searcher *s, uint64_t tries_max)
{
	uint64_t tries = tries_max / s->node_count;

	if (tries < TRIES_NODE_MIN)
		tries = TRIES_NODE_MIN;
	for (size_t i = 0; i < s->node_count && i * tries < 2 * tries_max; i++)
		searcher_try_node(s, &s->nodes[i], tries);
}

static void searcher_set_order(struct manual_searcher *s)
{
	s->in_order = *s->model;
	s->in_order.rule_hits = NULL;
	s->in_order.mutant = (struct mutant){ .rule = RULE_first_error_counts };
}

/* Every trait in turn is what it usually is not: set, or a small number. */
static void searcher_try_trait(struct manual_searcher *s, const char *name, bool is_flag,
			       bool usual)
{
	struct err err = { 0 };

	s->unusual = s->m->model;
	snprintf(s->trait, sizeof(s->trait), "%s=%s", name, !is_flag ? "3" : usual ? "no" : "yes");
	if (traits_assign(&s->unusual.traits, s->trait, &err))
		return;
	s->round++;
	searcher_set_order(s);
	searcher_try_all(s, TRIES_UNUSUAL);
}

static void searcher_try_unusual(struct manual_searcher *s)
{
	s->model = &s->unusual;
#define TRAIT(name, type, usual, text) \
	searcher_try_trait(s, #name, _Generic((type)0, bool : true, default : false), (usual) != 0);
#include "model/traits.def"
#undef TRAIT
	s->unusual = s->m->model;
	searcher_set_order(s);
	s->trait[0] = '\0';
	s->read_only = true;
	for (size_t i = 0; i < s->node_count; i++)
		s->nodes[i].state.read_only = true;
	searcher_try_all(s, TRIES_MAX / 10);
}

/* A vector that is too long is cut to what one call moves, 2 GiB, and the model would hold it. */
static void drop_huge_vectors(struct manual_searcher *s)
{
	for (unsigned i = 0; s->m->op == OP_pwritev2 && i < op_table[OP_pwritev2].args; i++)
		while (op_table[OP_pwritev2].arg[i].kind == KIND_COUNT &&
		       s->values[i].list[s->values[i].count - 1].num > VECTOR_BYTES_MAX)
			s->values[i].count--;
}

static int searcher_read_values(struct manual_searcher *s, struct err *err)
{
	const struct op_info *info = &op_table[s->m->op];
	int ret = 0;

	s->products = 1;
	for (unsigned i = 0; i < info->args && !ret; i++) {
		ret = manual_values_read(&s->values[i], info->arg[i].kind, &s->m->arena, err);
	}
	drop_huge_vectors(s);
	for (unsigned i = 0; i < info->args; i++)
		s->products *= s->values[i].count;
	return ret;
}

/* The texts of the calls outlive the scripts they are from. */
static void example_own(struct manual_example *e, struct arena *arena)
{
	for (unsigned n = 0; n < e->count; n++) {
		const struct op_info *info = &op_table[e->calls[n].op];

		for (unsigned i = 0; i < info->args; i++)
			e->calls[n].arg[i] =
				arg_copy(&e->calls[n].arg[i], info->arg[i].kind, arena);
	}
}

static void searcher_finish(struct manual_searcher *s)
{
	for (unsigned rule = 0; rule < RULE_COUNT; rule++) {
		example_own(&s->seen->rules[rule].example, &s->m->arena);
		s->seen->rules[rule].switched = !rule_table[rule].error && s->hits[rule];
	}
	for (size_t i = 0; i < s->node_count; i++)
		state_free(&s->nodes[i].state);
	hash_map_free(&s->known);
	free(s->nodes);
	free(s);
}

int manual_search(struct manual *m, struct rules_seen *ret, struct err *err)
{
	struct manual_searcher *s = must_alloc(sizeof(*s));
	struct manual_setups setups = { 0 };
	int status;

	s->m = m;
	s->seen = ret;
	s->model = &m->model;
	searcher_set_order(s);
	s->nodes = must_alloc(NODES_MAX * sizeof(*s->nodes));
	rng_seed(&s->rng, m->op + 1u);
	status = searcher_read_values(s, err);
	if (!status)
		status = manual_setups_read(&setups, m->op, err);
	if (!status) {
		searcher_prepare(s, &setups);
		m->model.rule_hits = s->hits;
		searcher_try_all(s, TRIES_MAX);
		m->model.rule_hits = NULL;
		searcher_try_unusual(s);
	}
	searcher_finish(s);
	manual_setups_free(&setups);
	return status;
}
