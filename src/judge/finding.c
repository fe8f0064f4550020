/* finding.c -- the life of a finding in memory and in its folder. */
#include "judge/finding.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "op/script.h"

/* Of more calls a program or a page serves nobody: they are to be shrunk first. */
enum { REPRO_CALLS_MAX = 1 << 13 };

const char *const finding_names[FINDING_CODES] = {
	[FINDING_OUTCOME] = "OUTCOME", [FINDING_TREE] = "TREE",   [FINDING_HANG] = "HANG",
	[FINDING_DEATH] = "DEATH",     [FINDING_DRIFT] = "DRIFT",
	[FINDING_KERNEL] = "KERNEL",   [FINDING_LEAK] = "LEAK",   [FINDING_TIMES] = "TIMES",
};

void finding_init(struct finding *f)
{
	*f = (struct finding){ .arena = ARENA_INIT };
}

void finding_free(struct finding *f)
{
	buf_free(&f->target);
	buf_free(&f->title);
	buf_free(&f->expected);
	buf_free(&f->seen);
	buf_free(&f->diff);
	buf_free(&f->rule);
	arena_free(&f->arena);
	finding_init(f);
}

/* Calls and outcomes, headed by what replaying them needs to know. */
static void print_trace(const struct finding *f, struct buf *out)
{
	bool last_answered = f->code != FINDING_HANG && f->code != FINDING_DEATH;
	size_t answered = f->outcomes ? f->count - !last_answered : 0;

	buf_addf(out, "# target: %s\n# signature: %s\n", buf_str(&f->target), f->signature);
	for (size_t i = 0; i < f->count; i++) {
		call_print(&f->calls[i], DIALECT_NATIVE, out);
		if (i < answered) {
			buf_adds(out, " = ");
			outcome_print(&f->outcomes[i], f->calls[i].op, DIALECT_NATIVE, out);
		}
		buf_addch(out, '\n');
	}
}

static void add_block(struct buf *out, const char *heading, const struct buf *text)
{
	if (!text->len)
		return;
	buf_addf(out, "\n## %s\n\n```\n%s%s```\n", heading, buf_str(text),
		 text->data[text->len - 1] == '\n' ? "" : "\n");
}

static void print_readme(const struct finding *f, const struct buf *trace, struct buf *out)
{
	buf_addf(out, "# %s: %s\n\nFound on %s. Signature: `%s`.\n", finding_names[f->code],
		 buf_str(&f->title), buf_str(&f->target), f->signature);
	if (f->code == FINDING_OUTCOME)
		buf_adds(out, f->outside_posix ? "Not allowed by POSIX.\n"
					       : "Allowed by POSIX, but not what Linux does.\n");
	if (f->tries)
		buf_addf(out, "Shown in %u of %u replays on a fresh file system: %s.\n", f->shown,
			 f->tries, f->shown == f->tries ? "deterministic" : "flaky");
	if (!f->shrunk)
		buf_adds(out, "Not shrunk to the end: `assay shrink` with this folder, or with the "
			      "file `history` if there is one, goes on.\n");
	add_block(out, "Calls, from a fresh file system", trace);
	add_block(out, "What differs", &f->diff);
	add_block(out, "Expected", &f->expected);
	add_block(out, "Seen", &f->seen);
	add_block(out, "Rules of the model", &f->rule);
	buf_adds(out, "\n## Again\n\n`sh repro.sh`, or `cc repro.c && ./a.out DIRECTORY` with an "
		      "empty directory of the file system; `assay replay` with this folder.\n");
}

static int write_file(const char *dir, const char *name, const struct buf *text, struct err *err)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return buf_write_file(text, path, err);
}

/* The checker's verdict and the last image, where the target has them. What fails here is left
 * out: the finding itself matters more. */
