/* check.h -- traces judged: is there a way the model could have gone that explains them?
 *
 * Calls of several processes may overlap: each takes effect at one moment between call and
 * return, and nobody says when. The checker keeps a set of hypotheses, each a state and the calls
 * under way that have taken effect in it; a return leaves those that explain it. What a call will
 * return is looked up ahead, so that a call under way takes effect in one way only.
 *
 * Judging goes on after a mismatch, with what was allowed in place of what was seen. */
#ifndef MODEL_CHECK_H
#define MODEL_CHECK_H

#include "base/buf.h"
#include "model/model.h"

enum {
	CHECK_PENDING_MAX = 16,      /* calls under way at a time */
	CHECK_HYPOTHESES_MAX = 4096, /* beyond: could not tell */
};

/* How far from the platform's rules is it? */
enum reach {
	REACH_OUTSIDE_POSIX,
	REACH_INSIDE_POSIX, /* POSIX would allow it; the platform does not do it */
};

/* What is wrong with one return or dump. Texts belong to the checker, until the next item. */
struct mismatch {
	uint32_t line;
	const char *call, *seen, *allowed;
	enum reach reach;
	uint16_t rules[ENVELOPE_RULES_MAX]; /* that speak against it */
	unsigned rule_count;
};

struct hypothesis;
struct checker {
	struct model model, posix;
	struct state_options start;
	struct hypothesis *hypotheses;
	size_t count, cap;
	struct pending {
		uint16_t pid; /* 0: free */
		uint32_t line;
		const struct call *call;
		const struct item_return *ret; /* NULL: the trace does not say */
	} pending[CHECK_PENDING_MAX];
	bool lost; /* something undefined has happened: nothing follows from it */
	struct buf call, seen, allowed;
};

/* Without a state; the model is copied. */
void checker_init(struct checker *c, const struct model *m, const struct state_options *start);
void checker_free(struct checker *c);
/* A new trace. */
void checker_begin(struct checker *c);
/* Judges the item at that place. VERDICT_BAD: *ret says why. VERDICT_UNKNOWN: the platform says
 * nothing about it, or about something before it, or there were too many ways. */
enum verdict checker_item(struct checker *c, const struct script *trace, size_t at,
			  struct mismatch *ret);

#endif
