/* cmd_bisect.c -- `assay bisect FINDING`: the commit of Linux since which it shows. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "cli/command.h"
#include "cli/finding_argument.h"
#include "cli/operands.h"
#include "cli/kernel_script.h"
#include "target/kernels.h"

static struct bisect_settings {
	const char *source, *good, *bad;
	const char *on, *config;
	uint64_t times;
} settings = { .times = 1 };

#define ROW(field) offsetof(struct bisect_settings, field)

static const struct opt opts[] = {
	{ "source", OPT_TEXT, ROW(source), "TREE", "a git checkout of Linux; it is only read", 0,
	  0 },
	{ "good", OPT_TEXT, ROW(good), "COMMIT", "a commit that does not show the finding", 0, 0 },
	{ "bad", OPT_TEXT, ROW(bad), "COMMIT", "a later commit that shows it", 0, 0 },
	{ "times", OPT_U64, ROW(times), "N", "number of replays at each commit", 1, 1000000 },
	{ "on", OPT_TEXT, ROW(on), "TARGET", "another target than the one it was found on", 0, 0 },
	{ "config", OPT_TEXT, ROW(config), "FILE", "an INI file that describes targets", 0, 0 },
	OPT_END,
};

/* A finding that cannot be read would be noticed only after the first build. */
static int check_operands(int argc, char **argv, struct err *err)
{
	struct finding f;
	int code = EXIT_USAGE;

	if (argc != 2)
		err_set(err, EINVAL, "expected one finding");
	else if (!settings.source || !settings.good || !settings.bad)
		err_set(err, EINVAL, "expected --source TREE --good COMMIT --bad COMMIT");
	else if (!finding_read(&f, argv[1], err)) {
		finding_free(&f);
		code = operand_directory(settings.source, err);
		if (!code)
			code = operand_file(settings.config, err);
	}
	return code;
}

static int bisect(const char *finding, const char *cache, struct err *err)
{
	struct buf self = BUF_INIT;
	char times[32], *path = realpath(finding, NULL);
	char *config = settings.config ? realpath(settings.config, NULL) : NULL;
	const char *arguments[16] = { NULL,          cache,        NULL, settings.source,
				      settings.good, settings.bad, path, "--times",
				      times };
	size_t count = 9;
	int status = 0, code = kernel_script_self(&self, err) ? EXIT_UNKNOWN : EXIT_CLEAN;

	snprintf(times, sizeof(times), "%llu", (unsigned long long)settings.times);
	arguments[2] = buf_str(&self);
	if (settings.on) {
		arguments[count++] = "--on";
		arguments[count++] = settings.on;
	}
	if (config) {
		arguments[count++] = "--config";
		arguments[count++] = config;
	}
	if (!code)
		code = kernel_script_run("bisect", arguments, cache, &status, err);
	buf_free(&self);
	free(path);
	free(config);
	if (code)
		return code;
	if (!status)
		return EXIT_FINDINGS;
	return status == EXIT_USAGE ? EXIT_USAGE : EXIT_UNKNOWN;
}

static int run_bisect(int argc, char **argv, struct err *err)
{
	struct buf cache = BUF_INIT;
	int code = check_operands(argc, argv, err);

	kernels_directory(&cache);
	if (!code && !cache.len) {
		err_set(err, ENOENT,
			"cannot find the cache: neither XDG_CACHE_HOME nor HOME is set");
		code = EXIT_UNKNOWN;
	}
	if (!code && kernels_make_directory(cache.data, err))
		code = EXIT_UNKNOWN;
	if (!code)
		code = bisect(argv[1], cache.data, err);
	buf_free(&cache);
	return code;
}

const struct command command_bisect = {
	.name = "bisect",
	.usage = "FINDING --source TREE --good COMMIT --bad COMMIT",
	.summary = "find the commit of Linux that introduced a finding",
	.text = "Builds commits of Linux as kernels in a process (*assay kernel build*) and\n"
		"replays the finding in each, until the first commit is found that shows it.\n"
		"_TREE_ is a git checkout; it is only read: the work is done in a clone in the\n"
		"cache, which shares its objects and is removed at the end. The first build\n"
		"takes minutes; later ones compile only what differs. The two given commits are\n"
		"tried first. Commits that cannot be built are skipped.\n"
		"\n"
		"To bisect by hand, give *git bisect run* a script that builds the kernel\n"
		"(*assay kernel build --source*) and ends with the status of\n"
		"*assay replay --bisect --kernel NAME*. _NAME_ is that of the source directory.\n"
		"\n"
		"Exit status: 1 the commit was found, 2 could not tell.",
	.opts = opts,
	.settings = &settings,
	.run = run_bisect,
};
