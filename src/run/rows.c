/* rows.c -- findings as rows of run.json. */
#include "run/rows.h"

#include <string.h>

#include "base/buf.h"
#include "finding/prove.h"
#include "trace/script.h"

json_t *row_json_text(const char *text)
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

void row_set_count(json_t *o, const char *key, uint64_t count)
{
	json_object_set_new(o, key, json_integer((json_int_t)count));
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

void row_fill(json_t *row, const struct finding *f)
{
	char cause[SIGNATURE_MAX];

	finding_cause(f, cause);
	json_object_set_new(row, "code", row_json_text(problem_table[f->discrepancy.code].name));
	json_object_set_new(row, "title", row_json_text(buf_str(&f->discrepancy.title)));
	json_object_set_new(row, "signature", row_json_text(f->discrepancy.signature));
	json_object_set_new(row, "cause", row_json_text(cause));
	json_object_set_new(row, "target", row_json_text(buf_str(&f->target)));
	row_set_count(row, "calls", f->count);
	row_set_count(row, "calls_left_out", f->before);
	json_object_set_new(row, "outcomes", row_evidence(f));
	row_set_count(row, "shown", f->shown);
	row_set_count(row, "tries", f->tries);
	json_object_set_new(row, "in_kernel_log", json_boolean(f->discrepancy.in_log));
	json_object_set_new(row, "shrunk", json_boolean(f->shrunk));
	json_object_set_new(row, "program", json_string(program_proof_word(&f->proof)));
	json_object_set_new(row, "program_why", json_string(f->proof.why));
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

void run_list_finding(struct run *r, json_t *row)
{
	str_map_put(&r->signatures, json_text(row, "signature"), NULL);
	json_array_append(r->findings, row);
	run_raise_verdict(r, VERDICT_BAD);
}

void run_list_unconfirmed(struct run *r, json_t *row)
{
	json_array_append(r->unconfirmed, row);
	run_raise_verdict(r, VERDICT_UNKNOWN);
}

int row_place(const json_t *list, const json_t *row)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (json_array_get(list, i) == row)
			return (int)i;
	return -1;
}

json_t *run_find_cause(const struct run *r, const json_t *row, const char *target,
		       const char *cause)
{
	json_t *other;
	size_t i;

	json_array_foreach(r->unconfirmed, i,
			   other) if (other != row && !strcmp(json_text(other, "target"), target) &&
				      !strcmp(json_text(other, "cause"), cause)) return other;
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
