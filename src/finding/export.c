/* export.c -- a finding as a test of another suite: the table of suites, what none of them can
 * have, and the texts that all of them use. */
#include "finding/export.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/dirs.h"
#include "base/err.h"
#include "base/must.h"
#include "finding/finding.h"
#include "finding/folder.h"
#include "op/c_text.h"
#include "target/description.h"

enum { EXPORT_LINE_MAX = 300, EXPORT_TITLE_MAX = 200 };

static const struct export_suite *const export_suites[] = {
	&export_xfstests,
	&export_ltp,
	&export_pjdfstest,
	&export_kselftest,
};

const struct export_suite *export_suite_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(export_suites); i++)
		if (!strcmp(export_suites[i]->name, name))
			return export_suites[i];
	return NULL;
}

void export_suite_names(struct buf *out)
{
	for (size_t i = 0; i < ARRAY_LEN(export_suites); i++)
		buf_addf(out, "%s%s", i ? ", " : "", export_suites[i]->name);
}

/* A call that acts on what no test reaches, or NULL. */
static const char *export_injects(const struct finding *f)
{
	for (size_t i = 0; i < f->count; i++)
		switch (f->calls[i].op) {
		case OP_fail_alloc:
		case OP_fail_read:
		case OP_fail_write:
		case OP_seek_leaks:
		case OP_seek_space:
			return op_table[f->calls[i].op].name;
		default:
			break;
		}
	return NULL;
}

/* What no suite can have. */
static void export_lacks(const struct export *x, struct buf *why)
{
	const struct finding *f = x->finding;
	const char *injects = export_injects(f);

	if (f->before)
		buf_adds(why, "its calls do not begin on a fresh file system; shrink it first");
	else if (f->count > FINDING_CALLS_TOLD)
		buf_addf(why, "it has %zu calls; shrink it first", f->count);
	else if (!f->shown && !f->expects)
		buf_adds(why, "no replay has shown it");
	else if (injects)
		buf_addf(why, "no program outside of Assay can do %s()", injects);
	else if (!x->program.needs[HELPER_want])
		buf_addf(why, "no program can see it: %s", buf_str(&f->discrepancy.title));
	else if (f->proof.end == PROOF_ABSENT || f->proof.end == PROOF_UNKNOWN)
		buf_adds(why, "its own program, repro.c, does not show it");
}

/* The signature without the problem, as a word: "TREE truncate data (stale)" is
 * truncate_data_stale. */
static void export_set_name(struct export *x)
{
	const char *from = strchr(x->finding->discrepancy.signature, ' ');
	size_t len = 0;

	for (; from && *from && len + 1 < sizeof(x->name); from++)
		if (isalnum((unsigned char)*from))
			x->name[len++] = (char)tolower((unsigned char)*from);
		else if (len && x->name[len - 1] != '_')
			x->name[len++] = '_';
	while (len && x->name[len - 1] == '_')
		len--;
	x->name[len] = '\0';
	if (!len || isdigit((unsigned char)x->name[0]))
		snprintf(x->name, sizeof(x->name), "finding");
}

/* A file system that mount(8) can have: in an image, or from nothing. */
static void export_set_fs(struct export *x)
{
	struct target_description d = { 0 };
	struct err none = { 0 };

	if (!description_find(&d, buf_str(&x->finding->target), NULL, &none) && d.fs &&
	    (!strcmp(d.kind, "host") || !strcmp(d.kind, "kernel")) && !d.source &&
	    (!d.mkfs || strstr(d.mkfs, "{image}"))) {
		buf_adds(&x->fs, d.fs);
		buf_adds(&x->mkfs, d.mkfs ? d.mkfs : "");
	}
	description_free(&d);
}

int export_finding(const struct finding *f, const struct export_suite *suite, const char *dir,
		   struct err *err)
{
	struct export_dir to = { .path = dir, .err = err };
	struct export x = { .finding = f };
	struct buf why = BUF_INIT;

	repro_survey(f, &x.program);
	export_set_name(&x);
	export_set_fs(&x);
	export_lacks(&x, &why);
	if (!why.len && suite->lacks)
		suite->lacks(&x, &why);
	if (why.len)
		to.status = err_set(err, ENOTSUP, "no test of %s: %s", suite->name, buf_str(&why));
	else
		suite->write(&x, &to);
	buf_free(&why);
	buf_free(&x.fs);
	buf_free(&x.mkfs);
	return to.status;
}

