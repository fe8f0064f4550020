/* value_class.h -- classes of values that are told by looking at them. */
#ifndef OP_VALUE_CLASS_H
#define OP_VALUE_CLASS_H

#include "op/op.h"

struct value_class {
	const char *name;
	bool (*has)(const struct arg *arg);
};

extern const struct value_class sign_classes[], path_classes[], xattr_classes[];
extern const size_t sign_class_count, path_class_count, xattr_class_count;

#endif
