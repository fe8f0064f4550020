/* findings_store.c -- findings of a campaign in the database. */
#include "campaign/findings_store.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/json.h"
#include "base/must.h"
#include "judge/problem.h"
#include "run/known.h"

/* Rows of one run.json: more than any instrument reports. */
enum { ROWS_MAX = 100000 };

/* What the database has of a finding. */
struct stored_finding {
	int64_t id; /* 0: it is new */
	bool confirmed;
	int64_t calls;
	char folder[PATH_MAX];
};

void findings_store_target(const char *target, struct buf *ret)
{
	const char *at = !strncmp(target, "kernel:", 7) ? strchr(target, '@') : NULL;
	const char *bug = at ? strchr(at, '!') : NULL;

	if (at)
		buf_add(ret, target, (size_t)(at - target));
	buf_adds(ret, at ? (bug ? bug : "") : target);
}

static const char *row_cause(const json_t *row)
{
	return json_text(row, *json_text(row, "group") ? "group" : "signature");
}

static int64_t row_times(const json_t *row, const char *key)
{
	json_int_t times = json_integer_value(json_object_get(row, key));

	return times > 0 ? times : 1;
}

static int stored_find(struct campaign_db *d, const char *target, const char *cause,
		       struct stored_finding *ret, struct err *err)
{
	struct sqlite3_stmt *s;
	int status = campaign_db_query(d, &s, err,
				       "SELECT id, confirmed, calls, folder FROM findings "
				       "WHERE target = ? AND cause = ?",
				       "ss", target, cause);

	*ret = (struct stored_finding){ 0 };
	if (status)
		return status;
	status = campaign_db_step(d, s, err);
	if (status > 0) {
		ret->id = campaign_db_integer(s, 0);
		ret->confirmed = campaign_db_integer(s, 1);
		ret->calls = campaign_db_integer(s, 2);
		snprintf(ret->folder, sizeof(ret->folder), "%s", campaign_db_text(s, 3));
	}
	campaign_db_end(s);
	return status < 0 ? status : 0;
}

static bool stored_has_folder(const struct stored_finding *f, const char *dir)
{
	struct buf path = BUF_INIT;
	bool has;

	buf_addf(&path, "%s/%s", dir, f->folder);
	has = *f->folder && !access(path.data, F_OK);
	buf_free(&path);
	return has;
}

static const char *known_reason(const struct known *known, const char *target, const json_t *row)
{
	const struct known_row *k = known_find(known, target, json_text(row, "signature"));

	if (!k)
		k = known_find(known, target, row_cause(row));
	return k ? k->reason : NULL;
}

/* The row as the report of the campaign needs it: folders are those below its directory. */
static char *row_text_below(const json_t *row, const char *folder)
{
	json_t *copy = json_deep_copy(row), *other;
	struct buf below = BUF_INIT;
	char *text;
	size_t i;

	buf_addf(&below, "%s/%s", folder, json_text(row, "folder"));
	if (*json_text(row, "folder"))
		json_object_set_new(copy, "folder", json_string(below.data));
	json_array_foreach(json_object_get(copy, "others"), i, other)
	{
		buf_clear(&below);
		buf_addf(&below, "%s/%s", folder, json_text(other, "folder"));
		if (*json_text(other, "folder"))
			json_object_set_new(other, "folder", json_string(below.data));
	}
	json_object_del(copy, "path");
	text = json_dumps(copy, JSON_COMPACT);
	must(text);
	buf_free(&below);
	json_decref(copy);
	return text;
}

