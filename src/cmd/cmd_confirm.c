/* cmd_confirm.c -- `assay confirm FINDING`: which stock kernels show it? */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/must.h"
#include "base/stop.h"
#include "base/trust.h"
#include "cli/command.h"
#include "cli/finding_argument.h"
#include "confirm/boot.h"
#include "confirm/confirm.h"
#include "confirm/stock_kernel.h"
#include "finding/folder.h"
#include "finding/prove.h"
#include "storage/janitor.h"
#include "target/description.h"

enum { CLEAN_SECONDS = 60, SOURCE_BYTES_MAX = 64 << 20 };

static struct confirm_settings {
	struct opt_list kernels;
	struct finding_place place;
	double seconds;
	bool json, verbose;
} settings = { .seconds = 300 };

#define ROW(field) offsetof(struct confirm_settings, field)

static const struct opt opts[] = {
	{ "kernel", OPT_LIST, ROW(kernels), "PACKAGE|FILE|DIR",
	  "a stock kernel: a Debian package, a .deb file, an unpacked package, or a bzImage; may "
	  "be "
	  "given several times (default: all that are installed or in the cache)",
	  0, 0 },
	{ "seconds", OPT_DOUBLE, ROW(seconds), "N", "time limit of each guest", 1,
	  OPT_SECONDS_MAX },
	{ "on", OPT_TEXT, ROW(place.on), "TARGET", "another target than the one it was found on", 0,
	  0 },
	{ "config", OPT_TEXT, ROW(place.config), "FILE", "an INI file that describes targets", 0,
	  0 },
	{ "verbose", OPT_FLAG, ROW(verbose), NULL,
	  "print the last lines of each console, not only where a guest failed", 0, 0 },
	{ "json", OPT_FLAG, ROW(json), NULL, "print the result as a JSON object", 0, 0 },
	OPT_END,
};

/* What is tried on every kernel. */
struct confirm_subject {
	struct buf source; /* of the reproducer */
	struct buf target;
	enum problem problem;
	bool is_crash; /* instead of the reproducer: */
	struct guest_crash crash;
	char image[PATH_MAX];
	struct buf recovered;
};

/* A replay finds the program that shows it: what it has to check, and to read between calls. */
static int subject_replay(struct confirm_subject *s, const char *path, struct err *err)
{
	struct finding_argument argument;
	struct finding shown;
	struct model m;
	const char *sought;
	int code = finding_argument_open(&argument, path, &settings.place, err), r;

	if (code)
		return code;
	target_model(argument.target, &m);
	sought = argument.finding.discrepancy.signature;
	r = judge_replay(&(struct replay_on){ .target = argument.target, .model = &m },
			 argument.finding.calls, argument.finding.count, *sought ? sought : NULL,
			 &shown, err);
	if (!r)
		r = err_set(err, ENOENT,
			    "%s has no repro.c, and a replay on %s does not show the finding", path,
			    argument.target->name);
	if (r > 0) {
		r = finding_prove(&shown, argument.target, 0, err);
		finding_repro_c(&shown, &s->source);
		s->problem = shown.discrepancy.code;
		finding_free(&shown);
	}
	finding_argument_close(&argument);
	return r < 0 ? EXIT_UNKNOWN : EXIT_CLEAN;
}

/* The disk after the crash, and what is wrong when it was recovered. Whether mounting is what is
 * wrong, only the signature says. */
static int subject_read_crash(struct confirm_subject *s, const char *path, const char *signature,
			      struct err *err)
{
	static const char refused[] = "RECOVERY cannot be mounted";
	bool second = strstr(signature, "crash during ") != NULL;
	char sums[PATH_MAX];

	snprintf(s->image, sizeof(s->image), "%.4000s/crashed.image", path);
	snprintf(sums, sizeof(sums), "%.4000s/recovered.sums", path);
	s->is_crash = true;
	s->crash.image = s->image;
	s->crash.repairs = strstr(signature, "crash during repair") != NULL;
	if (access(s->image, F_OK)) {
		err_set(err, ENOENT,
			"%s has no crashed.image: of crashes, only power failures leave a disk "
			"for another kernel (assay crash TARGET --workloads TRACE)",
			path);
		return EXIT_USAGE;
	}
	if (s->problem != PROBLEM_LOST && !second &&
	    strncmp(signature, refused, sizeof(refused) - 1) != 0) {
		err_set(err, ENOTSUP, "%s: what is wrong there no program sees: %s", path,
			signature);
		return EXIT_USAGE;
	}
	if (access(sums, F_OK))
		return EXIT_CLEAN;
	if (buf_read_file(&s->recovered, sums, SOURCE_BYTES_MAX, err))
		return EXIT_UNKNOWN;
	s->crash.recovered = buf_str(&s->recovered);
	return EXIT_CLEAN;
}

