/* survey_add.c -- surveys of parts of the scripts, put together to that of all. */
#include "conform/survey_add.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/must.h"
#include "conform/survey.h"

/* Figures of a run, of a target and of a family, as far as each has them. */
static const char *const survey_sums[] = { "scripts",      "scripts_run", "calls",   "accepted",
					   "rejected",     "undefined",   "skipped", "not_run",
					   "pairs",        "schedules",   "left",    "outcomes",
					   "unsteady",     "whole",       "reduced", "exec_seconds",
					   "check_seconds" };

static void add_number(json_t *to, const json_t *from, const char *name)
{
	const json_t *more = json_object_get(from, name), *sum = json_object_get(to, name);

	if (json_is_integer(more))
		json_object_set_new(
			to, name, json_integer(json_integer_value(sum) + json_integer_value(more)));
	else if (json_is_number(more))
		json_object_set_new(to, name,
				    json_real(json_number_value(sum) + json_number_value(more)));
}

static void add_sums(json_t *to, const json_t *from)
{
	for (size_t i = 0; i < ARRAY_LEN(survey_sums); i++)
		add_number(to, from, survey_sums[i]);
}

/* What has the same text under `name`; NULL if nothing has. */
static json_t *row_named(const json_t *rows, const char *name, const char *text)
{
	json_t *row;
	size_t i;

	json_array_foreach((json_t *)rows, i,
			   row) if (!strcmp(json_text(row, name), text)) return row;
	return NULL;
}

/* Rows of the same name are put together by `add`. */
static void add_rows(json_t *to, const json_t *from, const char *name,
		     void (*add)(json_t *to, const json_t *from))
{
	json_t *row, *there;
	size_t i;

	json_array_foreach((json_t *)from, i, row)
	{
		there = row_named(to, name, json_text(row, name));
		if (there)
			add(there, row);
		else
			json_array_append_new(to, json_deep_copy(row));
	}
}

/* ---- causes ---- */

static unsigned severity_of(const json_t *cause)
{
	unsigned s = 0;

	while (s + 1 < SEVERITIES && strcmp(severity_table[s].name, json_text(cause, "severity")))
		s++;
	return s;
}

/* As causes are compared in one survey: of fewer calls. */
static bool is_smaller_cause(const json_t *a, const json_t *b)
{
	json_int_t calls = json_integer_value(json_object_get(a, "calls")),
		   than = json_integer_value(json_object_get(b, "calls"));

	return calls != than ? calls < than
			     : strlen(json_text(a, "step")) < strlen(json_text(b, "step"));
}

/* The example of the smaller one is that of both, with what its verification has shown. */
static void add_cause(json_t *to, const json_t *from)
{
	bool outside_posix = json_is_true(json_object_get(to, "outside_posix")) ||
			     json_is_true(json_object_get(from, "outside_posix"));
	const char *severity =
		severity_table[severity_of(to) < severity_of(from) ? severity_of(to)
								   : severity_of(from)]
			.name;
	json_t *scripts;

	add_number(to, from, "scripts");
	scripts = json_incref(json_object_get(to, "scripts"));
	if (is_smaller_cause(from, to)) {
		json_object_clear(to);
		json_object_update(to, (json_t *)from);
	}
	json_object_set_new(to, "scripts", scripts);
	json_object_set_new(to, "outside_posix", json_boolean(outside_posix));
	json_object_set_new(to, "severity", json_string(severity));
}

/* The order of causes.h. */
static int by_json_weight(const void *a, const void *b)
{
	const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
	bool outside = json_is_true(json_object_get(x, "outside_posix"));
	json_int_t scripts = json_integer_value(json_object_get(x, "scripts")),
		   others = json_integer_value(json_object_get(y, "scripts"));

	if (outside != json_is_true(json_object_get(y, "outside_posix")))
		return outside ? -1 : 1;
	if (severity_of(x) != severity_of(y))
		return severity_of(x) < severity_of(y) ? -1 : 1;
	if (scripts != others)
		return scripts > others ? -1 : 1;
	return strcmp(json_text(x, "cause"), json_text(y, "cause"));
}

