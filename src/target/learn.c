/* learn.c -- what a file system without a description lacks, found out by short probes.
 *
 * About forty probes of a few calls each. On a FUSE daemon they take about a second together. */
#include "target/learn.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "channel/limits.h"
#include "storage/program.h"
#include "target/description.h"
#include "target/target.h"
#include "trace/script.h"

/* One that hangs or dies so often is not probed any more: a hang costs the deadline, a death a new
 * daemon. */
enum { HANGS_MAX = 3, DEATHS_MAX = 12 };

enum probe_how { JUDGED, SHOWN, NOTED, LARGEST };

static const struct probe {
	const char *what, *trait, *value, *fields;
	unsigned compared; /* enum tree_field */
	enum probe_how how;
	const char *script, *reason, *hides;
} probes[] = {
#define PROBE(what, trait, value, fields, compared, how, script, reason, hides) \
	{ what, trait, value, fields, compared, how, script, reason, hides },
#include "target/learn.def"
#undef PROBE
};

/* What one model says of what is seen. */
struct prediction {
	struct model model;
	struct state state;
	bool rejects;
	bool silent; /* a call was undefined: the model knows nothing of what follows */
};

struct learner {
	struct target *target;
	struct traits traits; /* declared and learned */
	unsigned fields;      /* that mean something */
	struct learned_list *learned;
	uint64_t odd; /* an errno that may mean that something is missing; 0: none */
	unsigned hangs, deaths;
	struct arena bytes; /* of outcomes */
};

/* What one execution of a probe has shown. */
struct shown {
	bool done;          /* all calls were made, and the tree could be read */
	bool expected;      /* the outcomes in the script were seen */
	bool with, without; /* accepted by the model with and without the trait */
	int error;          /* that the model with the trait does not expect; 0: none */
};

static void prediction_init(struct prediction *h, const struct learner *l,
			    const struct state *initial, unsigned fields)
{
	target_model(l->target, &h->model);
	h->model.traits = l->traits;
	h->state = state_copy(initial);
	h->state.tree.fields &= fields;
	h->rejects = h->silent = false;
}

static void prediction_step(struct prediction *h, const struct call *c, const struct outcome *seen)
{
	struct envelope allowed;
	enum verdict verdict;

	if (h->rejects || h->silent)
		return;
	verdict = model_step(&h->model, &h->state, c, seen, &allowed);
	h->rejects = verdict == VERDICT_BAD;
	h->silent = verdict == VERDICT_UNKNOWN;
}

static void prediction_compare(struct prediction *h, const struct tree *seen)
{
	struct tree alike = tree_copy(seen);

	alike.fields = h->state.tree.fields;
	if (!h->rejects && !h->silent)
		h->rejects = tree_diff(&h->state.tree, &alike, 0, NULL) != 0;
	tree_free(&alike);
}

static bool is_among(const struct item_return *allowed, const struct outcome *seen)
{
	for (size_t i = 0; i < allowed->count; i++)
		if (outcome_equal(&allowed->outcomes[i], seen))
			return true;
	return allowed->any_success && !seen->error;
}

/* Whether the target can do all that the script asks for. */
static bool script_suits(const struct script *s, const struct target *t)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->items[i].type == ITEM_CALL && target_needs(s->items[i].call.op) & ~t->caps)
			return false;
	return true;
}

/* A hang or a death is for the search to find; what may not be called cannot be probed. */
static int learner_excuse(struct learner *l, int ret, enum target_fate fate, const struct err *why,
			  struct err *err)
{
	if (ret == -LIMITS_NOT_MADE)
		return 0;
	l->hangs += !ret && fate == FATE_HUNG;
	l->deaths += !ret && fate == FATE_DIED;
	return ret ? err_set(err, -ret, "%s", why->text) : 0;
}

/* Makes the calls, and has both models judge them and the tree. */
static int learner_call(struct learner *l, const struct script *s, struct prediction *with,
			struct prediction *without, struct shown *ret, struct err *err)
{
	enum target_fate fate = FATE_FINE;
	struct outcome seen = { 0 };
	struct err why = { 0 };
	struct tree tree;
	bool rejected;
	int r = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct item *item = &s->items[i];

		if (item->type == ITEM_RETURN)
			ret->expected &= is_among(&item->ret, &seen);
		if (item->type != ITEM_CALL)
			continue;
		r = target_call(l->target, &item->call, &seen, &fate, &why);
		if (r || fate != FATE_FINE)
			return learner_excuse(l, r, fate, &why, err);
		/* RefFS and the models that judge it have one place for bytes. */
		seen = outcome_copy(&seen, &l->bytes);
		rejected = with->rejects;
		prediction_step(with, &item->call, &seen);
		prediction_step(without, &item->call, &seen);
		if (with->rejects && !rejected)
			ret->error = seen.error;
	}
	r = target_observe(l->target, &tree, &fate, &why);
	if (r || fate != FATE_FINE)
		return learner_excuse(l, r, fate, &why, err);
	prediction_compare(with, &tree);
	prediction_compare(without, &tree);
	tree_free(&tree);
	ret->done = true;
	return 0;
}

