/* survey_add.h -- surveys of parts of the scripts, put together to that of all. */
#ifndef CONFORM_SURVEY_ADD_H
#define CONFORM_SURVEY_ADD_H

#include <jansson.h>

struct buf;

/* Takes the figures of one part over from its run.json. Of a cause, the smallest of all scripts is
 * the example. */
void survey_add(json_t *figures, const json_t *part);
/* What became of the scripts, a line for each target. */
void survey_print_added(const json_t *figures, struct buf *out);

#endif
