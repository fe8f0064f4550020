/* run_findings.c -- what a run has found: folders, and rows of run.json.
 *
 * A row names its folder relative to the run's directory ("folder", so that a run can be moved) and
 * as a user can give it to other commands ("path"). Rows are in one of two lists, and their folders
 * in the directory of that name: findings, and unconfirmed, where a row has all discrepancies of
 * a cause and counts them. */
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/must.h"
#include "finding/folder.h"
#include "finding/prove.h"
#include "run/run.h"
#include "trace/script.h"

#define FINDINGS "findings"
#define UNCONFIRMED "unconfirmed"

/* Of a finding that could not be written, so much of its trace is kept in the list. */
enum { TRACE_KEPT_MAX = 8192, NUMBER_MAX = 999999 };

static const char *text_of(const json_t *row, const char *key)
{
	const char *text = json_string_value(json_object_get(row, key));

	return text ? text : "";
}

/* Any bytes as text: those that are not UTF-8 are written as escapes. */
static json_t *json_text(const char *text)
{
	json_t *plain = json_string(text), *escaped;
	struct buf out = BUF_INIT;

	if (plain)
		return plain;
	for (; *text; text++) {
		if ((signed char)*text < 0)
			buf_addf(&out, "\\x%02x", (unsigned char)*text);
		else
			buf_addch(&out, *text);
	}
	escaped = json_string(buf_str(&out));
	buf_free(&out);
	return escaped;
}

static void set_count(json_t *o, const char *key, uint64_t count)
{
	json_object_set_new(o, key, json_integer((json_int_t)count));
}

static json_t *evidence_json(const struct finding *f)
{
	static const char *const names[EVIDENCES] = { "not_recorded", "predicted", "observed" };
	uint64_t counts[EVIDENCES] = { 0 };
	json_t *o = json_object();

	for (size_t i = 0; i < f->count; i++)
		counts[f->evidence ? f->evidence[i] : EVIDENCE_NONE]++;
	for (enum evidence e = EVIDENCES; e--;)
		set_count(o, names[e], counts[e]);
	return o;
}

static void fill_row(json_t *row, const struct finding *f)
{
	char cause[SIGNATURE_MAX];

	finding_cause(f, cause);
	json_object_set_new(row, "code", json_text(problem_table[f->discrepancy.code].name));
	json_object_set_new(row, "title", json_text(buf_str(&f->discrepancy.title)));
	json_object_set_new(row, "signature", json_text(f->discrepancy.signature));
	json_object_set_new(row, "cause", json_text(cause));
	json_object_set_new(row, "target", json_text(buf_str(&f->target)));
	set_count(row, "calls", f->count);
	set_count(row, "calls_left_out", f->before);
	json_object_set_new(row, "outcomes", evidence_json(f));
	set_count(row, "shown", f->shown);
	set_count(row, "tries", f->tries);
	json_object_set_new(row, "in_kernel_log", json_boolean(f->discrepancy.in_log));
	json_object_set_new(row, "shrunk", json_boolean(f->shrunk));
	json_object_set_new(row, "program", json_string(program_proof_word(&f->proof)));
	json_object_set_new(row, "program_why", json_string(f->proof.why));
}

/* ---- lists ---- */

static void list_add(json_t *list, const char *text)
{
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item) if (json_is_string(item) &&
					      !strcmp(json_string_value(item), text)) return;
	json_array_append_new(list, json_text(text));
}

static void raise_verdict(struct run *r, enum verdict verdict)
{
	if (verdict > r->verdict)
		r->verdict = verdict;
}

static void list_finding(struct run *r, json_t *row)
{
	str_map_put(&r->signatures, text_of(row, "signature"), NULL);
	json_array_append(r->findings, row);
	raise_verdict(r, VERDICT_BAD);
}

static void list_unconfirmed(struct run *r, json_t *row)
{
	json_array_append(r->unconfirmed, row);
	raise_verdict(r, VERDICT_UNKNOWN);
}

/* The place of a row in a list, or -1. */
static int place_of(const json_t *list, const json_t *row)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (json_array_get(list, i) == row)
			return (int)i;
	return -1;
}

/* Another unconfirmed one of the same target and cause; NULL if there is none. */
static json_t *find_cause(const struct run *r, const json_t *row, const char *target,
			  const char *cause)
{
	json_t *other;
	size_t i;

	json_array_foreach(r->unconfirmed, i,
			   other) if (other != row && !strcmp(text_of(other, "target"), target) &&
				      !strcmp(text_of(other, "cause"), cause)) return other;
	return NULL;
}

