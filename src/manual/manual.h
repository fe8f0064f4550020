/* manual.h -- the model as a manual page: which rules an operation is subject to, in Linux's order
 * of checks, and a short script for each that the rule refuses.
 *
 * Nothing of it is written down: the model is asked. A search over short scripts in a tiny universe
 * (values.h) tries the operation in some thousand states and notes which rules apply. Which of two
 * rules comes first is known where both apply to one call, with the rule that only the first error
 * counts taken away. The same search always gives the same page. */
#ifndef MANUAL_MANUAL_H
#define MANUAL_MANUAL_H

#include "base/arena.h"
#include "model/model.h"

struct buf;
struct err;

enum { MANUAL_LINES_MAX = 8, MANUAL_PLACES_MAX = 24 };

/* Another platform, or another version of Linux, to compare with. */
struct manual_place {
	struct model model;
	char name[MODEL_NAME_MAX];
};

/* A script whose last call meets the rule. */
struct manual_example {
	struct call calls[MANUAL_LINES_MAX];
	unsigned count; /* 0: there is none */
	unsigned cost;  /* of two examples the simpler one is kept */
	char trait[40]; /* "link_max=2": of the file system; empty: it needs none */
	bool read_only; /* mounted read-only before the last call */
};

enum manual_force {
	MANUAL_REQUIRED,  /* the call must fail with this errno */
	MANUAL_ALLOWED,   /* it may */
	MANUAL_ELSEWHERE, /* only on another platform or version */
	MANUAL_SWITCH,    /* no errno: how something is done */
};

struct manual_entry {
	enum rule rule;
	enum manual_force force;
	unsigned place; /* MANUAL_ELSEWHERE: where the example was found */
	struct manual_example example;
};

struct manual {
	enum op op;
	struct model model; /* whose page it is */
	struct manual_place places[MANUAL_PLACES_MAX];
	unsigned place_count;
	struct manual_entry *entries; /* required ones in the order of checks, then the others */
	size_t count;
	uint64_t scripts; /* tried */
	struct arena arena;
};

/* Asks the model. */
int manual_open(struct manual *m, enum op op, const struct model *model, struct err *err);
void manual_free(struct manual *m);

/* The outcomes that a place allows for the last call of an example: "EEXIST or ENOTEMPTY". The
 * calls before get `before`, a line each with what they return, where it is not NULL. */
void manual_answer(const struct model *model, const struct manual_example *example,
		   struct buf *before, struct buf *out);
/* Where a rule holds: "everywhere", "Linux since 6.4", "POSIX". */
void manual_where(enum rule rule, struct buf *out);
/* "rename(path from, path to)". */
void manual_synopsis(enum op op, struct buf *out);
/* What success yields, and what the operation changes, in words. */
void manual_summary(enum op op, struct buf *out);
/* The places that answer an example in another way than the page's own, a line each:
 * "posix: EEXIST or ENOTEMPTY". Versions of Linux in a row that agree are one line. */
void manual_differences(const struct manual *m, const struct manual_example *example,
			struct buf *out);
/* What the example needs, and all its lines with what they return. */
void manual_script(const struct manual *m, const struct manual_entry *entry, struct buf *out);

/* The page for a terminal. */
void manual_text(const struct manual *m, struct buf *out);
/* Pages of operations as one HTML document: begin, each, end. */
void manual_html_begin(const struct model *model, const enum op *ops, size_t count,
		       struct buf *out);
void manual_html(const struct manual *m, struct buf *out);
void manual_html_end(struct buf *out);

#endif
