/* signature.h -- what a discrepancy of a tree is known by.
 *
 * "TREE truncate data (stale, elsewhere)": problem, base call, what differs and, in parentheses,
 * how it differs and where. No path and no number is part of it, so that one cause keeps one
 * signature while its calls are shrunk; and causes that differ in what is wrong have different
 * ones, so that a known one does not hide another. */
#ifndef JUDGE_SIGNATURE_H
#define JUDGE_SIGNATURE_H

#include "judge/discrepancy.h"

/* fact: the heaviest, of what differs after the call; NULL if none is known. expected: the model's
 * state after it. */
void signature_of_tree(char ret[SIGNATURE_MAX], const struct call *c, const struct fact *fact,
		       const struct state *expected, const struct tree *seen);

/* A value that was returned instead of another one: "OUTCOME stat value (size)". A pattern without
 * the words in parentheses matches, too (run/known.h). */
void signature_of_value(char ret[SIGNATURE_MAX], const struct call *c, const struct state *before,
			const struct outcome *expected, const struct outcome *seen);

/* In which direction a field differs; "" where directions do not separate causes. */
const char *signature_of_numbers(uint64_t expected, uint64_t seen);
const char *signature_of_modes(uint32_t expected, uint32_t seen);

/* Whether the word says which kind of rename it was, not what is wrong. */
bool signature_is_of_rename(const char *word);

/* What differs, of a signature of TREE or DRIFT; FACT_KINDS where it does not say. */
enum fact_kind signature_fact(const char *signature);

#endif
