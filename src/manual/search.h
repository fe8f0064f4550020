/* search.h -- which rules an operation meets, and the simplest script for each. */
#ifndef MANUAL_SEARCH_H
#define MANUAL_SEARCH_H

#include "manual/manual.h"

/* What was seen of a rule. */
struct rule_seen {
	bool required, allowed;        /* on the page's own platform */
	bool elsewhere;                /* only on another one */
	unsigned place;                /* which */
	bool switched;                 /* no errno; it held */
	unsigned asked;                /* how often it was asked whether it is the answer */
	struct manual_example example; /* of required, else of allowed, else of elsewhere */
};

struct rules_seen {
	struct rule_seen rules[RULE_COUNT];
	uint32_t before[RULE_COUNT][RULE_COUNT]; /* how often one was met before the other */
	uint64_t scripts;
};

/* Texts of the examples are in the arena of the page. */
int manual_search(struct manual *m, struct rules_seen *ret, struct err *err);

#endif