/* Sets all of a row but when it was seen. */
static int stored_write(struct campaign_db *d, int64_t id, const json_t *row, bool confirmed,
			const struct sighting_place *place, struct err *err)
{
	char *text = row_text_below(row, place->folder);
	struct buf folder = BUF_INIT;
	int status;

	if (*json_text(row, "folder"))
		buf_addf(&folder, "%s/%s", place->folder, json_text(row, "folder"));
	status = campaign_db_run(
		d, err,
		"UPDATE findings SET signature = ?, code = ?, title = ?, severity = ?, "
		"confirmed = ?, turn = ?, calls = ?, folder = ?, row = ? WHERE id = ?",
		"ssssiiissi", json_text(row, "signature"), json_text(row, "code"),
		json_text(row, "title"), json_text(row, "severity"), (int64_t)confirmed,
		place->turn, (int64_t)json_integer_value(json_object_get(row, "calls")),
		buf_str(&folder), text, id);
	buf_free(&folder);
	free(text);
	return status;
}

static int stored_insert(struct campaign_db *d, const char *target, const json_t *row,
			 const struct sighting_place *place, const struct known *known,
			 int64_t *ret_id, struct err *err)
{
	int status = campaign_db_run(
		d, err,
		"INSERT INTO findings(target, cause, signature, code, title, severity, confirmed, "
		"known, first_seen, last_seen, times, turn, calls, folder, row) "
		"VALUES(?, ?, '', '', '', '', 0, ?, ?, ?, 0, ?, 0, '', '')",
		"sssiii", target, row_cause(row), known_reason(known, target, row), place->at,
		place->at, place->turn);

	*ret_id = status ? 0 : campaign_db_last_id(d);
	return status;
}

/* It was seen so often. */
static int stored_see(struct campaign_db *d, int64_t id, int64_t times,
		      const struct sighting_place *place, struct err *err)
{
	int status = campaign_db_run(d, err,
				     "UPDATE findings SET last_seen = max(last_seen, ?), "
				     "times = times + ? WHERE id = ?",
				     "iii", place->at, times, id);

	if (status)
		return status;
	return campaign_db_run(d, err,
			       "INSERT INTO sightings VALUES(?1, ?2, ?3, ?4, ?4, ?5) "
			       "ON CONFLICT DO UPDATE SET last_seen = max(last_seen, ?4), "
			       "times = times + ?5",
			       "iisii", id, place->arm, place->kernel, place->at, times);
}

static void news_add(struct sighting_counts *ret, const char *target, const json_t *row,
		     const struct sighting_place *place, const char *known)
{
	buf_addf(&ret->news, "%s %s: %s%s%s%s\n", target, json_text(row, "code"),
		 json_text(row, "title"), known ? " (known: " : "", known ? known : "",
		 known ? ")" : "");
	buf_addf(&ret->news, "  %s/%s/%s\n", place->dir, place->folder, json_text(row, "folder"));
}

/* A better example takes the place of another: one that was confirmed, is there, or is shorter. */
static bool row_is_better(const json_t *row, bool confirmed, const struct stored_finding *old,
			  const struct sighting_place *place)
{
	if (old->confirmed != confirmed)
		return confirmed;
	if (!stored_has_folder(old, place->dir))
		return true;
	return json_integer_value(json_object_get(row, "calls")) < old->calls;
}

static int store_row(struct campaign_db *d, const json_t *row, bool confirmed,
		     const struct sighting_place *place, const struct known *known,
		     struct sighting_counts *ret, struct err *err)
{
	struct buf target = BUF_INIT;
	struct stored_finding old;
	bool fresh, better;
	int status;

	findings_store_target(*json_text(row, "target") ? json_text(row, "target") : place->target,
			      &target);
	status = stored_find(d, buf_str(&target), row_cause(row), &old, err);
	fresh = !status && !old.id;
	better = !status && (fresh || row_is_better(row, confirmed, &old, place));
	if (fresh)
		status = stored_insert(d, buf_str(&target), row, place, known, &old.id, err);
	if (better && !status)
		status = stored_write(d, old.id, row, confirmed, place, err);
	/* What a resumed run has of an earlier turn was counted then. */
	if (!status && (better || !place->resumed))
		status = stored_see(d, old.id, row_times(row, confirmed ? "met" : "count"), place,
				    err);
	ret->kept |= better;
	if (!status && confirmed && (fresh || !old.confirmed)) {
		ret->findings++;
		news_add(ret, buf_str(&target), row, place,
			 known_reason(known, buf_str(&target), row));
	}
	ret->unconfirmed += fresh && !confirmed;
	buf_free(&target);
	return status;
}

