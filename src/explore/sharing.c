/* sharing.c -- one search by several workers: taking, counting, giving. */
#include "explore/sharing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"

static const double wait_seconds = 0.05, wait_in_turns_seconds = 0.005;
/* Of so many nodes the one with the most calls left is given away. */
enum { GIVE_LOOKS = 256 };
/* Longer paths take the time of more calls than a state has. */
enum { GIVE_PATH_MAX = 1024, GOING_TRIES = 3 };

/* Work in the same state of the same universe is the same, if it is looked at in the same way. */
static struct hash sharing_salt(const struct explorer *x)
{
	struct {
		struct hash fingerprint;
		uint64_t sort, unseen_calls;
	} what = { checkpoint_fingerprint(x->universe), x->options->strategy,
		   x->options->unseen_calls };

	return hash128(&what, sizeof(what), 0);
}

void sharing_join(struct explorer *x, unsigned channel)
{
	const struct share_source *from = &x->options->shared;

	/* Where only bits are kept of states, there is no memory for an exact set of them. */
	if (!from->join || x->bits.words)
		return;
	x->share = from->join(from->to, channel);
	x->pending = SHARE_NOTHING_YET;
	x->salt = sharing_salt(x);
}

void sharing_leave(struct explorer *x)
{
	if (x->share)
		x->share->ops->close(x->share);
	x->share = NULL;
	buf_free(&x->pending_item);
	free(x->going);
}

static struct hash sharing_work(const struct explorer *x, struct hash state)
{
	return hash_add(state, x->salt);
}

/* What cannot be shared is not worked on: the search ends. */
static bool sharing_take_hash(struct explorer *x, struct hash work)
{
	struct err none = { 0 };
	bool mine;

	if (x->share_full || x->share->ops->take(x->share, work, &mine, &none) < 0) {
		x->share_full = true;
		return false;
	}
	return mine;
}

bool sharing_take(struct explorer *x, struct hash state)
{
	return !x->share || sharing_take_hash(x, sharing_work(x, state));
}

bool sharing_take_named(struct explorer *x, const char *sort, const char *name)
{
	if (!x->share)
		return true;
	return sharing_take_hash(x, hash128(name, strlen(name), hash64(sort, strlen(sort), 1)));
}

void sharing_count(struct explorer *x, struct hash state)
{
	struct err none = { 0 };

	if (x->share && x->share->ops->count(x->share, state, &none) < 0)
		x->share_full = true;
}

void sharing_resume(struct explorer *x)
{
	x->figures.states_sum = (struct hash){ 0 };
	for (uint32_t n = 0; n < x->graph.count; n++) {
		const struct node *node = graph_node(&x->graph, n);

		if (node->reached) {
			x->figures.states_sum = hash_add(x->figures.states_sum, node->hash);
			sharing_count(x, node->hash);
		}
		if (x->share && node->whose == NODE_MINE && !sharing_take(x, node->hash))
			graph_set_whose(&x->graph, n, NODE_FOREIGN);
	}
}

uint64_t sharing_now(const struct explorer *x)
{
	return x->share->ops->freed(x->share) + 1;
}

bool sharing_is_wanted(const struct explorer *x)
{
	return x->share && x->share->ops->is_wanted(x->share);
}

bool sharing_give(struct explorer *x, const struct given_state *g)
{
	size_t len = sizeof(*g) + (g->path_len + (size_t)g->rest_len) * sizeof(*g->numbers);
	struct err none = { 0 };

	must(g->path_len + (size_t)g->rest_len <= GIVEN_NUMBERS_MAX);
	return x->share->ops->give(x->share, sharing_work(x, g->state), g, len, &none) >= 0;
}

/* What came from another process is checked before it is used. */
static bool given_is_sound(const struct explorer *x, const struct given_state *g, size_t len)
{
	if (len < sizeof(*g) || g->path_len > GIVEN_NUMBERS_MAX ||
	    g->rest_len > GIVEN_NUMBERS_MAX ||
	    len != sizeof(*g) + (g->path_len + (size_t)g->rest_len) * sizeof(*g->numbers))
		return false;
	for (uint32_t i = 0; i < g->path_len; i++)
		if (g->numbers[i] >= x->universe->calls)
			return false;
	return true;
}