static void sort_rows(json_t *rows)
{
	size_t count = json_array_size(rows), i;
	json_t **items = must_alloc((count + 1) * sizeof(*items)), *row;

	json_array_foreach(rows, i, row) items[i] = json_incref(row);
	qsort(items, count, sizeof(*items), by_json_weight);
	json_array_clear(rows);
	for (i = 0; i < count; i++)
		json_array_append_new(rows, items[i]);
	free(items);
}

/* ---- targets and rules ---- */

static void add_target_row(json_t *to, const json_t *from)
{
	const char *failure = json_text(from, "failure");

	add_sums(to, from);
	add_rows(json_object_get(to, "families"), json_object_get(from, "families"), "family",
		 add_sums);
	add_rows(json_object_get(to, "causes"), json_object_get(from, "causes"), "cause",
		 add_cause);
	sort_rows(json_object_get(to, "causes"));
	if (*failure)
		json_object_set_new(to, "failure", json_string(failure));
}

/* Rows that the other does not have were met there. */
static void keep_common(json_t *rows, const json_t *other)
{
	const char *name;
	json_t *row;
	void *next;

	json_object_foreach_safe(rows, next, name, row) if (!json_object_get(other, name))
		json_object_del(rows, name);
}

static void add_rules(json_t *to, const json_t *from)
{
	json_t *unmet = json_object_get(to, "unmet"), *excused = json_object_get(to, "excused");
	json_int_t held = json_integer_value(json_object_get(to, "held"));

	keep_common(unmet, json_object_get(from, "unmet"));
	keep_common(excused, json_object_get(from, "excused"));
	json_object_set_new(to, "met",
			    json_integer(held - (json_int_t)(json_object_size(unmet) +
							     json_object_size(excused))));
}

/* ---- the whole ---- */

static void add_schedules(json_t *to, const json_t *from)
{
	json_t *searched = json_object_get(to, "searched");
	double whole = json_number_value(json_object_get(to, "whole")),
	       reduced = json_number_value(json_object_get(to, "reduced"));

	for (size_t i = 0; i < json_array_size(searched); i++) {
		json_int_t more =
			json_integer_value(json_array_get(json_object_get(from, "searched"), i));

		more += json_integer_value(json_array_get(searched, i));
		json_array_set_new(searched, i, json_integer(more));
	}
	if (reduced > 0)
		json_object_set_new(to, "reduction", json_real(whole / reduced));
	if (json_number_value(json_object_get(from, "chance")) <
	    json_number_value(json_object_get(to, "chance")))
		json_object_set(to, "chance", json_object_get(from, "chance"));
}

void survey_add(json_t *figures, const json_t *part)
{
	static const char *const of_first[] = { "targets",         "rules",       "searched",
						"chance",          "reduction",   "learned",
						"learned_in_part", "descriptions" };
	json_t *targets = json_object_get(figures, "targets");

	add_sums(figures, part);
	if (!targets) {
		for (size_t i = 0; i < ARRAY_LEN(of_first); i++)
			if (json_object_get(part, of_first[i]))
				json_object_set_new(
					figures, of_first[i],
					json_deep_copy(json_object_get(part, of_first[i])));
		return;
	}
	add_rows(targets, json_object_get(part, "targets"), "target", add_target_row);
	add_rules(json_object_get(figures, "rules"), json_object_get(part, "rules"));
	add_schedules(figures, part);
}

void survey_print_added(const json_t *figures, struct buf *out)
{
	const json_t *target;
	size_t i;

	json_array_foreach((json_t *)json_object_get(figures, "targets"), i, target)
	{
		if (*json_text(target, "failure"))
			survey_print_failure(json_text(target, "target"),
					     json_text(target, "failure"), out);
		buf_addf(out, "%s: %lld scripts, %lld accepted, %lld rejected, %zu causes\n",
			 json_text(target, "target"),
			 json_integer_value(json_object_get(target, "scripts")),
			 json_integer_value(json_object_get(target, "accepted")),
			 json_integer_value(json_object_get(target, "rejected")),
			 json_array_size(json_object_get(target, "causes")));
	}
	if (json_object_get(figures, "schedules"))
		buf_addf(out, "%lld schedules of %lld pairs tried\n",
			 json_integer_value(json_object_get(figures, "schedules")),
			 json_integer_value(json_object_get(figures, "pairs")));
}
