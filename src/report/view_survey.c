/* view_survey.c -- conformance: targets by families of scripts, and each cause with its smallest
 * script. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "report/view.h"

/* Scripts of a family by what became of them, in the order in which they are drawn. */
static const char *const survey_fates[] = { "accepted", "rejected", "undefined", "skipped",
					    "not_run" };

static json_t *survey_bars(const json_t *family)
{
	json_t *bars = json_array();
	long long all = 0;
	char width[24];

	for (size_t i = 0; i < sizeof(survey_fates) / sizeof(*survey_fates); i++)
		all = view_sum(all, view_count(family, survey_fates[i]) > 0
					    ? view_count(family, survey_fates[i])
					    : 0);
	for (size_t i = 0; i < sizeof(survey_fates) / sizeof(*survey_fates) && all > 0; i++) {
		long long count = view_count(family, survey_fates[i]);

		if (count <= 0)
			continue;
		snprintf(width, sizeof(width), "%.2f%%", (double)count * 100 / (double)all);
		json_array_append_new(bars, json_pack("{s:s, s:I, s:s, s:o}", "fate",
						      survey_fates[i], "scripts", count, "width",
						      width, "words", view_words(survey_fates[i])));
	}
	return bars;
}

/* ---- causes: each once, with how many scripts show it on each target ---- */

struct survey_causes {
	json_t *list;    /* views */
	json_t *numbers; /* text of a cause → its number */
};

static bool survey_is_of_family(const json_t *cause, const char *family)
{
	const char *script = json_text(cause, "smallest");
	size_t len = strcspn(script, "/");

	return strlen(family) == len && !strncmp(script, family, len);
}

/* Where a cell leads: to the first cause of its target and family. */
static json_t *survey_anchor(const struct survey_causes *c, const json_t *causes,
			     const char *family)
{
	const json_t *cause;
	char anchor[32];
	size_t i;

	json_array_foreach(causes, i, cause) if (survey_is_of_family(cause, family))
	{
		snprintf(anchor, sizeof(anchor), "#cause-%lld",
			 view_count(c->numbers, json_text(cause, "cause")));
		return json_string(anchor);
	}
	return json_string("");
}

static json_t *survey_cause_view(const json_t *cause, const char *target, long long number)
{
	const char *history = json_text(cause, "history");
	json_t *view = json_object(), *lanes = view_lanes(history);
	struct buf script = BUF_INIT;
	char anchor[32];

	snprintf(anchor, sizeof(anchor), "cause-%lld", number);
	buf_addf(&script, "%s\n# %s\n# = %s\n", *history ? history : json_text(cause, "script"),
		 json_text(cause, "step"), json_text(cause, "detail"));
	json_object_set_new(view, "anchor", json_string(anchor));
	json_object_set_new(view, "cause", json_string(json_text(cause, "cause")));
	json_object_set_new(view, "call", json_string(json_text(cause, "call")));
	json_object_set_new(view, "severity", json_string(json_text(cause, "severity")));
	json_object_set_new(view, "smallest", json_string(json_text(cause, "smallest")));
	json_object_set_new(view, "step", json_string(json_text(cause, "step")));
	json_object_set_new(view, "detail", json_string(json_text(cause, "detail")));
	json_object_set_new(view, "reason", json_string(json_text(cause, "reason")));
	json_object_set_new(view, "script", view_text(buf_str(&script)));
	json_object_set_new(view, "first_on", json_string(target));
	json_object_set_new(view, "outside_posix",
			    json_boolean(json_is_true(json_object_get(cause, "outside_posix"))));
	json_object_set_new(view, "lanes", lanes ? lanes : json_string(""));
	json_object_set_new(view, "on", json_array());
	buf_free(&script);
	return view;
}

static void survey_gather(struct survey_causes *c, const json_t *targets)
{
	const json_t *target, *cause;
	size_t i, k;

	json_array_foreach(targets, i, target)
		json_array_foreach(json_object_get(target, "causes"), k, cause)
	{
		const char *text = json_text(cause, "cause"), *name = json_text(target, "target");
		json_t *view;

		if (!json_object_get(c->numbers, text)) {
			long long number = (long long)json_array_size(c->list) + 1;

			json_object_set_new(c->numbers, text, json_integer(number));
			json_array_append_new(c->list, survey_cause_view(cause, name, number));
		}
		view = json_array_get(c->list, (size_t)view_count(c->numbers, text) - 1);
		json_array_append_new(json_object_get(view, "on"),
				      json_pack("{s:s, s:I, s:b}", "name", name, "scripts",
						view_count(cause, "scripts"), "single",
						view_count(cause, "scripts") == 1));
	}
}

/* ---- the matrix ---- */

static json_t *survey_target_view(const struct survey_causes *c, const json_t *target)
{
	const json_t *families = json_object_get(target, "families"), *family;
	json_t *cells = json_array();
	size_t i;

	json_array_foreach(families, i, family) json_array_append_new(
		cells, json_pack("{s:s, s:o, s:o, s:I}", "family", json_text(family, "family"),
				 "bars", survey_bars(family), "leads_to",
				 survey_anchor(c, json_object_get(target, "causes"),
					       json_text(family, "family")),
				 "rejected", view_count(family, "rejected")));
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:s, s:o}", "of",
			 json_text(target, "target"), "scripts", view_count(target, "scripts"),
			 "accepted", view_count(target, "accepted"), "rejected",
			 view_count(target, "rejected"), "skipped", view_count(target, "skipped"),
			 "causes", (json_int_t)json_array_size(json_object_get(target, "causes")),
			 "failure", json_text(target, "failure"), "cells", cells);
}

json_t *view_survey(const json_t *run)
{
	const json_t *targets = json_object_get(run, "targets"), *target, *family;
	struct survey_causes c = { json_array(), json_object() };
	json_t *rows = json_array(), *names = json_array(), *first;
	bool conform = !strcmp(json_text(run, "command"), "conform") && json_is_array(targets);
	size_t i;

	if (conform)
		survey_gather(&c, targets);
	if (conform)
		json_array_foreach(targets, i, target)
			json_array_append_new(rows, survey_target_view(&c, target));
	first = json_object_get(json_array_get(targets, 0), "families");
	json_array_foreach(first, i, family)
		json_array_append_new(names, json_string(json_text(family, "family")));
	json_decref(c.numbers);
	if (conform)
		return json_pack("{s:o, s:o, s:o}", "families", names, "targets", rows, "causes",
				 c.list);
	json_decref(c.list);
	json_decref(rows);
	json_decref(names);
	return NULL;
}