/* Was met `times` times more, under these signatures. */
static void count_more(json_t *row, json_int_t times, const json_t *signatures)
{
	const json_t *signature;
	size_t i;

	times += json_integer_value(json_object_get(row, "count"));
	json_object_set_new(row, "count", json_integer(times));
	json_array_foreach(signatures, i, signature) if (json_is_string(signature))
		list_add(json_object_get(row, "signatures"), json_string_value(signature));
}

/* ---- folders ---- */

static void set_folder(const struct run *r, json_t *row, const char *folder)
{
	struct buf path = BUF_INIT;

	buf_addf(&path, "%s/%s", r->dir, folder);
	json_object_set_new(row, "folder", json_text(folder));
	json_object_set_new(row, "path", json_text(buf_str(&path)));
	buf_free(&path);
}

/* PLACE/NNN-CODE, the first that is not there yet. */
static int new_folder(const struct run *r, const char *place, const char *code, char ret[PATH_MAX],
		      struct err *err)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%.3000s/%s", r->dir, place);
	if (mkdir(path, 0755) && errno != EEXIST)
		return err_sys(err, errno, "cannot make the directory %s", path);
	for (unsigned number = 1; number <= NUMBER_MAX; number++) {
		glob_t there;
		int found;

		snprintf(path, sizeof(path), "%.3000s/%s/%03u-*", r->dir, place, number);
		found = glob(path, 0, NULL, &there);
		globfree(&there);
		if (!found)
			continue;
		snprintf(ret, PATH_MAX, "%s/%03u-%s", place, number, code);
		return 0;
	}
	return err_set(err, ENOSPC, "%s: too many findings", r->dir);
}

/* The folder goes to where the finding is listed now, under its present code. */
static int move_folder(struct run *r, json_t *row, const char *place, const char *code,
		       struct err *err)
{
	char folder[PATH_MAX], from[PATH_MAX], to[PATH_MAX];
	const char *old = text_of(row, "folder"), *dash = strrchr(old, '-');
	size_t len = strlen(place);

	if (*old && !strncmp(old, place, len) && old[len] == '/' && dash) {
		if (!strcmp(dash + 1, code))
			return 0;
		snprintf(folder, sizeof(folder), "%.*s-%s", (int)(dash - old), old, code);
	} else {
		int status = new_folder(r, place, code, folder, err);

		if (status)
			return status;
	}
	snprintf(from, sizeof(from), "%s/%s", r->dir, old);
	snprintf(to, sizeof(to), "%.3000s/%.1000s", r->dir, folder);
	if (*old && rename(from, to))
		return err_sys(err, errno, "cannot make %s", to);
	set_folder(r, row, folder);
	return 0;
}

/* Files of ours in a folder of ours; what else is in it keeps it. */
static void remove_folder(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
	rmdir(path);
}

/* What could not be written stays in the list, with the reason and its calls. */
static void keep_in_list(json_t *row, const struct finding *f, const struct err *err)
{
	struct buf calls = BUF_INIT, clipped = BUF_INIT;

	finding_print_calls(f, &calls);
	buf_add_clipped(&clipped, buf_str(&calls), TRACE_KEPT_MAX);
	json_object_set_new(row, "failure", json_text(err->text));
	json_object_set_new(row, "trace", json_text(buf_str(&clipped)));
	buf_free(&calls);
	buf_free(&clipped);
}

static void write_folder(struct run *r, json_t *row, const char *place, const struct finding *f,
			 const struct target *t)
{
	struct err err = { 0 };
	int status = move_folder(r, row, place, problem_table[f->discrepancy.code].name, &err);

	if (!status)
		status = finding_write(f, t, text_of(row, "path"), &err);
	if (status) {
		keep_in_list(row, f, &err);
		return;
	}
	json_object_del(row, "failure");
	json_object_del(row, "trace");
}

/* One that cannot be written now is written at the next occasion, and at the end. */
static void save(struct run *r)
{
	struct err none = { 0 };

	run_close(r, &none);
}

/* ---- the life of one ---- */

static void open_row(struct run *r, json_t *row)
{
	json_incref(row);
	json_decref(r->open);
	r->open = row;
}

