/* overlap.c -- calls that overlap: hypotheses about when they took effect. */
#include "history/overlap.h"
#include "trace/script.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "history/path_interleaving.h"

void overlap_init(struct overlap *o, const struct model *m)
{
	*o = (struct overlap){ .model = *m };
}

static void forget_known(struct overlap *o)
{
	hash_map_free(&o->known);
	o->known = (struct hash_map)HASH_MAP_INIT;
}

static void drop_all(struct overlap *o)
{
	for (size_t i = 0; i < o->count; i++)
		state_free(&o->items[i].state);
	o->count = 0;
	forget_known(o);
}

void overlap_free(struct overlap *o)
{
	drop_all(o);
	free(o->items);
	o->items = NULL;
	o->cap = 0;
}

/* Identifies the state, the calls that have taken effect, and how far the other paths are walked.
 */
static struct hash hypothesis_key(const struct hypothesis *h)
{
	struct {
		uint32_t taken;
		uint8_t walked[OVERLAP_MAX];
	} mark = { h->taken, { 0 } };

	memcpy(mark.walked, h->walked, sizeof(mark.walked));
	return hash_add(state_hash(&h->state), hash128(&mark, sizeof(mark), 0));
}

/* Takes over its state. A hypothesis that is there already is not added again. */
static void overlap_add(struct overlap *o, struct hypothesis *h)
{
	bool is_new;

	hash_map_put(&o->known, hypothesis_key(h), &is_new);
	if (!is_new) {
		state_free(&h->state);
		return;
	}
	if (o->count == o->cap) {
		o->cap = o->cap ? 2 * o->cap : 4;
		o->items = must_realloc(o->items, o->cap * sizeof(*o->items));
	}
	o->items[o->count++] = *h;
}

void overlap_begin(struct overlap *o, struct state *s)
{
	struct hypothesis h = { .state = *s };

	drop_all(o);
	memset(o->pending, 0, sizeof(o->pending));
	o->lost = false;
	if (!o->cap) {
		o->cap = 4;
		o->items = must_realloc(o->items, o->cap * sizeof(*o->items));
	}
	o->items[o->count++] = h;
}

size_t overlap_find(const struct overlap *o, uint16_t pid)
{
	size_t i = 0;

	while (i < OVERLAP_MAX && o->pending[i].pid != pid)
		i++;
	return i;
}

size_t overlap_call(struct overlap *o, const struct pending *p)
{
	size_t place = overlap_find(o, 0);

	if (place == OVERLAP_MAX || overlap_find(o, p->pid) < OVERLAP_MAX) {
		o->lost = true;
		return OVERLAP_MAX;
	}
	o->pending[place] = *p;
	return place;
}

enum verdict overlap_effect(const struct overlap *o, const struct pending *p, struct state *s,
			    const struct outcome *seen, struct envelope *env)
{
	if (seen)
		return model_step(&o->model, s, p->call, seen, env);
	model_move(&o->model, s, p->call, env);
	if (env->undefined)
		return VERDICT_UNKNOWN;
	return env->success || !p->ret ? VERDICT_OK : VERDICT_BAD;
}

size_t pending_outcomes(const struct pending *p)
{
	return p->ret && !p->ret->any_success ? p->ret->count : 1;
}

const struct outcome *pending_outcome(const struct pending *p, size_t i)
{
	return p->ret && !p->ret->any_success ? &p->ret->outcomes[i] : NULL;
}

/* Is another call under way that comes between the steps of this one? */
static bool is_disturbed(const struct overlap *o, size_t place)
{
	for (size_t i = 0; i < OVERLAP_MAX; i++)
		if (i != place && o->pending[i].pid &&
		    op_table[o->pending[i].call->op].traits & TRAIT_NAMES)
			return true;
	return false;
}

/* What counts of an outcome: not the number of links, where others make and remove names. */
static const struct outcome *what_counts(const struct overlap *o, size_t place, size_t i,
					 struct outcome *own)
{
	const struct outcome *seen = pending_outcome(&o->pending[place], i);

	if (!seen || seen->error || seen->result != RESULT_STAT || !is_disturbed(o, place))
		return seen;
	*own = *seen;
	own->stat.nlink = STAT_UNKNOWN;
	return own;
}

