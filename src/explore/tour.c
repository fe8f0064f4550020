/* tour.c -- every call in every state once, on one file system that is never restored.
 *
 * In the state where it is, the tour takes a call that was not tried there yet; where none is
 * left, it walks by known calls to the nearest state that has one. In a rich universe most calls
 * fail in most states and lead nowhere: after a number of calls in one state the tour leaves it by
 * any call that does, and tries the rest when it comes back. It plans ahead in the model, many
 * calls at a time, and the targets follow the plan; what they did not get to because of a mismatch
 * is taken back. A random walk is the same, but may make a call in a state again. */
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "explore/choose.h"
#include "explore/sharing.h"
#include "plan/nearby.h"
#include "plan/plan.h"

enum { STEPS_MIN = 8, STEPS_MAX = 128, STEPS_OBJECTS = 4096, PATH_CALLS_MAX = 1 << 16 };

/* Where looking at parts is possible, a look at all of the tree comes after so many calls as it has
 * objects and pieces of data, so that a call costs about the same whatever the size of the tree. */
enum { PIECE_SHIFT = 15, PARTS_MAX = 1024 };

/* Calls in one state before the tour leaves it; and calls through states of other workers, of which
 * nothing is known yet, before it starts over. */
enum { STAY_MAX = 16, HOPS_MAX = 32 };

/* What a step of the plan means in the graph. */
struct tour_move {
	uint32_t from, call, to;
	bool fresh;     /* the edge is new */
	bool elsewhere; /* another worker has made it: where it leads was not known here */
};

struct tour {
	struct explorer *x;
	struct plan plan;
	struct tour_move moves[STEPS_MAX]; /* by step */
	uint32_t node;                     /* the model's, behind the last step */
	uint32_t *path;                    /* known calls to where something is left to try */
	size_t path_len, path_next;
	uint64_t planned;    /* calls, for sampling */
	bool parts;          /* a target can look at a part of the tree */
	unsigned parts_left; /* looks at parts until one at all of the tree is due */
	bool parts_behind;   /* the last look that was planned is at a part */
	bool is_last;        /* the plan of one call behind which a turn ends */
	unsigned stayed;     /* calls planned since the tour came to the node */
	unsigned hops;       /* since it knew a way */
	bool untried;        /* the call that was chosen was not tried in the node */
	size_t foresight;    /* steps worth planning: not many more than came true last time */
};

/* How many looks at parts are to follow one at all of the present tree. */
static unsigned tour_parts(const struct tour *t)
{
	const struct pmap *inodes = &t->plan.state.tree.inodes;
	unsigned every = t->x->options->verify_every;
	uint64_t parts = inodes->count;
	const struct inode *inode;
	struct pmap_walk walk;
	uint64_t ino;

	if (!t->parts || every <= 1)
		return 0;
	pmap_walk(&walk, inodes);
	while ((inode = (const struct inode *)pmap_walk_next(&walk, &ino)))
		if (S_ISREG(inode->mode))
			parts += (uint64_t)inode->file.blocks.count * TREE_BLOCK >> PIECE_SHIFT;
	if (parts < every)
		return every - 1;
	return parts < PARTS_MAX ? (unsigned)parts : PARTS_MAX;
}

static const struct plan_step *tour_add_part(struct tour *t, const struct call *c)
{
	const struct plan_step *step = plan_add_touched(&t->plan, c);

	if (!step)
		return NULL;
	t->parts_behind = step->part;
	if (step->part)
		t->parts_left--;
	else
		t->parts_left = tour_parts(t);
	return step;
}

/* Adds a call, and a look at the tree behind it: at all of it, at a part, or none. */
static const struct plan_step *tour_add(struct tour *t, const struct call *c)
{
	const struct explore_options *o = t->x->options;
	const struct plan_step *step;

	if (o->unseen_calls)
		return plan_add(&t->plan, c, t->planned % (o->unseen_calls + 1) == o->unseen_calls);
	if (t->parts_left)
		return tour_add_part(t, c);
	step = plan_add(&t->plan, c, true);
	if (step) {
		t->parts_behind = false;
		t->parts_left = tour_parts(t);
	}
	return step;
}

