/* explorer.h -- one search: what its strategies share. */
#ifndef EXPLORE_EXPLORER_H
#define EXPLORE_EXPLORER_H

#include "base/hash_set.h"
#include "base/map.h"
#include "codecov/code_map.h"
#include "explore/call_history.h"
#include "explore/explore.h"
#include "explore/open_list.h"
#include "explore/oracle.h"
#include "explore/recent.h"
#include "explore/tally.h"
#include "explore/utility.h"
#include "graph/bitstate.h"
#include "graph/graph.h"
#include "judge/kernel_log.h"
#include "plan/nearby.h"
#include "plan/plan.h"
#include "run/kernel_ours.h"

/* The kernel log, and what it may name of ours. Searches of one target share it. */
struct kernel_watch {
	struct kernel_log log;
	struct kernel_ours ours;
};

/* States, and the sum of their hashes. */
struct explorer_visited {
	struct hash_set states;
	struct hash sum;
};
void visited_add(struct explorer_visited *v, struct hash state);

struct explorer {
	/* What is searched, and where findings go. */
	const struct explore_options *options;
	struct universe *universe;
	struct run *run;
	struct target *target;           /* the first of those that follow */
	struct plan_follower *followers; /* all targets: this one, and those against it */
	size_t follower_count;
	struct predictor predictor; /* of the first target */

	/* Where the search began, and where the targets are now. */
	struct state fresh; /* of a fresh file system */
	struct state start; /* of a fresh file system, with the universe's processes */
	uint32_t root;      /* its node */
	struct state state;
	uint32_t node;
	struct call_history history; /* since the target was fresh */
	struct recent recent;        /* outcomes of the last calls of the history */

	/* What was visited, and what is left. */
	struct graph graph;
	struct open_list list; /* of branching searches */
	struct bitstate bits;
	struct utility utility; /* features of the states reached */
	struct explorer_visited
		*visited; /* by all searches that take turns; NULL: there is but one */

	/* What is shared with other workers (sharing.h). */
	struct share *share;       /* NULL: this one is alone */
	struct hash salt;          /* of the work of this search, among all that is shared */
	bool share_full;           /* there is no room for more, or what is shared is lost */
	struct open_list foreign;  /* open states that other workers have, of branching searches */
	struct open_list received; /* those that came with a part of their calls made */
	struct given_state *going; /* given, and not reached yet; NULL: none */
	unsigned going_tries;
	uint32_t give_next; /* the node to be looked at for giving it away */

	/* Where several searches take turns (portfolio.h): this turn ends there. 0: no bound. */
	uint64_t slice_calls;
	double slice_until_seconds;
	bool takes_turns;        /* and does not wait for work, but lets another one work */
	bool dry;                /* it has nothing to do until another worker gives it something */
	struct buf pending_item; /* what one that is not dry any more got */
	enum share_wait pending; /* SHARE_NOTHING_YET: it did not */
	bool opened;             /* a branching search has opened its first state */

	/* Choosing calls. */
	struct rng rng;
	struct tally tally;
	uint64_t chosen;           /* calls drawn so far */
	uint64_t adapt_at;         /* weights move at the next draw from this one on */
	struct nearby_names names; /* of the state where calls are drawn */
	struct arena scratch;      /* text of calls that are only thought of */
	struct code_map *reached;  /* of the target's code; NULL: it is not asked for */

	struct oracle *oracle; /* shared by searches of one target */

	/* Reporting. */
	struct explore_figures figures;
	double deadline_seconds, progress_seconds, checkpoint_seconds, watch_seconds;
	struct kernel_watch *watch;
	struct str_map differences; /* between targets, allowed and listed already */
	struct buf others; /* what the other targets did where one fails, for its finding */
};

/* A search: opened, begun on fresh targets, and worked on until explorer_ends(), once or several
 * times; between two times explorer_reset(). x->watch is to be set in between. */
int explorer_open(struct explorer *x, const struct explore_options *o, struct target *t,
		  struct universe *u, struct run *run, struct err *err);
int explorer_begin(struct explorer *x, struct err *err);
/* Of a run that is resumed: the code that was reached, and what had no time to be replayed. */
int explorer_take_up(struct explorer *x, struct err *err);
int explorer_work(struct explorer *x, struct err *err);
/* Adds coverage and gives the figures. */
void explorer_close(struct explorer *x, struct cover *cover, struct explore_figures *ret);

void kernel_watch_open(struct kernel_watch *w, const char *log, struct target *t);
void kernel_watch_close(struct kernel_watch *w);

/* The strategies: each runs until explorer_ends(). */
int tour(struct explorer *x, struct err *err);
int branch(struct explorer *x, struct err *err);
/* Forgets the states that are still open. */
void branch_forget(struct explorer *x);
/* The node is where a target was, this worker's or another's. True if that is new here. */
bool explorer_reach(struct explorer *x, uint32_t n);

/* True if the search has to end now; names the reason in the figures. Also shows progress and
 * writes the checkpoint when they are due: to be asked between batches of calls. */
