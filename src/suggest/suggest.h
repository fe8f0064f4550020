/* suggest.h -- scripts for inputs and results that no test has tried (space.h).
 *
 * Nothing is written down: the model is asked, as for the manual pages. A script prepares a state,
 * and its last call has the untested input or result. Only calls for which the model allows exactly
 * one outcome are suggested, so that the script is a test. An untested input is tried in a call
 * that succeeds or, where none does, in one that succeeds with another value of the argument: what
 * fails then fails because of the value. The same gaps always give the same scripts. */
#ifndef SUGGEST_SUGGEST_H
#define SUGGEST_SUGGEST_H

#include <jansson.h>

#include "manual/manual.h"

struct buf;
struct err;

struct suggestion {
	struct manual_example script;
	json_t *gaps; /* that it fills and none before it did: ["open flags O_TMPFILE", ...] */
};

struct suggestions {
	struct model model;
	struct suggestion *items;
	size_t count;
	json_t *missing; /* gaps without a script */
	struct arena arena;
};

/* gaps: an array of names (space_compare()). */
int suggest(struct suggestions *ret, const json_t *gaps, const struct model *model,
	    struct err *err);
void suggestions_free(struct suggestions *s);

/* The script as a trace: what it tests, its calls, each with the outcome that the model allows. */
void suggestion_trace(const struct suggestions *s, size_t i, struct buf *out);
/* "open-flags-O_TMPFILE", after the first gap. */
void suggestion_name(const struct suggestion *s, struct buf *out);
/* Writes each as DIR/NNN-NAME.trace; the directory is made. */
int suggestions_write(const struct suggestions *s, const char *dir, struct err *err);

#endif