void run_meet(struct run *r, const struct finding *f, const struct target *t)
{
	json_t *row = json_object(), *signatures = json_array();

	fill_row(row, f);
	set_count(row, "count", 1);
	json_array_append(signatures, json_object_get(row, "signature"));
	json_object_set_new(row, "signatures", signatures);
	open_row(r, row);
	list_unconfirmed(r, row);
	json_decref(row);
	write_folder(r, row, UNCONFIRMED, f, t);
	save(r);
}

/* From one list to the other. */
static void confirm(struct run *r)
{
	int place = place_of(r->unconfirmed, r->open);

	if (place < 0)
		return;
	list_finding(r, r->open);
	json_array_remove(r->unconfirmed, (size_t)place);
	json_object_del(r->open, "count");
	json_object_del(r->open, "signatures");
}

void run_update(struct run *r, const struct finding *f, const struct target *t)
{
	bool confirmed = finding_is_confirmed(f);

	must(r->open);
	fill_row(r->open, f);
	if (confirmed) {
		confirm(r);
		str_map_put(&r->signatures, f->discrepancy.signature, NULL);
	}
	write_folder(r, r->open, confirmed ? FINDINGS : UNCONFIRMED, f, t);
	save(r);
}

void run_settle(struct run *r)
{
	int place = place_of(r->unconfirmed, r->open);
	json_t *same;

	if (place < 0)
		return;
	++*str_map_put(&r->attempts, text_of(r->open, "signature"), NULL);
	same = find_cause(r, r->open, text_of(r->open, "target"), text_of(r->open, "cause"));
	if (same) {
		count_more(same, json_integer_value(json_object_get(r->open, "count")),
			   json_object_get(r->open, "signatures"));
		json_array_remove(r->unconfirmed, (size_t)place);
		remove_folder(text_of(r->open, "path"));
		open_row(r, same);
	}
	save(r);
}

void run_add(struct run *r, const struct finding *f, const struct target *t)
{
	run_meet(r, f, t);
	run_update(r, f, t);
	run_settle(r);
}

const char *run_folder(const struct run *r)
{
	return json_object_get(r->open, "failure")
		     ? NULL
		     : json_string_value(json_object_get(r->open, "path"));
}

unsigned run_attempts(const struct run *r, const char *signature)
{
	const uint64_t *attempts = str_map_get(&r->attempts, signature);

	return attempts ? (unsigned)*attempts : 0;
}

void run_meet_again(struct run *r, const struct finding *f)
{
	char cause[SIGNATURE_MAX];
	json_t *row;

	finding_cause(f, cause);
	row = find_cause(r, NULL, buf_str(&f->target), cause);
	if (row)
		count_more(row, 1, NULL);
}

bool run_take_up(struct run *r, size_t i, const char *target, struct finding *ret)
{
	json_t *row = json_array_get(r->unconfirmed, i);
	struct err none = { 0 };

	if (json_integer_value(json_object_get(row, "tries")) ||
	    strcmp(text_of(row, "target"), target) ||
	    finding_read(ret, text_of(row, "path"), &none))
		return false;
	open_row(r, row);
	return true;
}

/* ---- other runs, and earlier parts of the same ---- */

static bool is_listed(const json_t *list, const json_t *row, const char *key)
{
	const json_t *other;
	size_t i;

	json_array_foreach(list, i, other) if (!strcmp(text_of(other, key), text_of(row, key)) &&
					       !strcmp(text_of(other, "target"),
						       text_of(row, "target"))) return true;
	return false;
}

/* A row of a run below this one's directory. */
static json_t *row_below(const json_t *row, const char *subdir)
{
	json_t *copy = json_deep_copy(row);
	struct buf folder = BUF_INIT;

	if (*text_of(row, "folder")) {
		buf_addf(&folder, "%s/%s", subdir, text_of(row, "folder"));
		json_object_set_new(copy, "folder", json_text(buf_str(&folder)));
	}
	buf_free(&folder);
	return copy;
}

static void merge_unconfirmed(struct run *r, const json_t *row, const char *subdir)
{
	json_t *same = find_cause(r, NULL, text_of(row, "target"), text_of(row, "cause")), *copy;

	if (is_listed(r->findings, row, "signature"))
		return;
	if (same) {
		count_more(same, json_integer_value(json_object_get(row, "count")),
			   json_object_get(row, "signatures"));
		return;
	}
	copy = row_below(row, subdir);
	list_unconfirmed(r, copy);
	json_decref(copy);
}

/* What one run has confirmed is not doubtful because another could not. */
static void drop_confirmed(struct run *r)
{
	for (size_t i = json_array_size(r->unconfirmed); i--;)
		if (is_listed(r->findings, json_array_get(r->unconfirmed, i), "signature"))
			json_array_remove(r->unconfirmed, i);
}

