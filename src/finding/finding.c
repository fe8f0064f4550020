/* finding.c -- the life of a finding in memory, and reading one back from its folder. */
#include "finding/finding.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "finding/folder.h"
#include "trace/script.h"

void finding_init(struct finding *f)
{
	*f = (struct finding){ .arena = ARENA_INIT };
	discrepancy_init(&f->discrepancy);
}

void finding_free(struct finding *f)
{
	discrepancy_free(&f->discrepancy);
	buf_free(&f->target);
	buf_free(&f->seen_on);
	buf_free(&f->upstream);
	buf_free(&f->notes);
	arena_free(&f->arena);
	finding_init(f);
}

void finding_reserve(struct finding *f, size_t count)
{
	f->calls = arena_alloc(&f->arena, (count + 1) * sizeof(*f->calls));
	f->outcomes = arena_alloc(&f->arena, (count + 1) * sizeof(*f->outcomes));
	f->evidence = arena_alloc(&f->arena, (count + 1) * sizeof(*f->evidence));
}

const struct outcome *finding_observed(const struct finding *f, size_t i)
{
	return f->evidence && f->evidence[i] == EVIDENCE_OBSERVED ? &f->outcomes[i] : NULL;
}

bool finding_is_confirmed(const struct finding *f)
{
	return f->shown || f->discrepancy.in_log;
}

void finding_cause(const struct finding *f, char ret[SIGNATURE_MAX])
{
	const char *name = problem_table[f->discrepancy.code].name,
		   *what = strrchr(f->discrepancy.signature, ' ');

	if (f->discrepancy.code == PROBLEM_TREE && what)
		snprintf(ret, SIGNATURE_MAX, "%s%.100s", name, what);
	else if (f->discrepancy.code == PROBLEM_HANG)
		snprintf(ret, SIGNATURE_MAX, "%s", name);
	else
		snprintf(ret, SIGNATURE_MAX, "%s", f->discrepancy.signature);
}

void finding_take_remarks(struct finding *f, const struct finding *from)
{
	buf_clear(&f->seen_on);
	buf_clear(&f->upstream);
	buf_adds(&f->seen_on, buf_str(&from->seen_on));
	buf_adds(&f->upstream, buf_str(&from->upstream));
}

/* The text of a comment "# key: value", as folder_add_header() wrote it; NULL for another one. */
static const char *header_value(const char *comment, const char *key)
{
	size_t len = strlen(key);

	comment += strspn(comment, "# ");
	if (strncmp(comment, key, len) || strncmp(comment + len, ": ", 2))
		return NULL;
	return comment + len + 2;
}

static void add_unescaped(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (text[0] == '\\' && (text[1] == 'n' || text[1] == '\\'))
			buf_addch(out, *++text == 'n' ? '\n' : '\\');
		else
			buf_addch(out, *text);
	}
}

static void take_header(struct finding *f, const char *comment)
{
	const char *value;

	if ((value = header_value(comment, HEADER_TARGET)) && !f->target.len)
		add_unescaped(&f->target, value);
	if ((value = header_value(comment, HEADER_SIGNATURE))) {
		snprintf(f->discrepancy.signature, sizeof(f->discrepancy.signature), "%s", value);
		f->discrepancy.code = problem_of_signature(value);
	}
	if ((value = header_value(comment, HEADER_SEEN_ON)) && !f->seen_on.len)
		add_unescaped(&f->seen_on, value);
	if ((value = header_value(comment, HEADER_UPSTREAM)) && !f->upstream.len)
		add_unescaped(&f->upstream, value);
	if ((value = header_value(comment, HEADER_LEFT_OUT)))
		f->before = strtoul(value, NULL, 10);
}

static void take_items(struct finding *f, const struct script *script)
{
	finding_reserve(f, script->count);
	for (size_t i = 0; i < script->count; i++) {
		const struct item *item = &script->items[i];

		if (item->type == ITEM_CALL)
			f->calls[f->count++] = call_copy(&item->call, &f->arena);
		else if (item->type == ITEM_COMMENT)
			take_header(f, item->text);
	}
}

static int read_trace(struct finding *f, const char *path, struct err *err)
{
	struct script script = { 0 };
	int status = script_read(&script, path, err);

	finding_init(f);
	if (status < 0)
		return status;
	take_items(f, &script);
	script_free(&script);
	if (f->count)
		return 0;
	finding_free(f);
	return err_set(err, EINVAL, "%s: no calls in it", path);
}

/* The calls of the history take the place of its end. */
static int read_history(struct finding *f, const char *dir, struct err *err)
{
	char path[PATH_MAX];
	struct finding whole;
	int status;

	snprintf(path, sizeof(path), "%s/%s", dir, FOLDER_HISTORY);
	status = read_trace(&whole, path, err);
	if (status)
		return status;
	snprintf(whole.discrepancy.signature, sizeof(whole.discrepancy.signature), "%s",
		 f->discrepancy.signature);
	whole.discrepancy.code = f->discrepancy.code;
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
		return read_trace(f, dir, err);
	snprintf(path, sizeof(path), "%s/%s", dir, FOLDER_TRACE);
	status = read_trace(f, path, err);
	if (!status && f->before) {
		status = read_history(f, dir, err);
		if (status)
			finding_free(f);
	}
	return status;
}