static void keep_evidence(struct target *t, const char *dir)
{
	static const char *const verdicts[] = { "clean", "could not tell", "inconsistent" };
	struct buf report = BUF_INIT, text = BUF_INIT;
	char path[PATH_MAX];
	enum verdict verdict;
	struct err err = { 0 };

	if ((t->caps & TARGET_FSCK) && t->kind->fsck &&
	    !t->kind->fsck(t, &verdict, &report, &err)) {
		buf_addf(&text, "verdict: %s\n%s", verdicts[verdict], buf_str(&report));
		write_file(dir, "fsck.txt", &text, &err);
	}
	if ((t->caps & TARGET_IMAGE) && t->kind->image) {
		snprintf(path, sizeof(path), "%s/image", dir);
		t->kind->image(t, path, &err);
	}
	buf_free(&report);
	buf_free(&text);
}

static int write_programs(const struct finding *f, const struct target *t, const char *dir,
			  struct err *err)
{
	struct buf c = BUF_INIT, sh = BUF_INIT;
	int status;

	finding_repro_c(f, &c);
	finding_repro_sh(f, t, &sh);
	status = write_file(dir, "repro.c", &c, err);
	if (!status)
		status = write_file(dir, "repro.sh", &sh, err);
	buf_free(&c);
	buf_free(&sh);
	return status;
}

int finding_write(const struct finding *f, struct target *t, const char *dir, struct err *err)
{
	struct buf trace = BUF_INIT, readme = BUF_INIT;
	int status;

	if (mkdir(dir, 0755) && errno != EEXIST)
		return err_sys(err, errno, "cannot make %s", dir);
	print_trace(f, &trace);
	status = write_file(dir, "trace", &trace, err);
	if (!status && f->count <= REPRO_CALLS_MAX)
		status = write_programs(f, t, dir, err);
	else
		buf_clear(&trace);
	print_readme(f, &trace, &readme);
	if (!status)
		status = write_file(dir, "README.md", &readme, err);
	if (!status && t)
		keep_evidence(t, dir);
	buf_free(&trace);
	buf_free(&readme);
	return status;
}

/* "# key: value" */
static const char *header(const char *comment, const char *key)
{
	size_t len = strlen(key);

	comment += strspn(comment, "# ");
	if (strncmp(comment, key, len) || strncmp(comment + len, ": ", 2))
		return NULL;
	return comment + len + 2;
}

/* A signature begins with it. */
static enum finding_code code_of(const char *signature)
{
	size_t len = strcspn(signature, " ");

	for (enum finding_code code = 0; code < FINDING_CODES; code++)
		if (strlen(finding_names[code]) == len &&
		    !strncmp(finding_names[code], signature, len))
			return code;
	return FINDING_OUTCOME;
}

static void take_item(struct finding *f, const struct item *item)
{
	const char *value;

	switch (item->type) {
	case ITEM_CALL:
		f->calls[f->count++] = call_copy(&item->call, &f->arena);
		break;
	case ITEM_COMMENT:
		if ((value = header(item->text, "target")))
			buf_adds(&f->target, value);
		if ((value = header(item->text, "signature"))) {
			snprintf(f->signature, sizeof(f->signature), "%s", value);
			f->code = code_of(value);
		}
		break;
	default:
		break;
	}
}

int finding_read(struct finding *f, const char *dir, struct err *err)
{
	struct script script = { 0 };
	char path[PATH_MAX];
	struct stat st;
	int status;

	snprintf(path, sizeof(path), "%s", dir);
	if (!stat(dir, &st) && S_ISDIR(st.st_mode))
		snprintf(path, sizeof(path), "%s/trace", dir);
	status = script_read(&script, path, err);
	if (status < 0)
		return status;
	finding_init(f);
	f->calls = arena_alloc(&f->arena, (script.count + 1) * sizeof(*f->calls));
	for (size_t i = 0; i < script.count; i++)
		take_item(f, &script.items[i]);
	script_free(&script);
	if (f->count)
		return 0;
	finding_free(f);
	return err_set(err, EINVAL, "%s: no calls in it", path);
}
