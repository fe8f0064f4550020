/* nested.h -- counts in JSON objects within JSON objects. */
#ifndef COVER_NESTED_H
#define COVER_NESTED_H

#include <jansson.h>
#include <stdint.h>

/* The member object of that name, made where absent. */
static inline json_t *nested(json_t *parent, const char *name)
{
	json_t *child = json_object_get(parent, name);

	if (!child) {
		child = json_object();
		json_object_set_new(parent, name, child);
	}
	return child;
}

static inline void nested_add(json_t *object, const char *key, uint64_t count)
{
	json_int_t before = json_integer_value(json_object_get(object, key));

	json_object_set_new(object, key, json_integer(before + (json_int_t)count));
}

#endif
