/* view_findings.c -- findings as arguments: calls, what was expected and seen, the rule, others'
 * answers, reproducers. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "report/view.h"

enum { OTHERS_SHOWN = 50 };

/* The folder of a finding, whether or not the run was moved since; false where it has none. Its
 * place is foreign input: it must not lead out of the run's directory. */
static bool finding_folder(const char *dir, const json_t *finding, char ret[PATH_MAX])
{
	const char *folder = json_text(finding, "folder");

	if (!*folder || *folder == '/')
		return false;
	for (const char *at = folder; at; at = strchr(at, '/')) {
		at += *at == '/';
		if (!strncmp(at, "..", 2) && (!at[2] || at[2] == '/'))
			return false;
	}
	return snprintf(ret, PATH_MAX, "%s/%s", dir, folder) < PATH_MAX - 128;
}

static json_t *finding_read_json(const char *folder)
{
	char path[PATH_MAX];
	json_t *o;

	snprintf(path, sizeof(path), "%.4000s/finding.json", folder);
	o = json_load_file(path, JSON_ALLOW_NUL, NULL);
	if (!json_is_object(o)) {
		json_decref(o);
		o = NULL;
	}
	return o;
}

/* Objects in which something differs; where none is known, those of the last call. */
static json_t *finding_paths(const json_t *details, const char *trace)
{
	const json_t *facts = json_object_get(details, "facts"), *fact;
	json_t *paths = json_array();
	size_t i;

	json_array_foreach(facts, i, fact) json_array_append_new(paths, view_bytes(fact, "path"));
	if (json_array_size(paths))
		return paths;
	json_decref(paths);
	return view_last_paths(trace);
}

/* "name: text" of each line. */
static json_t *finding_rules(const json_t *details)
{
	json_t *rule = view_bytes(details, "rule"), *rules = json_array(), *row;
	const char *line = json_string_value(rule);
	size_t len;

	for (; line && *line; line += len + (line[len] == '\n')) {
		const char *colon;

		len = strcspn(line, "\n");
		colon = memchr(line, ':', len);
		row = json_object();
		if (colon && !memchr(line, ' ', (size_t)(colon - line))) {
			json_object_set_new(row, "rule",
					    view_text_part(line, (size_t)(colon - line)));
			json_object_set_new(row, "text",
					    view_text_part(colon + 1,
							   len - (size_t)(colon - line) - 1));
		} else {
			json_object_set_new(row, "rule", json_string(""));
			json_object_set_new(row, "text", view_text_part(line, len));
		}
		json_array_append_new(rules, row);
	}
	json_decref(rule);
	return rules;
}

/* What other file systems answered, which the notes say in lines "  TARGET: ANSWER". */
static json_t *finding_answers(const char *notes, struct buf *rest)
{
	static const char heading[] = "The same call on all targets:\n";
	const char *at = strstr(notes, heading), *colon;
	json_t *answers = json_array(), *row;
	size_t len;

	buf_add(rest, notes, at ? (size_t)(at - notes) : strlen(notes));
	if (!at)
		return answers;
	for (at += strlen(heading); !strncmp(at, "  ", 2); at += len + (at[len] == '\n')) {
		len = strcspn(at, "\n");
		colon = at;
		for (const char *c = at; c + 1 < at + len; c++)
			if (c[0] == ':' && c[1] == ' ') {
				colon = c;
				break;
			}
		if (colon == at)
			continue;
		row = json_object();
		json_object_set_new(row, "on", view_text_part(at + 2, (size_t)(colon - at) - 2));
		json_object_set_new(row, "answer",
				    view_text_part(colon + 2, len - (size_t)(colon - at) - 2));
		json_array_append_new(answers, row);
	}
	buf_adds(rest, at);
	return answers;
}

static void finding_add_notes(json_t *view, const json_t *details)
{
	json_t *notes = view_bytes(details, "notes");
	struct buf rest = BUF_INIT;

	json_object_set_new(view, "answers", finding_answers(json_string_value(notes), &rest));
	json_object_set_new(view, "notes", view_text(buf_str(&rest)));
	buf_free(&rest);
	json_decref(notes);
}

static void finding_add_details(json_t *view, const char *folder, const char *trace)
{
	json_t *details = finding_read_json(folder), *expected, *seen, *paths;
	long long left_out;

	expected = view_bytes(details, "expected");
	seen = view_bytes(details, "seen");
	paths = finding_paths(details, trace);
	json_object_set_new(view, "calls", view_calls(trace, paths, &left_out));
	json_object_set_new(view, "calls_before", json_integer(left_out));
	json_object_set_new(view, "diff",
			    view_diff(json_string_value(expected), json_string_value(seen)));
	json_object_set_new(view, "has_diff",
			    json_boolean(json_is_array(json_object_get(view, "diff"))));
	json_object_set_new(view, "differences", view_bytes(details, "differences"));
	json_object_set_new(view, "rules", finding_rules(details));
	json_object_set_new(view, "problem", view_bytes(details, "problem"));
	json_object_set_new(view, "consequence", view_bytes(details, "consequence"));
	finding_add_notes(view, details);
	json_decref(paths);
	json_decref(expected);
	json_decref(seen);
	json_decref(details);
}

