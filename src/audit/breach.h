/* breach.h -- rules of a format that a disk breaks. Of each rule the first breach is kept. */
#ifndef AUDIT_BREACH_H
#define AUDIT_BREACH_H

#include <stdbool.h>
#include <stddef.h>

enum { AUDIT_RULES_MAX = 16, AUDIT_TEXT_MAX = 160 };

struct audit {
	struct audit_breach {
		const char *rule; /* what is wrong, without names and numbers: a constant */
		char text[AUDIT_TEXT_MAX]; /* where, and by how much */
	} breaches[AUDIT_RULES_MAX];
	size_t count;
	bool has_rules; /* of the format of this disk, besides checksums */
};

bool audit_has(const struct audit *a, const char *rule);
void audit_breach(struct audit *a, const char *rule, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
