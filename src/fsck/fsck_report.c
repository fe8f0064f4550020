/* fsck_report.c -- a fault of a checker, for its maintainer. */
#include "fsck/fsck_report.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "fsck/evidence.h"
#include "fsck/fsck_export.h"
#include "process/shell.h"
#include "storage/program.h"

/* A script that starts Assay takes a second, and a kernel in a process does the same each time. */
enum { SCRIPT_TIMES = 3, SCRIPT_TIMES_ASSAY = 1 };

enum { SLOW_SECONDS = 1 }; /* of CPU time, for one test */

/* ---- fewer bytes ---- */

static bool test_has_signature(const struct fsck_session *s, const struct fsck_test *t,
			       enum fsck_fault fault, const char *signature)
{
	struct buf own = BUF_INIT;
	bool same;

	fsck_sign(s, t, &own);
	same = t->fault == fault && !strcmp(buf_str(&own), signature);
	buf_free(&own);
	return same;
}

struct shrinking {
	struct fsck_session *s;
	struct fsck_test *t; /* the simplest that has the signature */
	const char *signature;
};

/* Whether a simpler corruption has the same signature; then it is the test from now on. */
static int test_shows(void *to, const struct corruption *simpler, struct err *err)
{
	struct shrinking *x = to;
	struct fsck_test t;
	int r = fsck_try(x->s, simpler, x->t->mode, &t, err);

	if (r)
		return r;
	r = test_has_signature(x->s, &t, x->t->fault, x->signature);
	if (r) {
		fsck_test_free(x->t);
		*x->t = t;
	} else {
		fsck_test_free(&t);
	}
	return r;
}

static int test_shrink(struct fsck_session *s, struct fsck_test *t, const char *signature,
		       struct err *err)
{
	struct shrinking x = { .s = s, .t = t, .signature = signature };
	struct corruption c = t->corruption;
	int r = corruption_shrink(&c, test_shows, &x, err);

	t->corruption = c;
	return r;
}

/* ---- words ---- */

static enum problem problem_of(const struct fsck_test *t)
{
	return t->fault == FSCK_CRASHED || t->fault == FSCK_HUNG ? PROBLEM_CHECKER : PROBLEM_REPAIR;
}

/* What Assay alone can see: what the kernel does with the disk, and what is wrong with it. */
static bool asks_assay(const struct fsck_test *t)
{
	return t->fault == FSCK_REFUSED || t->fault == FSCK_KERNEL || t->fault == FSCK_LOSS ||
	       t->fault == FSCK_UNSOUND;
}

static void add_run(const struct checker_run *r, const char *command, const char *title,
		    const char *answer, struct buf *out)
{
	buf_addf(out, "\n%s: `%s`, ", title, command);
	if (r->end == CHECKER_EXITED)
		buf_addf(out, "exit status %d (%s)%s", r->status, answer,
			 r->caught ? " after a signal that it caught" : "");
	else if (r->end == CHECKER_SIGNALED)
		buf_addf(out, "signal %d", r->status);
	else
		buf_adds(out, "does not end");
	buf_addf(out, ", the disk is %s\n\n", r->wrote ? "changed" : "as before");
	evidence_add_fenced(out, buf_str(&r->output));
}

static const char *expected_sentence(enum fsck_fault fault)
{
	switch (fault) {
	case FSCK_INCONSISTENT:
		return "A disk that a checker calls clean or repaired is found clean by the next "
		       "run; one that it cannot repair is reported as such again.";
	case FSCK_CHECK_DIFFERS:
		return "A check finds errors where a repair of the same disk does.";
	case FSCK_CHECK_WRITES:
		return "A check that is not to repair changes nothing.";
	case FSCK_LOSS:
		return "A repair keeps what was not damaged, under its name or in lost+found.";
	case FSCK_UNSOUND:
		return "A disk that a checker calls clean is as its format says.";
	case FSCK_REFUSED:
	case FSCK_KERNEL:
		return "A disk that a checker calls clean can be read.";
	default:
		return "A checker ends, and not by a signal, whatever is on the disk.";
	}
}

/* The finding in a few lines, before its parts. */
static void print_summary(const struct fsck_session *s, const struct fsck_test *t, struct buf *out)
{
	const struct severity_row *severity = &severity_table[fsck_severity(t)];

	if (t->corruption.count) {
		buf_adds(out, "On a disk on which ");
		corruption_print_fields(&t->corruption, out);
		buf_addf(out, "%s damaged", t->corruption.count == 1 ? " is" : " are");
	} else {
		buf_adds(out, t->undamaged ? "On a disk that is not damaged" : "On this disk");
	}
	buf_addf(out,
		 ", %s %s.\nExpected: %s\nSeverity: %s (%s). `sh reproduce.sh` shows it again.\n",
		 s->program->name, buf_str(&t->text), expected_sentence(t->fault), severity->name,
		 severity->sentence);
}