/* The files of a folder that people read or run. */
static const struct finding_file {
	const char *name, *caption;
	bool program;
} finding_files[] = {
	{ "repro.c", "C reproducer", true },
	{ "repro.sh", "shell reproducer", true },
	{ "crash.sh", "shell reproducer of the crash", true },
	{ "crash.c", "C program of the crash", true },
	{ "reproduce.sh", "shell reproducer", true },
	{ "trace", "trace", true },
	{ "README.md", "README: why it is wrong", false },
	{ "writes", "disk requests", false },
	{ "recovered", "tree after recovery", false },
	{ "fsck.txt", "output of fsck", false },
};

static json_t *finding_view_files(const char *folder)
{
	json_t *files = json_array();

	for (size_t i = 0; i < sizeof(finding_files) / sizeof(*finding_files); i++) {
		json_t *text = view_file(folder, finding_files[i].name);

		if (text)
			json_array_append_new(files,
					      json_pack("{s:s, s:s, s:b, s:o}", "file",
							finding_files[i].name, "caption",
							finding_files[i].caption, "program",
							finding_files[i].program, "text", text));
	}
	return files;
}

static void finding_add_folder(json_t *view, const char *folder)
{
	json_t *trace = view_file(folder, "trace"), *writes = view_file(folder, "writes");
	const char *text = trace ? json_string_value(trace) : "";

	finding_add_details(view, folder, text);
	json_object_set_new(view, "lanes", view_lanes(text));
	if (writes)
		json_object_set_new(view, "timeline", view_timeline(json_string_value(writes)));
	json_object_set_new(view, "files", finding_view_files(folder));
	json_decref(trace);
	json_decref(writes);
}

/* "shown in 10 of 10 replays", and so on. */
static json_t *finding_evidence(const json_t *row)
{
	const json_t *outcomes = json_object_get(row, "outcomes");
	struct buf out = BUF_INIT;
	json_t *text;

	buf_addf(&out, "%lld call%s", view_count(row, "calls"),
		 view_count(row, "calls") == 1 ? "" : "s");
	if (view_count(row, "calls_left_out"))
		buf_addf(&out, ", the last ones of %lld (the file history has all)",
			 view_sum(view_count(row, "calls"), view_count(row, "calls_left_out")));
	buf_addf(&out, "; shown in %lld of %lld replays", view_count(row, "shown"),
		 view_count(row, "tries"));
	if (view_count(outcomes, "predicted") || view_count(outcomes, "not_recorded"))
		buf_addf(&out, "; outcomes: %lld observed, %lld predicted, %lld not recorded",
			 view_count(outcomes, "observed"), view_count(outcomes, "predicted"),
			 view_count(outcomes, "not_recorded"));
	if (json_is_true(json_object_get(row, "in_kernel_log")))
		buf_adds(&out, "; the kernel log is the evidence");
	if (*json_text(row, "program"))
		buf_addf(&out, "; its program: %s", json_text(row, "program"));
	if (view_count(row, "met") > 1)
		buf_addf(&out, "; met %lld times", view_count(row, "met"));
	if (view_count(row, "count") > 1)
		buf_addf(&out, "; seen %lld times", view_count(row, "count"));
	text = view_text(buf_str(&out));
	buf_free(&out);
	return text;
}

static json_t *finding_others(const json_t *row)
{
	const json_t *others = json_object_get(row, "others"), *other;
	json_t *list = json_array();
	size_t i;

	json_array_foreach(others, i, other)
	{
		if (i == OTHERS_SHOWN)
			break;
		json_array_append_new(list, json_pack("{s:s, s:I}", "signature",
						      json_text(other, "signature"), "times",
						      view_count(other, "count")));
	}
	return list;
}

static json_t *finding_view(const char *dir, const json_t *row, const char *prefix, size_t number)
{
	static const char *const texts[] = { "code",           "title",     "target", "severity",
					     "severity_means", "signature", "path",   "failure" };
	static const char *const nothing[] = { "calls", "diff",        "rules",       "answers",
					       "notes", "problem",     "lanes",       "timeline",
					       "files", "consequence", "differences", "has_diff" };
	json_t *view = json_object();
	char folder[PATH_MAX], anchor[64];
	long long left_out;

	snprintf(anchor, sizeof(anchor), "%s-%zu", prefix, number + 1);
	json_object_set_new(view, "anchor", json_string(anchor));
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		json_object_set_new(view, texts[i], view_text(json_text(row, texts[i])));
	/* No name of the page around it may be taken for one of the finding. */
	for (size_t i = 0; i < sizeof(nothing) / sizeof(*nothing); i++)
		json_object_set_new(view, nothing[i], json_string(""));
	json_object_set_new(view, "calls_before", json_integer(0));
	json_object_set_new(view, "evidence", finding_evidence(row));
	json_object_set_new(view, "others", finding_others(row));
	json_object_set_new(
		view, "others_count",
		json_integer((json_int_t)json_array_size(json_object_get(row, "others"))));
	json_object_set_new(view, "group", json_string(json_text(row, "group")));
	if (*json_text(row, "failure"))
		json_object_set_new(view, "calls",
				    view_calls(json_text(row, "trace"), NULL, &left_out));
	else if (finding_folder(dir, row, folder))
		finding_add_folder(view, folder);
	return view;
}

json_t *view_findings(const char *dir, const json_t *rows, const char *prefix)
{
	json_t *list = json_array();
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
		json_array_append_new(list, finding_view(dir, row, prefix, i));
	return list;
}
