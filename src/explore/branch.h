/* branch.h -- a branching search: its plan, and the states that the target has saved. */
#ifndef EXPLORE_BRANCH_H
#define EXPLORE_BRANCH_H

#include "explore/explorer.h"
#include "explore/saved_list.h"

enum { BRANCH_PLAN_MAX = 64 };

struct branch {
	struct explorer *x;
	struct saved_list saved;
	bool start_saved;            /* the start is, too */
	const struct open_state *at; /* where the target is; NULL: elsewhere */
	struct plan plan;
	uint32_t calls[BRANCH_PLAN_MAX];  /* of the steps */
	uint32_t places[BRANCH_PLAN_MAX]; /* in the open state's order of calls */
	bool leads_away;                  /* the last step does; all others stay in the state */
	bool has_new_coverage;            /* the last step ran code for the first time */
};

/* ---- branch_saved.c: a bounded number of states is saved ---- */

void branch_saved_init(struct branch *b);
void branch_saved_free(struct branch *b); /* nothing is saved any more */
/* Saves an open state, which the target and x->state are in, if its turn comes sooner than that
 * of another, which is dropped for it where there is no room for both. */
int branch_save(struct branch *b, struct open_state *o, struct err *err);
void branch_unsave(struct branch *b, struct open_state *o);
int branch_restore(struct branch *b, const struct open_state *o, struct err *err);
/* To the state that the search began in; x follows. */
int branch_go_to_start(struct branch *b, struct err *err);

/* ---- branch_reach.c ---- */

/* The calls that led to an open state become the history. */
void branch_recall(struct branch *b, const struct open_state *o);
/* An open state that is not saved is reached by its calls, and saved. *ret says whether that went
 * well; where the target answers one way or another, it may not. */
int branch_reach(struct branch *b, struct open_state *o, bool *ret, struct err *err);

/* ---- branch_share.c: with other workers ---- */

/* The open states of a checkpoint: those that no other worker has are ours. */
void branch_share_resume(struct branch *b);
/* Another worker has the state: its path is kept in case that one dies. */
void branch_share_skip(struct branch *b, struct hash state, uint32_t node, struct call_path *path,
		       uint32_t dirty);
/* Gives an open state away, where another worker waits. */
void branch_share_give(struct branch *b);
/* No state is open: waits for one. *ret_over: there is nothing left for anyone. */
int branch_share_wait(struct branch *b, bool *ret_over, struct err *err);

#endif
