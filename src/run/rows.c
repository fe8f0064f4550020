/* rows.c -- findings as rows of run.json. */
#include "run/rows.h"

#include <string.h>

#include "base/buf.h"
#include "finding/prove.h"
#include "judge/severity.h"
#include "trace/script.h"

void row_set_count(json_t *o, const char *key, uint64_t count)
{
	json_object_set_new(o, key, json_integer((json_int_t)count));
}

uint64_t row_count(const json_t *o, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(o, key));
}

bool row_is_doubted(const json_t *row)
{
	return !strcmp(json_text(row, "program"), "not shown");
}

bool row_is_better(const json_t *row, const json_t *than)
{
	bool doubt = row_is_doubted(row);

	if (doubt != row_is_doubted(than))
		return !doubt;
	return row_count(row, "calls") < row_count(than, "calls");
}

const char *row_group(const json_t *row)
{
	return json_text(row, *json_text(row, "group") ? "group" : "signature");
}

static json_t *row_evidence(const struct finding *f)
{
	static const char *const names[EVIDENCES] = { "not_recorded", "predicted", "observed" };
	uint64_t counts[EVIDENCES] = { 0 };
	json_t *o = json_object();

	for (size_t i = 0; i < f->count; i++)
		counts[f->evidence ? f->evidence[i] : EVIDENCE_NONE]++;
	for (enum evidence e = EVIDENCES; e--;)
		row_set_count(o, names[e], counts[e]);
	return o;
}

static void row_set_heading(json_t *row, const struct discrepancy *d)
{
	if (!d->heading.len)
		return;
	json_object_set_new(row, "heading", row_json_text(buf_str(&d->heading)));
	json_object_set_new(row, "detail", row_json_text(buf_str(&d->detail)));
	json_object_set_new(row, "said", row_json_text(buf_str(&d->said)));
}

void row_fill(json_t *row, const struct finding *f)
{
	char group[SIGNATURE_MAX];

	finding_group(f, group);
	json_object_set_new(row, "code", row_json_text(problem_table[f->discrepancy.code].name));
	json_object_set_new(row, "title", row_json_text(buf_str(&f->discrepancy.title)));
	row_set_heading(row, &f->discrepancy);
	json_object_set_new(row, "signature", row_json_text(f->discrepancy.signature));
	json_object_set_new(row, "group", row_json_text(group));
	json_object_set_new(row, "severity",
			    json_string(severity_table[severity_of(&f->discrepancy)].name));
	json_object_set_new(row, "severity_means",
			    json_string(severity_table[severity_of(&f->discrepancy)].sentence));
	json_object_set_new(row, "target", row_json_text(buf_str(&f->target)));
	row_set_count(row, "calls", f->count);
	row_set_count(row, "calls_left_out", f->before);
	json_object_set_new(row, "outcomes", row_evidence(f));
	row_set_count(row, "shown", f->shown);
	row_set_count(row, "tries", f->tries);
	json_object_set_new(row, "in_kernel_log", json_boolean(f->discrepancy.in_log));
	json_object_set_new(row, "shrunk", json_boolean(f->shrunk));
	if (!finding_is_by_crash(f) && !finding_is_by_damage(f)) {
		json_object_set_new(row, "program", json_string(program_proof_word(&f->proof)));
		json_object_set_new(row, "program_why", json_string(f->proof.why));
	}
	if (f->discrepancy.ended.len)
		json_object_set_new(row, "ended", row_json_text(buf_str(&f->discrepancy.ended)));
	if (f->discrepancy.output.len)
		json_object_set_new(row, "output", row_json_text(buf_str(&f->discrepancy.output)));
}

static void row_add_signature(json_t *list, const char *text)
{
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item) if (json_is_string(item) &&
					      !strcmp(json_string_value(item), text)) return;
	json_array_append_new(list, row_json_text(text));
}

static void run_raise_verdict(struct run *r, enum verdict verdict)
{
	if (verdict > r->verdict)
		r->verdict = verdict;
}

static enum severity row_severity(const json_t *row)
{
	enum severity severity = severity_find(json_text(row, "severity"));

	return severity < SEVERITIES
		     ? severity
		     : problem_table[problem_of_signature(json_text(row, "signature"))].severity;
}

void row_insert(json_t *list, json_t *row)
{
	size_t at = json_array_size(list);

	while (at && row_severity(json_array_get(list, at - 1)) > row_severity(row))
		at--;
	json_array_insert(list, at, row);
}

void run_list_finding(struct run *r, json_t *row)
{
	run_count_row(r, row);
	row_insert(r->findings, row);
	run_raise_verdict(r, VERDICT_BAD);
}

void run_list_unconfirmed(struct run *r, json_t *row)
{
	row_insert(r->unconfirmed, row);
	run_raise_verdict(r, VERDICT_UNKNOWN);
}

int row_place(const json_t *list, const json_t *row)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (json_array_get(list, i) == row)
			return (int)i;
	return -1;
}

json_t *row_find_group(const json_t *list, const json_t *row, const char *target, const char *group)
{
	json_t *other;
	size_t i;

	json_array_foreach(list, i, other) if (other != row &&
					       !strcmp(json_text(other, "target"), target) &&
					       !strcmp(row_group(other), group)) return other;
	return NULL;
}

void row_count_more(json_t *row, json_int_t times, const json_t *signatures)
{
	const json_t *signature;
	size_t i;

	times += json_integer_value(json_object_get(row, "count"));
	json_object_set_new(row, "count", json_integer(times));
	json_array_foreach(signatures, i, signature) if (json_is_string(signature))
		row_add_signature(json_object_get(row, "signatures"), json_string_value(signature));
}
