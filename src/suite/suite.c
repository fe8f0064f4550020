/* suite.c -- scripts from families, in memory. Costs a few microseconds and half a kilobyte for
 * each script. */
#include "suite/suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"

enum { FAMILIES_TEXT_MAX = 1 << 20 };

/* What scripts from files find. */
static const char open_root[] = "chmod(\"/\", 0777)\n";

int suite_open(struct suite *s, const char *families_path, struct err *err)
{
	struct buf text = BUF_INIT;
	int ret;

	*s = (struct suite){ 0 };
	ret = families_read_shipped(&s->families, err);
	if (!ret && families_path) {
		ret = buf_read_file(&text, families_path, FAMILIES_TEXT_MAX, err);
		if (!ret)
			ret = families_read(&s->families, families_path, buf_str(&text), err);
		buf_free(&text);
	}
	return ret;
}

void suite_free(struct suite *s)
{
	families_free(&s->families);
	free(s->setups);
	free(s->scripts);
	str_map_free(&s->setup_texts);
	script_free(&s->parsed);
	arena_free(&s->arena);
}

/* The calls of a text, in the suite's memory. */
static int parse_script(struct suite *s, const char *name, const char *text, size_t len,
			const struct call **ret_calls, unsigned *ret_count, struct err *err)
{
	struct call *calls;
	unsigned count = 0;
	int ret = script_parse(&s->parsed, name, text, len, err);

	if (ret)
		return ret;
	for (size_t i = 0; i < s->parsed.count; i++)
		count += s->parsed.items[i].type == ITEM_CALL;
	if (count > SUITE_CALLS_MAX)
		return err_set(err, E2BIG, "%s: more than %d calls", name, SUITE_CALLS_MAX);
	calls = arena_alloc(&s->arena, (count + 1) * sizeof(*calls));
	*ret_calls = calls;
	*ret_count = count;
	for (size_t i = 0; i < s->parsed.count; i++)
		if (s->parsed.items[i].type == ITEM_CALL)
			*calls++ = call_copy(&s->parsed.items[i].call, &s->arena);
	return 0;
}

static int add_setup(struct suite *s, const char *name, const char *text, unsigned *ret,
		     struct err *err)
{
	struct setup setup = { 0 };
	bool is_new;
	uint64_t *number = str_map_put(&s->setup_texts, text, &is_new);
	int r;

	if (is_new) {
		*number = s->setup_count;
		r = parse_script(s, name, text, strlen(text), &setup.calls, &setup.count, err);
		if (r)
			return r;
		while (setup.tasks < setup.count &&
		       op_table[setup.calls[setup.tasks].op].traits & TRAIT_PROC)
			setup.tasks++;
		for (unsigned i = 0; i < setup.count; i++) {
			setup.opens |= op_table[setup.calls[i].op].traits & TRAIT_OPENS;
			setup.cold |= setup.calls[i].op == OP_drop_caches;
		}
		setup.text = arena_strdup(&s->arena, text);
		s->setups = must_realloc(s->setups, (s->setup_count + 1) * sizeof(setup));
		s->setups[s->setup_count++] = setup;
	}
	*ret = (unsigned)*number;
	return 0;
}

static int add_script(struct suite *s, const char *name, const char *text, size_t len,
		      struct suite_script *script, struct err *err)
{
	int ret = parse_script(s, name, text, len, &script->calls, &script->count, err);

	if (ret)
		return ret;
	for (unsigned i = 0; i < script->count; i++)
		script->needs |= target_needs(script->calls[i].op);
	if (script->family && script->family->times)
		script->needs &= ~(unsigned)TARGET_TIME;
	script->makes_tasks = script->needs & TARGET_PROCESSES;
	if (s->setups[script->setup].tasks && !script->races)
		script->needs |= TARGET_PROCESSES;
	if (s->count == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 1024;
		s->scripts = must_realloc(s->scripts, s->cap * sizeof(*s->scripts));
	}
	s->scripts[s->count++] = *script;
	s->calls += script->count;
	return 0;
}

static int add_combination(struct suite *s, const struct family *family,
			   const struct combination *c, struct buf *text, struct err *err)
{
	struct suite_script script = {
		.family = family,
		.combination = *c,
		.races = family->races,
	};
	int ret;

	buf_clear(text);
	ret = family_fill(&s->families, family, c, family->setup, text, err);
	if (!ret)
		ret = add_setup(s, family->name, buf_str(text), &script.setup, err);
	buf_clear(text);
	if (!ret)
		ret = family_fill(&s->families, family, c, family->script, text, err);
	if (!ret)
		ret = add_script(s, family->name, buf_str(text), text->len, &script, err);
	return ret;
}

