/* rules.h -- what the model is made of, by name: platforms, the rules that hold on them, and the
 * traits of a file system. */
#ifndef RULES_RULES_H
#define RULES_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/version.h"

struct err;

enum platform { PLATFORM_POSIX, PLATFORM_LINUX, PLATFORM_MACOS, PLATFORM_FREEBSD, PLATFORM_COUNT };
extern const char *const platform_names[PLATFORM_COUNT];

/* The Linux that the published model describes, and the newest one that this model was held
 * against. */
#define KERNEL_PUBLISHED ((struct version)VERSION(3, 19))
#define KERNEL_CURRENT ((struct version)VERSION(6, 18))

enum rule {
#define RULE(name, error, where, kernels, text) RULE_##name,
#define SWITCH(name, where, kernels, text) RULE_##name,
#include "rules/rules.def"
#undef RULE
#undef SWITCH
	RULE_COUNT
};

struct rule_info {
	const char *name;
	int error;                   /* 0: a switch: how something is done, not an error */
	unsigned where;              /* bits of enum platform */
	struct version since, until; /* of Linux, both included; VERSION_NONE: no bound */
	const char *text;            /* what it says, and the text or observation it rests on */
};
extern const struct rule_info rule_table[RULE_COUNT];

/* A sysctl, from 0 to 2, whose value is unknown: both behaviours are allowed. */
enum { SETTING_UNKNOWN = 3 };

/* Known, reasoned properties of a file system that POSIX leaves to it. Zero means: no limit,
 * or the usual behaviour. Rows of traits.def name, document and parse them. */
struct traits {
#define TRAIT(name, type, usual, text) type name;
#include "rules/traits.def"
#undef TRAIT
};
extern const struct traits traits_usual;
/* "name = value" of an INI description. */
int traits_set(struct traits *traits, const char *name, const char *value, struct err *err);
/* "name=value" of a command line. */
int traits_assign(struct traits *traits, const char *text, struct err *err);

#endif
