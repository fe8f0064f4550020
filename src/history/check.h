/* check.h -- checks a trace: can the model explain all its outcomes?
 *
 * Calls of several processes may overlap (overlap.h). The check continues after a mismatch with
 * an allowed outcome instead of the observed one. */
#ifndef HISTORY_CHECK_H
#define HISTORY_CHECK_H

#include "base/buf.h"
#include "history/overlap.h"
#include "trace/script.h"

/* What is wrong with one return or dump. Texts belong to the checker, until the next item. */
struct mismatch {
	uint32_t line;   /* of the call */
	uint32_t window; /* of the first call since when some call was always under way */
	const char *call, *seen, *allowed;
	enum reach reach;
	uint16_t rules[ENVELOPE_RULES_MAX]; /* that speak against it */
	unsigned rule_count;
};

struct trace_checker {
	struct model posix;
	struct state_options start;
	struct overlap overlap;
	uint32_t window; /* line of the first call of those that overlap now */
	struct buf call, seen, allowed;
};

/* Without a state; the model is copied. */
void trace_checker_init(struct trace_checker *c, const struct model *m,
			const struct state_options *start);
void trace_checker_free(struct trace_checker *c);
/* A new trace. */
void trace_checker_begin(struct trace_checker *c);
/* The same in a state, which is taken over. */
void trace_checker_begin_at(struct trace_checker *c, struct state *s);
/* Judges the item at that place. VERDICT_BAD: *ret says why. VERDICT_UNKNOWN: the platform says
 * nothing about it, or about something before it, or there were too many ways. */
enum verdict trace_checker_item(struct trace_checker *c, const struct script *trace, size_t at,
				struct mismatch *ret);

#endif
