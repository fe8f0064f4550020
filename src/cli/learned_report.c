/* learned_report.c -- what a target was found to lack, as it is printed and kept: never silent. */
#include "cli/learned_report.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/json.h"
#include "run/run.h"
#include "target/learned.h"

static void learned_append(json_t *rows, const struct learned_list *l, const char *target)
{
	for (size_t i = 0; i < l->count; i++) {
		const struct learned *row = &l->items[i];
		json_t *o = json_pack("{s:s, s:s?, s:s?, s:s?, s:s, s:s, s:s}", "target", target,
				      "trait", row->trait, "value", row->trait ? row->value : NULL,
				      "fields", row->fields, "what", row->what, "reason",
				      row->reason, "hides", row->hides);

		if (row->contradicted)
			json_object_set_new(o, "contradicts", json_true());
		json_array_append_new(rows, o);
	}
}

/* An array among the figures of the run, made where it is not there. */
static json_t *learned_array(struct run *run, const char *name)
{
	json_t *array = json_object_get(run->figures, name);

	if (!array) {
		array = json_array();
		json_object_set_new(run->figures, name, array);
	}
	return array;
}

void learned_add(struct run *run, const struct target *t)
{
	struct buf text = BUF_INIT;

	if (!t->learned)
		return;
	learned_append(learned_array(run, "learned"), t->learned, t->name);
	if (t->learned->cut_short)
		json_object_set_new(run->figures, "learned_in_part", json_true());
	if (!t->learned->count)
		return;
	learned_describe(t->learned, t->description, &text);
	json_array_append_new(learned_array(run, "descriptions"), json_string(buf_str(&text)));
	buf_free(&text);
}

static void learned_print_row(const json_t *row)
{
	bool only_fields = json_is_null(json_object_get(row, "trait")) &&
			   json_is_string(json_object_get(row, "fields"));
	const char *name = only_fields ? "fields" : json_text(row, "trait");
	const char *value = json_text(row, only_fields ? "fields" : "value");

	if (json_is_true(json_object_get(row, "contradicts")))
		printf("not missing: %s, but the description says %s = %s\n",
		       json_text(row, "what"), name, value);
	else
		printf("missing: %s (%s%s%s): %s. Not judged: %s\n", json_text(row, "what"),
		       *name ? name : "no trait", *value ? " = " : "", value,
		       json_text(row, "reason"), json_text(row, "hides"));
}

static void learned_print_cut(void)
{
	puts("not all features were probed: the file system hung or died too often");
}

void learned_print(const struct run *run)
{
	const json_t *o = run->figures, *row;
	size_t i;

	json_array_foreach(json_object_get(o, "learned"), i, row) learned_print_row(row);
	if (json_is_true(json_object_get(o, "learned_in_part")))
		learned_print_cut();
	json_array_foreach(json_object_get(o, "descriptions"), i, row)
		printf("to describe the file system, paste this into assay.ini:\n%s",
		       json_string_value(row));
}

void learned_print_target(const struct target *t, const struct learned_list *l, bool json)
{
	struct buf text = BUF_INIT;
	json_t *rows = json_array(), *row;
	size_t i;

	learned_append(rows, l, t->name);
	if (json) {
		json_dumpf(rows, stdout, JSON_INDENT(1));
		putchar('\n');
	} else {
		learned_describe(l, t->description, &text);
		fputs(buf_str(&text), stdout);
		putchar('\n');
		json_array_foreach(rows, i, row)
		{
			fputs("# ", stdout);
			learned_print_row(row);
		}
		if (!json_array_size(rows))
			printf("# %s: no feature is missing\n", t->name);
		if (l->cut_short)
			learned_print_cut();
	}
	json_decref(rows);
	buf_free(&text);
}
