/* cmd_export.c -- `assay export FINDING --as SUITE`: a finding as a test of another suite. */
#include <errno.h>
#include <stdio.h>

#include "base/buf.h"
#include "cli/command.h"
#include "cli/operands.h"
#include "finding/export.h"

static struct export_settings {
	const char *as, *out;
} settings = {
	.out = "export",
};

#define ROW(field) offsetof(struct export_settings, field)

static const struct opt opts[] = {
	{ "as", OPT_TEXT, ROW(as), "SUITE", "the suite: xfstests, ltp, pjdfstest or kselftest", 0,
	  0 },
	{ "out", OPT_TEXT, ROW(out), "DIR", "the directory that the files are written to", 0, 0 },
	OPT_END,
};

static const struct export_suite *operand_suite(struct err *err)
{
	const struct export_suite *suite = settings.as ? export_suite_find(settings.as) : NULL;
	struct buf names = BUF_INIT;

	export_suite_names(&names);
	if (!settings.as)
		err_set(err, EINVAL, "expected --as with one of %s", buf_str(&names));
	else if (!suite)
		err_set(err, EINVAL, "no suite %s; there are %s", settings.as, buf_str(&names));
	buf_free(&names);
	return suite;
}

static int run_export(int argc, char **argv, struct err *err)
{
	const struct export_suite *suite;
	struct finding f;
	int code, status;

	if (argc != 2) {
		err_set(err, EINVAL, "expected one finding or script");
		return EXIT_USAGE;
	}
	suite = operand_suite(err);
	if (!suite)
		return EXIT_USAGE;
	code = operand_readable(argv[1], err);
	if (!code)
		code = operand_new_directory(settings.out, err);
	if (!code)
		code = operand_code((operand_is_directory(argv[1])
					     ? finding_read_whole
					     : finding_read_script)(&f, argv[1], err));
	if (code)
		return code;
	status = export_finding(&f, suite, settings.out, err);
	finding_free(&f);
	if (status)
		return EXIT_UNKNOWN;
	printf("%s\n", settings.out);
	return EXIT_CLEAN;
}

const struct command command_export = {
	.name = "export",
	.usage = "FINDING|SCRIPT --as SUITE",
	.summary = "write a finding or a script as a test of another suite",
	.text = "Writes a test in the form of another suite, made from the folder of a finding:\n"
		"what it calls, what it expects and why, and what was seen. _DIR_/README says\n"
		"where the files belong and how to run the test. The test fails on a file\n"
		"system with the bug and passes on one without.\n"
		"\n"
		"_SCRIPT_ is a trace instead, such as *assay cover --suggest* writes: a test that\n"
		"its last call ends as the trace says.\n"
		"\n"
		"*xfstests*: a script tests/generic/999 with its output, and a C program in src.\n"
		"\n"
		"*ltp*: a C program in testcases/kernel/syscalls, and a runtest file.\n"
		"\n"
		"*pjdfstest*: a script in tests. The program pjdfstest has to know every call of\n"
		"the finding.\n"
		"\n"
		"*kselftest*: a C program and a script in tools/testing/selftests/filesystems.\n"
		"\n"
		"Some findings cannot be tests of a suite: those with injected failures, memory\n"
		"leaks and lost space, and those that no program can see. The message names the\n"
		"reason.\n"
		"\n"
		"Exit status: 0 written, 2 this finding cannot be a test of this suite.",
	.opts = opts,
	.settings = &settings,
	.run = run_export,
};
