/* kind.c -- the table of kinds. */
#include "op/kind.h"

#include <string.h>

#define KIND(NAME, name, FORM, text) { #name, FORM_##FORM, text },
const struct kind_info kind_table[KIND_COUNT_] = {
#include "op/kinds.def"
};
#undef KIND

int kind_find(const char *name)
{
	for (int kind = 0; kind < KIND_COUNT_; kind++)
		if (!strcmp(kind_table[kind].name, name))
			return kind;
	return -1;
}

bool kind_is_choice(enum kind kind)
{
	const struct kind_name *names = kind_names(kind);

	return names && names[0].mask == -1;
}
