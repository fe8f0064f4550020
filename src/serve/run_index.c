/* run_index.c -- all runs below a directory, and the findings of a campaign, as the index shows
 * them.
 */
#include "serve/run_index.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/must.h"
#include "report/view.h"
#include "serve/served_runs.h"

/* One look at the directories. */
struct index_scan {
	struct run_index *index;
	json_t *known; /* of this look: what is gone is forgotten */
	json_t *rows;
	size_t entries;
	bool clipped; /* there is more than the limits allow */
};

void run_index_init(struct run_index *x, const struct served_root *root)
{
	*x = (struct run_index){ .root = root, .known = json_object() };
}

void run_index_free(struct run_index *x)
{
	json_decref(x->known);
	json_decref(x->campaign);
	buf_free(&x->campaign_stamp);
	*x = (struct run_index){ .root = NULL };
}

/* ---- one run ---- */

/* The path as a part of a URL. */
static json_t *index_link(const char *path, const char *last)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "-_./";
	struct buf link = BUF_INIT;
	json_t *text;

	buf_adds(&link, "./");
	for (; *path; path++)
		if (strchr(plain, *path))
			buf_addch(&link, *path);
		else
			buf_addf(&link, "%%%02x", (unsigned char)*path);
	buf_addf(&link, "/%s", last);
	text = json_string(link.data);
	buf_free(&link);
	return text;
}

/* "2026-11-17T17:41:33+0100", also with a colon or "Z" behind it; 0 where it is none. */
static time_t index_time(const char *date)
{
	struct tm tm = { 0 };
	const char *end = strptime(date, "%Y-%m-%dT%H:%M:%S", &tm);
	int hours, minutes;
	char sign;

	if (!end)
		return 0;
	if (sscanf(end, "%c%2d%2d", &sign, &hours, &minutes) != 3 &&
	    sscanf(end, "%c%2d:%2d", &sign, &hours, &minutes) != 3)
		return timegm(&tm);
	return timegm(&tm) - (sign == '-' ? -1 : 1) * (hours * 60 + minutes) * 60;
}

/* "2026-11-17 17:41": the rest of it is of little interest in a list. */
static json_t *index_day(const char *date)
{
	struct buf text = BUF_INIT;
	json_t *day;

	if (index_time(date))
		buf_addf(&text, "%.10s %.5s", date, date + 11);
	day = view_text(buf_str(&text));
	buf_free(&text);
	return day;
}

/* How many findings of each severity, the worst first, as they come. */
static json_t *index_severities(const json_t *findings)
{
	json_t *counts = json_object(), *list = json_array(), *finding, *count;
	const char *severity;
	size_t i;

	json_array_foreach((json_t *)findings, i, finding)
	{
		severity = json_text(finding, "severity");
		json_object_set_new(counts, severity,
				    json_integer(view_count(counts, severity) + 1));
	}
	json_object_foreach(counts, severity, count) json_array_append_new(
		list, json_pack("{s:s, s:O}", "severity", severity, "count", count));
	json_decref(counts);
	return list;
}

/* What run.json says, as far as the index shows it. Everything in it is untrusted. */
static json_t *index_read(const char *text, size_t len, const char *path)
{
	static const char *const texts[] = { "command", "target", "date", "verdict" };
	json_t *run = json_loadb(text, len, 0, NULL), *row = json_object();

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		json_object_set_new(row, texts[i], json_string(json_text(run, texts[i])));
	json_object_set_new(row, "readable", json_boolean(json_is_object(run)));
	json_object_set_new(row, "running",
			    json_boolean(json_is_true(json_object_get(run, "running"))));
	json_object_set_new(row, "seconds",
			    json_real(json_number_value(json_object_get(run, "seconds"))));
	json_object_set_new(row, "counts", index_severities(json_object_get(run, "findings")));
	json_object_set_new(
		row, "unconfirmed",
		json_integer((json_int_t)json_array_size(json_object_get(run, "unconfirmed"))));
	json_object_set_new(row, "day", index_day(json_text(run, "date")));
	json_object_set_new(row, "began", json_integer(index_time(json_text(run, "date"))));
	json_object_set_new(row, "name", view_text(path));
	json_object_set_new(row, "link", index_link(path, "report.html"));
	json_decref(run);
	return row;
}

