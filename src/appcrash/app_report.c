/* app_report.c -- a crash that a program does not survive, for people: what was lost, by which
 * call, what the check says, and a script that shows it. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "appcrash/app.h"
#include "base/err.h"
#include "process/shell.h"
#include "storage/program.h"
#include "trace/script.h"
#include "tree/list.h"

enum {
	CALLS_TOLD = 12, /* the last ones before the crash */
	CALL_TEXT_MAX = 120,
	DATA_TOLD = 16,
	CHECK_TIMES = 3,
	TAR_SECONDS = 60,
};

/* ---- words ---- */

/* The end of the first text in quotes; NULL: there is none. */
static const char *quoted_end(const char *text)
{
	const char *at = strchr(text, '"');

	while (at && *++at && *at != '"')
		at += *at == '\\' && at[1];
	return at && *at ? at + 1 : NULL;
}

void app_print_call(const struct app_session *s, size_t step, struct buf *out)
{
	struct call c = s->workload.calls[s->calls[step]];
	struct arg *data = c.op == OP_pwrite ? &c.pwrite.data
			 : c.op == OP_write  ? &c.write.data
					     : NULL;
	struct buf text = BUF_INIT;
	const char *end = NULL;

	if (data && data->len > DATA_TOLD) {
		data->len = DATA_TOLD;
		call_print(&c, DIALECT_NATIVE, &text);
		end = quoted_end(buf_str(&text));
	} else {
		call_print(&c, DIALECT_NATIVE, &text);
	}
	if (end)
		buf_addf(out, "%.*s...%s", (int)(end - text.data), text.data, end);
	else
		buf_add_clipped(out, buf_str(&text), CALL_TEXT_MAX);
	buf_free(&text);
}

static bool add_path_in(const struct tree *t, uint64_t ino, struct buf *out)
{
	struct path_list list = { 0 };
	bool found = false;

	path_list_make(&list, t);
	for (size_t i = 0; i < list.count && !found; i++) {
		found = list.items[i].inode->ino == ino;
		if (found)
			add_item_path(out, &list, i);
	}
	path_list_free(&list);
	return found;
}

void app_print_path(const struct app_session *s, uint64_t ino, size_t step, struct buf *out)
{
	for (size_t i = step + 1; i-- > 0;)
		if (add_path_in(&s->history.steps[i].tree, ino, out))
			return;
	buf_adds(out, "a file");
}

static uint64_t name_ino(const struct app_session *s, const struct lost_part *lost, size_t step)
{
	const struct tree *t = &s->history.steps[step].tree;
	const struct inode *dir = tree_inode(t, lost->ino);
	const struct entry *entry =
		dir && S_ISDIR(dir->mode) ? tree_find(t, lost->ino, lost->name, lost->len) : NULL;

	return entry ? entry->ino : 0;
}

static void add_lost_name(const struct app_session *s, const struct crash_state *c,
			  const struct lost_part *lost, struct buf *out)
{
	uint64_t old = name_ino(s, lost, lost->step), new = name_ino(s, lost, c->begun);
	struct buf path = BUF_INIT;

	app_print_path(s, lost->ino, c->begun, &path);
	if (strcmp(buf_str(&path), "/"))
		buf_addch(&path, '/');
	add_path(&path, lost->name);
	if (!old)
		buf_addf(out, "the name %s is lost", path.data);
	else if (!new)
		buf_addf(out, "the name %s is still there", path.data);
	else
		buf_addf(out, "the name %s still means the file of before", path.data);
	buf_free(&path);
}

static const char *step_op(const struct app_session *s, size_t step)
{
	return step < s->history.count && step
		     ? op_table[op_table[s->workload.calls[s->calls[step]].op].base].name
		     : "nothing";
}

static void add_lost(const struct app_session *s, const struct crash_state *c,
		     const struct lost_part *lost, struct buf *out)
{
	struct buf path = BUF_INIT;

	if (lost->kind != PART_TREE && lost->kind != PART_NAME)
		app_print_path(s, lost->ino, c->begun, &path);
	switch (lost->kind) {
	case PART_NAME:
		add_lost_name(s, c, lost, out);
		break;
	case PART_ATTRIBUTES:
		buf_addf(out, "the new attributes of %s are lost", path.data);
		break;
	case PART_SIZE:
		buf_addf(out, "the new size of %s is lost%s", path.data,
			 lost->torn ? " in part" : "");
		break;
	case PART_DATA:
		buf_addf(out, "the data of %s at offsets %llu to %llu is lost", path.data,
			 (unsigned long long)lost->from, (unsigned long long)(lost->to - 1));
		break;
	default:
		buf_addf(out, "%s are lost from call %zu on, %s",
			 s->level == PERSIST_STRICT ? "all effects" : "names and attributes",
			 s->calls[lost->change] + 1, step_op(s, lost->change));
		break;
	}
	buf_free(&path);
}

