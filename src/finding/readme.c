/* readme.c -- a finding for people: a summary, then where, steps, expected, actual, cause.
 *
 * What comes from a file system, a target's name or a log is data: it is put into code spans and
 * fences that nothing in it can end. */
#include <string.h>
#include <sys/utsname.h>

#include "base/err.h"
#include "finding/finding.h"
#include "finding/folder.h"
#include "finding/prove.h"
#include "judge/kernel_trace.h"
#include "judge/severity.h"
#include "target/description.h"
#include "target/kernels.h"
#include "trace/script.h"

enum { CALL_TOLD_MAX = 240 };    /* of the text of one call and its outcome */
enum { SUMMARY_TEXT_MAX = 160 }; /* of each text that the summary quotes */

/* The longest run of backticks in a text. */
static size_t longest_ticks(const char *text)
{
	size_t longest = 0, run;

	for (; *text; text += run + !run) {
		run = strspn(text, "`");
		if (run > longest)
			longest = run;
	}
	return longest;
}

static void add_ticks(struct buf *out, size_t count)
{
	while (count--)
		buf_addch(out, '`');
}

/* A code span on one line. */
static void add_code(struct buf *out, const char *text)
{
	size_t ticks = longest_ticks(text) + 1;
	const char *space = ticks > 1 ? " " : "";

	add_ticks(out, ticks);
	buf_adds(out, space);
	for (; *text; text++)
		buf_addch(out, *text == '\n' ? ' ' : *text);
	buf_adds(out, space);
	add_ticks(out, ticks);
}

static void add_fenced(struct buf *out, const char *text)
{
	size_t len = strlen(text), ticks = longest_ticks(text) + 1;

	if (!len)
		return;
	if (ticks < 3)
		ticks = 3;
	buf_addch(out, '\n');
	add_ticks(out, ticks);
	buf_addf(out, "\n%s%s", text, text[len - 1] == '\n' ? "" : "\n");
	add_ticks(out, ticks);
	buf_addch(out, '\n');
}

static void add_item(struct buf *out, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	buf_addf(out, "- %s: ", name);
	add_code(out, value);
	buf_addch(out, '\n');
}

/* ---- the summary ---- */

/* A text of one line, in a code span, cut where it is long. */
static void add_clipped_code(struct buf *out, const char *text)
{
	struct buf line = BUF_INIT;

	buf_add_clipped(&line, text, SUMMARY_TEXT_MAX);
	add_code(out, buf_str(&line));
	buf_free(&line);
}

static void add_call_code(struct buf *out, const struct call *c)
{
	struct buf text = BUF_INIT;

	call_print(c, DIALECT_NATIVE, &text);
	add_clipped_code(out, buf_str(&text));
	buf_free(&text);
}

static void summary_add_outcome(const struct finding *f, struct buf *out)
{
	const struct discrepancy *d = &f->discrepancy;

	add_call_code(out, &d->call);
	buf_adds(out, " returned ");
	add_clipped_code(out, buf_str(&d->seen));
	buf_adds(out, " on ");
	add_clipped_code(out, buf_str(&f->target));
	buf_adds(out, ". Expected: ");
	add_clipped_code(out, buf_str(&d->expected));
	buf_adds(out, d->reach == REACH_OUTSIDE_POSIX ? ", by POSIX and Linux"
						      : ", as Linux does; POSIX allows both");
}

/* The title of a tree begins with the call, too; what comes behind it is what is wrong. */
static void summary_add_tree(const struct finding *f, struct buf *out)
{
	const struct discrepancy *d = &f->discrepancy;
	bool is_env = op_table[op_table[d->call.op].base].traits & TRAIT_ENV;
	struct buf call = BUF_INIT;
	const char *wrong = buf_str(&d->title);
	size_t count = 0;

	call_print(&d->call, DIALECT_NATIVE, &call);
	if (!strncmp(wrong, "after ", 6) && !strncmp(wrong + 6, buf_str(&call), call.len) &&
	    strchr(":,", wrong[6 + call.len]) && wrong[6 + call.len + 1] == ' ')
		wrong += 6 + call.len + 2;
	for (const char *at = buf_str(&d->diff); *at; at++)
		count += *at == '\n';
	if (is_env)
		buf_adds(out, "After ");
	add_clipped_code(out, buf_str(&call));
	buf_adds(out, is_env ? " on " : " returned what it should on ");
	add_clipped_code(out, buf_str(&f->target));
	buf_adds(out, is_env ? ", the tree is wrong: " : ", but left a wrong tree: ");
	add_clipped_code(out, wrong);
	if (count > 1)
		buf_addf(out, " and %zu more difference%s", count - 1, count == 2 ? "" : "s");
	buf_free(&call);
}