/* The reproducer of the folder, or one that is made from the calls. */
static int subject_read(struct confirm_subject *s, const char *path, struct err *err)
{
	char file[PATH_MAX];
	char signature[SIGNATURE_MAX];
	struct finding f;
	bool by_crash;
	int code = EXIT_CLEAN;

	if (finding_read(&f, path, err))
		return EXIT_USAGE;
	buf_adds(&s->target, settings.place.on ? settings.place.on : buf_str(&f.target));
	s->problem = f.discrepancy.code;
	by_crash = finding_is_by_crash(&f);
	memcpy(signature, f.discrepancy.signature, sizeof(signature));
	finding_free(&f);
	if (!s->target.len) {
		err_set(err, EINVAL, "%s names no target; give one with --on", path);
		return EXIT_USAGE;
	}
	/* A target can be a command, and the program is compiled here. */
	if (trust_check(path, err))
		return EXIT_UNKNOWN;
	code = operand_target(buf_str(&s->target), settings.place.config, err);
	snprintf(file, sizeof(file), "%s/repro.c", path);
	if (!code && by_crash)
		code = subject_read_crash(s, path, signature, err);
	else if (!code && access(file, F_OK))
		code = subject_replay(s, path, err);
	else if (!code && buf_read_file(&s->source, file, SOURCE_BYTES_MAX, err))
		code = EXIT_UNKNOWN;
	return code;
}

static void print_last_lines(const struct buf *last)
{
	char *save = NULL, *copy = must_strdup(buf_str(last));

	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		printf("    %s\n", line);
	free(copy);
}

static void print_confirmation(const struct stock_kernel *kernel, const struct confirmation *c)
{
	const struct confirm_verdict *v = &c->verdict;
	bool failed =
		v->end != CONFIRM_SHOWN && v->end != CONFIRM_ABSENT && v->end != CONFIRM_LACKING;

	printf("%s: %s: %s (%.0f s)\n", v->kernel.len ? v->kernel.data : kernel->name,
	       confirm_end_names[v->end], buf_str(&v->why), c->seconds);
	if (failed || settings.verbose)
		print_last_lines(&v->last);
	fflush(stdout);
}

/* Bytes of a console that are no text would make it no JSON. */
static json_t *console_json(const struct buf *last)
{
	struct buf text = BUF_INIT;
	json_t *json;

	for (size_t i = 0; i < last->len; i++)
		buf_addch(&text, (char)((last->data[i] & 0x80) ? '?' : last->data[i]));
	json = json_string(buf_str(&text));
	buf_free(&text);
	return json;
}

static json_t *confirmation_json(const struct stock_kernel *kernel, const struct confirmation *c)
{
	const struct confirm_verdict *v = &c->verdict;

	return json_pack("{s:s, s:s, s:s, s:b, s:o, s:o, s:f}", "kernel", kernel->name, "version",
			 buf_str(&v->kernel), "result", confirm_end_names[v->end], "shows",
			 v->shows, "reason", console_json(&v->why), "console",
			 console_json(&v->last), "seconds", c->seconds);
}

/* A kernel that fails in another way is as bad. */
static enum verdict verdict_of(const struct confirm_verdict *v)
{
	switch (v->end) {
	case CONFIRM_ABSENT:
		return VERDICT_OK;
	case CONFIRM_LACKING:
	case CONFIRM_UNKNOWN:
		return VERDICT_UNKNOWN;
	default:
		return VERDICT_BAD;
	}
}

static void print_result_json(const struct confirm_subject *s, const char *path,
			      enum verdict verdict, double seconds, json_t *kernels)
{
	static const char *const words[] = { "ok", "unknown", "bad" };
	json_t *result = json_pack("{s:s, s:s, s:s, s:s, s:f, s:O}", "command", "confirm",
				   "finding", path, "target", buf_str(&s->target), "verdict",
				   words[verdict], "seconds", seconds, "kernels", kernels);

	json_dumpf(result, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(result);
}

/* Tries all kernels; the worst counts. */
static int confirm_all(const struct confirm_subject *s, const struct guest *g,
		       const struct stock_kernels *kernels, const char *path, const char *dir,
		       struct err *err)
{
	static const int codes[] = { EXIT_CLEAN, EXIT_UNKNOWN, EXIT_FINDINGS };
	double began_seconds = clock_seconds();
	enum verdict worst = VERDICT_OK;
	json_t *rows = json_array();
	int r = 0;

