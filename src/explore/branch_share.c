/* branch_share.c -- open states of a branching search that other workers have, get or give.
 *
 * Who gives a state away has made a part of its calls, and knows where they led; who gets it makes
 * the rest. When a worker dies, those who got states make the first part as well: what it led to
 * may have been known only to the one that died. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "explore/branch.h"
#include "explore/sharing.h"

/* Calls of a path that is worth going for another worker. */
enum { SHARE_PATH_MAX = 1024 };

/* What follows the path of a state that is given: the order of its calls, and what it promises. */
enum {
	GIVEN_NEXT,
	GIVEN_FIRST,
	GIVEN_STRIDE,
	GIVEN_DIRTY,
	GIVEN_SCORE,
	GIVEN_REST = GIVEN_SCORE + 2
};

static uint64_t calls_left(const struct explorer *x, const struct open_state *o)
{
	return x->universe->calls - o->next;
}

void branch_share_skip(struct branch *b, struct hash state, uint32_t node, struct call_path *path,
		       uint32_t dirty)
{
	struct explorer *x = b->x;
	struct open_state *o = open_state_new(&x->list, state, node, path);

	call_path_drop(&x->list.paths, path);
	o->dirty = dirty;
	open_state_order(o, &x->rng, x->universe->calls);
	open_list_add(&x->foreign, o);
}

/* Who has made the first calls of it may have died. */
static void share_distrust(struct open_state *o)
{
	if (o->received_at)
		o->next = 0;
	o->received_at = 0;
}

/* Those of a list that no other worker has are open for this one; the others stay. */
static void share_take_list(struct explorer *x, struct open_list *from)
{
	for (size_t i = open_list_count(from); i--;) {
		struct open_state *o = open_list_take(from);

		if (sharing_take(x, o->hash)) {
			share_distrust(o);
			x->figures.edges_left += calls_left(x, o);
			open_list_add(&x->list, o);
		} else {
			open_list_add(from, o);
		}
	}
}

void branch_share_resume(struct branch *b)
{
	struct explorer *x = b->x;
	struct open_state *o;

	if (!x->share)
		return;
	while ((o = open_list_first(&x->list))) {
		open_list_take(&x->list);
		x->figures.edges_left -= calls_left(x, o);
		open_list_add(&x->foreign, o);
	}
	share_take_list(x, &x->foreign);
}

/* ---- giving ---- */

static void share_drop(struct explorer *x, struct open_list *from, struct hash hash)
{
	struct open_state *o = open_list_take_hash(from, hash);

	if (o)
		open_state_free(&x->list, o);
}

static void given_set_rest(struct given_state *g, const struct open_state *o)
{
	uint32_t *rest = g->numbers + g->path_len;

	rest[GIVEN_NEXT] = o->next;
	rest[GIVEN_FIRST] = o->first;
	rest[GIVEN_STRIDE] = o->stride;
	rest[GIVEN_DIRTY] = o->dirty;
	memcpy(&rest[GIVEN_SCORE], &o->score, sizeof(o->score));
	g->rest_len = GIVEN_REST;
}

static bool share_give_state(struct explorer *x, const struct open_state *o)
{
	uint32_t len = call_path_depth(o->path);
	struct given_state *g;
	bool given;

	if (len > SHARE_PATH_MAX)
		return false;
	g = must_alloc(SHARE_ITEM_MAX);
	*g = (struct given_state){ .state = o->hash, .path_len = len };
	g->at = o->received_at ? o->received_at : sharing_now(x);
	for (const struct call_path *p = o->path; p; p = p->from)
		g->numbers[p->depth - 1] = p->call;
	given_set_rest(g, o);
	given = sharing_give(x, g);
	free(g);
	return given;
}

