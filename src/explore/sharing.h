/* sharing.h -- one search by several workers (share/share.h).
 *
 * Each worker has its own target and its own graph. In a state that it knows it tries calls only if
 * it has taken it; those that others have taken it knows and walks through. A worker that has
 * nothing to do gets a state from another, by the calls that lead there. Calls of random walks are
 * not divided up, only the states are counted.
 *
 * A worker keeps every state that it has come to, also those that others have taken or were given:
 * when one of them dies, its states are free, and another that knows one takes it. What lies behind
 * is found again from there. */
#ifndef EXPLORE_SHARING_H
#define EXPLORE_SHARING_H

#include "explore/explorer.h"

/* Joins, as the search of this number; the other functions do nothing where a worker is alone. */
void sharing_join(struct explorer *x, unsigned channel);
void sharing_leave(struct explorer *x);
/* Of a search that is taken up again: counts its states and takes what it had taken. */
void sharing_resume(struct explorer *x);

/* Takes the work in a state. False if another worker has it. */
bool sharing_take(struct explorer *x, struct hash state);
/* The same for what is known by its name, such as the signature of a finding. */
bool sharing_take_named(struct explorer *x, const char *sort, const char *name);
void sharing_count(struct explorer *x, struct hash state);
/* What has become free so far, plus 1. */
uint64_t sharing_now(const struct explorer *x);
/* Does another worker wait for work of this search? */
bool sharing_is_wanted(const struct explorer *x);

/* A state that one worker gives to another. */
struct given_state {
	struct hash state;
	uint64_t at; /* what had become free when others made a part of its calls, plus 1 */
	uint32_t path_len, rest_len; /* calls from the start; further numbers, by the strategy */
	uint32_t numbers[];
};
enum { GIVEN_NUMBERS_MAX = (SHARE_ITEM_MAX - sizeof(struct given_state)) / sizeof(uint32_t) };

/* False: not now. */
bool sharing_give(struct explorer *x, const struct given_state *g);
/* Waits a little, or only looks where searches take turns. *ret_given, where one was got, has
 * numbers of calls of this universe in its path, and is to be freed. */
int sharing_wait(struct explorer *x, struct given_state **ret_given, enum share_wait *ret,
		 struct err *err);

/* What was got last is not what it was said to be: it is for others, who know better. */
void sharing_reject(struct explorer *x, struct hash state);

/* Of a search that is dry: looks so long whether it can go on. */
int sharing_poll(struct explorer *x, double seconds, struct err *err);

/* ---- tours ---- */

/* May calls be tried in this node? It is taken, if it can be. */
bool sharing_is_mine(struct explorer *x, uint32_t node);
/* Gives a node away where another worker waits, one that neither `keep` nor the search is in. */
void sharing_give_node(struct explorer *x, uint32_t keep);
/* A node that was given is ours now; takes it over. */
void sharing_put_node(struct explorer *x, struct given_state *g);
/* Is the node that was given last still to be reached? That is tried some times: something else may
 * come before its calls are made, or they lead elsewhere. */
bool sharing_has_to_go(struct explorer *x);
/* Nodes that were taken ahead and never reached are for others. */
void sharing_release_nodes(struct explorer *x);
/* Calls of nodes that were given, but that the calls to them did not lead to. */
uint64_t sharing_missed(const struct explorer *x);
/* Takes nodes that have become free. */
void sharing_look_again(struct explorer *x);

#endif