static void print_readme(const struct fsck_session *s, const struct fsck_test *t,
			 enum problem problem, struct buf *out)
{
	static const char *const titles[FSCK_RUNS_MAX] = { "First run", "Second run", "Third run" };
	const struct checker_mode *mode = &s->program->modes[t->mode];

	buf_addf(out, "# %s: %s %s\n\n", problem_table[problem].name, s->program->name,
		 buf_str(&t->text));
	print_summary(s, t, out);
	buf_addf(out, "\n## Where\n\n- Checker: %s", s->program->name);
	if (s->program->packages)
		buf_addf(out, " (Debian package %s)", s->program->packages);
	if (s->program->file_system)
		buf_addf(out, "\n- File system: %s", s->program->file_system);
	buf_addf(out, "\n- Severity: %s\n\n## The disk\n\n",
		 severity_table[fsck_severity(t)].sentence);
	if (t->corruption.count) {
		buf_adds(out, "`image.gz` is the disk of `before.gz` with these bytes changed, and "
			      "the checksums that cover them made right:\n\n```\n");
		corruption_print(&t->corruption, out);
		buf_adds(out, "```\n");
	} else {
		buf_adds(out, "`image.gz`, as it was given.\n");
	}
	buf_adds(out, "\n## What the checker says\n");
	if (t->check.output.len || t->check.status)
		add_run(&t->check, s->program->check.command, "Only asked to check",
			checker_answer_names[checker_program_answer(
				s->program, CHECKER_CHECK, t->check.status, t->check.wrote)],
			out);
	for (size_t i = 0; i < t->run_count; i++)
		add_run(&t->runs[i], mode->command, titles[i], checker_answer_names[t->answers[i]],
			out);
	if (t->fault == FSCK_REFUSED && !s->disk->target)
		add_run(&t->list, s->program->list.command, "What a reader gets", "failed", out);
	if (t->more.len) {
		buf_adds(out, t->fault == FSCK_LOSS      ? "\n## Lost\n\n"
			      : t->fault == FSCK_UNSOUND ? "\n## What is wrong with the disk\n\n"
							 : "\n## What the kernel says\n\n");
		evidence_add_fenced(out, buf_str(&t->more));
	}
	buf_addf(out, "\n## Expected\n\n%s\n\nTo reproduce: `sh reproduce.sh`.\n",
		 expected_sentence(t->fault));
}

/* ---- the script ---- */

/* One run; its status is in $status. CPU time is bounded; a busy machine may take much longer. */
static void script_add_run(struct buf *out, const char *command, unsigned seconds)
{
	buf_addf(out, "timeout -s KILL %u sh -c 'ulimit -t %u; ", 10 * seconds, seconds);
	for (const char *at = command; *at; at++)
		buf_addf(out, *at == '\'' ? "'\\''" : "%c", *at);
	buf_adds(out, "' </dev/null\nstatus=$?\necho \"exit status $status\"\n");
}

static void script_add_command(const struct fsck_session *s, const char *command, struct buf *out)
{
	const struct program_value value = { "image", "\"$image\"" };
	struct buf filled = BUF_INIT;

	program_fill(&filled, command, &value, 1);
	script_add_run(out, filled.data, (unsigned)s->program->seconds + 1);
	buf_free(&filled);
}

/* Writes what is on a disk to a file, in an order in which two can be compared. */
static void script_add_list(const struct fsck_session *s, const char *image, const char *to,
			    struct buf *out)
{
	const struct program_value value = { "image", image };
	struct buf filled = BUF_INIT;

	program_fill(&filled, s->program->list.command, &value, 1);
	buf_addf(out, "%s | cut -f 2- | sort >\"$work/%s\" || exit 2\n", filled.data, to);
	buf_free(&filled);
}

/* Files that were damaged may be lost: there must be as many missing as were found to be. */
static void script_add_lists(const struct fsck_session *s, const struct fsck_test *t,
			     struct buf *out)
{
	buf_adds(out, "gzip -dc before.gz >\"$work/before\" || exit 2\n");
	script_add_list(s, "\"$work/before\"", "contents.before", out);
	script_add_list(s, "\"$image\"", "contents.after", out);
	buf_addf(out,
		 "missing=$(comm -23 \"$work/contents.before\" \"$work/contents.after\" | wc -l)\n"
		 "[ \"$missing\" -ge %llu ] && exit 1\nexit 0\n",
		 (unsigned long long)t->missing);
}