static void summary_add_other(const struct finding *f, struct buf *out)
{
	const struct discrepancy *d = &f->discrepancy;
	struct buf line = BUF_INIT;

	buf_adds(out, "On ");
	add_clipped_code(out, buf_str(&f->target));
	buf_adds(out, ": ");
	add_clipped_code(out, buf_str(&d->title));
	if (d->diff.len) {
		buf_add(&line, buf_str(&d->diff), strcspn(buf_str(&d->diff), "\n"));
		buf_adds(out, ". Different: ");
		add_clipped_code(out, buf_str(&line));
	}
	if (d->expected.len) {
		buf_adds(out, ". Expected: ");
		add_clipped_code(out, buf_str(&d->expected));
	}
	buf_free(&line);
}

/* How sure it is. */
static void summary_add_evidence(const struct finding *f, struct buf *out)
{
	if (!f->tries)
		buf_adds(out, "It was not replayed");
	else if (!f->shown)
		buf_addf(out, "None of %u replays on a fresh file system showed it", f->tries);
	else
		buf_addf(out, "%u of %u replays on a fresh file system showed it", f->shown,
			 f->tries);
	if (f->discrepancy.in_log)
		buf_adds(out, "; the kernel log has it");
	if (f->proof.end == PROOF_SHOWN)
		buf_adds(out, ", and so did its C program");
	buf_adds(out, ".\n");
}

/* The finding in a few lines: what was called, what came of it, what should have, how sure it is.
 */
static void add_summary(const struct finding *f, struct buf *out)
{
	const struct discrepancy *d = &f->discrepancy;
	const struct severity_row *severity = &severity_table[severity_of(d)];

	buf_addch(out, '\n');
	if (d->code == PROBLEM_OUTCOME)
		summary_add_outcome(f, out);
	else if (d->code == PROBLEM_TREE)
		summary_add_tree(f, out);
	else
		summary_add_other(f, out);
	buf_addf(out, ".\nSeverity: %s (%s).\n", severity->name, severity->sentence);
	if (f->count && !f->before)
		buf_addf(out, "It takes %zu call%s on a freshly made file system. ", f->count,
			 f->count == 1 ? "" : "s");
	summary_add_evidence(f, out);
}

/* ---- where ---- */

static void add_kernel(const struct target *t, const struct target_description *d, struct buf *out)
{
	struct buf version = BUF_INIT;
	struct utsname running;

	if (!strcmp(t->kind->name, "kernel")) {
		buf_adds(&version, "Linux ");
		kernels_version(d->argument, &version);
		buf_adds(&version, " in a process (assay kernel)");
	} else if (t->kind->in_process) {
		buf_adds(&version, "none (it runs in this program)");
	} else if (!uname(&running)) {
		buf_addf(&version, "%s %s %s, %s", running.sysname, running.release,
			 running.machine, running.version);
	}
	add_item(out, "Kernel", buf_str(&version));
	buf_free(&version);
}

static void add_configuration(const struct target *t, struct buf *out)
{
	struct target_description d = { 0 };
	struct err none = { 0 };
	bool described = !description_find(&d, t->name, NULL, &none);

	add_kernel(t, &d, out);
	if (described) {
		add_item(out, "Made by", d.mkfs);
		if (d.image_size)
			buf_addf(out, "- Size: %llu bytes\n", (unsigned long long)d.image_size);
		add_item(out, "Mount options", d.options);
		add_item(out, "Daemon", d.command);
		add_item(out, "Made before the mount", d.content);
		add_item(out, "There", d.content_dir);
	}
	description_free(&d);
}

