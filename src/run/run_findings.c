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
	run_list_finding(r, r->open);
	json_array_remove(r->unconfirmed, (size_t)place);
	json_object_del(r->open, "count");
	json_object_del(r->open, "signatures");
}

void run_update(struct run *r, const struct finding *f, const struct target *t)
{
	bool confirmed = finding_is_confirmed(f);

	must(r->open);
	row_fill(r->open, f);
	if (confirmed) {
		run_confirm(r);
		str_map_put(&r->signatures, f->discrepancy.signature, NULL);
	}
	row_write_folder(r, r->open, confirmed ? FINDINGS : UNCONFIRMED, f, t);
	run_save(r);
}

void run_settle(struct run *r)
{
	int place = row_place(r->unconfirmed, r->open);
	json_t *same;

	if (place < 0)
		return;
	++*str_map_put(&r->attempts, json_text(r->open, "signature"), NULL);
	same = run_find_cause(r, r->open, json_text(r->open, "target"),
			      json_text(r->open, "cause"));
	if (same) {
		row_count_more(same, json_integer_value(json_object_get(r->open, "count")),
			       json_object_get(r->open, "signatures"));
		json_array_remove(r->unconfirmed, (size_t)place);
		row_remove_folder(json_text(r->open, "path"));
		run_open_row(r, same);
	}
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
	char cause[SIGNATURE_MAX];
	json_t *row;

	finding_cause(f, cause);
	row = run_find_cause(r, NULL, buf_str(&f->target), cause);
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