static void script_add_assay(const struct fsck_session *s, struct buf *out)
{
	const char *config = s->program->config;

	buf_addf(out,
		 "# What the kernel does with that disk is tried in a process, not on this "
		 "machine; the\n# rules of the format are those that Assay reads it by.\n"
		 "gzip -dc before.gz >\"$work/before\" || exit 2\n"
		 "exec \"${ASSAY:-assay}\" fsck %s --disk \"$work/before\" --image "
		 "\"$PWD/image.gz\" --out \"$work/run\"",
		 s->program->name);
	if (config) {
		buf_adds(out, " --config ");
		shell_add_quoted(out, config, strlen(config));
	}
	buf_addch(out, '\n');
}

static void print_script(const struct fsck_session *s, const struct fsck_test *t, struct buf *out)
{
	const char *repair = s->program->modes[t->mode].command;

	buf_addf(out,
		 "#!/bin/sh\n"
		 "# Shows that %s %s.\n"
		 "# Exit status: 1 it does, 0 it does not, 2 could not tell.\n"
		 "cd \"$(dirname \"$0\")\" || exit 2\n",
		 s->program->name, buf_str(&t->text));
	shell_add_work_directory(out, "");
	buf_adds(out, "image=$work/image\n"
		      "export image\n"
		      "gzip -dc image.gz >\"$image\" || exit 2\n");
	if (t->run_count == 0) {
		buf_adds(out, "cp \"$image\" \"$work/before\" || exit 2\n");
		script_add_command(s, s->program->check.command, out);
		if (t->fault == FSCK_CHECK_WRITES)
			buf_adds(out, "cmp -s \"$image\" \"$work/before\" || exit 1\nexit 0\n");
		else
			buf_addf(out, "[ $status = %d ] && exit 1\nexit 0\n",
				 checker_run_shell_status(&t->check));
		return;
	}
	if (t->fault == FSCK_CHECK_DIFFERS) {
		script_add_command(s, s->program->check.command, out);
		buf_addf(out, "[ $status = %d ] || exit 0\n", checker_run_shell_status(&t->check));
		script_add_command(s, repair, out);
		buf_addf(out, "[ $status = %d ] && exit 1\nexit 0\n",
			 checker_run_shell_status(&t->runs[0]));
		return;
	}
	if (t->fault == FSCK_INCONSISTENT && t->run_count == 1) /* has changed nothing */
		buf_adds(out, "cp \"$image\" \"$work/before\" || exit 2\n");
	for (size_t i = 0; i < t->run_count; i++) {
		script_add_command(s, repair, out);
		if (i + 1 < t->run_count || t->fault == FSCK_CRASHED || t->fault == FSCK_HUNG ||
		    t->fault == FSCK_INCONSISTENT)
			buf_addf(out, "[ $status = %d ] || exit 0\n",
				 checker_run_shell_status(&t->runs[i]));
	}
	if (t->fault == FSCK_LOSS && !s->disk->target) {
		script_add_lists(s, t, out);
	} else if (t->fault == FSCK_REFUSED && !s->disk->target) {
		script_add_command(s, s->program->list.command, out);
		buf_adds(out, "[ $status = 0 ] || exit 1\nexit 0\n");
	} else if (asks_assay(t)) {
		script_add_assay(s, out);
	} else if (t->fault == FSCK_INCONSISTENT && t->run_count == 1) {
		buf_adds(out, "cmp -s \"$image\" \"$work/before\" && exit 1\nexit 0\n");
	} else {
		buf_adds(out, "exit 1\n");
	}
}

/* ---- files ---- */

struct program_evidence {
	struct fsck_session *s;
	const struct fsck_test *t;
};

static int write_files(void *to, const char *folder, struct err *err)
{
	const struct program_evidence *x = to;
	struct fsck_session *s = x->s;
	const struct fsck_test *t = x->t;
	struct buf text = BUF_INIT;
	int r;

	print_readme(s, t, problem_of(t), &text);
	r = evidence_write_text(folder, "README.md", &text, err);
	buf_clear(&text);
	print_script(s, t, &text);
	if (!r)
		r = evidence_write_text(folder, "reproduce.sh", &text, err);
	if (t->corruption.count) /* else it is there, whole */
		damaged_disk_set(&s->damaged, &t->corruption);
	if (!r)
		r = evidence_write_disk(folder, "image.gz", s->damaged.bytes, s->damaged.size, err);
	if (!r)
		r = evidence_write_disk(folder, "before.gz", s->damaged.base, s->damaged.size, err);
	buf_free(&text);
	return r;
}

