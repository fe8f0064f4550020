/* json.h -- values of JSON objects that may lack them. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <jansson.h>

/* The text of a key, "" where there is none. */
static inline const char *json_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

#endif
