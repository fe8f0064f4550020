/* survey.h -- many targets side by side: call by deviation by file system. */
#ifndef CONFORM_SURVEY_H
#define CONFORM_SURVEY_H

#include "conform/cause.h"

struct surveyed {
	struct conform_result result;
	struct causes causes;
	struct learned_list *learned; /* what it lacks; NULL: it was not probed */
	char *failure; /* why it could not be surveyed, or not to its end; NULL: it was */
};

struct survey {
	const struct suite *suite;
	struct surveyed *targets;
	size_t count;
};

void survey_free(struct survey *s);

/* The rows of the table: each cause once, with the first target that has it. To be freed. */
struct survey_row {
	const struct surveyed *target;
	const struct cause *cause;
};
struct survey_row *survey_rows(const struct survey *s, size_t *ret_count);

/* One table, then each cause with its smallest script. */
void survey_print(const struct survey *s, struct buf *out);
/* A line that says why a target could not be tested. */
void survey_print_failure(const char *target, const char *failure, struct buf *out);
/* An array: figures and causes of each target. */
json_t *survey_json(const struct survey *s);
/* Reports for continuous integration: a case for each family and value of its first property. */
void survey_junit(const struct survey *s, struct buf *out);
void survey_tap(const struct survey *s, struct buf *out);
/* What is new, and what is gone, since a run whose survey_json() this is. Returns how many
 * causes are new. */
size_t survey_compare(const struct survey *s, const json_t *before, struct buf *out);

/* Rules of the model: how many hold, how many were met; which not, and why where that is known. */
json_t *survey_rules(const struct survey *s, const struct model *m);
void survey_print_rules(const struct survey *s, const struct model *m, struct buf *out);

#endif