/* Which run.json it is. */
static void index_stamp(const struct stat *st, struct buf *out)
{
	buf_addf(out, "%llu %lld %lld.%09ld", (unsigned long long)st->st_ino,
		 (long long)st->st_size, (long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec);
}

/* From what is known, if the file is still the same. */
static json_t *index_known_row(struct index_scan *s, int file_fd, const char *path)
{
	json_t *name = view_text(path), *known, *row = NULL;
	const char *key = json_string_value(name);
	struct buf stamp = BUF_INIT, text = BUF_INIT;
	struct err none = { 0 };
	struct stat st;

	if (!fstat(file_fd, &st)) {
		index_stamp(&st, &stamp);
		known = json_object_get(s->index->known, key);
		if (!strcmp(json_text(known, "stamp"), buf_str(&stamp))) {
			row = json_incref(json_object_get(known, "row"));
		} else {
			buf_read_fd(&text, file_fd, INDEX_JSON_BYTES_MAX, &none);
			row = index_read(buf_str(&text), text.len, path);
		}
		json_object_set_new(s->known, key,
				    json_pack("{s:s, s:O}", "stamp", buf_str(&stamp), "row", row));
	}
	buf_free(&text);
	buf_free(&stamp);
	json_decref(name);
	return row;
}

static const char *index_state(const json_t *row, bool alive)
{
	const char *verdict = json_text(row, "verdict");

	if (!json_is_true(json_object_get(row, "readable")))
		return "unreadable";
	if (json_is_true(json_object_get(row, "running")))
		return alive ? "running" : "killed";
	return !strcmp(verdict, "ok") || !strcmp(verdict, "bad") ? verdict : "unknown";
}

static void index_add_row(struct index_scan *s, const json_t *known, bool alive)
{
	const char *state = index_state(known, alive);
	time_t began = (time_t)view_count(known, "began"), now = time(NULL);
	double seconds = json_real_value(json_object_get(known, "seconds"));
	bool runs = !strcmp(state, "running"),
	     ended = !strcmp(state, "ok") || !strcmp(state, "bad") || runs;
	json_t *row = json_copy((json_t *)known);

	if (runs && began && began <= now)
		seconds = (double)(now - began);
	json_object_set_new(row, "state", json_string(state));
	json_object_set_new(row, "class", json_string(ended ? state : "unknown"));
	json_object_set_new(row, "running", json_boolean(runs));
	/* One that was killed has not written when. */
	json_object_set_new(row, "duration",
			    strcmp(state, "killed") ? view_seconds(seconds) : json_string(""));
	json_array_append_new(s->rows, row);
}

/* A run that other users could have written is listed with the reason why it is not shown. */
static void index_add_refused(struct index_scan *s, const char *path, const char *reason)
{
	json_array_append_new(s->rows,
			      json_pack("{s:o, s:s, s:s, s:o, s:s, s:[]}", "name", view_text(path),
					"state", "refused", "class", "unknown", "reason",
					view_text(reason), "date", "", "counts"));
}

/* False: there is no run in this directory. */
static bool index_add_run(struct index_scan *s, const char *path)
{
	struct err err = { 0 };
	int fd = served_open_run(s->index->root, path, &err), file_fd;
	json_t *row = NULL;
	off_t size;

	if (fd < 0) {
		if (fd == -EPERM)
			index_add_refused(s, path, err.text);
		return fd != -ENOENT;
	}
	file_fd = served_open_file(fd, "run.json", &size);
	if (file_fd >= 0) {
		row = index_known_row(s, file_fd, path);
		close(file_fd);
	}
	if (row)
		index_add_row(s, row, served_run_is_alive(fd));
	json_decref(row);
	close(fd);
	return true;
}

/* ---- all of them ---- */

static bool index_is_full(struct index_scan *s)
{
	if (json_array_size(s->rows) >= INDEX_RUNS_MAX || ++s->entries > INDEX_ENTRIES_MAX)
		s->clipped = true;
	return s->clipped;
}

static void index_scan_directory(struct index_scan *s, const char *path, int depth)
{
	int fd = served_open_directory(s->index->root->fd, path);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	struct buf below = BUF_INIT;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(dir)) && !index_is_full(s)) {
		if (*entry->d_name == '.' ||
		    (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN))
			continue;
		buf_clear(&below);
		if (strcmp(path, "."))
			buf_addf(&below, "%s/", path);
		buf_adds(&below, entry->d_name);
		if (below.len < PATH_MAX / 2 && !index_add_run(s, below.data) &&
		    depth < INDEX_DEPTH_MAX)
			index_scan_directory(s, below.data, depth + 1);
	}
	buf_free(&below);
	closedir(dir);
}

/* The newest first; what runs before all others. */
static int index_compare(const void *a, const void *b)
{
	const json_t *left = *(json_t *const *)a, *right = *(json_t *const *)b;
	int runs = json_is_true(json_object_get(right, "running")) -
		   json_is_true(json_object_get(left, "running"));
	long long before = view_count(left, "began"), after = view_count(right, "began");

	if (runs || before != after)
		return runs ? runs : before < after ? 1 : -1;
	return strcmp(json_text(left, "name"), json_text(right, "name"));
}

