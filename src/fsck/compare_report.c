/* compare_report.c -- a file that one checker loses and another keeps. */
#include "fsck/compare_report.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "fsck/evidence.h"
#include "process/shell.h"

static void describe(const struct checker_comparison *c, const struct compared *x,
		     const char *field, struct finding *f)
{
	const struct checker_program *loser = c->sides[x->loser]->program;
	const struct checker_program *keeper = c->sides[!x->loser]->program;
	struct discrepancy *d = &f->discrepancy;

	finding_init(f);
	d->code = PROBLEM_REPAIR;
	snprintf(d->signature, sizeof(d->signature), "%s %s: incomplete: %s: %s",
		 problem_table[d->code].name, loser->name, keeper->name, field);
	buf_adds(&f->target, loser->name);
	buf_addf(&d->title, "%s %s (%s damaged)", loser->name, buf_str(&x->tests[x->loser].text),
		 field);
	corruption_print(&x->tests[x->loser].corruption, &d->seen);
}

static void add_side(const struct fsck_session *s, const struct fsck_test *t, const char *image,
		     struct buf *out)
{
	struct buf damage = BUF_INIT;

	corruption_print(&t->corruption, &damage);
	buf_addf(out, "\n## %s\n\nThe damaged disk is `%s`:\n\n", s->program->name, image);
	evidence_add_fenced(out, buf_str(&damage));
	buf_free(&damage);
	for (size_t i = 0; i < t->run_count; i++) {
		buf_addf(out, "\nRun %zu: `%s`, exit status %d (%s)\n\n", i + 1,
			 s->program->modes[t->mode].command, t->runs[i].status,
			 checker_answer_names[t->answers[i]]);
		evidence_add_fenced(out, buf_str(&t->runs[i].output));
	}
}

static void print_readme(const struct checker_comparison *c, const struct compared *x,
			 const char *field, struct buf *out)
{
	const struct fsck_test *loser = &x->tests[x->loser];

	buf_addf(out,
		 "# REPAIR: %s %s\n\nThe same damage was done to both disks, which hold the same "
		 "files: %s.\n\n## Lost\n\n",
		 c->sides[x->loser]->program->name, buf_str(&loser->text), field);
	evidence_add_fenced(out, buf_str(&loser->more));
	add_side(c->sides[x->loser], loser, "image.gz", out);
	add_side(c->sides[!x->loser], &x->tests[!x->loser], "other.gz", out);
	buf_adds(out, "\n## Expected\n\nWhat one checker can restore, another can, too, unless its "
		      "format holds less.\n\nTo reproduce: `sh reproduce.sh`.\n");
}

static void print_script(const struct checker_comparison *c, const struct compared *x,
			 struct buf *out)
{
	buf_adds(out, "#!/bin/sh\n"
		      "# Has both checkers repair their disks, and compares what is left.\n"
		      "# Exit status: 1 one of them loses more, 0 none does, 2 could not tell.\n"
		      "cd \"$(dirname \"$0\")\" || exit 2\n");
	shell_add_work_directory(out, "");
	buf_addf(out,
		 "\"${ASSAY:-assay}\" fsck %s --against %s --image image.gz --against-image "
		 "other.gz \\\n\t--out \"$work/run\"",
		 c->sides[x->loser]->program->name, c->sides[!x->loser]->program->name);
	if (c->config) {
		buf_adds(out, " --config ");
		shell_add_quoted(out, c->config, strlen(c->config));
	}
	buf_adds(out, "\nexit $?\n");
}

/* The disk as it was before the repair: of a corruption, or given as a whole. */
static int write_side(struct fsck_session *s, const struct fsck_test *t, const char *folder,
		      const char *name, struct err *err)
{
	if (t->corruption.count)
		damaged_disk_set(&s->damaged, &t->corruption);
	return evidence_write_disk(folder, name, s->damaged.bytes, s->damaged.size, err);
}

struct compared_evidence {
	struct checker_comparison *c;
	const struct compared *x;
	const char *field;
};

static int write_files(void *to, const char *folder, struct err *err)
{
	const struct compared_evidence *own = to;
	struct checker_comparison *c = own->c;
	const struct compared *x = own->x;
	struct buf text = BUF_INIT;
	int r;

	print_readme(c, x, own->field, &text);
	r = evidence_write_text(folder, "README.md", &text, err);
	buf_clear(&text);
	print_script(c, x, &text);
	if (!r)
		r = evidence_write_text(folder, "reproduce.sh", &text, err);
	buf_free(&text);
	if (!r)
		r = write_side(c->sides[x->loser], &x->tests[x->loser], folder, "image.gz", err);
	if (!r)
		r = write_side(c->sides[!x->loser], &x->tests[!x->loser], folder, "other.gz", err);
	return r;
}

int compare_report(struct checker_comparison *c, struct run *run, const struct compared *x,
		   const char *field, struct err *err)
{
	struct compared_evidence own = { c, x, field };
	/* Of disks that were given as a whole, the script does what was done now. */
	struct disk_evidence evidence = { .write = write_files,
					  .to = &own,
					  .script_times =
						  x->tests[x->loser].corruption.count != 0 };
	struct finding f;
	int r = 0;

	describe(c, x, field, &f);
	if (!run_knows(run, &f))
		r = evidence_keep(&evidence, run, &f, err);
	finding_free(&f);
	return r;
}
