/* survey.c -- the table of causes by targets, as text and as JSON; differences of two surveys. */
#include "conform/survey.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/count_text.h"
#include "base/must.h"

enum { COLUMN = 9, SHORT_MAX = 300 };

void survey_free(struct survey *s)
{
	for (size_t i = 0; i < s->count; i++) {
		conform_result_free(&s->targets[i].result);
		causes_free(&s->targets[i].causes);
		free(s->targets[i].learned);
		free(s->targets[i].failure);
	}
	free(s->targets);
	*s = (struct survey){ 0 };
}

static bool is_first(const struct survey *s, size_t target, const char *text)
{
	for (size_t i = 0; i < target; i++)
		if (causes_find(&s->targets[i].causes, text))
			return false;
	return true;
}

struct survey_row *survey_rows(const struct survey *s, size_t *ret_count)
{
	struct survey_row *rows = NULL;
	size_t count = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct surveyed *t = &s->targets[i];

		for (size_t k = 0; k < t->causes.count; k++) {
			if (!is_first(s, i, t->causes.items[k].text))
				continue;
			rows = must_realloc(rows, (count + 1) * sizeof(*rows));
			rows[count++] = (struct survey_row){ t, &t->causes.items[k] };
		}
	}
	*ret_count = count;
	return rows;
}

static void print_header(const struct survey *s, struct buf *out)
{
	for (size_t i = 0; i < s->count; i++)
		buf_addf(out, "%*.*s ", COLUMN, COLUMN, s->targets[i].result.target);
	buf_adds(out, " cause\n");
}

static void print_row(const struct survey *s, const struct cause *row, struct buf *out)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct cause *own = causes_find(&s->targets[i].causes, row->text);

		if (own)
			buf_addf(out, "%*zu%c", COLUMN, own->scripts, own->reason ? 'x' : ' ');
		else
			buf_addf(out, "%*s ", COLUMN, s->targets[i].failure ? "?" : ".");
	}
	buf_addf(out, " %s\n", row->text);
}

static void print_table(const struct survey *s, const struct survey_row *rows, size_t count,
			bool outside_posix, struct buf *out)
{
	size_t start = out->len;

	for (size_t i = 0; i < count; i++) {
		if (rows[i].cause->outside_posix != outside_posix)
			continue;
		if (out->len == start) {
			buf_adds(out, outside_posix
					      ? "\nNot allowed by POSIX (scripts that show it):\n"
					      : "\nAllowed by POSIX, but not what Linux does:\n");
			print_header(s, out);
		}
		print_row(s, rows[i].cause, out);
	}
}

static const struct suite_script *first_of(const struct conform_result *r, enum script_fate fate)
{
	size_t i = 0;

	while (r->fates[i] != fate)
		i++;
	return &r->suite->scripts[i];
}

/* Most failures name their target themselves. */
void survey_print_failure(const char *target, const char *failure, struct buf *out)
{
	size_t len = strlen(target);

	if (strncmp(failure, target, len) || failure[len] != ':')
		buf_addf(out, "%s: ", target);
	buf_addf(out, "%s\n", failure);
}

static void print_figures(const struct surveyed *t, struct buf *out)
{
	const struct conform_result *r = &t->result;

	if (t->failure)
		survey_print_failure(r->target, t->failure, out);
	buf_addf(out, "%s: %s, %zu accepted, %zu rejected", r->target,
		 count_text(r->suite->count - r->counts[SCRIPT_FATES], "script"),
		 r->counts[SCRIPT_ACCEPTED], r->counts[SCRIPT_REJECTED]);
	if (r->counts[SCRIPT_UNKNOWN]) {
		buf_addf(out, ", %zu undefined (", r->counts[SCRIPT_UNKNOWN]);
		suite_name(first_of(r, SCRIPT_UNKNOWN), out);
		buf_adds(out, r->counts[SCRIPT_UNKNOWN] > 1 ? ", ...)" : ")");
	}
	if (r->counts[SCRIPT_SKIPPED])
		buf_addf(out, ", %zu skipped (beyond what it can do here)",
			 r->counts[SCRIPT_SKIPPED]);
	if (r->figures.not_made)
		buf_addf(out, ", %ju of them for the bound on space (--space)",
			 (uintmax_t)r->figures.not_made);
	if (r->counts[SCRIPT_FATES])
		buf_addf(out, ", %zu not run", r->counts[SCRIPT_FATES]);
	buf_addf(out, "; %.1f s to execute, %.1f s to check\n", r->figures.exec_seconds,
		 r->figures.check_seconds);
	if (t->causes.unconfirmed)
		buf_addf(out, "%s: %zu of %zu causes did not show again: unconfirmed\n", r->target,
			 t->causes.unconfirmed, t->causes.unexpected);
}

