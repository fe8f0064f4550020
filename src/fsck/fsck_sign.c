/* fsck_sign.c -- how faults of a checker differ: what is said, what was damaged, how bad it is. */
#include <stdbool.h>
#include <string.h>

#include "fsck/fsck.h"
#include "target/checker.h"

/* The first thing that the kernel says, without names and numbers. */
static void add_kernel_complaint(const char *log, struct buf *out)
{
	const char *line = strstr(log, "] ");
	struct buf first = BUF_INIT;

	if (!line)
		return;
	line += strlen("] ");
	buf_add(&first, line, strcspn(line, "\n"));
	checker_complaint(buf_str(&first), "", out);
	buf_free(&first);
}

/* The run that shows what is wrong: of a contradiction the second one, which shows what the
 * first has left. */
static const struct checker_run *test_telling_run(const struct fsck_test *t)
{
	if (t->fault == FSCK_INCONSISTENT)
		return &t->runs[t->run_count > 1];
	if (t->fault == FSCK_CHECK_DIFFERS)
		return t->answers[0] == ANSWER_CLEAN ? &t->check : &t->runs[0];
	return t->run_count ? &t->runs[t->run_count - 1] : &t->check;
}

void fsck_complaint(const struct fsck_session *s, const struct fsck_test *t, struct buf *out)
{
	if (t->fault == FSCK_REFUSED || t->fault == FSCK_KERNEL)
		add_kernel_complaint(buf_str(&t->more), out);
	else if (t->fault != FSCK_LOSS && t->fault != FSCK_UNSOUND)
		checker_complaint(buf_str(&test_telling_run(t)->output),
				  buf_str(&s->usual_output[t->mode]), out);
}

/* A rule may be broken, and an error left, for several reasons: they differ by what was damaged. Of
 * a rule it is the field: to overlook a wrong mode is one thing, a wrong flag another. */
static void sign_damage(const struct fsck_test *t, struct buf *out)
{
	for (size_t i = 0; i < t->corruption.count; i++) {
		const struct disk_change *x = &t->corruption.changes[i];

		if (x->instance)
			buf_addf(out, ": %s", x->instance->structure->name);
		if (x->instance && x->field && t->fault == FSCK_UNSOUND)
			buf_addf(out, ".%.*s", (int)strcspn(x->field->name, "["),
				 x->field->name); /* of i_block[12], too */
	}
}

static bool is_of_what_is_left(enum fsck_fault fault)
{
	return fault == FSCK_REFUSED || fault == FSCK_KERNEL || fault == FSCK_UNSOUND;
}

void fsck_sign(const struct fsck_session *s, const struct fsck_test *t, struct buf *out)
{
	const struct checker_run *telling = test_telling_run(t);

	buf_addf(out, "%s: %s: ", s->program->name, fsck_fault_names[t->fault]);
	if (t->fault == FSCK_INCONSISTENT)
		buf_addf(out, "%s then %s: ", checker_answer_names[t->answers[0]],
			 checker_answer_names[t->answers[t->run_count > 1]]);
	if (t->fault == FSCK_CRASHED)
		buf_addf(out, "signal %d: ", telling->caught ? telling->caught : telling->status);
	if (t->undamaged)
		buf_adds(out, "undamaged disk: ");
	/* To overlook an error is one thing, to repair it badly another. */
	if (is_of_what_is_left(t->fault) && t->answers[0] != ANSWER_CLEAN)
		buf_adds(out, "after a repair: ");
	if (t->fault == FSCK_LOSS)
		corruption_print_fields(&t->corruption, out);
	else if (t->fault == FSCK_UNSOUND)
		buf_adds(out, t->rule);
	else
		fsck_complaint(s, t, out);
	if (t->fault == FSCK_UNSOUND || t->fault == FSCK_INCONSISTENT)
		sign_damage(t, out);
}

/* Worst is what is not noticed: files are gone, or a disk that is called clean cannot be used. A
 * checker that crashes leaves the disk as it is, and says so. */
enum severity fsck_severity(const struct fsck_test *t)
{
	switch (t->fault) {
	case FSCK_LOSS:
	case FSCK_REFUSED:
	case FSCK_KERNEL:
		return SEVERITY_DATA;
	case FSCK_CHECK_DIFFERS:
		return SEVERITY_METADATA;
	case FSCK_INCONSISTENT: /* one more run of it may help */
		return t->run_count == FSCK_RUNS_MAX && t->answers[2] == ANSWER_CLEAN
			     ? SEVERITY_METADATA
			     : SEVERITY_DAMAGE;
	default:
		return SEVERITY_DAMAGE;
	}
}
