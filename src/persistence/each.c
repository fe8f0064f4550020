/* each.c -- the trees that a crash can leave, simplest first.
 *
 * At a moment of the history every part (persistence_parts.h) may be as of any step from its floor
 * on. Where names and attributes are those of one step, or everything is, that is one unit, which
 * has a floor as well. The number of combinations is exponential: those with one unit lost are
 * counted and, if there are too many, drawn with equal probability; then those with all but one
 * lost, with two, and with any. A pass goes through the moments in order, since floors only
 * rise. */
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "base/rng.h"
#include "persistence/parts.h"

/* The kinds of choices, in order, and which share of what is left of the states each may take. */
enum rank { RANK_ONE, RANK_ALL_BUT_ONE, RANK_TWO, RANK_ANY, RANKS };
static const unsigned rank_shares[RANKS] = { 2, 4, 2, 1 };

enum { UNIT_TREE = -1, STRICT_REPEATED = 64 };

struct unit {
	int64_t part; /* or UNIT_TREE */
	uint32_t floor;
};

struct each {
	const struct persistence *p;
	const struct each_options *options;
	crash_state_visit *visit;
	void *to;
	struct parts parts;
	struct rng rng;
	struct hash_map seen;
	uint64_t visited;
	bool ended;
	/* the moment */
	struct crash_window w;
	uint32_t *floors; /* of each part */
	struct unit *units;
	size_t unit_count;
	/* the choice */
	struct part_choice choice;
	uint32_t tree_step;
	struct lost_part *lost;
	/* the pass */
	enum rank rank;
	bool counting;
	uint64_t candidates, wanted; /* that are left */
	uint64_t left_out;
};

/* ---- the moment ---- */

static bool each_keeps(const struct each *e, const struct crash_window *w,
		       const struct tree_part *part)
{
	const struct promise *promise = &e->p->steps[w->done].promise;

	switch (part->kind) {
	case PART_NAME:
		return w->p->rules.fsync_keeps_names &&
		       window_keeps_name(w, w->done, part->ino, part->name, part->len);
	case PART_ATTRIBUTES:
		return window_keeps_attributes(w, w->done, part->ino);
	case PART_SIZE:
		return window_keeps_size(w, w->done, part->ino);
	default: /* a part of a block that was promised keeps all of it */
		return promise->kind >= PROMISE_INODE && promise->ino == part->ino &&
		       (promise->kind != PROMISE_RANGE || (promise->from < part->end * TREE_BLOCK &&
							   part->first * TREE_BLOCK < promise->to));
	}
}

/* The promise of step w.done; those of steps before it are known. */
static void each_raise_floors(struct each *e)
{
	enum promise_kind kind = e->p->steps[e->w.done].promise.kind;

	for (size_t i = 0; i < e->parts.count && kind; i++) {
		const struct tree_part *part = &e->parts.items[i];

		if (kind == PROMISE_ALL || each_keeps(e, &e->w, part))
			e->floors[i] = (uint32_t)e->w.done;
		else if (part->kind == PART_NAME && !e->p->rules.fsync_keeps_names)
			/* What makes the object durable can make names of before so, too. */
			e->floors[i] = (uint32_t)window_name_floor(&e->w, part->ino, part->name,
								   part->len);
	}
}