/* Its first line, or what of it is short enough to be read. */
static void add_short(struct buf *out, const char *text)
{
	size_t len = strcspn(text, "\n");

	buf_addf(out, "%.*s%s", (int)(len < SHORT_MAX ? len : SHORT_MAX), text,
		 len < SHORT_MAX && (!text[len] || !text[len + 1]) ? "" : " ...");
}

static void add_indented(struct buf *out, const char *text)
{
	buf_adds(out, "  no order explains this:\n");
	for (size_t len; *text; text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		buf_addf(out, "    %.*s\n", (int)len, text);
	}
}

/* Other causes of its group. */
static void print_others(const struct causes *causes, const struct cause *head, struct buf *out)
{
	for (size_t i = 0; i < causes->count; i++) {
		const struct cause *other = &causes->items[i];

		if (other != head && causes_head(causes, other) == head)
			buf_addf(out, "  also: %s (%zu script%s)\n", other->text, other->scripts,
				 other->scripts == 1 ? "" : "s");
	}
}

static void print_example(const struct survey *s, const struct survey_row *row, struct buf *out)
{
	const struct cause *cause = row->cause;
	const struct deviation *d = cause->example;

	buf_addf(out, "\n%s: %s\n  %zu script%s, the smallest: ", row->target->result.target,
		 cause->text, cause->scripts, cause->scripts == 1 ? "" : "s");
	suite_name(&s->suite->scripts[d->script], out);
	buf_adds(out, d->in_setup ? " (its set-up)\n  " : "\n  ");
	add_short(out, buf_str(&d->call));
	buf_adds(out, d->code == PROBLEM_TIMES  ? ": "
		      : d->code == PROBLEM_TREE ? " leaves "
						: " = ");
	add_short(out, buf_str(&d->detail));
	buf_addch(out, '\n');
	if (d->history.len)
		add_indented(out, d->history.data);
	if (cause->reason)
		buf_addf(out, "  known: %s\n", cause->reason);
	print_others(&row->target->causes, cause, out);
}

void survey_print(const struct survey *s, struct buf *out)
{
	size_t count;
	struct survey_row *rows = survey_rows(s, &count);

	for (size_t i = 0; i < s->count; i++)
		print_figures(&s->targets[i], out);
	print_table(s, rows, count, true, out);
	print_table(s, rows, count, false, out);
	for (size_t i = 0; i < count; i++)
		if (causes_head(&rows[i].target->causes, rows[i].cause) == rows[i].cause)
			print_example(s, &rows[i], out);
	free(rows);
}

static json_t *cause_json(const struct survey *s, const struct cause *cause)
{
	const struct deviation *d = cause->example;
	struct buf name = BUF_INIT, script = BUF_INIT;
	json_t *o;

	suite_name(&s->suite->scripts[d->script], &name);
	suite_print(s->suite, &s->suite->scripts[d->script], &script);
	o = json_pack("{s:s s:s s:I s:b s:s s:I s:s s:s s:s}", "cause", cause->text, "call",
		      op_table[d->op].name, "scripts", (json_int_t)cause->scripts, "outside_posix",
		      cause->outside_posix, "smallest", name.data, "calls", (json_int_t)d->calls,
		      "step", buf_str(&d->call), "detail", buf_str(&d->detail), "script",
		      script.data);
	must(o);
	json_object_set_new(o, "severity", json_string(severity_table[cause->severity].name));
	if (d->group.len)
		json_object_set_new(o, "group", json_string(d->group.data));
	if (cause->reason)
		json_object_set_new(o, "reason", json_string(cause->reason));
	if (cause->unconfirmed)
		json_object_set_new(o, "unconfirmed", json_true());
	if (d->history.len)
		json_object_set_new(o, "history", json_string(d->history.data));
	buf_free(&name);
	buf_free(&script);
	return o;
}

