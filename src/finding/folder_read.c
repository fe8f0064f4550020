/* folder_read.c -- a finding read back from its folder, or from a trace alone. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"
#include "finding/finding.h"
#include "finding/folder.h"
#include "trace/script.h"

/* The text of a comment "# key: value", as folder_add_header() wrote it; NULL for another one. */
static const char *trace_header_value(const char *comment, const char *key)
{
	size_t len = strlen(key);

	comment += strspn(comment, "# ");
	if (strncmp(comment, key, len) || strncmp(comment + len, ": ", 2))
		return NULL;
	return comment + len + 2;
}

static void trace_add_unescaped(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (text[0] == '\\' && (text[1] == 'n' || text[1] == '\\'))
			buf_addch(out, *++text == 'n' ? '\n' : '\\');
		else
			buf_addch(out, *text);
	}
}

static void trace_read_header(struct finding *f, const char *comment)
{
	const char *value;

	if ((value = trace_header_value(comment, HEADER_TARGET)) && !f->target.len)
		trace_add_unescaped(&f->target, value);
	if ((value = trace_header_value(comment, HEADER_SIGNATURE))) {
		snprintf(f->discrepancy.signature, sizeof(f->discrepancy.signature), "%s", value);
		f->discrepancy.code = problem_of_signature(value);
	}
	if ((value = trace_header_value(comment, HEADER_SEEN_ON)) && !f->seen_on.len)
		trace_add_unescaped(&f->seen_on, value);
	if ((value = trace_header_value(comment, HEADER_UPSTREAM)) && !f->upstream.len)
		trace_add_unescaped(&f->upstream, value);
	if ((value = trace_header_value(comment, HEADER_OBSERVED)))
		f->unseen = !strcmp(value, OBSERVED_LAST);
	if ((value = trace_header_value(comment, HEADER_LEFT_OUT)))
		f->before = strtoul(value, NULL, 10);
}

/* The outcome of the call before it, where the trace names one. */
static void trace_read_outcome(struct finding *f, const struct item_return *ret)
{
	if (!f->count || ret->count != 1)
		return;
	f->outcomes[f->count - 1] = outcome_copy(&ret->outcomes[0], &f->arena);
	f->evidence[f->count - 1] = EVIDENCE_OBSERVED;
}

static void trace_read_items(struct finding *f, const struct script *script)
{
	finding_reserve(f, script->count);
	for (size_t i = 0; i < script->count; i++) {
		const struct item *item = &script->items[i];

		if (item->type == ITEM_CALL)
			f->calls[f->count++] = call_copy(&item->call, &f->arena);
		else if (item->type == ITEM_RETURN)
			trace_read_outcome(f, &item->ret);
		else if (item->type == ITEM_COMMENT)
			trace_read_header(f, item->text);
	}
}

static int folder_read_trace(struct finding *f, const char *path, struct err *err)
{
	struct script script = { 0 };
	int status = script_read(&script, path, err);

	finding_init(f);
	if (status < 0)
		return status;
	trace_read_items(f, &script);
	script_free(&script);
	if (f->count)
		return 0;
	finding_free(f);
	return err_set(err, EINVAL, "%s: no calls in it", path);
}

/* The calls of the history take the place of its end. */
static int folder_read_history(struct finding *f, const char *dir, struct err *err)
{
	char path[PATH_MAX];
	struct finding whole;
	int status;

	snprintf(path, sizeof(path), "%s/%s", dir, FOLDER_HISTORY);
	status = folder_read_trace(&whole, path, err);
	if (status)
		return status;
	snprintf(whole.discrepancy.signature, sizeof(whole.discrepancy.signature), "%s",
		 f->discrepancy.signature);
	whole.discrepancy.code = f->discrepancy.code;
	whole.unseen = f->unseen;
	finding_free(f);
	*f = whole;
	return 0;
}

int finding_read(struct finding *f, const char *dir, struct err *err)
{
	char path[PATH_MAX];
	struct stat st;
	int status;

	if (stat(dir, &st) || !S_ISDIR(st.st_mode))
		return folder_read_trace(f, dir, err);
	snprintf(path, sizeof(path), "%s/%s", dir, FOLDER_TRACE);
	status = folder_read_trace(f, path, err);
	if (!status && f->before) {
		status = folder_read_history(f, dir, err);
		if (status)
			finding_free(f);
	}
	return status;
}

/* The last call is the one that showed it. */
static void finding_take_answer(struct finding *f)
{
	struct discrepancy *d = &f->discrepancy;
	const struct outcome *seen = finding_observed(f, f->count - 1);

	d->call = call_copy(&f->calls[f->count - 1], &d->arena);
	d->answered = seen;
	if (seen)
		d->answer = outcome_copy(seen, &d->arena);
}

int finding_read_whole(struct finding *f, const char *dir, struct err *err)
{
	int status = finding_read(f, dir, err);

	if (status)
		return status;
	finding_take_answer(f);
	status = folder_read_json(f, dir, err);
	if (status)
		finding_free(f);
	return status;
}

/* "OUTCOME EXDEV from rename", after the first thing that the script tests, or its last call. */
static void script_sign(struct finding *f, const struct script *script)
{
	const char *tests = op_table[f->calls[f->count - 1].op].name, *value;

	for (size_t i = script->count; i-- > 0;)
		if (script->items[i].type == ITEM_COMMENT &&
		    (value = trace_header_value(script->items[i].text, HEADER_TESTS)))
			tests = value;
	snprintf(f->discrepancy.signature, sizeof(f->discrepancy.signature), "OUTCOME %s", tests);
}

/* The outcome of the last call is what the script expects; nothing was observed. */
static int script_take_expected(struct finding *f, const struct script *script, struct err *err)
{
	struct discrepancy *d = &f->discrepancy;
	const struct item *last = NULL;

	for (size_t i = 0; i < script->count; i++)
		if (script->items[i].type == ITEM_CALL || script->items[i].type == ITEM_RETURN)
			last = &script->items[i];
	if (!last || last->type != ITEM_RETURN || !last->ret.count)
		return err_set(err, EINVAL, "%s: its last call has no outcome (call = OUTCOME)",
			       script->name);
	d->code = PROBLEM_OUTCOME;
	d->call = call_copy(&f->calls[f->count - 1], &d->arena);
	folder_take_allowed(d, &last->ret);
	/* A success with no value is like none that is expected, so that values are compared. */
	d->answered = true;
	for (size_t i = 0; i < last->ret.count; i++) {
		buf_adds(&d->expected, i ? " or " : "");
		outcome_print(&last->ret.outcomes[i], d->call.op, DIALECT_NATIVE, &d->expected);
	}
	buf_adds(&d->title, "expected ");
	call_print(&d->call, DIALECT_NATIVE, &d->title);
	buf_addf(&d->title, " = %s", buf_str(&d->expected));
	return 0;
}

int finding_read_script(struct finding *f, const char *path, struct err *err)
{
	struct script script = { 0 };
	int status = script_read(&script, path, err);

	finding_init(f);
	if (!status) {
		trace_read_items(f, &script);
		status = f->count ? script_take_expected(f, &script, err)
				  : err_set(err, EINVAL, "%s: no calls in it", path);
	}
	if (!status) {
		f->expects = true;
		script_sign(f, &script);
	} else {
		finding_free(f);
	}
	script_free(&script);
	return status;
}
