/* known.c -- the file of known failures: read, asked, and written. */
#include "run/known.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/must.h"
#include "judge/problem.h"

enum { FILE_MAX = 1 << 20 };

static const char because[] = "# because: ";
static const char until[] = "# until: ";

struct known_reader {
	struct known *known;
	const char *path, *today;
	unsigned line;
	const char *reason; /* for the lines that follow; NULL: none yet */
	const char *until;  /* their last day, or "" */
	struct err *err;
};

static bool is_date(const char *text)
{
	static const char form[] = "dddd-dd-dd";
	size_t i;

	for (i = 0; form[i]; i++)
		if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != '-')
			return false;
	return !text[i];
}

/* Findings had a file of sections once. */
static int known_refuse_section(const struct known_reader *r, const char *line)
{
	return err_set(r->err, EINVAL,
		       "%s:%u: sections are not read any more: for each, write the line \"# "
		       "because: \" with its reason, and below it \"*: %.*s\"",
		       r->path, r->line, (int)strcspn(line + 1, "]"), line + 1);
}

static int known_read_until(struct known_reader *r, const char *date)
{
	if (!r->reason || !is_date(date))
		return err_set(r->err, EINVAL,
			       "%s:%u: expected \"%sYYYY-MM-DD\" below a line \"%sREASON\"",
			       r->path, r->line, until, because);
	r->until = date;
	return 0;
}

static int known_read_failure(struct known_reader *r, const char *line)
{
	const char *text = strstr(line, ": ");
	struct known *k = r->known;
	struct known_row *row;

	if (!text || !r->reason)
		return err_set(r->err, EINVAL,
			       "%s:%u: expected \"TARGET: FAILURE\" below a line \"%sREASON\"",
			       r->path, r->line, because);
	k->rows = must_realloc(k->rows, (k->count + 1) * sizeof(*k->rows));
	row = &k->rows[k->count++];
	*row = (struct known_row){ .line = must_strdup(line), .reason = must_strdup(r->reason) };
	row->text = row->line + (text + 2 - line);
	snprintf(row->until, sizeof(row->until), "%s", r->until);
	row->expired = *r->until && strcmp(r->until, r->today) < 0;
	return 0;
}

static int known_read_line(struct known_reader *r, const char *line)
{
	if (!strncmp(line, because, strlen(because))) {
		r->reason = line + strlen(because);
		r->until = "";
		return 0;
	}
	if (!strncmp(line, until, strlen(until)))
		return known_read_until(r, line + strlen(until));
	if (!*line || *line == '#')
		return 0;
	if (*line == '[')
		return known_refuse_section(r, line);
	return known_read_failure(r, line);
}

int known_read(struct known *k, const char *path, const char *today, struct err *err)
{
	struct known_reader r = { .known = k, .path = path, .today = today, .err = err };
	struct buf text = BUF_INIT;
	char *line, *rest;
	int status;

	*k = (struct known){ 0 };
	status = buf_read_file(&text, path, FILE_MAX, err);
	rest = text.data;
	while (!status && (line = strsep(&rest, "\n"))) {
		r.line++;
		status = known_read_line(&r, line);
	}
	buf_free(&text);
	if (status)
		known_free(k);
	return status;
}

void known_free(struct known *k)
{
	for (size_t i = 0; i < k->count; i++) {
		free(k->rows[i].line);
		free(k->rows[i].reason);
	}
	free(k->rows);
	*k = (struct known){ 0 };
}

/* Exactly, or without the words in parentheses; or as the shell matches names: causes of races name
 * calls in the order they were met. */
static bool known_matches(const char *pattern, const char *text)
{
	const char *words = strstr(text, " (");

	if (words && !strncmp(pattern, text, (size_t)(words - text)) && !pattern[words - text])
		return true;
	return !strcmp(pattern, text) || !fnmatch(pattern, text, FNM_NOESCAPE);
}

/* Is it a row of this target? Its failure is then at *ret. The name of a target may hold anything,
 * even ": ". */
static bool known_is_of(const struct known_row *row, const char *target, const char **ret)
{
	size_t len = strlen(target);

	if (!strncmp(row->line, "*: ", 3))
		len = 1;
	else if (strncmp(row->line, target, len) || strncmp(row->line + len, ": ", 2))
		return false;
	*ret = row->line + len + 2;
	return true;
}

static struct known_row *known_search(const struct known *k, const char *target, const char *text,
				      bool expired)
{
	const char *pattern;

	for (size_t i = 0; i < k->count; i++)
		if (k->rows[i].expired == expired && known_is_of(&k->rows[i], target, &pattern) &&
		    known_matches(pattern, text))
			return &k->rows[i];
	return NULL;
}

struct known_row *known_find(const struct known *k, const char *target, const char *text)
{
	return known_search(k, target, text, false);
}

