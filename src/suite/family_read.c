/* family_read.c -- families from INI text. Mistakes are reported with file and line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/must.h"
#include "settings/ini.h"
#include "suite/family.h"

static const char because[] = "because:";

struct family_reader {
	struct families *families;
	const struct ini *ini;
	const struct ini_row *row;
	struct err *err;
};

static int family_mistake(struct family_reader *r, const char *what, const char *which)
{
	return err_set(r->err, EINVAL, "%s:%d: %s: %s", r->ini->path, r->row->line, which, what);
}

const struct family *families_find(const struct families *f, const char *name)
{
	for (size_t i = 0; i < f->count; i++)
		if (!strcmp(f->items[i]->name, name))
			return f->items[i];
	return NULL;
}

/* The family of a section's name up to its dot, made where it is not there yet. */
static struct family *family_of(struct family_reader *r, const char *section, size_t len)
{
	struct families *f = r->families;
	char *name = arena_copy(&f->arena, section, len);
	struct family *family = (struct family *)families_find(f, name);

	if (family)
		return family;
	family = arena_alloc(&f->arena, sizeof(*family));
	family->name = name;
	family->setup = family->script = family->summary = "";
	f->items = must_realloc(f->items, (f->count + 1) * sizeof(struct family *));
	f->items[f->count++] = family;
	return family;
}

static int find_property(const struct family *family, const char *name, size_t len)
{
	for (unsigned i = 0; i < family->property_count; i++)
		if (!strncmp(family->properties[i]->name, name, len) &&
		    !family->properties[i]->name[len])
			return (int)i;
	return -1;
}

static int find_value(const struct property *property, const char *name, size_t len)
{
	for (unsigned i = 0; i < property->count; i++)
		if (!strncmp(property->values[i].name, name, len) && !property->values[i].name[len])
			return (int)i;
	return -1;
}

static void read_races(const char *text, struct family *family)
{
	family->needs_schedule = !strcmp(text, "scheduled");
	family->needs_name = !strcmp(text, "named");
	family->races = family->needs_schedule || family->needs_name || !strcmp(text, "yes");
}

static int read_head(struct family_reader *r, struct family *family)
{
	const char *key = r->row->key, *text = arena_strdup(&r->families->arena, r->row->value);

	if (!strcmp(key, "summary"))
		family->summary = text;
	else if (!strcmp(key, "setup"))
		family->setup = text;
	else if (!strcmp(key, "script"))
		family->script = text;
	else if (!strcmp(key, "strength"))
		family->strength = (unsigned)strtoul(text, NULL, 10);
	else if (!strcmp(key, "times"))
		family->times = !strcmp(text, "yes");
	else if (!strcmp(key, "races"))
		read_races(text, family);
	else
		return family_mistake(
			r, "families have a summary, setup, script, strength, times and races",
			key);
	return 0;
}

static int read_value(struct family_reader *r, struct family *family, const char *name)
{
	struct arena *arena = &r->families->arena;
	int i = find_property(family, name, strlen(name));
	struct property *property;

	if (i < 0) {
		if (family->property_count == PROPERTIES_MAX)
			return family_mistake(r, "one property too many", name);
		i = (int)family->property_count++;
		family->properties[i] = arena_alloc(arena, sizeof(struct property));
		family->properties[i]->name = arena_strdup(arena, name);
	}
	property = family->properties[i];
	if (property->count == VALUES_MAX)
		return family_mistake(r, "one value too many", r->row->key);
	if (find_value(property, r->row->key, strlen(r->row->key)) >= 0)
		return family_mistake(r, "this value is there already", r->row->key);
	property->values[property->count++] = (struct value){
		arena_strdup(arena, r->row->key),
		arena_strdup(arena, r->row->value),
	};
	return 0;
}

/* "property>property" */
static int read_order(struct family_reader *r, const struct family *family, const char *word,
		      size_t len, struct term *ret)
{
	size_t first = strcspn(word, ">");
	int i = find_property(family, word, first);

	*ret = (struct term){
		.property = (unsigned)i,
		.than = find_property(family, word + first + 1, len - first - 1),
	};
	return i >= 0 && ret->than >= 0
		     ? 0
		     : family_mistake(r, "expected two properties above", r->row->key);
}