static json_t *index_sort(json_t *rows)
{
	size_t count = json_array_size(rows), i;
	json_t **list = must_alloc((count + 1) * sizeof(json_t *)), *row, *sorted = json_array();

	json_array_foreach(rows, i, row) list[i] = row;
	qsort(list, count, sizeof(*list), index_compare);
	for (i = 0; i < count; i++)
		json_array_append(sorted, list[i]);
	free(list);
	return sorted;
}

/* ---- a campaign ---- */

/* The run.json beside the database, which is written at the end of each start of the campaign. */
static json_t *index_campaign_summary(const struct served_root *root)
{
	struct buf text = BUF_INIT;
	struct err none = { 0 };
	json_t *run = NULL, *found;
	off_t size;
	int fd = served_open_file(root->fd, "run.json", &size);

	if (fd >= 0) {
		buf_read_fd(&text, fd, INDEX_JSON_BYTES_MAX, &none);
		run = json_loadb(buf_str(&text), text.len, 0, NULL);
		close(fd);
	}
	buf_free(&text);
	found = json_incref(json_object_get(run, "findings"));
	json_decref(run);
	return found;
}

/* Reads the database if it has changed since; what was read stays where it cannot be read now. */
static void index_campaign_update(struct run_index *x)
{
	struct buf stamp = BUF_INIT;
	json_t *found;
	struct stat st;
	off_t size;
	int fd = served_open_file(x->root->fd, "campaign.db", &size);

	if (fd < 0 || fstat(fd, &st)) {
		if (fd >= 0)
			close(fd);
		return;
	}
	close(fd);
	index_stamp(&st, &stamp);
	if (strcmp(buf_str(&stamp), buf_str(&x->campaign_stamp))) {
		found = x->read_campaign(x->root->path);
		if (found) {
			json_decref(x->campaign);
			x->campaign = found;
			buf_clear(&x->campaign_stamp);
			buf_adds(&x->campaign_stamp, buf_str(&stamp));
		}
	}
	buf_free(&stamp);
}

/* The page of the turn that has met it last: what its folder is in. */
static void index_add_turn(json_t *row)
{
	const char *folder = json_text(row, "folder"), *end = strstr(folder, "/findings/");
	struct buf run = BUF_INIT;

	if (!end)
		end = strstr(folder, "/unconfirmed/");
	if (!end || !json_is_true(json_object_get(row, "folder_exists")))
		return;
	buf_add(&run, folder, (size_t)(end - folder));
	json_object_set_new(row, "turn", index_link(buf_str(&run), "report.html"));
	buf_free(&run);
}

static json_t *index_campaign(struct run_index *x)
{
	json_t *row;
	size_t i;

	if (!x->root->is_campaign)
		return NULL;
	if (x->read_campaign)
		index_campaign_update(x);
	if (!x->campaign)
		return index_campaign_summary(x->root);
	json_array_foreach(x->campaign, i, row)
	{
		index_add_turn(row);
		json_object_set_new(row, "doubtful",
				    json_boolean(json_is_false(json_object_get(row, "confirmed"))));
	}
	return json_incref(x->campaign);
}

static json_t *index_totals(const json_t *rows)
{
	size_t i, running = 0, bad = 0, count = json_array_size(rows);
	struct buf text = BUF_INIT;
	json_t *row, *totals;

	json_array_foreach((json_t *)rows, i, row)
	{
		running += json_is_true(json_object_get(row, "running"));
		bad += json_array_size(json_object_get(row, "counts")) > 0;
	}
	buf_addf(&text, "%zu run%s, %zu with findings, %zu running", count, count == 1 ? "" : "s",
		 bad, running);
	totals = json_string(text.data);
	buf_free(&text);
	return totals;
}

json_t *run_index_view(struct run_index *x)
{
	struct index_scan s = { .index = x, .known = json_object(), .rows = json_array() };
	json_t *view = json_object(), *campaign = index_campaign(x);

	index_scan_directory(&s, ".", 1);
	json_decref(x->known);
	x->known = s.known;
	json_object_set_new(view, "title", view_text(x->root->name));
	json_object_set_new(view, "totals", index_totals(s.rows));
	json_object_set_new(view, "runs", index_sort(s.rows));
	json_object_set_new(view, "clipped", json_boolean(s.clipped));
	json_object_set_new(view, "is_campaign", json_boolean(x->root->is_campaign));
	json_object_set_new(view, "campaign",
			    json_is_array(campaign) ? json_incref(campaign) : json_array());
	json_decref(campaign);
	json_decref(s.rows);
	return view;
}