static void add_where(const struct finding *f, const struct target *t, struct buf *out)
{
	struct buf kernels = BUF_INIT;

	buf_adds(out, "\n## Where\n\n");
	add_item(out, "File system", buf_str(&f->target));
	if (t)
		add_configuration(t, out);
	folder_add_kernels(&kernels, f, t);
	add_item(out, "Seen on", buf_str(&kernels));
	add_item(out, "Signature", f->discrepancy.signature);
	buf_free(&kernels);
}

/* What the outcomes are, where not all of them were seen. */
static void explain_evidence(const struct finding *f, struct buf *out)
{
	size_t counts[EVIDENCES] = { 0 };

	for (size_t i = 0; i < f->count; i++)
		counts[f->evidence ? f->evidence[i] : EVIDENCE_NONE]++;
	if (counts[EVIDENCE_PREDICTED])
		buf_addf(out,
			 "\nThe outcomes of %zu calls were not recorded. The comment below such a "
			 "call is the prediction of the model, not an observation.\n",
			 counts[EVIDENCE_PREDICTED]);
	if (counts[EVIDENCE_NONE])
		buf_addf(out, "\nCalls without a recorded outcome, and so without `=`: %zu.\n",
			 counts[EVIDENCE_NONE]);
}

/* The calls, without most of the data that some of them return. */
static void add_calls(const struct finding *f, struct buf *out)
{
	struct buf calls = BUF_INIT, told = BUF_INIT;
	bool is_clipped = false;
	char *line, *rest;

	finding_print_calls(f, &calls);
	rest = calls.data;
	while ((line = strsep(&rest, "\n")) && *line) {
		is_clipped |= strlen(line) > CALL_TOLD_MAX;
		buf_add_clipped(&told, line, CALL_TOLD_MAX);
		buf_addch(&told, '\n');
	}
	add_fenced(out, buf_str(&told));
	if (is_clipped)
		buf_adds(out, "\nLong lines are cut; the file `trace` has all of each.\n");
	buf_free(&calls);
	buf_free(&told);
}

static void add_steps(const struct finding *f, struct buf *out)
{
	buf_adds(out, "\n## Steps\n\n");
	if (!f->count) {
		buf_adds(out, "No calls are known: the disk is what a log of its writes says.\n");
		return;
	}
	if (f->before)
		buf_addf(out,
			 "The last %zu of %zu calls of the search. They do not begin on a fresh "
			 "file system. The file `history` has all calls; `assay replay` and `assay "
			 "shrink` with this folder begin with it.\n",
			 f->count, f->count + f->before);
	else
		buf_adds(out, "On a freshly made file system:\n");
	if (f->count <= FINDING_CALLS_TOLD)
		add_calls(f, out);
	else
		buf_addf(out, "\n%zu calls, in the file `trace`.\n", f->count);
	explain_evidence(f, out);
}

/* How often it was shown again. */
static void add_confirmation(const struct finding *f, struct buf *out)
{
	buf_addch(out, '\n');
	if (!f->tries)
		buf_adds(out, "Not replayed.");
	else
		buf_addf(out, "Shown in %u of %u replays on a fresh file system%s.", f->shown,
			 f->tries, f->shown == f->tries ? ": every time" : "");
	if (f->unseen)
		buf_adds(out, " The replays look at the file system after the last call only: "
			      "looking at it earlier may hide this.");
	if (f->discrepancy.in_log)
		buf_adds(out, " The kernel log, below, is the evidence.");
	else if (!f->shown)
		buf_adds(out, " Not confirmed: only the search has seen it, once. The cause may be "
			      "outside of the file system.");
	buf_addch(out, '\n');
	if (finding_has_program(f)) {
		buf_addch(out, '\n');
		program_proof_print(&f->proof, out);
		buf_addch(out, '\n');
	}
	if (!f->shrunk)
		buf_adds(out,
			 "\nNot shrunk to the end. `assay shrink` with this folder continues.\n");
}

