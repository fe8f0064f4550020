/* explorer.h -- inside exploration: one search on its way. */
#ifndef EXPLORE_EXPLORER_H
#define EXPLORE_EXPLORER_H

#include "codecov/code_map.h"
#include "explore/bitstate.h"
#include "explore/explore.h"
#include "explore/graph.h"
#include "explore/open_list.h"
#include "explore/recent.h"
#include "explore/tally.h"
#include "judge/kernel_log.h"
#include "judge/kernel_ours.h"

struct crowd;

/* A call of the history and the state it led to. */
struct passed {
	uint32_t call, to;
};

/* Beyond, the target is reset: a trace must stay short enough to be replayed. A plan that begins
 * before that may end behind it. */
enum { HISTORY_MAX = 1 << 20, HISTORY_SLACK = 256 };
/* Counted one by one (tally.h). */
enum { UNIVERSE_CALLS_MAX = 1 << 28 };

struct explorer {
	const struct explore_options *options;
	struct target *target;
	struct universe *universe;
	struct run *run;
	struct model model;
	struct rng rng;
	struct graph graph;
	struct tally tally;
	struct state fresh; /* of a fresh file system */
	struct state start; /* of a fresh file system, with the universe's processes */
	uint32_t root;      /* its node */
	struct state state; /* where the target is */
	uint32_t node;
	struct passed *history; /* since the target was fresh */
	size_t history_count;
	struct recent recent;  /* what the last calls of the history answered */
	struct open_list list; /* of branching searches */
	struct bitstate bits;
	uint64_t chosen;   /* calls drawn so far */
	uint64_t adapt_at; /* weights move at the next draw from this one on */
	struct explore_figures figures;
	double deadline_seconds, progress_seconds, checkpoint_seconds, watch_seconds;
	struct kernel_log log;
	struct kernel_ours ours;  /* what it may name of ours */
	struct code_map *reached; /* of the target's code; NULL: nobody asks */
	struct crowd *crowd;      /* all targets, where there are several */
	struct buf others;        /* what they did where this one fails: told with the finding */
};

/* The strategies: each runs until explorer_ends(). */
int tour(struct explorer *x, struct err *err);
int branch(struct explorer *x, struct err *err);
/* Forgets the states that are still open. */
void branch_end(struct explorer *x);

/* True if the search has to end now; names the reason in the figures. Also shows progress and
 * writes the checkpoint when they are due: to be asked between batches of calls. */
bool explorer_ends(struct explorer *x);
/* Calls that may still be made, at most `most`. */
size_t explorer_room(const struct explorer *x, size_t most);
/* A fresh file system; x->state, node and history follow. */
int explorer_reset(struct explorer *x, struct err *err);
/* The target follows the plan. A step that it does not make, for what it would take, ends the plan
 * and is no failure: ret->refused. */
int explorer_follow(struct target *t, const struct plan_step *steps, size_t count,
		    struct plan_end *ret, struct err *err);
/* Does the status say that something is lacking that may be there a little later, or for less? */
bool explorer_is_shortage(int status);
/* The targets are where the search began: x->state, node and history follow. */
void explorer_begin(struct explorer *x);
/* The call that makes the universe's process number i (from 2). */
struct call explorer_process(const struct explorer *x, unsigned i);
/* Counts a call that went well, from the present node to `to`, and goes there. Seen is what it
 * answered; where that was compared and is as expected, the expected outcome. */
void explorer_pass(struct explorer *x, uint32_t call, const struct outcome *seen, uint32_t to,
		   bool fresh);
/* Points of code that a step of the last plan was the first to come to; 0 where nobody asks. */
uint32_t explorer_news(const struct explorer *x, size_t step);
/* The node of a state, made where absent. Where only bits are kept of visited states: NODE_NONE,
 * and one that is new is counted. */
uint32_t explorer_node(struct explorer *x, const struct state *s);
uint32_t explorer_visit(struct explorer *x, struct hash state);
/* Is the history so long that it is time for a fresh file system? */
bool explorer_is_long(const struct explorer *x);

/* What the model says of a call in *s. False if it is not to be made: it leads beyond the bounds,
 * or the platform leaves it undefined; s is then as before.
 * Bytes of the outcome are valid until the model's next call. */
bool lead(struct explorer *x, struct state *s, const struct call *c, struct outcome *ret);

/* A call in the present state did not go as expected (x->state is still the state before it):
 * either it was allowed, and x goes on from where it led, or it is a finding or was not made, and
 * x goes on from a fresh file system. */
int surprise(struct explorer *x, uint32_t call, const struct plan_end *end, struct err *err);

/* A plan ended at a probe, which only looks at what the call before it has done: that call had the
 * outcome expected, and left a tree that was not. */
void plan_end_of_probe(struct plan_end *end, const struct outcome *expected);

/* Judges a call that surprised on a target: JUDGE_FINE if it was allowed (*s has moved to where it
 * led), JUDGE_BAD and a finding, JUDGE_UNDEFINED, or a negative errno. */
int judge_surprise(struct target *t, const struct model *m, struct state *s, const struct call *c,
		   const struct plan_end *end, struct finding *ret, struct err *err);

/* Replays, shrinks, verifies and writes a discrepancy that `call` just showed in the present
 * node; one that no replay shows is kept aside. The target is left in any state. What fails of ours
 * is told with the discrepancy and is no failure of the search. */
void capture(struct explorer *x, uint32_t call, const struct finding *first);

/* What is not to be shown again is written with the calls before it; the last call of the history
 * is the one that showed it. */
void capture_once(struct explorer *x, const struct finding *first);

/* Replays what an earlier part of the search had no time to replay. The target is fresh again
 * afterwards. */
int capture_pending(struct explorer *x, struct err *err);

/* What the kernel has complained of since the last time becomes findings, with the calls before it,
 * where it is about us (attribution.h), and notes where it is not.
 * True if the kernel is not to be trusted any more: the search has to end. */
bool watch_kernel(struct explorer *x);

/* The checkpoint in the run's directory: graph, open states, counts and figures. */
int checkpoint_write(struct explorer *x, struct err *err);
int checkpoint_read(struct explorer *x, struct err *err);
/* The same from an open file, which `path` names in what is said of it. After an error x is good
 * for nothing but to be freed. */
int checkpoint_load(struct explorer *x, int fd, const char *path, struct err *err);

#endif
