/* row_text.h -- any bytes as text of JSON. */
#ifndef RUN_ROW_TEXT_H
#define RUN_ROW_TEXT_H

#include <jansson.h>

/* Those that are not UTF-8 are written as escapes. */
json_t *row_json_text(const char *text);

#endif
