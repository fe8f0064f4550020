/* spec_manual.c -- `assay spec OPERATION`, `--html`, `--examples`: the model as manual pages. */
#include "cli/spec_manual.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/must.h"
#include "cli/command.h"
#include "cli/operands.h"
#include "manual/manual.h"
#include "process/confine.h"

struct manual_run {
	const struct spec_manual *settings;
	const struct model *model;
	enum op ops[OP_COUNT];
	size_t count;
	const char *file; /* of the document, or NULL */
	struct buf path;  /* of the same, in a directory */
	struct buf out;
};

static bool spec_is_operation(const char *operand)
{
	return op_find(operand) >= 0 && access(operand, F_OK);
}

bool spec_is_operation_meant(const char *operand)
{
	return access(operand, F_OK) && !strpbrk(operand, "./");
}

static int operand_unknown(const char *operand, struct err *err)
{
	struct nearest n = NEAREST_TO(operand);

	for (const struct op_info *info = op_table; info < op_table + OP_COUNT; info++)
		nearest_offer(&n, info->name);
	err_set(err, ENOENT, "%s: neither an operation (`assay ops` lists them) nor a file",
		operand);
	err_suggest(err, &n);
	return EXIT_USAGE;
}

/* Where the document goes; a directory has it as spec.html. */
static int manual_set_file(struct manual_run *r, const char *operand, struct err *err)
{
	struct stat st;

	r->file = operand;
	if (!stat(operand, &st) && S_ISDIR(st.st_mode)) {
		buf_addf(&r->path, "%s/spec.html", operand);
		r->file = r->path.data;
	}
	return operand_new_file(r->file, err);
}

static int manual_read_operands(struct manual_run *r, int argc, char **argv, struct err *err)
{
	for (int i = 1; i < argc; i++) {
		bool last = i == argc - 1;

		if (spec_is_operation(argv[i]) && r->count < OP_COUNT)
			r->ops[r->count++] = (enum op)op_find(argv[i]);
		else if (last && r->settings->html)
			return manual_set_file(r, argv[i], err);
		else
			return operand_unknown(argv[i], err);
	}
	return EXIT_CLEAN;
}

static void manual_choose_all(struct manual_run *r)
{
	if (r->count)
		return;
	while (r->count < OP_COUNT) {
		r->ops[r->count] = (enum op)r->count;
		r->count++;
	}
}

/* OPERATION-ERRNO-RULE.trace, if a plain file system can show it. */
static int manual_write_example(const char *dir, const struct manual *m,
				const struct manual_entry *entry, struct err *err)
{
	struct buf path = BUF_INIT, text = BUF_INIT;
	int status = 0;

	if (entry->force == MANUAL_REQUIRED && !entry->example.trait[0] &&
	    !entry->example.read_only) {
		buf_addf(&path, "%s/%s-%s-%s.trace", dir, op_table[m->op].name,
			 errno_name(rule_table[entry->rule].error), rule_table[entry->rule].name);
		manual_script(m, entry, &text);
		status = buf_write_file(&text, path.data, err);
	}
	buf_free(&path);
	buf_free(&text);
	return status;
}

static int manual_write_examples(const char *dir, const struct manual *m, struct err *err)
{
	int status = 0;

	for (size_t i = 0; i < m->count && !status; i++)
		status = manual_write_example(dir, m, &m->entries[i], err);
	return status;
}

static int manual_add_operation(struct manual_run *r, enum op op, struct err *err)
{
	struct manual m;
	int status = manual_open(&m, op, r->model, err);

	if (!status && r->settings->examples)
		status = manual_write_examples(r->settings->examples, &m, err);
	else if (!status)
		(r->settings->html ? manual_html : manual_text)(&m, &r->out);
	manual_free(&m);
	return status;
}

static int manual_finish(struct manual_run *r, struct err *err)
{
	if (r->file)
		return buf_write_file(&r->out, r->file, err);
	fputs(buf_str(&r->out), stdout);
	return 0;
}

static int manual_make(struct manual_run *r, struct err *err)
{
	const char *writable[] = { r->settings->examples, r->file };
	int status = 0;

	if (r->settings->examples && mkdir(r->settings->examples, 0777) && errno != EEXIST)
		return err_sys(err, errno, "%s", r->settings->examples);
	if (!r->file)
		confine_reader(writable, r->settings->examples ? 1 : 0);
	if (r->settings->html)
		manual_html_begin(r->model, r->ops, r->count, &r->out);
	for (size_t i = 0; i < r->count && !status; i++)
		status = manual_add_operation(r, r->ops[i], err);
	if (r->settings->html)
		manual_html_end(&r->out);
	return status ? status : manual_finish(r, err);
}

int spec_manual_run(const struct spec_manual *s, const struct model *model, int argc, char **argv,
		    struct err *err)
{
	struct manual_run *r = must_alloc(sizeof(*r));
	int code;

	r->settings = s;
	r->model = model;
	code = manual_read_operands(r, argc, argv, err);
	if (code == EXIT_CLEAN)
		code = operand_new_directory(s->examples, err);
	if (code == EXIT_CLEAN) {
		manual_choose_all(r);
		code = operand_code(manual_make(r, err));
	}
	buf_free(&r->path);
	buf_free(&r->out);
	free(r);
	return code;
}
