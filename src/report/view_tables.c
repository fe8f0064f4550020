/* view_tables.c -- the tables of a page: code reached, features that are missing, fields that a
 * checker was tested with, targets of a sweep. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "report/view.h"

/* "37%" for a style; of what cannot be, nothing. */
static json_t *table_percent(long long part, long long whole)
{
	bool sound = whole > 0 && part >= 0 && part <= whole;
	char text[16];

	snprintf(text, sizeof(text), "%.0f%%", sound ? (double)part * 100 / (double)whole : 0.0);
	return json_string(text);
}

/* ---- code ---- */

static json_t *code_file_view(const json_t *file)
{
	json_t *never = json_array(), *name;
	long long points = view_count(file, "points"), reached = view_count(file, "reached");
	size_t i;

	json_array_foreach(json_object_get(file, "never"), i, name) if (json_is_string(name))
		json_array_append(never, name);
	return json_pack("{s:s, s:I, s:I, s:o, s:I, s:I, s:o, s:b}", "file",
			 json_text(file, "path"), "points", points, "reached", reached, "share",
			 table_percent(reached, points), "functions", view_count(file, "functions"),
			 "entered", view_count(file, "entered"), "never_entered", never, "common",
			 json_is_true(json_object_get(file, "common")));
}

json_t *view_code(const json_t *run)
{
	const json_t *code = json_object_get(run, "kernel_coverage"), *file;
	json_t *own = json_array(), *common = json_array(), *row;
	long long points = view_count(code, "points"), reached = view_count(code, "reached");
	size_t i;

	if (!json_is_object(code)) {
		json_decref(own);
		json_decref(common);
		return NULL;
	}
	json_array_foreach(json_object_get(code, "files"), i, file)
	{
		row = code_file_view(file);
		json_array_append_new(json_is_true(json_object_get(row, "common")) ? common : own,
				      row);
	}
	return json_pack("{s:I, s:I, s:o, s:o, s:o}", "points", points, "reached", reached, "share",
			 table_percent(reached, points), "own", own, "shared_code", common);
}

/* ---- what the target lacks ---- */

json_t *view_learned(const json_t *run)
{
	static const char *const keys[] = { "what", "trait", "reason", "hides" };
	const json_t *learned = json_object_get(run, "learned"), *row;
	json_t *rows = json_array(), *descriptions = json_array(), *copy;
	size_t i;

	json_array_foreach(learned, i, row)
	{
		copy = json_object();
		for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++)
			json_object_set_new(copy, keys[k], json_string(json_text(row, keys[k])));
		json_array_append_new(rows, copy);
	}
	json_array_foreach(json_object_get(run, "descriptions"), i, row) if (json_is_string(row))
		json_array_append(descriptions, (json_t *)row);
	if (json_array_size(rows))
		return json_pack("{s:o, s:o}", "features", rows, "descriptions", descriptions);
	json_decref(rows);
	json_decref(descriptions);
	return NULL;
}

/* ---- fields of a disk ---- */

static json_t *field_view(const json_t *row)
{
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:b, s:s}", "field",
			 json_text(row, "field"), "instances", view_count(row, "instances"),
			 "tried", view_count(row, "tried"), "images", view_count(row, "images"),
			 "faults", view_count(row, "faults"), "paths", view_count(row, "paths"),
			 "all_values", json_is_true(json_object_get(row, "all_values")),
			 "incomplete_for", json_text(row, "incomplete_for"));
}

/* The group of this structure, made where it is new; rows of one come behind each other. */
static json_t *field_group(json_t *groups, const char *structure)
{
	json_t *last = json_array_get(groups, json_array_size(groups) - 1);

	if (last && !strcmp(json_text(last, "structure"), structure))
		return last;
	last = json_pack("{s:s, s:[], s:I, s:I, s:I}", "structure", structure, "fields",
			 "group_images", (json_int_t)0, "group_faults", (json_int_t)0,
			 "group_fields", (json_int_t)0);
	if (last)
		json_array_append_new(groups, last);
	return last;
}

static void field_add(json_t *group, const char *key, long long more)
{
	json_object_set_new(group, key, json_integer(view_sum(view_count(group, key), more)));
}

json_t *view_fields(const json_t *run)
{
	const json_t *table = json_object_get(run, "field_table"), *row;
	json_t *groups, *group;
	size_t i;

	if (!json_array_size(table))
		return NULL;
	groups = json_array();
	json_array_foreach(table, i, row)
	{
		group = field_group(groups, json_text(row, "structure"));
		if (!group)
			continue;
		json_array_append_new(json_object_get(group, "fields"), field_view(row));
		field_add(group, "group_images", view_count(row, "images"));
		field_add(group, "group_faults", view_count(row, "faults"));
		field_add(group, "group_fields", 1);
	}
	return json_pack("{s:o}", "groups", groups);
}

/* ---- sweeps ---- */

static const char *const sweep_severities[] = { "crash",    "data",          "damage",
						"metadata", "outside-posix", "unlike-linux" };

static json_t *sweep_cells(const json_t *findings, const char *page)
{
	json_t *cells = json_array(), *finding;
	size_t i;

	for (size_t s = 0; s < sizeof(sweep_severities) / sizeof(*sweep_severities); s++) {
		json_int_t count = 0;

		json_array_foreach(findings, i, finding) count +=
			!strcmp(json_text(finding, "severity"), sweep_severities[s]);
		json_array_append_new(cells,
				      json_pack("{s:s, s:I, s:s}", "cell_severity",
						sweep_severities[s], "count", count, "page", page));
	}
	return cells;
}

/* A target's page, which has to lie below the run. */
static void sweep_page(const json_t *row, char *ret, size_t size)
{
	const char *dir = json_text(row, "dir");

	snprintf(ret, size, "%s", "");
	if (*dir && *dir != '.' && !strpbrk(dir, "/:"))
		snprintf(ret, size, "%.255s/report.html", dir);
}

json_t *view_sweep(const json_t *run)
{
	const json_t *targets = json_object_get(run, "targets"), *row;
	json_t *rows, *severities, *view;
	char page[300];
	size_t i;

	if (strcmp(json_text(run, "command"), "explore") || !json_is_array(targets))
		return NULL;
	rows = json_array();
	severities = json_array();
	for (size_t s = 0; s < sizeof(sweep_severities) / sizeof(*sweep_severities); s++)
		json_array_append_new(severities, json_string(sweep_severities[s]));
	json_array_foreach(targets, i, row)
	{
		const char *why = json_text(row, *json_text(row, "lacks") ? "lacks" : "failure");

		sweep_page(row, page, sizeof(page));
		view = json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:o}", "of",
				 json_text(row, "target"), "outcome", json_text(row, "verdict"),
				 "why", why, "page", page, "states", view_count(row, "states"),
				 "transitions", view_count(row, "transitions"), "cells",
				 sweep_cells(json_object_get(row, "findings"), page));
		if (view)
			json_array_append_new(rows, view);
	}
	return json_pack("{s:o, s:o}", "severities", severities, "targets", rows);
}
