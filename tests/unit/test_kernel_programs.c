/* test_kernel_programs.c -- what is documented of file systems in a kernel in a process is shown by
 * C programs, too: on their targets, and not on ext4. tests/soak/finding-programs tries them all.
 *
 * Where no kernel is built there is nothing to test. */
#include <string.h>

#include "base/err.h"
#include "base/must.h"
#include "finding/finding.h"
#include "finding/prove.h"
#include "target/target.h"
#include "tests/harness/unit.h"
#include "trace/script.h"

enum { CALLS_MAX = 16, PROGRAM_SECONDS = 30 };

static const struct {
	const char *target, *calls;
} rows[] = {
	{ "kernel:exfat", "create_file(\"f\", O_WRONLY, 0755)\n"
			  "write_file(\"f\", O_WRONLY|O_APPEND, \"c\", 1, 2)\n" },
	{ "kernel:exfat", "advance_time(86400000)\n"
			  "create_file(\"f\", O_WRONLY, 0755)\n"
			  "advance_time(86400001)\n"
			  "write_file(\"f\", O_WRONLY|O_APPEND, \"c\", 1, 2)\n" },
	{ "kernel:vfat", "mkdir(\"b\", 0755)\n"
			 "mkdir(\"c\", 0755)\n"
			 "rename(\"b\", \"c\")\n" },
	{ "kernel:udf", "create_file(\"f\", O_RDWR, 0755)\n"
			"create_file(\"g\", O_RDWR, 0644)\n"
			"truncate(\"f\", 1)\n"
			"unlink(\"g\")\n"
			"write_file(\"f\", O_WRONLY, \"b\", 1, 512)\n"
			"remount()\n" },
	{ "kernel:jffs2", "create_file(\"b\", O_RDONLY, 0755)\n"
			  "setxattr(\"b\", \"user.a\", \"\", 0, 0)\n"
			  "setxattr(\"b\", \"user.a\", \"b\", 1, 0)\n"
			  "removexattr(\"b\", \"user.a\")\n"
			  "remount()\n" },
};

static struct target *open_target(const char *spec)
{
	struct target_options options = { .deadline_seconds = 20 };
	struct target *t = NULL;
	struct err err = { 0 };

	if (target_open(&t, spec, &options, &err)) {
		print_message("# %s: %s\n", spec, err.text);
		return NULL;
	}
	return t;
}

static size_t calls_of(const struct script *script, struct call ret[CALLS_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < script->count; i++)
		if (script->items[i].type == ITEM_CALL) {
			must(count < CALLS_MAX);
			ret[count++] = script->items[i].call;
		}
	return count;
}

/* The finding that the calls show on the target, and that its program shows. */
static void show(struct target *t, const char *text, struct finding *ret)
{
	struct script script = { 0 };
	struct call calls[CALLS_MAX];
	struct err err = { 0 };
	struct model m;
	struct replay_on on = { .target = t, .model = &m };

	if (script_parse(&script, "row", text, strlen(text), &err))
		fail_msg("%s", err.text);
	target_model(t, &m);
	if (judge_replay(&on, calls, calls_of(&script, calls), NULL, ret, &err) != 1)
		fail_msg("%s: no finding, %s:\n%s", t->name, err.text, text);
	if (finding_prove(ret, t, 0, &err))
		fail_msg("%s: %s", t->name, err.text);
	if (ret->proof.end != PROOF_SHOWN)
		fail_msg("%s: its program does not show it (%s):\n%s", t->name, ret->proof.why,
			 text);
	script_free(&script);
}

/* Where the calls go the same way and there is no such bug. */
static void run_elsewhere(struct target *t, const struct finding *f)
{
	struct buf source = BUF_INIT;
	struct program_report end;
	struct err err = { 0 };

	finding_repro_c(f, &source);
	if (target_reset(t, &err) ||
	    target_run_program(t, buf_str(&source), PROGRAM_SECONDS, &end, &err))
		fail_msg("%s: %s", t->name, err.text);
	if (end.fate != PROGRAM_EXITED || end.status)
		fail_msg("%s: ended %d, status %d: %s: %s", t->name, end.fate, end.status,
			 buf_str(&f->discrepancy.title), buf_str(&end.output));
	program_report_free(&end);
	buf_free(&source);
}

static void programs_show_what_was_found(void **unused)
{
	struct target *ext4 = open_target("kernel:ext4"), *t;
	struct finding f;
	size_t tried = 0;

	if (!ext4)
		skip();
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		t = open_target(rows[i].target);
		if (!t)
			continue;
		show(t, rows[i].calls, &f);
		run_elsewhere(ext4, &f);
		finding_free(&f);
		target_close(t);
		tried++;
	}
	target_close(ext4);
	if (!tried)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_show_what_was_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
