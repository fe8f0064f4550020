/* run_findings.c -- the life of a discrepancy in a run: met, updated, settled. */
#include <string.h>

#include "base/err.h"
#include "base/must.h"
#include "run/rows.h"

/* One that cannot be written now is written at the next occasion, and at the end. */
static void run_save(struct run *r)
{
	struct err none = { 0 };

	run_close(r, &none);
}

static void run_open_row(struct run *r, json_t *row)
{
	json_incref(row);
	json_decref(r->open);
	r->open = row;
}

void run_meet(struct run *r, const struct finding *f, const struct target *t)
{
	json_t *row = json_object(), *signatures = json_array();

	r->verdict_before = r->verdict;
	row_fill(row, f);
	row_set_count(row, "count", 1);
	json_array_append(signatures, json_object_get(row, "signature"));
	json_object_set_new(row, "signatures", signatures);
	run_open_row(r, row);
	run_list_unconfirmed(r, row);
	json_decref(row);
	row_write_folder(r, row, UNCONFIRMED, f, t);
	run_save(r);
}

/* From one list to the other. */
static void run_confirm(struct run *r)
{
	int place = row_place(r->unconfirmed, r->open);

	if (place < 0)
		return;
	row_set_count(r->open, "met", 1);
	run_list_finding(r, r->open);
	json_array_remove(r->unconfirmed, (size_t)place);
	json_object_del(r->open, "count");
	json_object_del(r->open, "signatures");
}

/* Where its severity belongs now. */
static void run_place(json_t *list, json_t *row)
{
	int place = row_place(list, row);

	if (place < 0)
		return;
	json_incref(row);
	json_array_remove(list, (size_t)place);
	row_insert(list, row);
	json_decref(row);
}

void run_update(struct run *r, const struct finding *f, const struct target *t)
{
	bool confirmed = finding_is_confirmed(f);

	must(r->open);
	row_fill(r->open, f);
	if (confirmed) {
		run_confirm(r);
		run_count(r, buf_str(&f->target), f->discrepancy.signature, 0);
	}
	run_place(confirmed ? r->findings : r->unconfirmed, r->open);
	row_write_folder(r, r->open, confirmed ? FINDINGS : UNCONFIRMED, f, t);
	run_save(r);
}

/* Puts one row of a list under another row, which is then the one that is worked on. */
static void run_fold_row(struct run *r, json_t *into, json_t *list, json_t *row)
{
	json_incref(row);
	json_array_remove(list, (size_t)row_place(list, row));
	run_open_row(r, into);
	run_fold(r, into, row, true);
	json_decref(row);
}

/* The best finding represents its group. */
static void run_settle_finding(struct run *r)
{
	json_t *row = r->open, *same;

	same = row_find_group(r->findings, row, json_text(row, "target"), row_group(row));
	if (!same)
		return;
	if (row_is_better(row, same))
		run_fold_row(r, row, r->findings, same);
	else
		run_fold_row(r, same, r->findings, row);
}

static void run_settle_unconfirmed(struct run *r, int place)
{
	const char *target = json_text(r->open, "target"), *group = row_group(r->open);
	json_t *same = row_find_group(r->findings, r->open, target, group);

	++*str_map_put(&r->attempts, json_text(r->open, "signature"), NULL);
	if (same) {
		run_fold_row(r, same, r->unconfirmed, r->open);
		return;
	}
	same = row_find_group(r->unconfirmed, r->open, target, group);
	if (!same)
		return;
	row_count_more(same, json_integer_value(json_object_get(r->open, "count")),
		       json_object_get(r->open, "signatures"));
	json_array_remove(r->unconfirmed, (size_t)place);
	row_remove_folder(json_text(r->open, "path"));
	run_open_row(r, same);
}

void (*run_finding_hook)(const json_t *row);

void run_settle(struct run *r)
{
	int place = row_place(r->unconfirmed, r->open);

	if (place >= 0)
		run_settle_unconfirmed(r, place);
	else
		run_settle_finding(r);
	run_save(r);
	if (run_finding_hook && row_place(r->findings, r->open) >= 0)
		run_finding_hook(r->open);
}

void run_withdraw(struct run *r)
{
	int place = row_place(r->unconfirmed, r->open);

	must(place >= 0);
	json_array_remove(r->unconfirmed, (size_t)place);
	row_remove_folder(json_text(r->open, "path"));
	r->verdict = r->verdict_before;
	run_save(r);
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
	char group[SIGNATURE_MAX];
	json_t *row;

	finding_group(f, group);
	row = row_find_group(r->unconfirmed, NULL, buf_str(&f->target), group);
	if (row)
		row_count_more(row, 1, NULL);
}

bool run_take_up(struct run *r, size_t i, const char *target, struct finding *ret)
{
	json_t *row = json_array_get(r->unconfirmed, i);
	struct err none = { 0 };

	if (json_integer_value(json_object_get(row, "tries")) ||
	    strcmp(json_text(row, "target"), target) ||
	    finding_read(ret, json_text(row, "path"), &none))
		return false;
	run_open_row(r, row);
	return true;
}
