/* known.c -- findings that are known and wait for their fix. */
#include "run/known.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/ini.h"
#include "base/must.h"

static struct expected_row *find(struct expected *e, const char *signature)
{
	for (size_t i = 0; i < e->count; i++)
		if (!strcmp(e->rows[i].signature, signature))
			return &e->rows[i];
	return NULL;
}

static struct expected_row *add(struct expected *e, const char *signature)
{
	struct expected_row *row = find(e, signature);

	if (row)
		return row;
	e->rows = must_realloc(e->rows, (e->count + 1) * sizeof(*e->rows));
	row = &e->rows[e->count++];
	*row = (struct expected_row){ .signature = must_strdup(signature) };
	return row;
}

static bool is_date(const char *text)
{
	static const char form[] = "dddd-dd-dd";
	size_t i;

	for (i = 0; form[i]; i++)
		if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != '-')
			return false;
	return !text[i];
}

static int check_row(const struct ini *ini, const struct ini_row *row, struct err *err)
{
	if (!strcmp(row->key, "reason") && *row->value)
		return 0;
	if (!strcmp(row->key, "until") && is_date(row->value))
		return 0;
	return err_set(err, EINVAL, "%s:%d: expected reason = TEXT or until = YYYY-MM-DD",
		       ini->path, row->line);
}

static int take_rows(struct expected *e, const struct ini *ini, const char *today, struct err *err)
{
	const struct ini_row *row;
	const char *until;
	struct expected_row *known;
	int status;

	for (size_t i = 0; i < ini->count; i++) {
		row = &ini->rows[i];
		status = check_row(ini, row, err);
		if (status)
			return status;
		until = ini_get(ini, row->section, "until");
		if (strcmp(row->key, "reason") || (until && strcmp(until, today) < 0))
			continue;
		known = add(e, row->section);
		free(known->reason);
		known->reason = must_strdup(row->value);
	}
	return 0;
}

int expected_read(struct expected *e, const char *path, const char *today, struct err *err)
{
	struct ini ini;
	int status = ini_read(&ini, path, err);

	*e = (struct expected){ 0 };
	if (status)
		return status;
	status = take_rows(e, &ini, today, err);
	ini_free(&ini);
	if (status)
		expected_free(e);
	return status;
}

void expected_free(struct expected *e)
{
	for (size_t i = 0; i < e->count; i++) {
		free(e->rows[i].signature);
		free(e->rows[i].reason);
	}
	free(e->rows);
	*e = (struct expected){ 0 };
}

bool expected_has(struct expected *e, const char *signature)
{
	struct expected_row *row = find(e, signature);

	if (row)
		row->seen++;
	return row;
}

json_t *expected_json(const struct expected *e)
{
	json_t *list = json_array();

	for (size_t i = 0; i < e->count; i++)
		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:I}", "signature",
						e->rows[i].signature, "reason", e->rows[i].reason,
						"seen", (json_int_t)e->rows[i].seen));
	return list;
}