static void add_all_lost(const struct app_session *s, const struct crash_state *c, struct buf *out)
{
	for (size_t i = 0; i < c->count; i++) {
		buf_adds(out, i ? "; " : "");
		add_lost(s, c, &c->lost[i], out);
	}
	if (!c->count)
		buf_addf(out, "nothing is lost: the crash comes between two calls, %s and %s",
			 step_op(s, c->begun), step_op(s, c->begun + 1));
}

/* ---- the finding ---- */

static const char *const part_names[PART_KINDS] = {
	[PART_NAME] = "name", [PART_ATTRIBUTES] = "attributes",
	[PART_SIZE] = "size", [PART_DATA] = "data",
	[PART_TREE] = "tree",
};

/* No path and no number, so that one cause has one signature. */
static void app_sign(const struct app_session *s, const struct crash_state *c,
		     char ret[SIGNATURE_MAX])
{
	struct buf text = BUF_INIT;

	buf_addf(&text, "UNSAFE %s", persist_level_names[s->level]);
	if (!c->count)
		buf_addf(&text, " between %s and %s", step_op(s, c->begun),
			 step_op(s, c->begun + 1));
	for (size_t i = 0; i < c->count; i++)
		buf_addf(&text, "%s %s of %s", i ? "," : "", part_names[c->lost[i].kind],
			 step_op(s, c->lost[i].change));
	snprintf(ret, SIGNATURE_MAX, "%s", text.data);
	buf_free(&text);
}

/* The last calls, up to the one under way. */
static void app_add_calls(const struct app_session *s, const struct crash_state *c,
			  struct finding *f)
{
	size_t end = c->begun ? s->calls[c->begun] + 1 : s->workload.setup_count;
	size_t first = end > CALLS_TOLD ? end - CALLS_TOLD : 0;

	finding_reserve(f, end - first + 1);
	f->before = first;
	f->count = end - first;
	for (size_t i = first; i < end; i++) {
		f->calls[i - first] = call_copy(&s->workload.calls[i], &f->arena);
		f->evidence[i - first] = EVIDENCE_NONE;
	}
	if (f->count)
		f->discrepancy.call = f->calls[f->count - 1];
}

static void app_describe(const struct app_session *s, const struct crash_state *c,
			 const char *output, struct finding *f)
{
	struct discrepancy *d = &f->discrepancy;

	finding_init(f);
	d->code = PROBLEM_UNSAFE;
	app_sign(s, c, d->signature);
	buf_adds(&f->target, s->run->target);
	app_add_calls(s, c, f);
	buf_addf(&d->title,
		 "after a crash the check fails where %s: ", app_level_sentences[s->level]);
	add_all_lost(s, c, &d->title);
	buf_addf(&d->seen, "%s\n%s", s->options.verify, output);
	buf_addf(&d->expected, "%s exits with status 0 after every crash.", s->options.verify);
	tree_diff(&s->history.steps[c->begun].tree, &c->tree, 20, &d->diff);
}

/* ---- its files ---- */

static void app_print_lost(const struct app_session *s, const struct crash_state *c,
			   struct buf *out)
{
	for (size_t i = 0; i < c->count; i++) {
		buf_adds(out, "- ");
		add_lost(s, c, &c->lost[i], out);
		buf_addf(out, ": call %zu, `", s->calls[c->lost[i].change] + 1);
		app_print_call(s, c->lost[i].change, out);
		buf_adds(out, "`\n");
	}
	if (!c->count)
		buf_adds(out, "Nothing is lost. The crash comes between two calls.\n");
}

static void app_print_readme(const struct app_session *s, const struct crash_state *c,
			     const char *output, struct buf *out)
{
	size_t first = c->begun > CALLS_TOLD ? c->begun - CALLS_TOLD : 0;

	buf_addf(out,
		 "# UNSAFE: the program does not survive a crash where %s\n\n"
		 "Level: %s. A file system of this kind may leave these files; "
		 "then the check fails.\n\n## What is lost\n\n",
		 app_level_sentences[s->level], persist_level_names[s->level]);
	app_print_lost(s, c, out);
	buf_adds(out, "\n## Which promise is missing\n\n");
	app_print_missing(s, c, out);
	buf_adds(out, "\n## The last calls of the program\n\n```\n");
	for (size_t i = first + 1; i <= c->begun; i++) {
		buf_addf(out, "%zu: ", s->calls[i] + 1);
		app_print_call(s, i, out);
		buf_adds(out, "\n");
	}
	buf_addf(out, "**** crash%s\n```\n", c->begun > c->done ? " during the last call" : "");
	buf_adds(out, "\n## What the check says\n\n```\n");
	buf_add_clipped(out, output, 2000);
	buf_adds(out, "\n```\n\n## Compared with the files without a crash\n\n```\n");
	tree_diff(&s->history.steps[c->begun].tree, &c->tree, 20, out);
	buf_adds(out,
		 "```\n\nTo reproduce: `sh crash.sh` makes these files (files.tar) in an empty "
		 "directory and runs the check. The file `printed` has what the program had "
		 "printed.\n");
}