/* Which of its changes come after a step: the place of the first one. */
static size_t part_changes_after(const struct tree_part *part, size_t step)
{
	size_t low = 0, high = part->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (part->steps[middle] > step)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static bool each_is_in_tree(const struct each *e, const struct tree_part *part)
{
	return e->p->rules.level == PERSIST_STRICT ||
	       (e->p->rules.level == PERSIST_ORDERED && part->kind <= PART_ATTRIBUTES);
}

static void each_add_unit(struct each *e, int64_t part, size_t floor)
{
	e->units[e->unit_count++] = (struct unit){ part, (uint32_t)floor };
}

/* What can be lost at this moment. */
static void each_find_units(struct each *e)
{
	size_t promise, tree_floor = window_order_floor(&e->w, &promise);

	e->unit_count = 0;
	for (size_t i = 0; i < e->parts.count; i++) {
		const struct tree_part *part = &e->parts.items[i];
		size_t next = part_changes_after(part, e->floors[i]);

		if (each_is_in_tree(e, part)) {
			if (next && part->steps[next - 1] > tree_floor)
				tree_floor = part->steps[next - 1];
		} else if (next < part->count && part->steps[next] <= e->w.begun) {
			each_add_unit(e, (int64_t)i, e->floors[i]);
		}
	}
	if (e->p->rules.level != PERSIST_POSIX && tree_floor < e->w.begun)
		each_add_unit(e, UNIT_TREE, tree_floor);
}

/* ---- the choice ---- */

static void each_choose_all(struct each *e, size_t step)
{
	for (size_t i = 0; i < e->parts.count; i++)
		e->choice.steps[i] = (uint32_t)step;
	e->choice.torn = 0;
	e->tree_step = (uint32_t)step;
}

/* The unit is as after this step. */
static void each_lose(struct each *e, const struct unit *unit, size_t step)
{
	if (unit->part != UNIT_TREE) {
		e->choice.steps[unit->part] = (uint32_t)step;
		return;
	}
	e->tree_step = (uint32_t)step;
	for (size_t i = 0; i < e->parts.count; i++)
		if (each_is_in_tree(e, &e->parts.items[i]))
			e->choice.steps[i] = (uint32_t)step;
}

static bool part_changes_at(const struct tree_part *part, size_t step)
{
	size_t next = part_changes_after(part, step - 1);

	return next < part->count && part->steps[next] == step;
}

/* Where a call has changed several names and one of them is as before, so are the others. False
 * where that cannot be: one was promised. *ret_more: some had to follow. */
static bool each_lose_beside(struct each *e, uint32_t step, bool *ret_more)
{
	bool any = false;

	for (size_t i = 0; i < e->parts.count; i++)
		any |= e->parts.items[i].kind == PART_NAME && e->choice.steps[i] < step &&
		       part_changes_at(&e->parts.items[i], step);
	for (size_t i = 0; i < e->parts.count && any; i++) {
		if (e->parts.items[i].kind != PART_NAME || e->choice.steps[i] < step ||
		    !part_changes_at(&e->parts.items[i], step))
			continue;
		if (e->floors[i] >= step)
			return false;
		e->choice.steps[i] = step - 1;
		*ret_more = true;
	}
	return true;
}

/* Until no name follows another. False: there is no such choice. */
static bool each_keep_atomic(struct each *e)
{
	bool more = e->p->rules.rename_is_atomic && e->p->rules.level == PERSIST_POSIX;

	while (more) {
		more = false;
		for (size_t step = e->w.begun; step > e->w.base; step--)
			if (!each_lose_beside(e, (uint32_t)step, &more))
				return false;
	}
	return true;
}

/* Whether the part is older than the last call made it: its first change that is lost. */
static size_t each_lost_change(const struct each *e, size_t index)
{
	const struct tree_part *part = &e->parts.items[index];
	size_t next = part_changes_after(part, e->choice.steps[index]);

	return next < part->count && part->steps[next] <= e->w.begun ? part->steps[next] : 0;
}

/* The first change of what is of one moment, behind that; 0: nothing of it is lost. */
static size_t each_lost_in_tree(const struct each *e)
{
	size_t first = 0;

	for (size_t i = 0; i < e->parts.count; i++) {
		size_t change = each_is_in_tree(e, &e->parts.items[i]) ? each_lost_change(e, i) : 0;

		if (change && (!first || change < first))
			first = change;
	}
	return first;
}

static size_t each_list_lost(struct each *e)
{
	size_t count = 0, change = each_lost_in_tree(e);

	if (change)
		e->lost[count++] = (struct lost_part){
			.kind = PART_TREE, .ino = TREE_ROOT, .step = e->tree_step, .change = change
		};
	for (size_t i = 0; i < e->parts.count; i++) {
		const struct tree_part *part = &e->parts.items[i];
		bool torn = e->choice.torn == i + 1;

		change = each_lost_change(e, i);
		if (!change || each_is_in_tree(e, part))
			continue;
		e->lost[count++] = (struct lost_part){
			.kind = part->kind,
			.ino = part->ino,
			.name = part->name,
			.len = part->len,
			.from = part->kind != PART_DATA ? 0
			      : torn                    ? e->choice.torn_at * TREE_BLOCK
							: part->first * TREE_BLOCK,
			.to = part->kind == PART_DATA ? part->end * TREE_BLOCK : 0,
			.step = e->choice.steps[i],
			.change = change,
			.torn = torn,
		};
	}
	return count;
}

/* Everything as of one step: the tree is there already. */
static bool each_is_of_one_step(const struct each *e)
{
	for (size_t i = 0; i < e->parts.count; i++)
		if (e->choice.steps[i] != e->tree_step)
			return false;
	return !e->choice.torn;
}

static bool each_build(struct each *e, struct tree *ret)
{
	if (!each_keep_atomic(e))
		return false;
	if (!each_is_of_one_step(e))
		return parts_build(&e->parts, &e->w, &e->choice, ret);
	*ret = tree_copy(window_tree(&e->w, e->tree_step));
	return true;
}

static bool each_is_new(struct each *e, const struct tree *t)
{
	struct {
		struct hash tree;
		uint64_t epoch;
	} key = { tree_hash(t), e->options->epochs ? e->options->epochs[e->w.done] : 0 };
	bool new;

	hash_map_put(&e->seen, hash128(&key, sizeof(key), 0), &new);
	return new;
}

static void each_try(struct each *e)
{
	struct crash_state c = { .done = e->w.done, .begun = e->w.begun, .own = e };

	if (!each_build(e, &c.tree))
		return;
	if (each_is_new(e, &c.tree)) {
		c.count = each_list_lost(e);
		c.lost = e->lost;
		e->visited++;
		e->ended = !e->visit(e->to, &c);
	}
	tree_free(&c.tree);
}

/* The part is as the last call made it. */
static void each_give_back(struct each *e, const struct lost_part *lost)
{
	bool all = lost->kind == PART_TREE;

	for (size_t i = 0; i < e->parts.count; i++)
		if (all ? each_is_in_tree(e, &e->parts.items[i])
			: e->parts.items[i].name == lost->name)
			e->choice.steps[i] = (uint32_t)e->w.begun;
	if (all)
		e->tree_step = (uint32_t)e->w.begun;
}

void crash_state_minimise(struct crash_state *c, bool (*fails)(void *to, const struct tree *t),
			  void *to)
{
	struct each *e = c->own;
	size_t bytes = e->parts.count * sizeof(*e->choice.steps), i = 0;
	uint32_t *steps = must_alloc(bytes + 1), tree_step;

	while (i < c->count && c->count > 1) {
		struct tree less;
		bool built;

		memcpy(steps, e->choice.steps, bytes);
		tree_step = e->tree_step;
		each_give_back(e, &c->lost[i]);
		built = each_build(e, &less);
		if (built && fails(to, &less)) {
			size_t before = c->count;

			tree_free(&c->tree);
			c->tree = less;
			c->count = each_list_lost(e);
			i += c->count >= before; /* one that had to follow another came back */
			continue;
		}
		if (built)
			tree_free(&less);
		memcpy(e->choice.steps, steps, bytes);
		e->tree_step = tree_step;
		i++;
	}
	free(steps);
}

/* ---- choices of each rank ---- */

/* Is the next candidate one of those that are drawn? While counting, none is. */
static bool each_draws(struct each *e)
{
	if (e->counting) {
		e->candidates++;
		return false;
	}
	if (!e->wanted || rng_below(&e->rng, e->candidates--) >= e->wanted)
		return false;
	e->wanted--;
	each_choose_all(e, e->w.begun);
	return true;
}

/* The new value reaches the disk up to here: in the middle, and close to both ends. */
static void each_tear(struct each *e, const struct unit *unit, size_t change)
{
	const struct tree_part *part = &e->parts.items[unit->part];
	const struct inode *old = window_inode(&e->w, change - 1, part->ino);
	const struct inode *new = window_inode(&e->w, change, part->ino);
	uint64_t from = part->first, to = part->end, places[3], last = 0;

	if (part->kind == PART_SIZE) {
		from = (old ? old->size : 0) / TREE_BLOCK;
		to = (new->size + TREE_BLOCK - 1) / TREE_BLOCK;
	} else if (part->kind != PART_DATA) {
		return;
	}
	places[0] = from + 1;
	places[1] = (from + to) / 2;
	places[2] = to - 1;
	for (size_t i = 0; i < ARRAY_LEN(places) && !e->ended; i++) {
		if (places[i] <= from || places[i] >= to || places[i] <= last)
			continue;
		last = places[i];
		if (!each_draws(e))
			continue;
		each_lose(e, unit, change - 1);
		e->choice.torn = (size_t)unit->part + 1;
		e->choice.torn_at = part->kind == PART_SIZE ? last * TREE_BLOCK : last;
		each_try(e);
	}
}

static void each_lose_tree(struct each *e, const struct unit *unit)
{
	for (size_t step = unit->floor; step < e->w.begun && !e->ended; step++)
		if (each_draws(e)) {
			each_lose(e, unit, step);
			each_try(e);
		}
}

static void each_lose_one(struct each *e, const struct unit *unit)
{
	const struct tree_part *part;
	size_t change = 0;

	if (unit->part == UNIT_TREE) {
		each_lose_tree(e, unit);
		return;
	}
	part = &e->parts.items[unit->part];
	for (size_t i = part_changes_after(part, unit->floor);
	     i < part->count && part->steps[i] <= e->w.begun && !e->ended; i++) {
		change = part->steps[i];
		if (!each_draws(e))
			continue;
		each_lose(e, unit, change - 1);
		each_try(e);
	}
	each_tear(e, unit, change);
}

/* All units but one are as old as can be; or all of them (NULL). */
static void each_keep_one(struct each *e, const struct unit *kept)
{
	if (!each_draws(e))
		return;
	for (size_t i = 0; i < e->unit_count; i++)
		if (&e->units[i] != kept)
			each_lose(e, &e->units[i], e->units[i].floor);
	each_try(e);
}

static void each_lose_two(struct each *e, const struct unit *a)
{
	for (const struct unit *b = a + 1; b < e->units + e->unit_count && !e->ended; b++) {
		if (!each_draws(e))
			continue;
		each_lose(e, a, a->floor);
		each_lose(e, b, b->floor);
		each_try(e);
	}
}

static void each_lose_any(struct each *e)
{
	if (!each_draws(e))
		return;
	for (size_t i = 0; i < e->unit_count; i++) {
		const struct unit *unit = &e->units[i];

		if (rng_chance(&e->rng, 1, 2))
			each_lose(e, unit,
				  unit->floor + rng_below(&e->rng, e->w.begun - unit->floor));
	}
	each_try(e);
}

static void each_at_moment(struct each *e)
{
	for (size_t i = 0; i < e->unit_count && !e->ended; i++) {
		if (e->rank == RANK_ONE)
			each_lose_one(e, &e->units[i]);
		else if (e->rank == RANK_ALL_BUT_ONE)
			each_keep_one(e, &e->units[i]);
		else if (e->rank == RANK_TWO)
			each_lose_two(e, &e->units[i]);
	}
	if (e->rank == RANK_ALL_BUT_ONE && e->unit_count > 1)
		each_keep_one(e, NULL);
	for (uint64_t i = 0; e->rank == RANK_ANY && e->unit_count > 2 && i < e->options->states;
	     i++)
		each_lose_any(e);
}

/* ---- passes ---- */

static void each_enter(struct each *e, size_t done, size_t begun)
{
	e->w = crash_window(e->p, done, begun);
	each_find_units(e);
	each_at_moment(e);
}

static bool each_epoch_begins(const struct each *e, size_t step)
{
	return e->options->epochs && e->options->epochs[step] != e->options->epochs[step - 1];
}

/* During each call; and after it, where more must be there then than during the next. */
static void each_pass(struct each *e)
{
	memset(e->floors, 0, (e->parts.count + 1) * sizeof(*e->floors));
	for (size_t step = 1; step < e->p->count && !e->ended; step++) {
		each_enter(e, step - 1, step);
		e->w = crash_window(e->p, step, step);
		each_raise_floors(e);
		if (!e->ended && (step == e->p->count - 1 || each_epoch_begins(e, step)))
			each_enter(e, step, step);
	}
}

static void each_rank(struct each *e, enum rank rank)
{
	uint64_t left = e->options->states > e->visited ? e->options->states - e->visited : 0;

	e->rank = rank;
	e->candidates = 0;
	e->counting = true;
	each_pass(e);
	e->counting = false;
	e->wanted = left / rank_shares[rank];
	/* Of one moment there are few different trees, however many candidates. */
	if (e->p->rules.level == PERSIST_STRICT)
		e->wanted = left * STRICT_REPEATED;
	if (e->wanted > e->candidates)
		e->wanted = e->candidates;
	if (rank != RANK_ANY)
		e->left_out += e->candidates - e->wanted;
	each_pass(e);
}

static void each_steps(struct each *e)
{
	for (size_t i = 0; i < e->p->count && !e->ended; i++) {
		e->w = crash_window(e->p, i, i);
		each_choose_all(e, i);
		each_try(e);
	}
	e->visited = 0;
}

uint64_t persistence_each(const struct persistence *p, const struct each_options *o,
			  crash_state_visit *visit, void *to)
{
	struct each e = { .p = p, .options = o, .visit = visit, .to = to };

	parts_make(&e.parts, p);
	rng_seed(&e.rng, o->seed);
	e.floors = must_alloc((e.parts.count + 1) * sizeof(*e.floors));
	e.units = must_alloc((e.parts.count + 2) * sizeof(*e.units));
	e.lost = must_alloc((e.parts.count + 2) * sizeof(*e.lost));
	e.choice.steps = must_alloc((e.parts.count + 1) * sizeof(*e.choice.steps));
	each_steps(&e);
	for (enum rank rank = 0; rank < RANKS && !e.ended; rank++)
		each_rank(&e, rank);
	free(e.floors);
	free(e.units);
	free(e.lost);
	free(e.choice.steps);
	hash_map_free(&e.seen);
	parts_free(&e.parts);
	return e.left_out;
}