void sharing_reject(struct explorer *x, struct hash state)
{
	struct err none = { 0 };

	if (x->share->ops->release(x->share, sharing_work(x, state), &none) < 0)
		x->share_full = true;
}

int sharing_poll(struct explorer *x, double seconds, struct err *err)
{
	int status = x->share->ops->wait(x->share, seconds, &x->pending_item, &x->pending, err);

	x->dry = status >= 0 && x->pending == SHARE_NOTHING_YET;
	return status;
}

int sharing_wait(struct explorer *x, struct given_state **ret_given, enum share_wait *ret,
		 struct err *err)
{
	double seconds = x->takes_turns ? wait_in_turns_seconds : wait_seconds;
	int status = x->pending == SHARE_NOTHING_YET ? sharing_poll(x, seconds, err) : 0;
	struct given_state *got = (struct given_state *)x->pending_item.data;

	*ret_given = NULL;
	*ret = x->pending;
	x->pending = SHARE_NOTHING_YET;
	x->dry = x->dry && x->takes_turns;
	if (status < 0 || *ret != SHARE_GOT)
		return status;
	if (!given_is_sound(x, got, x->pending_item.len)) {
		sharing_reject(x, x->pending_item.len < sizeof(*got) ? (struct hash){ 0 }
								     : got->state);
		*ret = SHARE_NOTHING_YET;
		return 0;
	}
	x->pending_item = (struct buf)BUF_INIT;
	*ret_given = got;
	return 0;
}

/* ---- tours ---- */

/* Calls that this worker has made there and not another. */
static uint32_t node_made(const struct graph *g, uint32_t n)
{
	uint32_t made = 0;
	struct edge edge;

	for (uint32_t at = 0; graph_next_edge(g, n, &at, &edge);)
		made += edge.to < NODE_ELSEWHERE;
	return made;
}

/* The node is ours now, with what was made there while it was foreign, to walk through it; but not
 * those of them that are `counted` already. */
static void sharing_own(struct explorer *x, uint32_t n, uint32_t counted)
{
	const struct node *node = graph_node(&x->graph, n);
	uint32_t made = node->whose == NODE_FOREIGN ? node_made(&x->graph, n) - counted : 0;

	x->figures.transitions += made;
	x->figures.duplicates -= made;
	graph_set_whose(&x->graph, n, NODE_MINE);
}

bool sharing_is_mine(struct explorer *x, uint32_t n)
{
	const struct node *node = graph_node(&x->graph, n);

	if (!x->share || node->whose != NODE_UNASKED)
		return node->whose != NODE_FOREIGN;
	graph_set_whose(&x->graph, n, sharing_take(x, node->hash) ? NODE_MINE : NODE_FOREIGN);
	return node->whose == NODE_MINE;
}

/* Of the next nodes the one with the most calls left; NODE_NONE if there is none to spare. */
static uint32_t sharing_choose_node(struct explorer *x, uint32_t keep)
{
	const struct graph *g = &x->graph;
	uint32_t best = NODE_NONE;

	for (uint32_t i = 0; i < GIVE_LOOKS && i < g->count; i++) {
		uint32_t n = x->give_next = (x->give_next + 1) % g->count;
		const struct node *node = graph_node(g, n);

		/* What was given is not given on: where its other calls led, only its giver knows.
		 */
		if (n == keep || n == x->node || node->whose != NODE_MINE || !node->reached ||
		    node->given || node_tried(node) > GIVEN_NUMBERS_MAX - GIVE_PATH_MAX ||
		    graph_untried(g, n) >= graph_left(g))
			continue;
		if (graph_untried(g, n) > (best == NODE_NONE ? 0 : graph_untried(g, best)))
			best = n;
	}
	return best;
}

static void given_add_tried(struct given_state *to, const struct graph *g, uint32_t n)
{
	struct edge edge;

	for (uint32_t at = 0; graph_next_edge(g, n, &at, &edge);)
		to->numbers[to->path_len + to->rest_len++] = edge.call;
}

