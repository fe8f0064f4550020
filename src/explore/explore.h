/* explore.h -- systematic search of the states and inputs of a file system.
 *
 * The search happens among the states of the model, which predicts where every call leads. The
 * target follows plans of many calls (plan.h); the judge decides whether a mismatch was allowed. */
#ifndef EXPLORE_EXPLORE_H
#define EXPLORE_EXPLORE_H

#include "codecov/code.h"
#include "cover/cover.h"
#include "run/run.h"
#include "share/share.h"
#include "target/target.h"
#include "universe/universe.h"

enum strategy {
	STRATEGY_TOUR, /* every call in every state once, on one file system, never restored */
	STRATEGY_DFS,  /* the others branch: they save and restore the target */
	STRATEGY_BFS,
	STRATEGY_RANDOM,  /* a walk that forgets */
	STRATEGY_BEST,    /* the rarest state first */
	STRATEGY_REMOUNT, /* depth first, unmounting and mounting around every call */
	STRATEGIES,
};
bool strategy_branches(enum strategy s);
extern const char *const strategy_names[]; /* NULL-terminated */

struct explore_figures {
	uint64_t calls;       /* made on the target */
	uint64_t transitions; /* different (state, call) pairs among them, all verified */
	uint64_t duplicates;  /* such pairs that another worker makes as well */
	uint64_t states;      /* different states the target was in */
	uint64_t shapes;      /* different features among them: types, links, holes, open files */
	uint64_t depth;       /* of the state farthest from the start, by the way it was found */
	uint64_t edges_left;  /* known states' calls that were not made yet */
	uint64_t beyond;      /* pairs that would leave the bounds of the universe */
	uint64_t surprises;   /* outcomes other than predicted, but allowed */
	uint64_t repeats;     /* findings of a signature that was known already */
	uint64_t resets;
	uint64_t kernel_notes;            /* complaints in the kernel's log that are not about us */
	uint64_t differences;             /* between targets, but allowed */
	uint64_t inputs;                  /* partitions of arguments that the universe has */
	uint64_t inputs_seen;             /* and those that calls were made with */
	uint64_t outcomes_seen;           /* different errnos, or success, of operations */
	uint64_t fsck_runs, fsck_unknown; /* checks of the disk; those that could not tell */
	uint64_t fsck_us;                 /* what they took, CPU time of the checkers included */
	uint64_t space_runs, space_us;    /* searches for lost space */
	uint64_t visits, visit_us;        /* states that were shown, and what that took */
	uint64_t state_bytes, edge_bytes; /* of memory for what was visited */
	struct hash states_sum;           /* of the hashes of the states */
	bool exhausted;                   /* nothing is left to try */
	const char *end;                  /* why it ended: "time", "calls", "exhausted", ... */
};

/* Is shown states that a search reaches, by the calls that lead to them from a fresh file system
 * (path_visits.h). A negative errno ends the search. */
struct path_visitor {
	int (*visit)(void *to, const struct call *calls, size_t count, struct err *err);
	void *to;
	double share; /* of the time of the search */
};

/* Several workers make one search: how this one comes to what they share, for each of its searches
 * (numbered from 0; one, or those of a portfolio). */
struct share_source {
	struct share *(*join)(void *to, unsigned channel);
	void *to;
};

struct explore_options {
	const char *name; /* of one of several searches of a run (portfolio.h); NULL: it is alone */
	enum strategy strategy;
	/* Further targets that make the same calls (tour and random). All observe the same fields
	 * of trees (target_options.fields_off). */
	struct target *const *against;
	size_t against_count;
	/* Other configurations of the same file system, by the names of their targets, for searches
	 * of a portfolio; each is opened when its first turn comes. */
	const char *const *variants;
	size_t variant_count;
	struct target_options variant_options;
	double seconds; /* 0: no limit */
	uint64_t calls; /* 0: no limit */
	uint64_t seed;
	unsigned depth_max;  /* of branching searches */
	uint64_t memory_max; /* bytes for states and edges */
	/* States that the target keeps saved at once, for branching searches; 0: as many as about
	 * memory_max holds. */
	uint64_t saved_max;
	unsigned history_max; /* calls after which a tour starts over; 0: a million */
	/* Behind every n-th call all of the tree is looked at, behind others what they can have
	 * touched; 1: all of it always. */
	unsigned verify_every;
	/* So many calls are made without a look at the file system in between: observing it may
	 * hide what is wrong, as listing a directory refreshes what a cache has of its entries. 0:
	 * verify_every holds. */
	unsigned unseen_calls;
	unsigned findings_max;
	unsigned shrink_tries; /* replays to spend on shrinking one finding */
	unsigned verify_times; /* replays of a shrunk finding */
	/* What is tested already: weights start from it, toward the rest. NULL: nothing. */
	const struct cover *before;
	/* The code of the target (TARGET_CODE), to record which of it was run; NULL: not asked for.
	 * Kept with the checkpoint. */
	const struct code *code;
	bool code_score;        /* prefer states and calls that come to code not run yet */
	unsigned failures_max;  /* that a call may meet (fail_alloc and the like) */
	bool openings;          /* a portfolio on a FUSE daemon begins with scripts (openings.h) */
	bool adaptive;          /* weights move toward what was not seen yet */
	bool bitstate;          /* branching: visited states as bits, for spaces beyond memory */
	const char *kernel_log; /* NULL: /dev/kmsg */
	bool resume;            /* go on from the run's checkpoint */
	double checkpoint_seconds;  /* from one checkpoint to the next, at least */
	struct path_visitor paths;  /* visit is NULL: none */
	struct share_source shared; /* join is NULL: this process is alone */
	void (*progress)(void *to, const struct explore_figures *f, struct run *run);
	void *progress_to;
};

/* Explores until a bound, exhaustion or stop_requested. Findings go to the run, coverage to *cover.
 * 0, or a negative errno for failures of ours. */
int explore(const struct explore_options *o, struct target *t, struct universe *u, struct run *run,
	    struct cover *cover, struct explore_figures *ret, struct err *err);

/* Adds the states that a tour whose run is in this directory has reached. */
int explore_states(const char *dir, struct hash_map *into, struct err *err);

#endif