static int add_family(struct suite *s, const struct family *family, struct err *err)
{
	struct buf text = BUF_INIT;
	struct combination *combinations;
	size_t count;
	int ret = 0;

	combinations = family_combine(family, &count);
	for (size_t i = 0; i < count && !ret; i++)
		ret = add_combination(s, family, &combinations[i], &text, err);
	free(combinations);
	buf_free(&text);
	return ret;
}

/* Those of races, or the others. */
static int add_families(struct suite *s, bool races, bool scheduled, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < s->families.count && !ret; i++) {
		const struct family *family = s->families.items[i];

		if (family->races == races && !family->needs_name &&
		    (scheduled || !family->needs_schedule))
			ret = add_family(s, family, err);
	}
	return ret;
}

static int family_unknown(const struct suite *s, const char *name, struct err *err)
{
	struct nearest n = NEAREST_TO(name);

	for (size_t i = 0; i < s->families.count; i++)
		nearest_offer(&n, s->families.items[i]->name);
	err_set(err, ENOENT, "%s: there is no such family of scripts", name);
	err_suggest(err, &n);
	return -ENOENT;
}

int suite_add_family(struct suite *s, const char *name, struct err *err)
{
	const struct family *family = name ? families_find(&s->families, name) : NULL;

	if (!name)
		return add_families(s, false, false, err);
	if (!family)
		return family_unknown(s, name, err);
	return add_family(s, family, err);
}

int suite_add_races(struct suite *s, bool scheduled, struct err *err)
{
	return add_families(s, true, scheduled, err);
}

int suite_add_file(struct suite *s, const char *name, const char *text, size_t len, struct err *err)
{
	struct suite_script script = { .file = arena_strdup(&s->arena, name) };
	int ret = add_setup(s, "setup", open_root, &script.setup, err);

	return ret ? ret : add_script(s, name, text, len, &script, err);
}

int suite_add_race(struct suite *s, const char *name, const char *setup, const char *calls,
		   struct err *err)
{
	struct suite_script script = { .file = arena_strdup(&s->arena, name), .races = true };
	int ret = add_setup(s, name, setup, &script.setup, err);

	return ret ? ret : add_script(s, name, calls, strlen(calls), &script, err);
}

struct sorted {
	struct suite_script script;
	size_t number;
};

static int by_setup(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;

	if (x->script.setup != y->script.setup)
		return x->script.setup < y->script.setup ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

void suite_sort(struct suite *s)
{
	struct sorted *sorted = must_alloc((s->count + 1) * sizeof(*sorted));

	for (size_t i = 0; i < s->count; i++)
		sorted[i] = (struct sorted){ s->scripts[i], i };
	qsort(sorted, s->count, sizeof(*sorted), by_setup);
	for (size_t i = 0; i < s->count; i++)
		s->scripts[i] = sorted[i].script;
	free(sorted);
}

void suite_keep(struct suite *s, size_t number)
{
	s->scripts[0] = s->scripts[number];
	s->calls = s->scripts[0].count;
	s->count = 1;
}

void suite_thin(struct suite *s, size_t n, size_t first)
{
	size_t kept = 0;

	s->calls = 0;
	for (size_t i = first; i < s->count; i += n) {
		s->scripts[kept] = s->scripts[i];
		s->calls += s->scripts[kept++].count;
	}
	s->count = kept;
}

void suite_name(const struct suite_script *script, struct buf *out)
{
	if (script->family)
		family_script_name(script->family, &script->combination, out);
	else
		buf_adds(out, script->file);
}

static void print_calls(const struct call *calls, unsigned count, struct buf *out)
{
	for (unsigned i = 0; i < count; i++) {
		call_print(&calls[i], DIALECT_NATIVE, out);
		buf_addch(out, '\n');
	}
}

void suite_print(const struct suite *s, const struct suite_script *script, struct buf *out)
{
	const struct setup *setup = &s->setups[script->setup];

	buf_adds(out, "# ");
	suite_name(script, out);
	buf_adds(out, "\n");
	print_calls(setup->calls, setup->count, out);
	buf_adds(out, "\n");
	print_calls(script->calls, script->count, out);
}

long suite_find(const struct suite *s, const char *name)
{
	struct buf own = BUF_INIT;
	long found = -1;

	for (size_t i = 0; i < s->count && found < 0; i++) {
		buf_clear(&own);
		suite_name(&s->scripts[i], &own);
		if (!strcmp(buf_str(&own), name))
			found = (long)i;
	}
	buf_free(&own);
	return found;
}
