/* overlap.h -- calls that overlap: is there an order of their effects that explains their returns?
 *
 * A call takes effect at one unknown moment between call and return. The checker keeps a set of
 * hypotheses, each a state and the calls under way that have taken effect in it; a return
 * leaves those that explain it. Effects are tried only when a return asks for them, and states
 * are persistent and hashed, so that equal ones are followed once and a copy costs nothing.
 *
 * Some of what Linux does takes more than one moment. Where another call under way changes names:
 *   - a path is walked name by name, and directories may be renamed meanwhile. Each name of a
 *     single path is a separate internal step; both paths of rename are walked at once, before
 *     the names are changed.
 *   - link finds its file, and only later makes the name: EEXIST by what came between, and ENOENT
 *     if the file has lost its last name, even to a rename that never left that name free.
 *   - rmdir makes its directory dead, and unlocks it, before the name goes: what would make a name
 * in it fails with ENOENT while the directory can still be found.
 *   - stat takes no lock: the number of links may be seen while it changes (a directory that is
 *     removed has one for a moment). It is compared in the tree when all is quiet. */
#ifndef HISTORY_OVERLAP_H
#define HISTORY_OVERLAP_H

#include "base/map.h"
#include "model/model.h"

enum {
	OVERLAP_MAX = 16,               /* calls under way at a time */
	OVERLAP_HYPOTHESES_MAX = 16384, /* beyond: could not tell */
};

struct hypothesis {
	struct state state;
	uint32_t taken;              /* calls under way that have taken effect: bits of places */
	uint8_t walked[OVERLAP_MAX]; /* bytes of its path that a call under way has walked */
};

struct pending {
	uint16_t pid; /* 0: free */
	uint32_t line;
	const struct call *call;
	const struct item_return *ret; /* NULL: unknown */
};

struct overlap {
	struct model model;
	struct hypothesis *items;
	size_t count, cap;
	struct hash_map known; /* by state and calls: whether it is among the items */
	struct pending pending[OVERLAP_MAX];
	bool lost; /* something undefined has happened, or too much: nothing follows from it */
};

void overlap_init(struct overlap *o, const struct model *m);
void overlap_free(struct overlap *o);
/* One hypothesis, nothing under way; takes over the state. */
void overlap_begin(struct overlap *o, struct state *s);

/* The place of a process's call under way, or OVERLAP_MAX. */
size_t overlap_find(const struct overlap *o, uint16_t pid);
/* A call begins; what it will return is known ahead, so that it takes effect in one way only.
 * Returns its place, OVERLAP_MAX where there are too many or the process is in one already. */
size_t overlap_call(struct overlap *o, const struct pending *p);
/* Adds all hypotheses in which the call at that place has taken effect, and whatever others under
 * way before it; false where there are none. */
bool overlap_explain(struct overlap *o, size_t place);
/* Keeps those only; the call is no longer under way. */
void overlap_return(struct overlap *o, size_t place);
/* Keeps the hypotheses that `fits`, unless it is none; returns whether there are. */
bool overlap_keep(struct overlap *o, bool (*fits)(const struct state *s, void *own), void *own);

/* One way for a call to take effect; seen NULL: in whatever way. */
enum verdict overlap_effect(const struct overlap *o, const struct pending *p, struct state *s,
			    const struct outcome *seen, struct envelope *env);
/* The outcomes that a return may mean; one, NULL, if any success or any outcome is allowed. */
size_t pending_outcomes(const struct pending *p);
const struct outcome *pending_outcome(const struct pending *p, size_t i);

#endif