void branch_share_give(struct branch *b)
{
	struct explorer *x = b->x;
	struct open_state *o;

	if (!sharing_is_wanted(x) || !(o = open_list_last(&x->list)))
		return;
	if (calls_left(x, o) && !share_give_state(x, o))
		return;
	if (b->at == o)
		b->at = NULL;
	if (o->saved)
		branch_unsave(b, o);
	open_list_take_last(&x->list);
	share_drop(x, &x->received, o->hash);
	x->figures.edges_left -= calls_left(x, o);
	if (calls_left(x, o))
		open_list_add(&x->foreign, o);
	else
		open_state_free(&x->list, o);
}

/* ---- getting ---- */

/* The calls to a state that was given; where they lead, as the model predicts it. */
static struct call_path *receive_path(struct explorer *x, const struct given_state *g)
{
	struct state s = state_copy(&x->start);
	struct call_path *path = NULL, *longer;
	struct arena arena = ARENA_INIT;
	struct outcome outcome;
	struct call call;
	bool is_new;

	for (uint32_t i = 0; i < g->path_len; i++) {
		if (history_call(x->universe, g->numbers[i], &s, &arena, &call))
			model_run(x->predictor.model, &s, &call, &outcome);
		longer = call_path_new(&x->list.paths, path, g->numbers[i],
				       graph_put(&x->graph, state_hash(&s), &is_new));
		call_path_drop(&x->list.paths, path);
		path = longer;
	}
	state_free(&s);
	arena_free(&arena);
	return path;
}

static struct open_state *receive_state(struct explorer *x, const struct given_state *g)
{
	const uint32_t *rest = g->numbers + g->path_len;
	struct call_path *path = receive_path(x, g);
	struct open_state *o;
	bool is_new;

	o = open_state_new(&x->list, g->state, graph_put(&x->graph, g->state, &is_new), path);
	call_path_drop(&x->list.paths, path);
	o->next = rest[GIVEN_NEXT];
	o->first = rest[GIVEN_FIRST];
	o->stride = rest[GIVEN_STRIDE];
	o->dirty = rest[GIVEN_DIRTY];
	memcpy(&o->score, &rest[GIVEN_SCORE], sizeof(o->score));
	return o;
}

/* A copy of a state that came with a part of its calls made, as if none were. */
static void share_keep_received(struct explorer *x, const struct open_state *o)
{
	struct open_state *copy = open_state_new(&x->list, o->hash, o->node, o->path);

	copy->first = o->first;
	copy->stride = o->stride;
	copy->dirty = o->dirty;
	copy->score = o->score;
	copy->received_at = o->received_at;
	open_list_add(&x->received, copy);
}

static int share_receive(struct branch *b, const struct given_state *g, struct err *err)
{
	struct explorer *x = b->x;
	struct open_state *o;

	if (g->rest_len != GIVEN_REST) {
		sharing_reject(x, g->state);
		return 0;
	}
	o = receive_state(x, g);
	if (!open_state_has_order(o, x->universe->calls)) {
		open_state_free(&x->list, o);
		sharing_reject(x, g->state);
		return 0;
	}
	share_drop(x, &x->foreign, o->hash);
	share_drop(x, &x->received, o->hash);
	explorer_reach(x, o->node); /* who gave it was there */
	o->received_at = g->at;
	if (g->at != sharing_now(x))
		share_distrust(o);
	if (o->next)
		share_keep_received(x, o);
	x->figures.edges_left += calls_left(x, o);
	open_list_add(&x->list, o);
	return 0;
}

int branch_share_wait(struct branch *b, bool *ret_over, struct err *err)
{
	struct explorer *x = b->x;
	struct given_state *given;
	enum share_wait answer;
	int status = sharing_wait(x, &given, &answer, err);

	if (status < 0)
		return status;
	if (answer == SHARE_GOT)
		status = share_receive(b, given, err);
	if (answer == SHARE_LOOK_AGAIN) {
		share_take_list(x, &x->foreign);
		share_take_list(x, &x->received);
	}
	*ret_over = answer == SHARE_NOTHING_LEFT;
	free(given);
	return status;
}