void sharing_give_node(struct explorer *x, uint32_t keep)
{
	struct given_state *given;
	int64_t len = -1;
	uint32_t n;

	if (!sharing_is_wanted(x) || (n = sharing_choose_node(x, keep)) == NODE_NONE)
		return;
	given = must_alloc(SHARE_ITEM_MAX);
	*given = (struct given_state){ .state = graph_node(&x->graph, n)->hash,
				       .at = sharing_now(x) };
	len = graph_path(&x->graph, x->root, n, given->numbers, GIVE_PATH_MAX);
	if (len >= 0 && len <= GIVE_PATH_MAX) {
		given->path_len = (uint32_t)len;
		given_add_tried(given, &x->graph, n);
		if (sharing_give(x, given)) {
			graph_set_whose(&x->graph, n, NODE_FOREIGN);
			graph_node(&x->graph, n)->gone = 1;
		}
	}
	free(given);
}

void sharing_put_node(struct explorer *x, struct given_state *g)
{
	/* Who has made calls there may have died since: then they are made again. */
	uint32_t counted = 0, rest_len = g->at == sharing_now(x) ? g->rest_len : 0, n, to;
	bool is_new;

	n = graph_put(&x->graph, g->state, &is_new);
	for (uint32_t i = 0; i < rest_len; i++) {
		uint32_t call = g->numbers[g->path_len + i];

		if (call >= x->universe->calls)
			continue;
		to = graph_edge(&x->graph, n, call);
		counted += to < NODE_ELSEWHERE;
		if (to == NODE_NONE)
			graph_set_edge(&x->graph, n, call, NODE_ELSEWHERE);
	}
	sharing_own(x, n, counted);
	graph_set_given(&x->graph, n);
	free(x->going);
	x->going = g;
	x->going_tries = GOING_TRIES;
}

bool sharing_has_to_go(struct explorer *x)
{
	bool is_new;

	if (!x->going || !x->going_tries)
		return false;
	x->going_tries--;
	return !graph_node(&x->graph, graph_put(&x->graph, x->going->state, &is_new))->reached;
}

void sharing_release_nodes(struct explorer *x)
{
	struct err none = { 0 };

	for (uint32_t n = 0; n < x->graph.count && x->graph.ahead; n++) {
		const struct node *node = graph_node(&x->graph, n);

		if (node->whose != NODE_MINE || node->reached || node->given)
			continue;
		graph_set_whose(&x->graph, n, NODE_UNASKED);
		if (x->share->ops->release(x->share, sharing_work(x, node->hash), &none) < 0)
			x->share_full = true;
	}
}

uint64_t sharing_missed(const struct explorer *x)
{
	uint64_t missed = 0;

	for (uint32_t n = 0; n < x->graph.count; n++) {
		const struct node *node = graph_node(&x->graph, n);

		if (node->given && !node->reached && node->whose == NODE_MINE)
			missed += graph_untried(&x->graph, n);
	}
	return missed;
}

/* What another worker has made in a node of ours led to states that only it may have known. */
static void node_forget_elsewhere(struct graph *g, uint32_t n)
{
	struct edge edge;

	for (uint32_t at = 0; graph_next_edge(g, n, &at, &edge);)
		if (edge.to == NODE_ELSEWHERE) {
			graph_drop_edge(g, n, edge.call);
			at = 0; /* others may have moved */
		}
}

void sharing_look_again(struct explorer *x)
{
	struct graph *g = &x->graph;

	for (uint32_t n = 0; n < g->count; n++)
		if (graph_node(g, n)->whose == NODE_FOREIGN)
			x->share->ops->announce(x->share, sharing_work(x, graph_node(g, n)->hash));
	for (uint32_t n = 0; n < g->count; n++) {
		const struct node *node = graph_node(g, n);

		if (node->whose == NODE_FOREIGN && sharing_take(x, node->hash))
			sharing_own(x, n, node->gone ? node_made(g, n) : 0);
		if (node->whose == NODE_MINE)
			node_forget_elsewhere(g, n);
	}
}