/* "property:value,value" or "property:!value,value" */
static int read_term(struct family_reader *r, const struct family *family, const char *word,
		     size_t len, struct term *ret)
{
	const char *colon = memchr(word, ':', len), *end = word + len;
	const struct property *property;
	int i = colon ? find_property(family, word, (size_t)(colon - word)) : -1;
	bool other = colon && colon[1] == '!';

	if (memchr(word, '>', len))
		return read_order(r, family, word, len, ret);
	if (i < 0)
		return family_mistake(r, "expected property:value of a property above",
				      r->row->key);
	property = family->properties[i];
	*ret = (struct term){ .property = (unsigned)i, .than = -1 };
	for (const char *at = colon + 1 + other; at < end; at++) {
		size_t name_len = strcspn(at, ", \n");
		int value = find_value(property, at, name_len);

		if (value < 0)
			return family_mistake(r, "names a value that its property has not",
					      r->row->key);
		ret->values |= (uint64_t)1 << value;
		at += name_len;
	}
	if (other)
		ret->values = ~ret->values;
	return 0;
}

static int read_impossible(struct family_reader *r, struct family *family)
{
	struct arena *arena = &r->families->arena;
	const char *comment = r->row->comment, *at = r->row->value;
	unsigned count = family->impossible_count;
	struct impossible *rules = arena_alloc(arena, (count + 1) * sizeof(*rules)), *rule;
	size_t len;
	int ret = 0;

	if (!comment || strncmp(comment, because, strlen(because)))
		return family_mistake(r, "says no reason (\"; because: ...\")", r->row->key);
	if (count)
		memcpy(rules, family->impossible, count * sizeof(*rules));
	rule = &rules[count];
	rule->name = arena_strdup(arena, r->row->key);
	comment += strlen(because);
	rule->reason = arena_strdup(arena, comment + strspn(comment, " "));
	for (; *at && !ret; at += len + strspn(at + len, " \n")) {
		len = strcspn(at, " \n");
		if (rule->count == TERMS_MAX)
			return family_mistake(r, "one term too many", r->row->key);
		ret = read_term(r, family, at, len, &rule->terms[rule->count++]);
	}
	family->impossible = rules;
	family->impossible_count++;
	return ret;
}

static int read_text(struct family_reader *r)
{
	struct families *f = r->families;

	f->texts = must_realloc(f->texts, (f->text_count + 1) * sizeof(*f->texts));
	f->texts[f->text_count++] = (struct value){
		arena_strdup(&f->arena, r->row->key),
		arena_strdup(&f->arena, r->row->value),
	};
	return 0;
}

static int read_row(struct family_reader *r)
{
	const char *section = r->row->section, *dot = strchr(section, '.');
	struct family *family;

	if (!strcmp(section, "texts"))
		return read_text(r);
	family = family_of(r, section, dot ? (size_t)(dot - section) : strlen(section));
	if (!dot)
		return read_head(r, family);
	if (!strcmp(dot + 1, "impossible"))
		return read_impossible(r, family);
	return read_value(r, family, dot + 1);
}

/* What a family cannot do without. */
static int check_family(const char *file, struct family *family, struct err *err)
{
	uint64_t product = 1;

	for (unsigned i = 0; i < family->property_count && product <= COMBINATIONS_MAX; i++)
		product *= family->properties[i]->count;
	if (!family->property_count || !*family->script)
		return err_set(err, EINVAL, "%s: %s has no script or no property", file,
			       family->name);
	if (!family->strength || family->strength > family->property_count)
		family->strength = family->property_count;
	if (family->strength == family->property_count && product > COMBINATIONS_MAX)
		return err_set(err, EINVAL, "%s: %s has more than %d combinations", file,
			       family->name, COMBINATIONS_MAX);
	return 0;
}

int families_read(struct families *f, const char *name, const char *text, struct err *err)
{
	struct ini ini;
	struct family_reader r = { .families = f, .ini = &ini, .err = err };
	size_t first = f->count;
	int ret = ini_read_text(&ini, name, text, err);

	if (ret)
		return ret;
	for (size_t i = 0; i < ini.count && !ret; i++) {
		r.row = &ini.rows[i];
		ret = read_row(&r);
	}
	for (size_t i = first; i < f->count && !ret; i++)
		ret = check_family(name, f->items[i], err);
	ini_free(&ini);
	return ret;
}

struct shipped {
	const char *name, *text;
};

static const struct shipped shipped[] = {
#define EMBEDDED(name, text) { name, text },
#include "gen/embedded_families.h"
#undef EMBEDDED
};

int families_read_shipped(struct families *f, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < ARRAY_LEN(shipped) && !ret; i++)
		ret = families_read(f, shipped[i].name, shipped[i].text, err);
	return ret;
}

void families_free(struct families *f)
{
	free(f->items);
	free(f->texts);
	arena_free(&f->arena);
	*f = (struct families){ 0 };
}
