/* groups.c -- findings of one cause: the best is listed, the others are under it.
 *
 * A row's "others" has, for each signature, how often it was met and, where it was written, the
 * folder with its calls, which lies below the row's own. They are not shrunk: that would cost the
 * search as much time as a new finding. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "run/rows.h"

enum { MET_TARGET_MAX = 300, MET_KEY_MAX = SIGNATURE_MAX + MET_TARGET_MAX };

/* In another configuration of the file system it is another finding. */
static void met_key(char ret[MET_KEY_MAX], const char *target, const char *signature)
{
	snprintf(ret, MET_KEY_MAX, "%.*s\n%.*s", SIGNATURE_MAX - 1, signature, MET_TARGET_MAX - 2,
		 target);
}

void run_count(struct run *r, const char *target, const char *signature, uint64_t times)
{
	char key[MET_KEY_MAX];

	met_key(key, target, signature);
	*str_map_put(&r->signatures, key, NULL) += times;
}

uint64_t *run_met(const struct run *r, const char *target, const char *signature)
{
	char key[MET_KEY_MAX];

	met_key(key, target, signature);
	return str_map_get(&r->signatures, key);
}

void run_count_row(struct run *r, const json_t *row)
{
	const char *target = json_text(row, "target");
	const json_t *other;
	size_t i;

	run_count(r, target, json_text(row, "signature"), row_count(row, "met"));
	json_array_foreach(json_object_get(row, "others"), i, other)
		run_count(r, target, json_text(other, "signature"), row_count(other, "count"));
}

static void row_set_met(const struct run *r, const char *target, json_t *row, const char *key)
{
	const uint64_t *met = run_met(r, target, json_text(row, "signature"));

	row_set_count(row, key, met ? *met : 0);
}

void run_set_counts(const struct run *r)
{
	json_t *row, *other;
	size_t i, k;

	json_array_foreach(r->findings, i, row)
	{
		const char *target = json_text(row, "target");

		row_set_met(r, target, row, "met");
		json_array_foreach(json_object_get(row, "others"), k, other)
			row_set_met(r, target, other, "count");
	}
}

/* The entry of a signature under a row, made where it is new; NULL if that is the row's own. */
static json_t *group_entry(json_t *row, const char *signature)
{
	json_t *others = json_object_get(row, "others"), *other;
	size_t i;

	if (!strcmp(json_text(row, "signature"), signature))
		return NULL;
	json_array_foreach(others, i, other) if (!strcmp(json_text(other, "signature"),
							 signature)) return other;
	if (!others) {
		others = json_array();
		json_object_set_new(row, "others", others);
	}
	other = json_object();
	json_object_set_new(other, "signature", row_json_text(signature));
	json_array_append_new(others, other);
	return other;
}

/* What is known of `from`, unless more is known already. */
static void group_add(json_t *row, const json_t *from)
{
	static const char *const keys[] = { "code", "title", "calls", "shown", "tries", "folder" };
	json_t *other = group_entry(row, json_text(from, "signature"));

	if (!other || *json_text(other, "folder"))
		return;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (json_object_get(from, keys[i]))
			json_object_set(other, keys[i], json_object_get(from, keys[i]));
}

/* Names of folders that begin with `from` begin with `to`. */
static void group_rename(json_t *row, const char *from, const char *to)
{
	const char *folder = json_text(row, "folder");
	struct buf moved = BUF_INIT;
	size_t len = strlen(from);

	if (!strncmp(folder, from, len) && (!folder[len] || folder[len] == '/')) {
		buf_addf(&moved, "%s%s", to, folder + len);
		json_object_set_new(row, "folder", row_json_text(buf_str(&moved)));
	}
	buf_free(&moved);
}

static void group_move_folder(const struct run *r, const json_t *into, json_t *row)
{
	char to[PATH_MAX], from_path[PATH_MAX], to_path[PATH_MAX];
	struct buf from = BUF_INIT;
	struct err none = { 0 };
	json_t *other;
	size_t i;

	buf_adds(&from, json_text(row, "folder"));
	if (from.len && !row_new_folder_below(r, into, json_text(row, "code"), to, &none)) {
		snprintf(from_path, sizeof(from_path), "%.3000s/%.1000s", r->dir, buf_str(&from));
		snprintf(to_path, sizeof(to_path), "%.3000s/%.1000s", r->dir, to);
		if (!rename(from_path, to_path)) {
			group_rename(row, buf_str(&from), to);
			json_array_foreach(json_object_get(row, "others"), i, other)
				group_rename(other, buf_str(&from), to);
		}
	}
	buf_free(&from);
}

void run_fold(const struct run *r, json_t *into, json_t *row, bool move)
{
	const json_t *other;
	size_t i;

	if (move)
		group_move_folder(r, into, row);
	group_add(into, row);
	json_array_foreach(json_object_get(row, "others"), i, other) group_add(into, other);
	row_write_others(r, into);
}

uint64_t run_group_calls(const struct run *r, const struct finding *f)
{
	char group[SIGNATURE_MAX];
	const json_t *row;

	finding_group(f, group);
	row = row_find_group(r->findings, NULL, buf_str(&f->target), group);
	if (!row)
		return 0;
	return row_is_doubted(row) ? UINT64_MAX : row_count(row, "calls");
}

bool run_join(struct run *r, const struct finding *f, const struct target *t)
{
	char group[SIGNATURE_MAX];

	finding_group(f, group);
	return run_join_group(r, f, group, t);
}

bool run_join_group(struct run *r, const struct finding *f, const char *group,
		    const struct target *t)
{
	json_t *row = row_find_group(r->findings, NULL, buf_str(&f->target), group), *own;
	char folder[PATH_MAX], path[PATH_MAX];
	struct err none = { 0 };

	if (!row)
		return false;
	own = json_object();
	row_fill(own, f);
	if (f->count && !row_new_folder_below(r, row, json_text(own, "code"), folder, &none)) {
		snprintf(path, sizeof(path), "%.3000s/%.1000s", r->dir, folder);
		if (!finding_write(f, t, path, &none))
			json_object_set_new(own, "folder", row_json_text(folder));
	}
	group_add(row, own);
	json_decref(own);
	run_count(r, buf_str(&f->target), f->discrepancy.signature, 1);
	row_write_others(r, row);
	run_close(r, &none);
	return true;
}

void run_print_failures(const struct run *r, struct buf *out)
{
	const json_t *row;
	size_t i;

	json_array_foreach(r->findings, i, row)
		known_print_failure(json_text(row, "target"), row_group(row), out);
}
