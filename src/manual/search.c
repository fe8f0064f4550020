/* search.c -- which rules an operation meets, and the simplest script for each.
 *
 * In every prepared state (states.h) the operation is tried with all values, or with as many as the
 * limit allows, the simple ones more often. Rules that none of this meets are sought once more on
 * file systems with one trait that is not usual, and on one that is mounted read-only. */
#include "manual/search.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/must.h"
#include "base/rng.h"
#include "manual/states.h"

/* No rule has it. */
enum { OTHER_ERRNO = ENOTBLK };

enum {
	TRIES_MAX = 80000,    /* of the operation on a usual file system */
	TRIES_UNUSUAL = 1500, /* with each trait */
	TRIES_NODE_MIN = 16,  /* in each state */
	ASKED_MAX = 1000,     /* until a rule that is never the answer counts as allowed only */
	DOUBT_COST = 100 * MANUAL_LINE_COST, /* several errnos are allowed */
};

struct manual_searcher {
	struct manual *m;
	struct rules_seen *seen;
	struct manual_calls calls; /* of one process */
	struct manual_states prepared;
	struct model in_order; /* the first error does not end the checks */
	struct model unusual;
	const struct model *model; /* the page's, or unusual */
	char trait[sizeof(((struct manual_example *)NULL)->trait)];
	bool read_only;
	unsigned round; /* of traits */
	struct rng rng;
	bool kept; /* what was tried last is an example */
	uint64_t hits[RULE_COUNT];
};

static void example_keep(struct manual_searcher *s, struct manual_example *e,
			 const struct manual_node *node, const struct call *call, unsigned cost)
{
	if (!manual_example_keep(e, node, call, cost))
		return;
	memcpy(e->trait, s->trait, sizeof(e->trait));
	e->read_only = s->read_only;
	s->kept = true;
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
	struct state_options options = MANUAL_STATE_OPTIONS;
	struct state state;
	bool same = true;

	if (!s->trait[0])
		return true;
	if (node->round == s->round)
		return node->holds;
	state_init(&state, &options);
	for (unsigned i = 0; i < node->count && same; i++)
		same = manual_state_step(s->model, &state, &node->calls[i]);
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

/* True: it is the example of a rule now. */
static bool searcher_try(struct manual_searcher *s, struct manual_node *node,
			 const struct call *call, unsigned cost)
{
	uint64_t n = s->seen->scripts++;
	unsigned place = (unsigned)(n % s->m->place_count);
	struct envelope env;

	s->kept = false;

	model_allow(s->model, &node->state, call, &env);
	note_rules(s, &env, node, call, cost);
	model_allow(&s->in_order, &node->state, call, &env);
	note_order(s, &env);
	if (s->model != &s->m->model)
		return s->kept;
	model_allow(&s->m->places[place].model, &node->state, call, &env);
	note_elsewhere(s, &env, place, node, call, cost);
	return s->kept;
}

static bool searcher_try_product(struct manual_searcher *s, struct manual_node *node,
				 uint64_t product, uint16_t pid)
{
	struct call call;
	unsigned cost = node->cost + manual_calls_get(&s->calls, product, &call);

	call.pid = pid;
	return searcher_try(s, node, &call, cost);
}

/* Of an example, simpler values, one at a time: which it was drawn with is chance. */
static void searcher_simplify(struct manual_searcher *s, struct manual_node *node, uint64_t product,
			      uint16_t pid)
{
	uint64_t simpler;

	for (unsigned arg = 0; manual_calls_simpler(&s->calls, product, arg, 0, &simpler); arg++)
		for (size_t value = 0;
		     manual_calls_simpler(&s->calls, product, arg, value, &simpler) &&
		     simpler != product;
		     value++)
			if (searcher_try_product(s, node, simpler, pid)) {
				product = simpler;
				break;
			}
}

static void searcher_try_node(struct manual_searcher *s, struct manual_node *node, uint64_t tries)
{
	bool all = s->calls.products <= tries;

	must_note("manual of %s", op_table[s->m->op].name);
	for (uint64_t i = 0; i < (all ? s->calls.products : tries); i++) {
		uint64_t product = all ? i : manual_calls_draw(&s->calls, &s->rng);

		for (uint16_t pid = 1; pid <= 1 + node->has_user; pid++)
			if (searcher_try_product(s, node, product, pid) && !all)
				searcher_simplify(s, node, product, pid);
	}
}

static void searcher_try_all(struct manual_searcher *s, uint64_t tries_max)
{
	uint64_t tries = tries_max / s->prepared.count;

	if (tries < TRIES_NODE_MIN)
		tries = TRIES_NODE_MIN;
	for (size_t i = 0; i < s->prepared.count && i * tries < 2 * tries_max; i++)
		searcher_try_node(s, &s->prepared.nodes[i], tries);
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
#include "rules/traits.def"
#undef TRAIT
	s->unusual = s->m->model;
	searcher_set_order(s);
	s->trait[0] = '\0';
	s->read_only = true;
	for (size_t i = 0; i < s->prepared.count; i++)
		s->prepared.nodes[i].state.read_only = true;
	searcher_try_all(s, TRIES_MAX / 10);
}

static void searcher_finish(struct manual_searcher *s)
{
	for (unsigned rule = 0; rule < RULE_COUNT; rule++) {
		manual_example_own(&s->seen->rules[rule].example, &s->m->arena);
		s->seen->rules[rule].switched = !rule_table[rule].error && s->hits[rule];
	}
	manual_states_free(&s->prepared);
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
	/* Not by its number: one more operation is to leave the pages of the others as they are. */
	rng_seed(&s->rng, hash64(op_table[m->op].name, strlen(op_table[m->op].name), 0));
	status = manual_calls_read(&s->calls, m->op, &m->arena, err);
	if (!status)
		status = manual_setups_read(&setups, m->op, err);
	if (!status) {
		manual_states_prepare(&s->prepared, &m->model, &setups);
		m->model.rule_hits = s->hits;
		searcher_try_all(s, TRIES_MAX);
		m->model.rule_hits = NULL;
		searcher_try_unusual(s);
	}
	searcher_finish(s);
	manual_setups_free(&setups);
	return status;
}