static unsigned fields_of(const char *names)
{
	unsigned bits = 0;
	struct err err = { 0 };

	if (names)
		must(!description_parse_fields(names, &bits, &err));
	return bits;
}

static uint64_t trait_number(const struct traits *traits, const char *name)
{
#define TRAIT(trait, type, usual, text) \
	if (!strcmp(name, #trait)) \
		return (uint64_t)traits->trait;
#include "rules/traits.def"
#undef TRAIT
	must(!"a probe is about a trait");
	return 0;
}

static void trait_put(struct traits *traits, const char *name, const char *value)
{
	struct err err = { 0 };

	must(!traits_set(traits, name, value, &err));
}

/* As where the feature is there: of a switch the other value, else the usual one. */
static void trait_undo(struct traits *traits, const struct probe *p)
{
	char usual[LEARN_VALUE_MAX];

	if (!p->trait || p->how == LARGEST)
		return;
	if (!strcmp(p->value, "yes") || !strcmp(p->value, "no")) {
		trait_put(traits, p->trait, strcmp(p->value, "yes") ? "yes" : "no");
		return;
	}
	snprintf(usual, sizeof(usual), "%" PRIu64, trait_number(&traits_usual, p->trait));
	trait_put(traits, p->trait, usual);
}

/* Executes the script on an empty file system. */
static int learner_show(struct learner *l, const struct probe *p, const struct script *s,
			const char *value, struct shown *ret, struct err *err)
{
	struct prediction with, without;
	struct state initial;
	int r = target_clear(l->target, err);

	*ret = (struct shown){ .expected = true };
	if (!r)
		r = target_initial_state(l->target, &initial, err);
	if (r)
		return r;
	prediction_init(&without, l, &initial, p->compared | fields_of(p->fields));
	prediction_init(&with, l, &initial, p->compared & ~fields_of(p->fields));
	trait_undo(&without.model.traits, p);
	if (p->trait && value)
		trait_put(&with.model.traits, p->trait, value);
	if (l->odd)
		with.model.traits.lack_errno = l->odd;
	r = learner_call(l, s, &with, &without, ret, err);
	ret->with = !with.rejects;
	ret->without = !without.rejects;
	state_free(&with.state);
	state_free(&without.state);
	state_free(&initial);
	return r;
}

/* The script with a number for {n}, and a text of so many bytes for {name}. */
static void probe_parse(const struct probe *p, uint64_t n, struct script *ret)
{
	struct buf name = BUF_INIT, text = BUF_INIT;
	struct err err = { 0 };
	char number[LEARN_VALUE_MAX];

	for (uint64_t i = 0; i < n; i++)
		buf_addch(&name, 'n');
	snprintf(number, sizeof(number), "%" PRIu64, n);
	program_fill(&text, p->script,
		     (const struct program_value[]){ { "n", number }, { "name", buf_str(&name) } },
		     2);
	must(!script_parse(ret, p->what, text.data, text.len, &err));
	buf_free(&name);
	buf_free(&text);
}

static bool learner_gives_up(const struct learner *l)
{
	return l->hangs >= HANGS_MAX || l->deaths >= DEATHS_MAX;
}

static int learner_try(struct learner *l, const struct probe *p, uint64_t n, const char *value,
		       struct shown *ret, struct err *err)
{
	struct script s = { 0 };
	int r = 0;

	*ret = (struct shown){ 0 };
	probe_parse(p, n, &s);
	if (!learner_gives_up(l) && script_suits(&s, l->target))
		r = learner_show(l, p, &s, value, ret, err);
	script_free(&s);
	return r;
}

static bool is_missing(const struct probe *p, const struct shown *s)
{
	if (!s->done || !s->expected)
		return false;
	switch (p->how) {
	case NOTED:
		return true;
	case SHOWN:
		return s->with;
	default:
		return s->with && !s->without;
	}
}

/* What is learned holds for later probes. */
static void learner_add(struct learner *l, const struct probe *p, const char *value,
			bool contradicted)
{
	struct learned *row;

	must(l->learned->count < LEARNED_MAX);
	row = &l->learned->items[l->learned->count++];
	*row = (struct learned){
		.what = p->what,
		.trait = p->trait,
		.fields = p->fields,
		.reason = p->reason,
		.hides = p->hides,
		.contradicted = contradicted,
	};
	snprintf(row->value, sizeof(row->value), "%s", value ? value : "");
	if (contradicted)
		return;
	if (p->trait)
		trait_put(&l->traits, p->trait, value);
	l->fields &= ~fields_of(p->fields);
	l->learned->fields_off |= fields_of(p->fields);
}

/* Whether the description says it. */
static bool learner_knows(const struct learner *l, const struct probe *p)
{
	struct traits other = l->traits;

	if (!p->trait)
		return p->fields && !(l->fields & fields_of(p->fields));
	trait_put(&other, p->trait, p->value);
	return trait_number(&other, p->trait) == trait_number(&l->traits, p->trait);
}

static bool learner_has_learned(const struct learner *l, const char *trait)
{
	for (size_t i = 0; i < l->learned->count; i++)
		if (trait && l->learned->items[i].trait &&
		    !strcmp(l->learned->items[i].trait, trait))
			return true;
	return false;
}

/* Whether the feature is missing and this error, which is not the usual one, says so. */
static int learner_decide_odd(struct learner *l, const struct probe *p, int error, struct err *err)
{
	static const struct probe odd = {
		.what = "the usual errors for what is missing",
		.trait = "lack_errno",
		.reason = "a call that is not supported returns this errno",
		.hides =
			"which error calls for links, special files, extended attributes and inode "
			"flags return where these are missing",
	};
	char number[LEARN_VALUE_MAX];
	struct shown again;
	int r;

	l->odd = (uint64_t)error;
	r = learner_try(l, p, 0, p->value, &again, err);
	l->odd = 0;
	if (r || !p->trait || !is_missing(p, &again))
		return r;
	snprintf(number, sizeof(number), "%d", error);
	if (!l->traits.lack_errno)
		learner_add(l, &odd, number, false);
	learner_add(l, p, p->value, false);
	return 0;
}

static int learner_decide(struct learner *l, const struct probe *p, struct err *err)
{
	bool known = learner_knows(l, p);
	struct shown first, again;
	int r = 0;

	if (learner_has_learned(l, p->trait))
		return 0;
	r = learner_try(l, p, 0, p->value, &first, err);
	if (r || !first.done)
		return r;
	if (known) {
		/* Where both models accept what is seen, the description stays right. */
		if (first.without && !first.with)
			learner_add(l, p, p->value, true);
		return 0;
	}
	if (!is_missing(p, &first))
		return first.error ? learner_decide_odd(l, p, first.error, err) : 0;
	r = learner_try(l, p, 0, p->value, &again, err);
	if (!r && is_missing(p, &again))
		learner_add(l, p, p->value, false);
	return r;
}

/* The largest number that works. */
static int learner_measure(struct learner *l, const struct probe *p, struct err *err)
{
	uint64_t good = 0, bad = strtoull(p->value, NULL, 10);
	uint64_t declared = trait_number(&l->traits, p->trait);
	char value[LEARN_VALUE_MAX];
	struct shown s;
	int r;

	if (declared < bad)
		bad = declared;
	r = learner_try(l, p, bad, NULL, &s, err);
	if (r || !s.done || s.without)
		return r;
	while (bad - good > 1) {
		uint64_t middle = good + (bad - good) / 2;

		r = learner_try(l, p, middle, NULL, &s, err);
		if (r || !s.done)
			return r;
		if (s.without)
			good = middle;
		else
			bad = middle;
	}
	if (!good)
		return 0;
	snprintf(value, sizeof(value), "%" PRIu64, good);
	r = learner_try(l, p, bad, value, &s, err);
	if (!r && is_missing(p, &s))
		learner_add(l, p, value, false);
	return r;
}

int learn_probe(struct target *t, struct learned_list *ret, struct err *err)
{
	struct learner l = { .target = t,
			     .traits = t->traits,
			     .fields = t->fields,
			     .learned = ret,
			     .bytes = ARENA_INIT };
	int r = 0;

	*ret = (struct learned_list){ 0 };
	for (size_t i = 0; i < ARRAY_LEN(probes) && !r; i++)
		r = probes[i].how == LARGEST ? learner_measure(&l, &probes[i], err)
					     : learner_decide(&l, &probes[i], err);
	arena_free(&l.bytes);
	ret->cut_short = learner_gives_up(&l);
	return r ? r : target_reset(t, err);
}

/* The scans of a target that is open cannot be changed: where fields mean nothing, it is opened
 * once more. */
static int learn_apply(struct target **t, struct learned_list *learned,
		       const struct target_options *options, const char *spec, struct err *err)
{
	struct target_options anew = *options;

	if (learned->fields_off & (*t)->fields) {
		target_close(*t);
		*t = NULL;
		anew.learned = learned;
		return target_open(t, spec, &anew, err);
	}
	learned_adopt(learned, &(*t)->traits);
	(*t)->learned = must_alloc(sizeof(*learned));
	*(*t)->learned = *learned;
	return 0;
}

int learn_open(struct target **ret, const char *spec, const struct target_options *options,
	       struct err *err)
{
	struct learned_list *learned;
	struct target *t = NULL;
	int r = target_open(&t, spec, options, err);

	if (!r && !options->learned && target_learns(spec, options->config)) {
		learned = must_alloc(sizeof(*learned));
		r = learn_probe(t, learned, err);
		if (!r)
			r = learn_apply(&t, learned, options, spec, err);
		free(learned);
	}
	if (r)
		target_close(t);
	else
		*ret = t;
	return r;
}
