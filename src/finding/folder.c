/* folder.c -- the folder of a finding: its trace, its programs, what the checker says. */
#include "finding/folder.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "finding/finding.h"
#include "trace/script.h"

void folder_add_header(struct buf *out, const char *key, const char *value)
{
	buf_addf(out, "# %s: ", key);
	for (; *value; value++)
		switch (*value) {
		case '\n':
			buf_adds(out, "\\n");
			break;
		case '\\':
			buf_adds(out, "\\\\");
			break;
		default:
			buf_addch(out, *value);
		}
	buf_addch(out, '\n');
}

static void print_call(const struct finding *f, size_t i, struct buf *out)
{
	const struct outcome *observed = finding_observed(f, i);

	call_print(&f->calls[i], DIALECT_NATIVE, out);
	if (observed) {
		buf_adds(out, " = ");
		outcome_print(observed, f->calls[i].op, DIALECT_NATIVE, out);
	}
	buf_addch(out, '\n');
	if (f->evidence && f->evidence[i] == EVIDENCE_PREDICTED) {
		buf_adds(out, "#   predicted, not observed: ");
		outcome_print(&f->outcomes[i], f->calls[i].op, DIALECT_NATIVE, out);
		buf_addch(out, '\n');
	}
}

void finding_print_calls(const struct finding *f, struct buf *out)
{
	for (size_t i = 0; i < f->count; i++)
		print_call(f, i, out);
}

/* Headed by what replaying it needs to know. */
static void print_trace(const struct finding *f, const struct target *t, struct buf *out)
{
	struct buf kernels = BUF_INIT;
	char left_out[32];

	folder_add_header(out, HEADER_TARGET, buf_str(&f->target));
	folder_add_header(out, HEADER_SIGNATURE, f->discrepancy.signature);
	folder_add_kernels(&kernels, f, t);
	if (kernels.len)
		folder_add_header(out, HEADER_SEEN_ON, buf_str(&kernels));
	buf_free(&kernels);
	if (f->upstream.len)
		folder_add_header(out, HEADER_UPSTREAM, buf_str(&f->upstream));
	if (f->unseen)
		folder_add_header(out, HEADER_OBSERVED, OBSERVED_LAST);
	if (f->before) {
		snprintf(left_out, sizeof(left_out), "%zu", f->before);
		folder_add_header(out, HEADER_LEFT_OUT, left_out);
	}
	finding_print_calls(f, out);
}

static int write_file(const char *dir, const char *name, const struct buf *text, struct err *err)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return buf_write_file(text, path, err);
}

/* What fails here is left out: the finding itself matters more. */
void finding_keep_evidence(struct target *t, const char *dir)
{
	static const char *const verdicts[] = { "clean", "could not tell", "inconsistent" };
	struct buf report = BUF_INIT, text = BUF_INIT;
	char path[PATH_MAX];
	enum verdict verdict;
	struct err err = { 0 };

	snprintf(path, sizeof(path), "%s/" FOLDER_FSCK, dir);
	if ((t->caps & TARGET_FSCK) && access(path, F_OK) &&
	    !target_fsck(t, &verdict, &report, &err)) {
		buf_addf(&text, "verdict: %s\n%s", verdicts[verdict], buf_str(&report));
		write_file(dir, FOLDER_FSCK, &text, &err);
	}
	if ((t->caps & TARGET_IMAGE) && t->kind->image) {
		snprintf(path, sizeof(path), "%s/image", dir);
		t->kind->image(t, path, &err);
	}
	buf_free(&report);
	buf_free(&text);
}

/* What is wrong is what the checker said then, not what it says at the end. */
static int write_report(const struct finding *f, const char *dir, struct err *err)
{
	return f->discrepancy.code == PROBLEM_FSCK && f->discrepancy.seen.len
		     ? write_file(dir, FOLDER_FSCK, &f->discrepancy.seen, err)
		     : 0;
}

bool finding_has_program(const struct finding *f)
{
	return !f->before && f->shown && f->count <= FINDING_CALLS_TOLD && !f->overlaps &&
	       !finding_is_by_crash(f) && !finding_is_by_damage(f);
}

bool finding_has_reproducer(const struct finding *f)
{
	return finding_has_program(f) && f->proof.end != PROOF_ABSENT;
}

static void remove_file(const char *dir, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	unlink(path);
}

/* A program that ran and did not show the finding is no reproducer: none is left. */
static int write_programs(const struct finding *f, const struct target *t, const char *dir,
			  struct err *err)
{
	struct buf c = BUF_INIT, sh = BUF_INIT;
	int status;

	if (f->overlaps) {
		finding_race_c(f, &c);
		status = write_file(dir, "race.c", &c, err);
		buf_free(&c);
		return status;
	}
	if (!finding_has_reproducer(f)) {
		remove_file(dir, "repro.c");
		remove_file(dir, "repro.sh");
		return 0;
	}
	finding_repro_c(f, &c);
	finding_repro_sh(f, t, &sh);
	status = write_file(dir, "repro.c", &c, err);
	if (!status)
		status = write_file(dir, "repro.sh", &sh, err);
	buf_free(&c);
	buf_free(&sh);
	return status;
}

int finding_write(const struct finding *f, const struct target *t, const char *dir, struct err *err)
{
	struct buf trace = BUF_INIT, readme = BUF_INIT;
	int status;

	if (mkdir(dir, 0755) && errno != EEXIST)
		return err_sys(err, errno, "cannot make %s", dir);
	print_trace(f, t, &trace);
	status = write_file(dir, FOLDER_TRACE, &trace, err);
	/* A trace that begins on a fresh file system takes its place. */
	if (!status && !f->before)
		remove_file(dir, FOLDER_HISTORY);
	if (!status)
		status = write_programs(f, t, dir, err);
	if (!status)
		status = write_report(f, dir, err);
	if (!status)
		status = folder_write_json(f, dir, err);
	finding_print_readme(f, t, &readme);
	if (!status)
		status = write_file(dir, "README.md", &readme, err);
	buf_free(&trace);
	buf_free(&readme);
	return status;
}
