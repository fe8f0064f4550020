/* manual_open.c -- asking the model for the rules of an operation, and putting them in the order of
 * checks. */
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "manual/search.h"

static void manual_add_place(struct manual *m, enum platform platform, struct version kernel)
{
	struct manual_place *place = &m->places[m->place_count];

	if (m->place_count == MANUAL_PLACES_MAX ||
	    (platform == m->model.platform && !version_compare(kernel, m->model.kernel)))
		return;
	model_init(&place->model, platform, kernel);
	place->model.traits = m->model.traits;
	if (platform == PLATFORM_LINUX)
		model_name(&place->model, place->name);
	else
		strcpy(place->name, platform_names[platform]);
	m->place_count++;
}

/* The versions of Linux after which a rule ends, or before which it begins, in order. */
static size_t manual_kernels(struct version *ret, size_t max)
{
	size_t count = 0;

	for (unsigned rule = 0; rule < RULE_COUNT; rule++) {
		const struct rule_info *info = &rule_table[rule];
		struct version v = info->until;
		size_t at = 0;

		if (!(info->where >> PLATFORM_LINUX & 1))
			continue;
		if (!version_known(v) && version_known(info->since) && info->since.minor) {
			v = info->since;
			v.minor--;
		}
		while (at < count && version_compare(ret[at], v) < 0)
			at++;
		if (!version_known(v) || (at < count && !version_compare(ret[at], v)) ||
		    count == max)
			continue;
		memmove(&ret[at + 1], &ret[at], (count - at) * sizeof(*ret));
		ret[at] = v;
		count++;
	}
	return count;
}

static void manual_add_places(struct manual *m)
{
	struct version kernels[MANUAL_PLACES_MAX];
	size_t count = manual_kernels(kernels, MANUAL_PLACES_MAX - PLATFORM_COUNT);

	for (unsigned p = 0; p < PLATFORM_COUNT; p++)
		if (p != PLATFORM_LINUX || m->model.platform != PLATFORM_LINUX)
			manual_add_place(m, (enum platform)p, m->model.kernel);
	for (size_t i = count; m->model.platform == PLATFORM_LINUX && i-- > 0;)
		if (version_compare(kernels[i], KERNEL_PUBLISHED) > 0)
			manual_add_place(m, PLATFORM_LINUX, kernels[i]);
}

static void manual_add_entry(struct manual *m, enum rule rule, enum manual_force force,
			     const struct rule_seen *seen)
{
	m->entries[m->count++] = (struct manual_entry){
		.rule = rule, .force = force, .place = seen->place, .example = seen->example
	};
}

/* Of the required rules that are left, the one that the fewest others come before. */
static int next_in_order(const struct rules_seen *seen, const bool *placed)
{
	unsigned best = RULE_COUNT, fewest = 0;

	for (unsigned b = 0; b < RULE_COUNT; b++) {
		unsigned before = 0;

		if (placed[b] || !seen->rules[b].required)
			continue;
		for (unsigned a = 0; a < RULE_COUNT; a++)
			before += !placed[a] && seen->rules[a].required &&
				  seen->before[a][b] > seen->before[b][a];
		if (best == RULE_COUNT || before < fewest) {
			best = b;
			fewest = before;
		}
	}
	return best == RULE_COUNT ? -1 : (int)best;
}

static void manual_order(struct manual *m, const struct rules_seen *seen)
{
	bool placed[RULE_COUNT] = { 0 };
	int rule;

	while ((rule = next_in_order(seen, placed)) >= 0) {
		manual_add_entry(m, (enum rule)rule, MANUAL_REQUIRED, &seen->rules[rule]);
		placed[rule] = true;
	}
}

static void manual_collect(struct manual *m, const struct rules_seen *seen)
{
	m->entries = must_alloc(RULE_COUNT * sizeof(*m->entries));
	manual_order(m, seen);
	for (unsigned i = 0; i < RULE_COUNT; i++)
		if (!seen->rules[i].required && seen->rules[i].allowed)
			manual_add_entry(m, (enum rule)i, MANUAL_ALLOWED, &seen->rules[i]);
	for (unsigned i = 0; i < RULE_COUNT; i++)
		if (seen->rules[i].elsewhere)
			manual_add_entry(m, (enum rule)i, MANUAL_ELSEWHERE, &seen->rules[i]);
	for (unsigned i = 0; i < RULE_COUNT; i++)
		if (seen->rules[i].switched && i != RULE_first_error_counts)
			manual_add_entry(m, (enum rule)i, MANUAL_SWITCH, &seen->rules[i]);
	m->scripts = seen->scripts;
}

int manual_open(struct manual *m, enum op op, const struct model *model, struct err *err)
{
	struct rules_seen *seen = must_alloc(sizeof(*seen));
	int ret;

	*m = (struct manual){ .op = op, .model = *model, .arena = ARENA_INIT };
	manual_add_places(m);
	ret = manual_search(m, seen, err);
	if (!ret)
		manual_collect(m, seen);
	free(seen);
	return ret;
}

void manual_free(struct manual *m)
{
	free(m->entries);
	arena_free(&m->arena);
}