/* The call at that place takes effect, with the rest of its path in one step. */
static void add_effects(struct overlap *o, size_t at, size_t place)
{
	const struct pending *p = &o->pending[place];
	struct envelope env;

	for (size_t i = 0; i < pending_outcomes(p); i++) {
		struct outcome own;
		const struct outcome *seen = what_counts(o, place, i, &own);
		struct hypothesis h = o->items[at];
		struct pending now = *p;
		enum verdict verdict;
		struct call rest;

		h.state = state_copy(&h.state);
		rest = interleaving_rest(&h.state, p->call, h.walked[place]);
		now.call = &rest;
		verdict = overlap_effect(o, &now, &h.state, seen, &env);
		interleaving_return(&h.state, p->call, h.walked[place]);
		o->lost |= verdict == VERDICT_UNKNOWN;
		h.taken |= 1u << place;
		h.walked[place] = 0;
		if (verdict == VERDICT_BAD)
			state_free(&h.state);
		else
			overlap_add(o, &h);
	}
}

/* A directory takes no more names a moment before rmdir takes its own away. */
static bool meets_dead_directory(const struct overlap *o, const struct hypothesis *h, size_t place)
{
	const struct pending *p = &o->pending[place];

	if (!p->ret || p->ret->any_success || p->ret->count != 1 ||
	    p->ret->outcomes[0].error != ENOENT || !(op_table[p->call->op].traits & TRAIT_NAMES))
		return false;
	for (size_t i = 0; i < OVERLAP_MAX; i++) {
		const struct pending *other = &o->pending[i];

		if (i != place && other->pid && !(h->taken >> i & 1) &&
		    other->call->op == OP_rmdir && other->ret && other->ret->count == 1 &&
		    !other->ret->outcomes[0].error &&
		    interleaving_is_inside(&o->model, &h->state, p->call, h->walked[place],
					   other->call))
			return true;
	}
	return false;
}

static void add_dead_directory(struct overlap *o, size_t at, size_t place)
{
	struct hypothesis h = o->items[at];

	if (!meets_dead_directory(o, &h, place))
		return;
	h.state = state_copy(&h.state);
	interleaving_forget(&h.state, o->pending[place].call, h.walked[place]);
	h.taken |= 1u << place;
	h.walked[place] = 0;
	overlap_add(o, &h);
}

/* It walks over one more name of its path. */
static void add_walk(struct overlap *o, size_t at, size_t place)
{
	struct hypothesis h = o->items[at];

	if (!is_disturbed(o, place))
		return;
	h.state = state_copy(&h.state);
	if (interleaving_step(&o->model, &h.state, o->pending[place].call, &h.walked[place]))
		overlap_add(o, &h);
	else
		state_free(&h.state);
}

static bool has_taken(const struct overlap *o, size_t place)
{
	for (size_t i = 0; i < o->count; i++)
		if (o->items[i].taken >> place & 1)
			return true;
	return false;
}

bool overlap_explain(struct overlap *o, size_t place)
{
	forget_known(o);
	for (size_t i = 0; i < o->count; i++)
		hash_map_put(&o->known, hypothesis_key(&o->items[i]), NULL);
	for (size_t at = 0; at < o->count && o->count <= OVERLAP_HYPOTHESES_MAX; at++) {
		uint32_t taken = o->items[at].taken;

		if (taken >> place & 1)
			continue;
		for (size_t i = 0; i < OVERLAP_MAX; i++)
			if (o->pending[i].pid && !(taken >> i & 1)) {
				add_effects(o, at, i);
				add_dead_directory(o, at, i);
				add_walk(o, at, i);
			}
	}
	o->lost |= o->count > OVERLAP_HYPOTHESES_MAX;
	return has_taken(o, place);
}

void overlap_return(struct overlap *o, size_t place)
{
	size_t before = o->count;
	uint32_t bit = 1u << place;

	forget_known(o);
	o->count = 0;
	for (size_t i = 0; i < before; i++) {
		struct hypothesis h = o->items[i];

		if (h.taken & bit) {
			h.taken &= ~bit;
			overlap_add(o, &h);
		} else {
			state_free(&h.state);
		}
	}
	o->pending[place] = (struct pending){ 0 };
}

bool overlap_keep(struct overlap *o, bool (*fits)(const struct state *s, void *own), void *own)
{
	size_t kept = 0;

	for (size_t i = 0; i < o->count; i++) {
		struct hypothesis h = o->items[i];

		if (!fits(&h.state, own))
			continue;
		o->items[i] = o->items[kept];
		o->items[kept++] = h;
	}
	if (!kept)
		return false;
	while (o->count > kept)
		state_free(&o->items[--o->count].state);
	forget_known(o);
	return true;
}
