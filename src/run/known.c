/* known.c -- reads the file of known failures. */
#include "run/known.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"

enum { FILE_MAX = 1 << 20 };

static const char because[] = "# because: ";
static const char until[] = "# until: ";

struct known_reader {
	struct known *known;
	const char *path, *today;
	unsigned line;
	const char *reason; /* for the lines that follow; NULL: none yet */
	bool over;          /* their last day has passed */
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
	r->over = strcmp(date, r->today) < 0;
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
	if (r->over)
		return 0;
	k->rows = must_realloc(k->rows, (k->count + 1) * sizeof(*k->rows));
	row = &k->rows[k->count++];
	*row = (struct known_row){ .line = must_strdup(line), .reason = must_strdup(r->reason) };
	row->text = row->line + (text + 2 - line);
	return 0;
}

static int known_read_line(struct known_reader *r, const char *line)
{
	if (!strncmp(line, because, strlen(because))) {
		r->reason = line + strlen(because);
		r->over = false;
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

/* The name of a target may hold anything, even ": ". */
struct known_row *known_find(const struct known *k, const char *target, const char *text)
{
	size_t len = strlen(target);

	for (size_t i = 0; i < k->count; i++) {
		const char *line = k->rows[i].line;

		if (!strncmp(line, "*: ", 3) && known_matches(line + 3, text))
			return &k->rows[i];
		if (!strncmp(line, target, len) && !strncmp(line + len, ": ", 2) &&
		    known_matches(line + len + 2, text))
			return &k->rows[i];
	}
	return NULL;
}

json_t *known_json(const struct known *k)
{
	json_t *list = json_array();

	for (size_t i = 0; i < k->count; i++)
		json_array_append_new(list, json_pack("{s:s, s:s, s:I}", "signature",
						      k->rows[i].text, "reason", k->rows[i].reason,
						      "seen", (json_int_t)k->rows[i].seen));
	return list;
}