const struct known_row *known_meet(struct known *k, const char *target, const char *text,
				   const char *group, uint64_t times)
{
	struct known_row *row = NULL;

	for (int expired = 0; expired <= 1 && !row; expired++) {
		row = known_search(k, target, text, expired);
		if (!row)
			row = known_search(k, target, group, expired);
	}
	if (!row)
		return NULL;
	row->seen += times;
	return row->expired ? NULL : row;
}

static enum known_form known_form(const char *text)
{
	for (enum problem p = 0; p < PROBLEMS; p++) {
		size_t len = strlen(problem_table[p].name);

		if (!strncmp(text, problem_table[p].name, len) && text[len] == ' ')
			return KNOWN_SIGNATURES;
	}
	if (!strncmp(text, "race ", 5))
		return KNOWN_RACES;
	if (strstr(text, ", allowed: ") || !strncmp(text, "after ", 6))
		return KNOWN_CAUSES;
	return KNOWN_GROUPS;
}

void known_ask(struct known *k, const char *target, unsigned forms, bool all)
{
	const char *text;

	for (size_t i = 0; i < k->count; i++) {
		struct known_row *row = &k->rows[i];

		if (!known_is_of(row, target, &text) || !(known_form(text) & forms))
			continue;
		row->asked = true;
		row->in_part |= !all;
	}
}

static const char *const state_names[] = {
	[KNOWN_NOT_ASKED] = "not asked", [KNOWN_SEEN] = "seen",       [KNOWN_NOT_SEEN] = "not seen",
	[KNOWN_FIXED] = "fixed",         [KNOWN_EXPIRED] = "expired",
};

enum known_state known_state(const struct known_row *row)
{
	if (row->expired)
		return row->asked || row->seen ? KNOWN_EXPIRED : KNOWN_NOT_ASKED;
	if (row->seen)
		return KNOWN_SEEN;
	if (!row->asked)
		return KNOWN_NOT_ASKED;
	return row->in_part ? KNOWN_NOT_SEEN : KNOWN_FIXED;
}

json_t *known_json(const struct known *k)
{
	json_t *list = json_array();

	for (size_t i = 0; i < k->count; i++) {
		const struct known_row *row = &k->rows[i];
		json_t *o = json_pack("{s:s, s:s, s:s, s:I}", "failure", row->text, "reason",
				      row->reason, "state", state_names[known_state(row)], "seen",
				      (json_int_t)row->seen);

		if (*row->until)
			json_object_set_new(o, "until", json_string(row->until));
		json_array_append_new(list, o);
	}
	return list;
}

void known_merge(struct known *k, const json_t *list)
{
	for (size_t i = 0; i < k->count; i++) {
		const json_t *o = json_array_get(list, i);

		k->rows[i].seen += (uint64_t)json_integer_value(json_object_get(o, "seen"));
		if (!o || !strcmp(json_text(o, "state"), state_names[KNOWN_NOT_ASKED]))
			continue;
		k->rows[i].asked = true;
		k->rows[i].in_part |= strcmp(json_text(o, "state"), state_names[KNOWN_FIXED]);
	}
}

void known_report(const struct known *k, struct buf *out)
{
	for (size_t i = 0; i < k->count; i++) {
		const struct known_row *row = &k->rows[i];

		switch (known_state(row)) {
		case KNOWN_SEEN:
			buf_addf(out, "known: %s (%s), %ju times\n", row->text, row->reason,
				 (uintmax_t)row->seen);
			break;
		case KNOWN_NOT_SEEN:
			buf_addf(out, "known, not seen: %s (%s)\n", row->text, row->reason);
			break;
		case KNOWN_FIXED:
			buf_addf(out, "known, fixed? %s (%s)\n", row->text, row->reason);
			break;
		case KNOWN_EXPIRED:
			buf_addf(out, "known until %s: expired%s: %s (%s)\n", row->until,
				 row->seen ? " and seen" : "", row->text, row->reason);
			break;
		case KNOWN_NOT_ASKED:
			break;
		}
	}
}

/* ---- writing ---- */

void known_print(const struct known *k, struct buf *out)
{
	const struct known_row *last = NULL;

	for (size_t i = 0; i < k->count; i++) {
		const struct known_row *row = &k->rows[i];

		if (row->expired)
			continue;
		if (!last || strcmp(last->reason, row->reason) || strcmp(last->until, row->until)) {
			buf_addf(out, "%s%s\n", because, row->reason);
			if (*row->until)
				buf_addf(out, "%s%s\n", until, row->until);
		}
		buf_addf(out, "%s\n", row->line);
		last = row;
	}
}

void known_print_reason(const char *today, struct buf *out)
{
	buf_addf(out, "%sfound by the run of %s, not looked at yet\n", because, today);
}

void known_print_failure(const char *target, const char *text, struct buf *out)
{
	buf_addf(out, "%s: %s\n", target, text);
}
