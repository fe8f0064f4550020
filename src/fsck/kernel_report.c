/* kernel_report.c -- a damaged disk that is bad for the kernel, for its developers. */
#include "fsck/kernel_report.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "fsck/evidence.h"
#include "process/shell.h"

enum { SCRIPT_TIMES = 2 };

static const char *const fault_words[] = {
	[KERNEL_FINE] = "fine",
	[KERNEL_CRASHED] = "crashes the kernel",
	[KERNEL_HUNG] = "makes the kernel hang",
	[KERNEL_COMPLAINS] = "makes the kernel report an internal error",
};

/* The place that the log names, where there is one; else what the kernel was doing. */
static void test_sign(const struct kernel_test *t, char ret[SIGNATURE_MAX])
{
	snprintf(ret, SIGNATURE_MAX, "%s %s %s", problem_table[PROBLEM_DISK].name,
		 fault_words[t->fault], t->place[0] ? t->place : t->during);
}

struct kernel_shrinking {
	struct kernel_checker *k;
	char signature[SIGNATURE_MAX];
};

static int test_shows(void *to, const struct corruption *simpler, struct err *err)
{
	struct kernel_shrinking *x = to;
	char signature[SIGNATURE_MAX];
	struct kernel_test t;
	int r = kernel_checker_try(x->k, simpler, &t, err);

	if (r)
		return r;
	test_sign(&t, signature);
	r = t.fault != KERNEL_FINE && !strcmp(signature, x->signature);
	kernel_test_free(&t);
	return r;
}

static void test_describe(const struct kernel_checker *k, const struct kernel_test *t,
			  const struct corruption *c, struct finding *f)
{
	struct discrepancy *d = &f->discrepancy;

	finding_init(f);
	d->code = PROBLEM_DISK;
	test_sign(t, d->signature);
	snprintf(d->place, sizeof(d->place), "%s", t->place);
	buf_adds(&f->target, k->disk->target->name);
	buf_addf(&d->title, "%s a damaged disk %s%s%s", t->during, fault_words[t->fault],
		 t->place[0] ? ": " : "", t->place);
	buf_adds(&d->title, " (");
	corruption_print_short(c, &d->title);
	buf_addch(&d->title, ')');
	corruption_print(c, &d->seen);
}

static void print_readme(const struct kernel_checker *k, const struct kernel_test *t,
			 const struct corruption *c, struct buf *out)
{
	buf_addf(out,
		 "# DISK: %s a damaged disk %s\n\n## Where\n\n- File system: %s\n- Kernel: Linux "
		 "%u.%u, in a process\n- Place: %s\n\n## The disk\n\n`image.gz` is the disk of "
		 "`before.gz` with these bytes changed, and the checksums that cover them made "
		 "right:\n\n",
		 t->during, fault_words[t->fault], k->disk->target->name,
		 k->disk->target->kernel.major, k->disk->target->kernel.minor,
		 t->place[0] ? t->place : "not named");
	buf_adds(out, "```\n");
	corruption_print(c, out);
	buf_adds(out, "```\n\n## What the kernel says\n\n");
	evidence_add_fenced(out, buf_str(&t->log));
	buf_adds(out, "\n## Expected\n\nA kernel refuses a damaged disk, or says that it is "
		      "damaged; it does not crash, hang or fail its own checks.\n\n"
		      "To reproduce in a process: `sh reproduce.sh`. On a test machine: "
		      "`gzip -d image.gz`, then mount the image and read all files.\n");
}

static void print_script(const struct kernel_checker *k, struct buf *out)
{
	buf_adds(out, "#!/bin/sh\n"
		      "# Gives the damaged disk to a kernel in a process.\n"
		      "# Exit status: 1 it shows the fault, 0 it does not, 2 could not tell.\n"
		      "cd \"$(dirname \"$0\")\" || exit 2\n");
	shell_add_work_directory(out, "");
	buf_addf(out,
		 "\"${ASSAY:-assay}\" fsck %s --image image.gz --out \"$work/run\"\n"
		 "exit $?\n",
		 k->disk->target->name);
}

/* A finding, with the fewest bytes. */
struct kernel_evidence {
	struct kernel_checker *k;
	const struct kernel_test *t;
	struct corruption c;
};

static int write_files(void *to, const char *folder, struct err *err)
{
	struct kernel_evidence *x = to;
	struct kernel_checker *k = x->k;
	struct buf text = BUF_INIT;
	int r;

	print_readme(k, x->t, &x->c, &text);
	r = evidence_write_text(folder, "README.md", &text, err);
	buf_clear(&text);
	print_script(k, &text);
	if (!r)
		r = evidence_write_text(folder, "reproduce.sh", &text, err);
	if (x->c.count) /* else it is there, whole */
		damaged_disk_set(&k->damaged, &x->c);
	if (!r)
		r = evidence_write_disk(folder, "image.gz", k->damaged.bytes, k->damaged.size, err);
	if (!r)
		r = evidence_write_disk(folder, "before.gz", k->damaged.base, k->damaged.size, err);
	buf_free(&text);
	return r;
}

static int test_keep(struct kernel_checker *k, struct run *run, const struct kernel_test *t,
		     struct finding *f, struct err *err)
{
	struct kernel_evidence own = { .k = k, .t = t, .c = t->corruption };
	struct disk_evidence evidence = { .write = write_files, .to = &own };
	struct kernel_shrinking x = { .k = k };
	int r;

	test_sign(t, x.signature);
	r = corruption_shrink(&own.c, test_shows, &x, err);
	if (r)
		return r;
	finding_free(f);
	test_describe(k, t, &own.c, f);
	f->shrunk = true;
	/* Of a disk that was given as a whole, the script does what was done now. */
	evidence.script_times = own.c.count ? SCRIPT_TIMES : 0;
	return evidence_keep(&evidence, run, f, err);
}

int kernel_report(struct kernel_checker *k, struct run *run, const struct kernel_test *t,
		  struct err *err)
{
	struct finding f;
	int r = 0;

	test_describe(k, t, &t->corruption, &f);
	if (!run_knows(run, &f))
		r = test_keep(k, run, t, &f, err);
	finding_free(&f);
	return r;
}
