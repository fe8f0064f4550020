/* breach.c -- rules of a format that a disk breaks. */
#include "audit/breach.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool audit_has(const struct audit *a, const char *rule)
{
	for (size_t i = 0; i < a->count; i++)
		if (!strcmp(a->breaches[i].rule, rule))
			return true;
	return false;
}

void audit_breach(struct audit *a, const char *rule, const char *format, ...)
{
	struct audit_breach *b = &a->breaches[a->count];
	va_list args;

	if (a->count == AUDIT_RULES_MAX || audit_has(a, rule))
		return;
	a->count++;
	b->rule = rule;
	va_start(args, format);
	vsnprintf(b->text, sizeof(b->text), format, args);
	va_end(args);
}