	for (size_t i = 0; !r && i < kernels->count; i++) {
		const struct stock_kernel *kernel = &kernels->list[i];
		struct confirmation c;

		r = confirm_on(g, kernel, s->problem, dir, settings.seconds, &c, err);
		if (r)
			break;
		if (c.verdict.shows)
			r = folder_record_kernel(path, buf_str(&c.verdict.kernel), err);
		if (!settings.json)
			print_confirmation(kernel, &c);
		json_array_append_new(rows, confirmation_json(kernel, &c));
		if (verdict_of(&c.verdict) > worst)
			worst = verdict_of(&c.verdict);
		verdict_free(&c.verdict);
	}
	if (settings.json && !r)
		print_result_json(s, path, worst, clock_seconds() - began_seconds, rows);
	json_decref(rows);
	return r ? EXIT_UNKNOWN : codes[worst];
}

static int find_kernels(struct stock_kernels *kernels, const char *dir, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < settings.kernels.count; i++)
		r = stock_kernels_add(kernels, settings.kernels.items[i], dir, err);
	if (!settings.kernels.count)
		return stock_kernels_add_all(kernels, err) ? EXIT_UNKNOWN : EXIT_CLEAN;
	return operand_code(r);
}

static int confirm_make_guest(struct guest *g, struct confirm_subject *s,
			      const struct target_description *d, struct err *err)
{
	struct target described = { .traits = traits_usual };
	int r;

	if (!s->is_crash)
		return guest_make(g, d, buf_str(&s->source), err);
	r = target_adopt(&described, d, err);
	s->crash.repairs |= described.traits.crash_needs_fsck;
	return r ? r : guest_make_crashed(g, d, &s->crash, err);
}

static int confirm_subject(struct confirm_subject *s, const char *path, const char *dir,
			   struct err *err)
{
	struct target_description d = { 0 };
	struct stock_kernels kernels = { 0 };
	struct guest g;
	int code = find_kernels(&kernels, dir, err), r;

	if (!code && description_find(&d, buf_str(&s->target), settings.place.config, err))
		code = EXIT_USAGE;
	if (!code) {
		r = confirm_make_guest(&g, s, &d, err);
		code = r == -ENOTSUP ? EXIT_USAGE : r ? EXIT_UNKNOWN : EXIT_CLEAN;
	}
	if (!code) {
		code = confirm_all(s, &g, &kernels, path, dir, err);
		guest_free(&g);
	}
	description_free(&d);
	stock_kernels_free(&kernels);
	return code;
}

static int run_confirm(int argc, char **argv, struct err *err)
{
	struct confirm_subject s = { 0 };
	struct janitor *janitor = NULL;
	struct buf lacking = BUF_INIT;
	const char *temporary = getenv("TMPDIR");
	int code = EXIT_UNKNOWN;

	if (argc != 2) {
		err_set(err, EINVAL, "expected one finding");
		return EXIT_USAGE;
	}
	boot_lacking(&lacking);
	if (lacking.len)
		err_set(err, ENOENT, "%s", lacking.data);
	else
		code = subject_read(&s, argv[1], err);
	stop_catch_signals();
	if (!code && janitor_open(&janitor, temporary ? temporary : "/tmp", err))
		code = EXIT_UNKNOWN;
	if (!code)
		code = confirm_subject(&s, argv[1], janitor_path(janitor), err);
	if (janitor)
		janitor_close(janitor, CLEAN_SECONDS);
	buf_free(&s.source);
	buf_free(&s.recovered);
	buf_free(&s.target);
	buf_free(&lacking);
	return code;
}

const struct command command_confirm = {
	.name = "confirm",
	.usage = "FINDING",
	.summary = "run a reproducer on stock kernels in QEMU",
	.text = "Boots kernels of a distribution in QEMU and runs the reproducer of a finding\n"
		"there, on a fresh file system of the same description. Needs neither root nor\n"
		"KVM; a guest takes some ten seconds. The finding records the kernels that show\n"
		"it: _# seen on:_ in its trace, and _Seen on_ in its README.\n"
		"\n"
		"*--kernel* names a kernel: a Debian package (_linux-image-6.1.0-54-amd64_),\n"
		"which is downloaded by apt-get and unpacked in ~/.cache/assay/kernel/stock, but\n"
		"not installed; a .deb file; a directory with an unpacked package; a bzImage,\n"
		"with its modules beside it as in _ROOT/boot_ and _ROOT/lib/modules_, or named\n"
		"behind a comma (_BZIMAGE,ROOT/lib/modules/VERSION_). Without it all kernels are\n"
		"tried that are installed or in the cache.\n"
		"\n"
		"A result is _shown_, _not shown_, _panic_, _oops_, _hang_ (the reproducer did\n"
		"not end within *--seconds*), _no such file system_ or _unknown_, with the last\n"
		"lines of the console if the guest failed. A trace without _repro.c_ is replayed\n"
		"on its target first. Of a crash (_assay crash_), the disk that it left is\n"
		"recovered: _shown_ means that the same is wrong then.\n"
		"\n"
		"Exit status: 1 at least one kernel shows it, or fails; 0 no kernel shows it; 2\n"
		"could not tell.",
	.opts = opts,
	.settings = &settings,
	.run = run_confirm,
};
