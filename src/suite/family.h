/* family.h -- families of scripts: a pattern of text, and the properties that fill it.
 *
 * Families are INI files (families/ *.ini; a user's own are read in the same way):
 *
 *     [one-path]
 *     summary = every call on one path
 *     setup = {common}            what is there before; scripts with equal text share it
 *     script = {call}             the pattern
 *     strength = 2                every pair of values meets in a script; without it, all of them
 *     times = yes                 times that stat returns are compared; advance_time waits
 *     races = yes                 its processes (not 1) make their calls at the same time;
 *                                 "scheduled": by default only where schedules are given;
 *                                 "named": only where --suite names it
 *     [one-path.call]             a property, and its values: name = text
 *     mkdir = mkdir("{object}", 0755)
 *     [one-path.object]
 *     file = file
 *     root = /
 *     [one-path.impossible]       combinations that cannot be, each with its reason
 *     root = call:mkdir,rmdir object:root ; because: ...
 *     [texts]
 *     common = mkdir("d", 0755)
 *
 * "{name}" means the text of the property's value or of a row of [texts], which may hold
 * braces again, and "{x*255}" for 255 times x. A rule of [family.impossible] holds where all its
 * terms do: "property:value,value", or "property:!value,value" for all values but those, or
 * "property>property" where the first one's value comes behind the other's in their lists. */
#ifndef SUITE_FAMILY_H
#define SUITE_FAMILY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct buf;
struct err;

enum { PROPERTIES_MAX = 12, VALUES_MAX = 64, TERMS_MAX = 4, COMBINATIONS_MAX = 1 << 20 };

struct value {
	const char *name, *text;
};

struct property {
	const char *name;
	struct value values[VALUES_MAX];
	unsigned count;
};

struct term {
	unsigned property;
	uint64_t values; /* bits */
	int than; /* its value comes behind the one of this property; -1: any of the values */
};

struct impossible {
	const char *name, *reason;
	struct term terms[TERMS_MAX];
	unsigned count;
};

struct family {
	const char *name, *summary, *setup, *script;
	unsigned strength;   /* how many values at a time are sure to meet */
	bool times;          /* times of files are compared */
	bool races;          /* the processes of the script make their calls at the same time */
	bool needs_schedule; /* such a race, of which chance would show little */
	bool needs_name;     /* such a race, which Linux itself is known to lose */
	struct property *properties[PROPERTIES_MAX];
	unsigned property_count;
	struct impossible *impossible;
	unsigned impossible_count;
};

struct families {
	struct family **items;
	size_t count;
	struct value *texts;
	size_t text_count;
	struct arena arena;
};

/* One value of each property. */
struct combination {
	uint8_t value[PROPERTIES_MAX];
};

/* Adds the families of an INI text; name is for messages. */
int families_read(struct families *f, const char *name, const char *text, struct err *err);
int families_read_shipped(struct families *f, struct err *err);
void families_free(struct families *f);
/* NULL if there is none of that name. */
const struct family *families_find(const struct families *f, const char *name);

/* The pattern with everything in braces replaced. */
int family_fill(const struct families *f, const struct family *family, const struct combination *c,
		const char *pattern, struct buf *out, struct err *err);
/* "one-path/mkdir.root" */
void family_script_name(const struct family *family, const struct combination *c, struct buf *out);

/* The first rule that forbids a combination of which the properties in `known` (bits) are
 * chosen, or NULL. */
const struct impossible *family_forbids(const struct family *family, const struct combination *c,
					unsigned known);
/* The combinations that scripts are made of, to be freed by the caller. */
struct combination *family_combine(const struct family *family, size_t *ret_count);

/* That every possible choice of `strength` values is in one of the combinations: counted again,
 * without trust in family_combine(). */
struct proof {
	uint64_t choices, covered, impossible, missing;
	uint64_t by_rule[64]; /* choices that each rule alone forbids; the first one counts */
	uint64_t by_several;  /* choices that need several rules to be impossible */
};
void family_prove(const struct family *family, const struct combination *combinations, size_t count,
		  struct proof *ret);
/* Properties, scripts, and the proof, in a few lines; false if something is missing. */
bool family_describe(const struct family *family, struct buf *out);

#endif