/* What became of the scripts of each family, or folder of files. */
static json_t *families_json(const struct survey *s, const struct conform_result *r)
{
	static const char *const fates[] = {
		[SCRIPT_ACCEPTED] = "accepted", [SCRIPT_REJECTED] = "rejected",
		[SCRIPT_UNKNOWN] = "undefined", [SCRIPT_SKIPPED] = "skipped",
		[SCRIPT_FATES] = "not_run",
	};
	json_t *families = json_array(), *by_name = json_object(), *o;
	struct buf name = BUF_INIT;

	for (size_t i = 0; i < s->suite->count && r->fates; i++) {
		const char *fate = fates[r->fates[i]];

		buf_clear(&name);
		suite_name(&s->suite->scripts[i], &name);
		name.data[strcspn(name.data, "/")] = '\0';
		o = json_object_get(by_name, name.data);
		if (!o) {
			o = json_pack("{s:s}", "family", name.data);
			must(o);
			json_object_set(by_name, name.data, o);
			json_array_append_new(families, o);
		}
		json_object_set_new(o, fate,
				    json_integer(json_integer_value(json_object_get(o, fate)) + 1));
	}
	json_decref(by_name);
	buf_free(&name);
	return families;
}

json_t *survey_json(const struct survey *s)
{
	json_t *array = json_array(), *o, *causes;

	for (size_t i = 0; i < s->count; i++) {
		const struct surveyed *t = &s->targets[i];
		const struct conform_result *r = &t->result;

		causes = json_array();
		for (size_t k = 0; k < t->causes.count; k++)
			json_array_append_new(causes, cause_json(s, &t->causes.items[k]));
		o = json_pack("{s:s s:s s:I s:I s:I s:I s:I s:f s:f s:o}", "target", r->target,
			      "judged_by", r->figures.judged_by, "scripts",
			      (json_int_t)r->suite->count, "accepted",
			      (json_int_t)r->counts[SCRIPT_ACCEPTED], "rejected",
			      (json_int_t)r->counts[SCRIPT_REJECTED], "skipped",
			      (json_int_t)r->counts[SCRIPT_SKIPPED], "calls",
			      (json_int_t)r->figures.calls, "exec_seconds", r->figures.exec_seconds,
			      "check_seconds", r->figures.check_seconds, "causes", causes);
		must(o);
		json_object_set_new(o, "families", families_json(s, r));
		if (t->failure)
			json_object_set_new(o, "failure", json_string(t->failure));
		json_array_append_new(array, o);
	}
	return array;
}

static const json_t *find_target(const json_t *survey, const char *target)
{
	size_t i;
	json_t *o;

	json_array_foreach((json_t *)survey, i,
			   o) if (!strcmp(json_string_value(json_object_get(o, "target")),
					  target)) return o;
	return NULL;
}

static bool has_cause(const json_t *causes, const char *text)
{
	size_t i;
	json_t *o;

	json_array_foreach((json_t *)causes, i,
			   o) if (!strcmp(json_string_value(json_object_get(o, "cause")),
					  text)) return true;
	return false;
}

size_t survey_compare(const struct survey *s, const json_t *before, struct buf *out)
{
	size_t count = 0, k;
	json_t *o;

	for (size_t i = 0; i < s->count; i++) {
		const struct surveyed *t = &s->targets[i];
		const char *target = t->result.target;
		const json_t *causes = json_object_get(find_target(before, target), "causes");

		for (k = 0; k < t->causes.count; k++) {
			if (has_cause(causes, t->causes.items[k].text))
				continue;
			buf_addf(out, "new: %s: %s\n", target, t->causes.items[k].text);
			count++;
		}
		json_array_foreach((json_t *)causes, k, o)
		{
			const char *text = json_string_value(json_object_get(o, "cause"));

			if (!causes_find(&t->causes, text))
				buf_addf(out, "gone: %s: %s\n", target, text);
		}
	}
	return count;
}