/* ---- the finding ---- */

static void test_describe(const struct fsck_session *s, const struct fsck_test *t,
			  const char *signature, struct finding *f)
{
	struct discrepancy *d = &f->discrepancy;

	finding_init(f);
	d->code = problem_of(t);
	snprintf(d->signature, sizeof(d->signature), "%s %s", problem_table[d->code].name,
		 signature);
	buf_adds(&f->target, s->program->name);
	d->has_severity = true;
	d->severity = fsck_severity(t);
	buf_addf(&d->heading, "%s %s", s->program->name, buf_str(&t->text));
	if (t->undamaged)
		buf_adds(&d->detail, "a disk that is not damaged");
	if (t->corruption.count)
		corruption_print_short(&t->corruption, &d->detail);
	fsck_complaint(s, t, &d->said);
	buf_add(&d->title, d->heading.data, d->heading.len);
	if (d->detail.len)
		buf_addf(&d->title, " (%s)", buf_str(&d->detail));
	corruption_print(&t->corruption, &d->seen);
}

/* Where the kernel takes part, the script has Assay try the disk as a whole: as was done now. */
static bool script_is_this_run(const struct fsck_test *t)
{
	return asks_assay(t) && !t->corruption.count && !t->undamaged;
}

/* What takes long is tried again by its script only, once: it would take the time of all else. */
static bool test_is_slow(const struct fsck_test *t)
{
	double seconds = t->check.cpu_seconds;

	for (size_t i = 0; i < t->run_count; i++)
		seconds += t->runs[i].cpu_seconds;
	return t->fault == FSCK_HUNG || seconds > SLOW_SECONDS;
}

/* repeats: a second try ended the same way. Otherwise the script decides, which tries what was
 * seen. */
static int test_keep(struct fsck_session *s, struct run *run, const struct fsck_test *t,
		     const char *signature, bool repeats, struct err *err)
{
	bool slow = test_is_slow(t);
	struct program_evidence own = { s, t };
	struct disk_evidence evidence = { .write = write_files, .to = &own };
	struct finding f;
	int r;

	test_describe(s, t, signature, &f);
	f.shrunk = repeats && !slow;
	evidence.script_times = repeats && script_is_this_run(t) ? 0
			      : slow                             ? 1
			      : asks_assay(t)                    ? SCRIPT_TIMES_ASSAY
								 : SCRIPT_TIMES;
	r = evidence_keep(&evidence, run, &f, err);
	/* What the script did not show is no finding yet. */
	if (!r && s->export_to && f.shown)
		r = fsck_export(s, t, s->export_to, err);
	finding_free(&f);
	return r;
}

/* Of a disk that was given as a whole, what is there is tried again. */
static int fsck_try_again(struct fsck_session *s, const struct fsck_test *t, struct fsck_test *ret,
			  struct err *err)
{
	struct buf disk = BUF_INIT;
	int r;

	if (t->undamaged)
		return fsck_try_undamaged(s, t->mode, ret, err);
	if (t->corruption.count)
		return fsck_try(s, &t->corruption, t->mode, ret, err);
	buf_add(&disk, (const char *)s->damaged.bytes, s->damaged.size);
	r = fsck_try_disk(s, (const uint8_t *)disk.data, t->mode, ret, err);
	buf_free(&disk);
	return r;
}

/* Tries it once more, and with fewer bytes if that has the same end. */
static int test_repeat(struct fsck_session *s, struct run *run, const struct fsck_test *t,
		       const char *signature, struct err *err)
{
	struct fsck_test again;
	bool repeats;
	int r;

	if (test_is_slow(t))
		return test_keep(s, run, t, signature, true, err);
	r = fsck_try_again(s, t, &again, err);
	if (r)
		return r;
	repeats = test_has_signature(s, &again, t->fault, signature);
	if (repeats)
		r = test_shrink(s, &again, signature, err);
	/* What needs no damage is a finding on the test disk, which has its own. */
	if (!r && (again.corruption.count || !t->corruption.count))
		r = test_keep(s, run, repeats ? &again : t, signature, repeats, err);
	fsck_test_free(&again);
	return r;
}

int fsck_report(struct fsck_session *s, struct run *run, const struct fsck_test *t, struct err *err)
{
	struct buf signature = BUF_INIT;
	struct finding f;
	int r = 0;

	fsck_sign(s, t, &signature);
	test_describe(s, t, buf_str(&signature), &f);
	if (!run_knows(run, &f))
		r = test_repeat(s, run, t, buf_str(&signature), err);
	finding_free(&f);
	buf_free(&signature);
	return r;
}