void run_merge(struct run *r, const json_t *summary, const char *subdir)
{
	json_t *row, *copy;
	size_t i;

	json_array_foreach(json_object_get(summary, "findings"), i, row)
	{
		if (is_listed(r->findings, row, "signature"))
			continue;
		copy = row_below(row, subdir);
		list_finding(r, copy);
		json_decref(copy);
	}
	json_array_foreach(json_object_get(summary, "unconfirmed"), i, row)
		merge_unconfirmed(r, row, subdir);
	drop_confirmed(r);
}

/* Rows of run.json, which is untrusted: each has to have a signature and a folder. */
static int load_list(struct run *r, const json_t *old, const char *name,
		     void (*list)(struct run *r, json_t *row), struct err *err)
{
	const json_t *rows = json_object_get(old, name), *signature;
	json_t *row;
	size_t i, k;

	if (rows && !json_is_array(rows))
		return err_set(err, EINVAL, "%s/run.json: %s is no list", r->dir, name);
	json_array_foreach(rows, i, row)
	{
		if (!*text_of(row, "signature"))
			return err_set(err, EINVAL, "%s/run.json: %s[%zu] has no signature", r->dir,
				       name, i);
		list(r, row);
		json_array_foreach(json_object_get(row, "signatures"), k,
				   signature) if (json_is_string(signature))++
			*str_map_put(&r->attempts, json_string_value(signature), NULL);
	}
	return 0;
}

/* A folder that was written when the run was killed, before run.json named it. */
static void load_folder(struct run *r, const char *path, bool confirmed)
{
	json_t *row = json_object();
	struct err none = { 0 };
	struct finding f;

	if (!finding_read(&f, path, &none)) {
		buf_adds(&f.discrepancy.title, f.discrepancy.signature);
		f.tries = f.shown = confirmed;
		fill_row(row, &f);
		set_folder(r, row, path + strlen(r->dir) + 1);
		if (confirmed) {
			list_finding(r, row);
		} else {
			set_count(row, "count", 1);
			json_object_set_new(row, "signatures", json_array());
			list_unconfirmed(r, row);
		}
		finding_free(&f);
	}
	json_decref(row);
}

static bool names_folder(const json_t *list, const char *folder)
{
	const json_t *row;
	size_t i;

	json_array_foreach(list, i, row) if (!strcmp(text_of(row, "folder"), folder)) return true;
	return false;
}

static void load_unlisted(struct run *r, const char *place, const json_t *list, bool confirmed)
{
	char pattern[PATH_MAX];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%.3000s/%s/*/" FOLDER_TRACE, r->dir, place);
	if (glob(pattern, 0, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		*strrchr(found.gl_pathv[i], '/') = '\0';
		if (!names_folder(list, found.gl_pathv[i] + strlen(r->dir) + 1))
			load_folder(r, found.gl_pathv[i], confirmed);
	}
	globfree(&found);
}

/* Those whose folder has gone: it was moved when the run was killed, and is found as unlisted. */
static void drop_moved(struct run *r)
{
	char path[PATH_MAX];

	for (size_t i = json_array_size(r->unconfirmed); i--;) {
		const char *folder = text_of(json_array_get(r->unconfirmed, i), "folder");

		snprintf(path, sizeof(path), "%.3000s/%.1000s", r->dir, folder);
		if (*folder && access(path, F_OK))
			json_array_remove(r->unconfirmed, i);
	}
}

int run_load_findings(struct run *r, struct err *err)
{
	char path[PATH_MAX];
	json_error_t where;
	json_t *old = NULL;
	int status = 0;

	snprintf(path, sizeof(path), "%s/run.json", r->dir);
	if (!access(path, F_OK)) {
		old = json_load_file(path, 0, &where);
		if (!json_is_object(old))
			status = err_set(err, EINVAL, "%s: not a run's: line %d: %s", path,
					 where.line, old ? "no object" : where.text);
	}
	if (!status)
		status = load_list(r, old, FINDINGS, list_finding, err);
	if (!status)
		status = load_list(r, old, UNCONFIRMED, list_unconfirmed, err);
	json_decref(old);
	if (status)
		return status;
	drop_moved(r);
	load_unlisted(r, FINDINGS, r->findings, true);
	load_unlisted(r, UNCONFIRMED, r->unconfirmed, false);
	return 0;
}