/* Plans one more call, or finds that it leads beyond the bounds. */
static void tour_plan_call(struct tour *t, uint32_t number)
{
	struct explorer *x = t->x;
	struct tour_move move = { .from = t->node, .call = number, .to = t->node };
	const struct plan_step *step = NULL;
	uint32_t edge = t->untried ? NODE_NONE : graph_edge(&x->graph, t->node, number);
	struct call call;

	move.fresh = edge == NODE_NONE;
	move.elsewhere = edge == NODE_ELSEWHERE;
	if (move.fresh && x->options->strategy != STRATEGY_RANDOM)
		sharing_is_mine(x, t->node); /* so that it is known who counts it */
	if (nearby_call(x->universe, number, &t->plan.state, &t->plan.arena, &call))
		step = tour_add(t, &call);
	if (!step) {
		x->figures.beyond += move.fresh;
		if (move.fresh)
			graph_add_edge(&x->graph, t->node, number, NODE_BEYOND);
		else
			graph_set_edge(&x->graph, t->node, number, NODE_BEYOND);
		return;
	}
	t->planned++;
	if (!step->expected.error &&
	    !hash_equal(t->plan.hash, graph_node(&x->graph, t->node)->hash))
		move.to = explorer_visit(x, &t->plan.state, t->plan.hash, t->node);
	if (move.fresh)
		graph_add_edge(&x->graph, t->node, number, move.to);
	else if (move.elsewhere)
		graph_set_edge(&x->graph, t->node, number, move.to);
	t->moves[t->plan.count - 1] = move;
	t->stayed = move.to == t->node ? t->stayed + 1 : 0;
	t->node = move.to;
}

/* A call that was not tried here, or one that leads away if it is time for that. */
static uint32_t tour_stay(struct tour *t)
{
	struct explorer *x = t->x;
	uint32_t call;

	if (t->stayed >= STAY_MAX) {
		t->stayed = 0;
		call = choose_leaving(x, &t->plan);
		if (call != NODE_NONE)
			return call;
	}
	call = choose_untried(x, &t->plan, t->node);
	t->untried = call != NODE_NONE;
	return call;
}

/* From a state of another worker no way is known to where something is left: any call that leads
 * away, as long as there is something left and starting over is not cheaper. */
static uint32_t tour_hop(struct tour *t)
{
	struct explorer *x = t->x;

	if (graph_node(&x->graph, t->node)->whose != NODE_FOREIGN || !graph_left(&x->graph) ||
	    t->hops++ >= HOPS_MAX)
		return NODE_NONE;
	return choose_leaving(x, &t->plan);
}

/* The next call of the plan; NODE_NONE if there is nothing left to try from here. */
static uint32_t tour_next_call(struct tour *t)
{
	struct explorer *x = t->x;
	uint32_t call;
	int64_t len;

	t->untried = false;
	if (x->options->strategy == STRATEGY_RANDOM)
		return choose_any(x, &t->plan, t->node);
	if (t->path_next < t->path_len)
		return t->path[t->path_next++];
	if (sharing_is_mine(x, t->node) && (call = tour_stay(t)) != NODE_NONE)
		return call;
	len = graph_path(&x->graph, t->node, NODE_NONE, t->path, PATH_CALLS_MAX);
	if (len <= 0)
		return tour_hop(t);
	t->hops = 0;
	/* Of a longer path the first part; the next search continues from there. */
	t->path_len = len < PATH_CALLS_MAX ? (size_t)len : PATH_CALLS_MAX;
	t->path_next = 1;
	return t->path[0];
}

/* A step takes as long as scanning the tree after it, unless parts are scanned: of a large tree a
 * plan has fewer, so that a search can end in time. */
static size_t tour_steps(const struct tour *t)
{
	size_t steps = STEPS_OBJECTS / t->plan.state.tree.inodes.count;

	if ((t->parts && t->x->options->verify_every > 1) || steps > t->foresight)
		steps = t->foresight;
	return steps > STEPS_MIN ? steps : STEPS_MIN;
}

/* Plans until there are enough steps, or until nothing is left to try. Behind the last step of a
 * turn, and before the tour starts over, all of the tree is looked at. */
static void tour_plan(struct tour *t)
{
	size_t room = t->is_last ? 1 : explorer_room(t->x, tour_steps(t));
	uint32_t call;

	plan_begin_behind(&t->plan);
	while (t->plan.count < room && (call = tour_next_call(t)) != NODE_NONE)
		tour_plan_call(t, call);
	if (!t->plan.count && t->parts_behind)
		tour_plan_call(t, choose_any(t->x, &t->plan, t->node));
	if (!t->parts_behind ||
	    (t->plan.count == room && !t->is_last && explorer_room(t->x, room + 1) > room))
		return;
	plan_look_at_all(&t->plan);
	t->parts_behind = false;
	t->parts_left = tour_parts(t);
}

/* The next plan begins where the targets are. Looks at all of the tree may have been dropped. */
static void tour_drop_plan(struct tour *t)
{
	t->parts_left = 0;
	plan_begin(&t->plan, &t->x->state);
	t->node = t->x->node;
	t->path_len = t->path_next = 0;
}

/* Counts the moves made and goes to where they led. */
static void tour_settle(struct tour *t, size_t done)
{
	struct explorer *x = t->x;

	for (size_t i = 0; i < done; i++) {
		const struct tour_move *m = &t->moves[i];

		x->figures.duplicates += m->elsewhere;
		explorer_advance(x, m->call, &t->plan.steps[i].call, &t->plan.steps[i].expected,
				 m->to, m->fresh);
		tally_new_coverage(&x->tally, m->call, explorer_new_coverage(x, i));
	}
	plan_advance(&t->plan, 0, done, &x->state);
}