void export_file(struct export_dir *dir, struct buf *text, mode_t mode, const char *path, ...)
{
	struct buf whole = BUF_INIT, parent = BUF_INIT;
	va_list args;

	buf_addf(&whole, "%s/", dir->path);
	va_start(args, path);
	buf_vaddf(&whole, path, args);
	va_end(args);
	buf_add(&parent, whole.data, (size_t)(strrchr(whole.data, '/') - whole.data));
	if (!dir->status)
		dir->status = dirs_make_all(parent.data, dir->err);
	if (!dir->status)
		dir->status = buf_write_file(text, whole.data, dir->err);
	if (!dir->status && chmod(whole.data, mode))
		dir->status = err_sys(dir->err, errno, "%s", whole.data);
	buf_free(&whole);
	buf_free(&parent);
	buf_free(text);
}

/* Each line behind the prefix, in a form that ends no comment of C or of the shell. */
static void export_lines(const char *prefix, const char *indent, const char *text, struct buf *out)
{
	struct buf line = BUF_INIT;
	size_t len;

	for (; *text; text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		buf_clear(&line);
		buf_add(&line, text, len);
		buf_addf(out, "%s%s%s", prefix, len && *prefix ? " " : "", len ? indent : "");
		repro_comment(buf_str(&line), EXPORT_LINE_MAX, out);
		buf_addch(out, '\n');
	}
	buf_free(&line);
}

static void export_part(const char *prefix, const char *heading, const struct buf *text,
			struct buf *out)
{
	const char *space = *prefix ? " " : "";

	buf_addf(out, "%s\n%s%s%s\n%s\n", prefix, prefix, space, heading, prefix);
	export_lines(prefix, "  ", buf_str(text), out);
}

/* What happened instead, and where. */
static void export_seen(const struct export *x, const char *prefix, struct buf *out)
{
	const struct finding *f = x->finding;
	const struct discrepancy *d = &f->discrepancy;
	struct buf kernels = BUF_INIT;

	export_part(prefix, "Actual:", d->diff.len ? &d->diff : &d->seen, out);
	buf_addf(out, "%s\n%s%sFound by Assay on ", prefix, prefix, *prefix ? " " : "");
	repro_comment(buf_str(&f->target), EXPORT_LINE_MAX, out);
	folder_add_kernels(&kernels, f, NULL);
	if (kernels.len) {
		buf_adds(out, ", seen on ");
		repro_comment(buf_str(&kernels), EXPORT_LINE_MAX, out);
	}
	buf_adds(out, ".\n");
	buf_free(&kernels);
}

void export_story(const struct export *x, const char *prefix, struct buf *out)
{
	const struct finding *f = x->finding;
	const struct discrepancy *d = &f->discrepancy;
	struct buf steps = BUF_INIT, source = BUF_INIT;

	finding_print_calls(f, &steps);
	if (d->rule.len)
		buf_add(&source, d->rule.data, d->rule.len);
	else
		readme_add_source(d, &source);
	export_lines(prefix, "", buf_str(&d->title), out);
	export_part(prefix, "Steps, on a fresh file system:", &steps, out);
	export_part(prefix, "Expected:", &d->expected, out);
	if (f->expects) {
		buf_addf(
			out,
			"%s\n%s%sSuggested by Assay: its model of Linux allows no other outcome.\n",
			prefix, prefix, *prefix ? " " : "");
	} else {
		export_lines(prefix, "", buf_str(&source), out);
		export_seen(x, prefix, out);
	}
	buf_free(&steps);
	buf_free(&source);
}

void export_title_c(const struct export *x, struct buf *out)
{
	const char *title = buf_str(&x->finding->discrepancy.title);
	size_t len = strlen(title);

	c_string(title, len < EXPORT_TITLE_MAX ? len : EXPORT_TITLE_MAX, out);
}

const char *export_call(const struct export *x)
{
	const struct finding *f = x->finding;

	for (size_t i = f->count; i-- > 0;)
		if (!(op_table[f->calls[i].op].traits & (TRAIT_ENV | TRAIT_PROC)))
			return op_table[op_table[f->calls[i].op].base].name;
	return "mount";
}

bool export_remounts(const struct export *x)
{
	return x->program.needs[HELPER_remount] || x->program.needs[HELPER_check_disk];
}