static void app_print_script(const struct app_session *s, struct buf *out)
{
	const struct program_value values[] = { { "dir", "$PWD" } };
	struct buf command = BUF_INIT;

	program_fill(&command, s->options.verify, values, 1);
	buf_adds(out, "#!/bin/sh\n"
		      "# Makes the files that a crash can leave in an empty directory, and runs "
		      "the check.\n"
		      "# Exit status: 1 it fails, 0 it does not, 2 could not tell.\n"
		      "cd \"$(dirname \"$0\")\" || exit 2\n"
		      "ASSAY_PRINTED=$PWD/printed\n"
		      "export ASSAY_PRINTED\n");
	shell_add_work_directory(out, "");
	buf_adds(out, "tar -xpf files.tar -C \"$work\" || exit 2\n"
		      "cd \"$work\" || exit 2\n"
		      "if sh -c ");
	shell_add_quoted(out, buf_str(&command), command.len);
	buf_adds(out, " </dev/null; then\n"
		      "\techo 'the check is satisfied'\n"
		      "\texit 0\n"
		      "fi\n"
		      "echo 'the check fails'\n"
		      "exit 1\n");
	buf_free(&command);
}

static int app_write_tar(struct app_session *s, const struct crash_state *c, const char *folder,
			 struct err *err)
{
	struct buf command = BUF_INIT, path = BUF_INIT;
	int exit_status = 0, status;

	buf_addf(&path, "%s/files.tar", folder);
	buf_adds(&command, "tar -cf ");
	shell_add_quoted(&command, path.data, path.len);
	buf_adds(&command, " -C ");
	shell_add_quoted(&command, s->dir.data, s->dir.len);
	buf_adds(&command, " .");
	status = app_write_tree(s, &c->tree, err);
	if (!status)
		status = program_run(command.data, -1, TAR_SECONDS, &exit_status, NULL, err);
	if (!status && exit_status)
		status = err_set(err, EIO, "cannot write %s", path.data);
	buf_free(&command);
	buf_free(&path);
	return status;
}

static int app_write_text(const char *folder, const char *name, const struct buf *text,
			  struct err *err)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%.4000s/%s", folder, name);
	return buf_write_file(text, path, err);
}

static int app_write_files(struct app_session *s, const struct crash_state *c, const char *output,
			   const char *folder, struct err *err)
{
	struct buf text = BUF_INIT;
	int status;

	app_print_readme(s, c, output, &text);
	status = app_write_text(folder, "README.md", &text, err);
	buf_clear(&text);
	app_print_script(s, &text);
	if (!status)
		status = app_write_text(folder, "crash.sh", &text, err);
	buf_clear(&text);
	buf_add(&text, buf_str(&s->printed), s->printed_len[c->done]);
	if (!status)
		status = app_write_text(folder, "printed", &text, err);
	buf_free(&text);
	return status ? status : app_write_tar(s, c, folder, err);
}

int app_report(struct app_session *s, const struct crash_state *c, struct err *err)
{
	struct buf output = BUF_INIT;
	unsigned shown = 0, tries = 0;
	struct finding f;
	int status = 0;

	for (; tries < CHECK_TIMES && status >= 0; tries++) {
		buf_clear(&output);
		status = app_check(s, &c->tree, s->printed_len[c->done], &output, err);
		shown += status > 0;
	}
	if (status < 0) {
		buf_free(&output);
		return status;
	}
	app_describe(s, c, buf_str(&output), &f);
	if (run_knows(s->run, &f)) {
		status = 0;
	} else {
		f.tries = tries;
		f.shown = shown;
		f.shrunk = true;
		run_meet(s->run, &f, NULL);
		run_update(s->run, &f, NULL);
		status = run_folder(s->run)
			       ? app_write_files(s, c, buf_str(&output), run_folder(s->run), err)
			       : 0;
		run_settle(s->run);
	}
	finding_free(&f);
	buf_free(&output);
	return status;
}
