/* rules.c -- the tables of platforms, rules and traits; traits read from text. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "op/op.h"
#include "rules/rules.h"

const char *const platform_names[PLATFORM_COUNT] = {
	[PLATFORM_POSIX] = "posix",
	[PLATFORM_LINUX] = "linux",
	[PLATFORM_MACOS] = "macos",
	[PLATFORM_FREEBSD] = "freebsd",
};

#define POSIX (1u << PLATFORM_POSIX)
#define LINUX (1u << PLATFORM_LINUX)
#define MACOS (1u << PLATFORM_MACOS)
#define FREEBSD (1u << PLATFORM_FREEBSD)
#define ALL (POSIX | LINUX | MACOS | FREEBSD)
#define ANY VERSION_NONE, VERSION_NONE
#define FROM(major, minor) VERSION(major, minor), VERSION_NONE
#define UPTO(major, minor) VERSION_NONE, VERSION(major, minor)
#define WITHIN(major, minor, last_major, last_minor) \
	VERSION(major, minor), VERSION(last_major, last_minor)

const struct rule_info rule_table[RULE_COUNT] = {
#define RULE(name, error, where, kernels, text) { #name, error, where, kernels, text },
#define SWITCH(name, where, kernels, text) { #name, 0, where, kernels, text },
#include "rules/rules.def"
#undef RULE
#undef SWITCH
};

const struct traits traits_usual = {
#define TRAIT(name, type, usual, text) .name = usual,
#include "rules/traits.def"
#undef TRAIT
};

static int set_bool(bool *to, const char *name, const char *value, struct err *err)
{
	if (!strcmp(value, "yes") || !strcmp(value, "true") || !strcmp(value, "1"))
		*to = true;
	else if (!strcmp(value, "no") || !strcmp(value, "false") || !strcmp(value, "0"))
		*to = false;
	else
		return err_set(err, EINVAL, "%s: expected yes or no, found \"%s\"", name, value);
	return 0;
}

static int set_uint64_t(uint64_t *to, const char *name, const char *value, struct err *err)
{
	uint64_t number;
	char *end;

	errno = 0;
	number = strtoull(value, &end, 0);
	if (errno || end == value || *end || *value == '-')
		return err_set(err, EINVAL, "%s: expected a number, found \"%s\"", name, value);
	*to = number;
	return 0;
}

int traits_set(struct traits *traits, const char *name, const char *value, struct err *err)
{
#define TRAIT(trait, type, usual, text) \
	if (!strcmp(name, #trait)) \
		return set_##type(&traits->trait, name, value, err);
#define set__Bool set_bool
#include "rules/traits.def"
#undef set__Bool
#undef TRAIT
	return err_set(err, EINVAL, "%s: no such trait", name);
}

int traits_assign(struct traits *traits, const char *text, struct err *err)
{
	const char *equals = strchr(text, '=');
	char name[64];

	if (!equals || (size_t)(equals - text) >= sizeof(name))
		return err_set(err, EINVAL, "\"%s\": expected NAME=VALUE", text);
	memcpy(name, text, (size_t)(equals - text));
	name[equals - text] = '\0';
	return traits_set(traits, name, equals + 1, err);
}
