/* survey_rules.c -- which rules of the model a run has met, and why not the others. */
#include <string.h>

#include "base/must.h"
#include "conform/survey.h"

static const char *const unreached[RULE_COUNT] = {
#define UNREACHED(name, reason) [RULE_##name] = reason,
#include "conform/unreached.def"
#undef UNREACHED
};

/* Why no script meets the rule; NULL: one should. */
static const char *excuse(unsigned rule)
{
	if (!unreached[rule] && strstr(rule_table[rule].text, "by trait"))
		return "by a trait";
	return unreached[rule];
}

static bool is_met(const struct survey *s, unsigned rule)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->targets[i].result.figures.rule_hits[rule])
			return true;
	return false;
}

json_t *survey_rules(const struct survey *s, const struct model *m)
{
	json_t *unmet = json_object(), *excused = json_object();
	size_t held = 0, met = 0;

	for (unsigned rule = 0; rule < RULE_COUNT; rule++) {
		const struct rule_info *info = &rule_table[rule];

		if (!rule_applies(m, (enum rule)rule))
			continue;
		held++;
		if (is_met(s, rule))
			met++;
		else if (excuse(rule))
			json_object_set_new(excused, info->name, json_string(excuse(rule)));
		else
			json_object_set_new(unmet, info->name, json_string(info->text));
	}
	return json_pack("{s:I s:I s:o s:o}", "held", (json_int_t)held, "met", (json_int_t)met,
			 "unmet", unmet, "excused", excused);
}

static void add_rows(const json_t *rows, const char *title, struct buf *out)
{
	const char *name;
	json_t *text;

	if (json_object_size(rows))
		buf_addf(out, "%s\n", title);
	json_object_foreach((json_t *)rows, name, text)
		buf_addf(out, "  %s: %s\n", name, json_string_value(text));
}

void survey_print_rules(const struct survey *s, const struct model *m, struct buf *out)
{
	json_t *rules = survey_rules(s, m);

	must(rules);
	buf_addf(out, "\n%lld of %lld rules were met\n",
		 json_integer_value(json_object_get(rules, "met")),
		 json_integer_value(json_object_get(rules, "held")));
	add_rows(json_object_get(rules, "unmet"), "not met by any script:", out);
	add_rows(json_object_get(rules, "excused"), "not met, for a reason:", out);
	json_decref(rules);
}