static int store_list(struct campaign_db *d, const json_t *run, const char *name, bool confirmed,
		      const struct sighting_place *place, const struct known *known,
		      struct sighting_counts *ret, struct err *err)
{
	const json_t *list = json_object_get(run, name), *row;
	int status = 0;
	size_t i;

	json_array_foreach(list, i, row)
	{
		if (status || i == ROWS_MAX)
			break;
		if (*json_text(row, "signature"))
			status = store_row(d, row, confirmed, place, known, ret, err);
	}
	return status;
}

/* Failures that were known to the turn, since earlier turns have found them. */
static int store_known(struct campaign_db *d, const json_t *run, const struct sighting_place *place,
		       struct err *err)
{
	const json_t *list = json_object_get(run, "known"), *row;
	struct buf target = BUF_INIT;
	struct stored_finding old;
	int status = 0;
	size_t i;

	findings_store_target(place->target, &target);
	json_array_foreach(list, i, row)
	{
		json_int_t seen = json_integer_value(json_object_get(row, "seen"));

		if (status || i == ROWS_MAX)
			break;
		if (seen <= 0)
			continue;
		status = stored_find(d, target.data, json_text(row, "failure"), &old, err);
		if (!status && old.id)
			status = stored_see(d, old.id, seen, place, err);
	}
	buf_free(&target);
	return status;
}

int findings_store_take(struct campaign_db *d, const json_t *run,
			const struct sighting_place *place, const struct known *known,
			struct sighting_counts *ret, struct err *err)
{
	int status = store_known(d, run, place, err);

	if (!status)
		status = store_list(d, run, "findings", true, place, known, ret, err);
	return status ? status : store_list(d, run, "unconfirmed", false, place, known, ret, err);
}

/* ---- known failures ---- */

static int store_set_known(struct campaign_db *d, int64_t id, const struct known_row *k,
			   struct err *err)
{
	return campaign_db_run(d, err, "UPDATE findings SET known = ? WHERE id = ?", "si",
			       k ? k->reason : NULL, id);
}

int findings_store_mark_known(struct campaign_db *d, const struct known *known, struct err *err)
{
	struct sqlite3_stmt *s;
	int status = campaign_db_query(d, &s, err,
				       "SELECT id, target, signature, cause FROM findings", ""),
	    row = 0;

	if (status)
		return status;
	while (!status && (row = campaign_db_step(d, s, err)) > 0) {
		const char *target = campaign_db_text(s, 1);
		const struct known_row *k = known_find(known, target, campaign_db_text(s, 2));

		if (!k)
			k = known_find(known, target, campaign_db_text(s, 3));
		status = store_set_known(d, campaign_db_integer(s, 0), k, err);
	}
	campaign_db_end(s);
	return row < 0 ? row : status;
}

int findings_store_print_known(struct campaign_db *d, const char *target, const char *dir,
			       struct buf *out, struct err *err)
{
	struct buf plain = BUF_INIT;
	struct sqlite3_stmt *s;
	struct stored_finding f = { 0 };
	int status, row = 0;

	findings_store_target(target, &plain);
	status = campaign_db_query(d, &s, err,
				   "SELECT cause, folder FROM findings WHERE target = ? AND "
				   "confirmed ORDER BY id",
				   "s", plain.data);
	buf_free(&plain);
	if (status)
		return status;
	while ((row = campaign_db_step(d, s, err)) > 0) {
		snprintf(f.folder, sizeof(f.folder), "%s", campaign_db_text(s, 1));
		if (stored_has_folder(&f, dir) && !strchr(campaign_db_text(s, 0), '\n'))
			known_print_failure("*", campaign_db_text(s, 0), out);
	}
	campaign_db_end(s);
	return row;
}