bool explorer_ends(struct explorer *x);
/* Calls that may still be made, at most `most`. */
size_t explorer_room(const struct explorer *x, size_t most);
/* A fresh file system; x->state, node and history follow. */
int explorer_reset(struct explorer *x, struct err *err);
/* Whether an operation unmounts, mounts or reads all of the tree again where the kernel of this
 * machine or a daemon does that: it takes as long as some hundred calls, most of it by waiting. */
bool explorer_is_dear(const struct explorer *x, enum op op);
/* Does the status say that something is lacking that may be there a little later, or for less? */
bool explorer_is_shortage(int status);
/* The targets are where the search began: x->state, node and history follow. */
void explorer_restart(struct explorer *x);
/* The call that makes the universe's process number i (from 2). */
struct call explorer_process_call(const struct explorer *x, unsigned i);
/* All targets follow a plan that begins in x->state. *ret_done is the first step that mismatched on
 * one of them, or the number of steps. */
int explorer_follow(struct explorer *x, struct plan *p, size_t *ret_done, struct err *err);
/* Counts call number n that was made, from the present node to `to`, and goes there. Seen is its
 * outcome; `fresh` says whether it was made in this node for the first time. */
void explorer_advance(struct explorer *x, uint32_t n, const struct call *c,
		      const struct outcome *seen, uint32_t to, bool fresh);
/* A call in the present state mismatched, step number `step` of the last plan; x->state is still
 * the state before it. Either it was allowed, and x continues from where it led, or it is a
 * finding or was not made, and x continues from a fresh file system. */
int explorer_mismatch(struct explorer *x, uint32_t call, size_t step, struct err *err);
/* Points of code that a step of the last plan was the first to run; 0 where that is not asked
 * for. */
uint32_t explorer_new_coverage(const struct explorer *x, size_t step);
/* The node of a state, of which the hash is known, that a call led to from another node; made where
 * absent. Where only bits are kept of visited states: NODE_NONE, and one that is new is counted. */
uint32_t explorer_visit(struct explorer *x, const struct state *s, struct hash hash, uint32_t from);
/* It is the turn of other searches for a while: what is known of the calls since the target was
 * fresh takes no memory any more. It continues with explorer_reset(). */
void explorer_rest(struct explorer *x);
/* Is the history so long that it is time for a fresh file system? */
bool explorer_is_long(const struct explorer *x);
/* Call number n of the history as it is made in the present state; its text goes to the arena. */
void explorer_call(const struct explorer *x, uint32_t n, struct arena *arena, struct call *ret);

/* Judges a call that mismatched on a target: VERDICT_OK if it was allowed (*s has moved to where it
 * led), VERDICT_BAD and a finding, VERDICT_UNKNOWN, or a negative errno. */
int mismatch_judge(const struct plan_follower *f, struct state *s, const struct call *c,
		   struct finding *ret, struct err *err);

/* Replays, shrinks, verifies and writes a discrepancy that `call` just showed on a target in the
 * present node; one that no replay shows is kept aside. The target is left in any state. A failure
 * of ours is reported with the discrepancy and is no failure of the search. False if it is known
 * already: the target is then as it was. */
bool capture(struct explorer *x, const struct plan_follower *on, uint32_t call,
	     const struct finding *first);

/* What is not to be shown again is written with the calls before it; the last call of the history
 * is the one that showed it. False if those calls cannot be made out any more. */
bool capture_once(struct explorer *x, const struct finding *first);

/* Works on what a replay has shown, unless another worker does; the finding is used up. */
void capture_shown(struct explorer *x, struct finding *f);

/* Replays what an earlier part of the search had no time to replay. The target is fresh again
 * afterwards. */
int capture_pending(struct explorer *x, struct err *err);

/* Complaints of the kernel since the last time become findings, with the calls before them, where
 * they are about us (attribution.h), and notes where they are not.
 * True if the kernel is not to be trusted any more: the search has to end. */
bool watch_kernel(struct explorer *x);

#define CHECKPOINT_NAME "checkpoint"
/* Of everything that numbers calls and bounds states. */
struct hash checkpoint_fingerprint(const struct universe *u);
/* Has the search of this name (NULL: the only one) left a checkpoint in a run's directory? */
bool checkpoint_is_there(const char *dir, const char *name);
/* The checkpoint in the run's directory: graph, open states, counts and figures. */
int checkpoint_write(struct explorer *x, struct err *err);
int checkpoint_read(struct explorer *x, struct err *err);
/* The same from an open file, which messages call `path`. After an error x can only be freed. */
int checkpoint_load(struct explorer *x, int fd, const char *path, struct err *err);

/* graph_json.c: the graph of a small search, for run.json: {"depths": of each state, "edges":
 * [{"from", "to", "calls", "example"}]}; calls that lead from a state to itself are left out. NULL:
 * more than GRAPH_JSON_STATES. */
enum { GRAPH_JSON_STATES = 60 };
json_t *graph_json(const struct graph *g, const struct universe *u);

#endif