void readme_add_source(const struct discrepancy *d, struct buf *out)
{
	const struct op_info *op = &op_table[op_table[d->call.op].base];

	if (op->traits & TRAIT_ENV && d->code == PROBLEM_TREE)
		buf_adds(out,
			 "\nThis is the tree of the model. The last step does not change it.\n");
	if (op->traits & TRAIT_ENV)
		return;
	if (d->code == PROBLEM_OUTCOME && d->answer.error && d->success_allowed)
		buf_addf(out,
			 "\nNone of the errors that POSIX and %s(2) list has its condition met in "
			 "this state: the call succeeds.\n",
			 op->name);
	else if (d->code == PROBLEM_OUTCOME)
		buf_addf(out,
			 "\nThe model derives this from the calls above, by POSIX and %s(2).\n",
			 op->name);
	else if (d->code == PROBLEM_TREE)
		buf_addf(out, "\nThis is the tree of the model, by POSIX and %s(2).\n", op->name);
}

static void add_expected(const struct finding *f, struct buf *out)
{
	const struct discrepancy *d = &f->discrepancy;

	buf_adds(out, "\n## Expected\n");
	add_fenced(out, buf_str(&d->expected));
	if (d->rule.len) {
		buf_adds(out, d->rule_count > 1 ? "\nThe rules of the model, with their sources:\n"
						: "\nThe rule of the model, with its source:\n");
		add_fenced(out, buf_str(&d->rule));
	} else {
		readme_add_source(d, out);
	}
}

static void add_actual(const struct finding *f, struct buf *out)
{
	const struct discrepancy *d = &f->discrepancy;
	const struct problem_row *problem = &problem_table[d->code];
	enum severity severity = severity_of(d);

	buf_adds(out, "\n## Actual\n");
	add_fenced(out, buf_str(&d->seen));
	if (d->diff.len) {
		buf_adds(out, "\nDifferences:\n");
		add_fenced(out, buf_str(&d->diff));
	}
	buf_addf(out, "\n%s", problem->sentence);
	if (d->code == PROBLEM_OUTCOME)
		buf_adds(out, d->reach == REACH_OUTSIDE_POSIX
				      ? " POSIX does not allow it."
				      : " POSIX allows it, but Linux does not do it.");
	buf_addf(out, " %s Severity: %s (%s).\n", problem->consequence,
		 severity_table[severity].name, severity_table[severity].sentence);
}

/* The function that the kernel log names, or the place in the source. */
static void add_suspect(const struct discrepancy *d, struct buf *out)
{
	char function[KERNEL_PLACE_MAX];

	if (kernel_trace_function(buf_str(&d->seen), function))
		add_item(out, "Suspected function", function);
	else if (strchr(d->place, '/'))
		add_item(out, "Suspected place", d->place);
	else
		buf_adds(out, "- Suspected function: unknown\n");
}

/* No program reaches a file system inside Assay. */
static bool is_inside(const struct target *t)
{
	return t && t->kind->in_process;
}

static void add_cause(const struct finding *f, const struct target *t, struct buf *out)
{
	buf_adds(out, "\n## Cause\n\n");
	add_suspect(&f->discrepancy, out);
	if (f->upstream.len)
		add_item(out, "Upstream status", f->upstream.data);
	else
		buf_adds(out, "- Upstream status: unknown\n");
	add_fenced(out, buf_str(&f->notes));
	if (problem_table[f->discrepancy.code].by_crash || f->overlaps)
		return; /* the notes say how */
	buf_adds(out, "\nTo reproduce: ");
	if (finding_has_reproducer(f) && !is_inside(t))
		buf_adds(out, "`sh repro.sh`; `cc repro.c && ./a.out DIRECTORY` with an empty "
			      "directory of the file system; ");
	buf_adds(out, "`assay replay` with this folder.");
	if (finding_has_reproducer(f) && is_inside(t))
		buf_adds(out, " `cc repro.c && ./a.out DIRECTORY` makes the calls on another file "
			      "system.");
	buf_addch(out, '\n');
}

void finding_print_readme(const struct finding *f, const struct target *t, struct buf *out)
{
	buf_addf(out, "# %s: ", problem_table[f->discrepancy.code].name);
	add_code(out, buf_str(&f->discrepancy.title));
	buf_addch(out, '\n');
	add_summary(f, out);
	add_where(f, t, out);
	add_steps(f, out);
	add_confirmation(f, out);
	add_expected(f, out);
	add_actual(f, out);
	add_cause(f, t, out);
}