/* Where outcomes cannot be foreseen, as on a full disk, most of a long plan is thrown away. */
static void tour_adjust_foresight(struct tour *t, size_t done)
{
	size_t steps = 2 * (done == t->plan.count ? t->foresight : done);

	t->foresight = steps < STEPS_MIN ? STEPS_MIN : steps > STEPS_MAX ? STEPS_MAX : steps;
}

/* Edges of the plan from this step on are taken back. */
static void tour_take_back(struct tour *t, size_t from)
{
	struct graph *g = &t->x->graph;

	for (size_t i = from; i < t->plan.count; i++) {
		const struct tour_move *m = &t->moves[i];

		if (m->fresh)
			graph_drop_edge(g, m->from, m->call);
		if (m->elsewhere)
			graph_set_edge(g, m->from, m->call, NODE_ELSEWHERE);
	}
}

static int tour_follow(struct tour *t, struct err *err)
{
	struct explorer *x = t->x;
	size_t done;
	int status = explorer_follow(x, &t->plan, &done, err);

	if (status < 0)
		return status;
	tour_take_back(t, done);
	tour_settle(t, done);
	tour_adjust_foresight(t, done);
	if (done == t->plan.count)
		return 0;
	status = explorer_mismatch(x, t->moves[done].call, done, err);
	tour_drop_plan(t);
	return status;
}

/* Goes on behind these calls from a fresh file system. */
static int tour_go_on_from(struct tour *t, const uint32_t *path, uint32_t len, struct err *err)
{
	int status = explorer_reset(t->x, err);

	tour_drop_plan(t);
	t->path_len = len;
	for (uint32_t i = 0; i < len; i++)
		t->path[i] = path[i];
	return status;
}

/* Nothing is left to try for this worker; another may have something for it. Returns 1 if not. */
static int tour_wait(struct tour *t, struct err *err)
{
	struct explorer *x = t->x;
	struct given_state *given;
	enum share_wait answer;
	int status;

	if (!x->share)
		return 1;
	sharing_release_nodes(x);
	status = sharing_wait(x, &given, &answer, err);
	if (status < 0)
		return status;
	if (answer == SHARE_LOOK_AGAIN)
		sharing_look_again(x);
	if (answer == SHARE_GOT) {
		sharing_put_node(x, given);
		status = tour_go_on_from(t, given->numbers, given->path_len, err);
	}
	return answer == SHARE_NOTHING_LEFT ? 1 : status;
}

/* Nothing is left to try from here; there may be from a fresh file system. Returns 1 if not. */
static int tour_start_over(struct tour *t, struct err *err)
{
	struct explorer *x = t->x;

	t->hops = 0;
	if (sharing_has_to_go(x))
		return tour_go_on_from(t, x->going->numbers, x->going->path_len, err);
	if (graph_path(&x->graph, x->root, NODE_NONE, t->path, PATH_CALLS_MAX) < 0)
		return tour_wait(t, err);
	return tour_go_on_from(t, NULL, 0, err);
}

/* Where a turn ends by the clock behind a look at a part, one more call is made, with a look at all
 * of the tree. */
static bool tour_ends(struct tour *t)
{
	const struct explorer *x = t->x;

	if (t->is_last)
		return true;
	if (!explorer_ends(t->x))
		return false;
	t->is_last = t->parts_behind && (!x->figures.end || !strcmp(x->figures.end, "time"));
	return !t->is_last;
}

int tour(struct explorer *x, struct err *err)
{
	struct tour *t = must_alloc(sizeof(*t));
	int status = 0;

	t->x = x;
	t->foresight = STEPS_MAX;
	t->path = must_alloc(PATH_CALLS_MAX * sizeof(*t->path));
	plan_init(&t->plan, &x->predictor, &x->state);
	plan_keep_hash(&t->plan);
	t->node = x->node;
	for (size_t i = 0; i < x->follower_count; i++)
		t->parts |= target_scans_parts(x->followers[i].target);
	while (!status && !tour_ends(t)) {
		tour_plan(t);
		status = t->plan.count ? tour_follow(t, err) : tour_start_over(t, err);
		if (!status && explorer_is_long(x)) {
			status = explorer_reset(x, err);
			tour_drop_plan(t);
		}
		if (!status && (status = oracle_look(x, err)) > 0) {
			tour_drop_plan(t);
			status = 0;
		}
		sharing_give_node(x, t->node);
		x->figures.edges_left = graph_left(&x->graph);
	}
	if (status == 1)
		x->figures.edges_left += sharing_missed(x);
	x->figures.exhausted = status == 1 && !x->figures.edges_left;
	if (status == 1)
		x->figures.end = x->figures.exhausted ? "exhausted" : "unreachable";
	plan_free(&t->plan);
	free(t->path);
	free(t);
	return status < 0 ? status : 0;
}
