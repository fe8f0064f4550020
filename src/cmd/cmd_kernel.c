/* cmd_kernel.c -- `assay kernel`: builds, lists and removes the kernels that run in a process. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/must.h"
#include "cli/command.h"
#include "cli/operands.h"
#include "cli/kernel_list.h"
#include "cli/kernel_script.h"
#include "target/kernels.h"

static struct {
	const char *source, *config, *patch;
	bool debug, coverage, overlap, json;
} settings = { .source = "linux-source-6.12" };

static const struct opt opts[] = {
	{ .name = "source",
	  .type = OPT_TEXT,
	  .offset = offsetof(typeof(settings), source),
	  .value = "PACKAGE|DIR",
	  .help = "Debian source package (kernel:ext4@6.1) or source directory (kernel:ext4@NAME, "
		  "the "
		  "name of the directory)" },
	{ .name = "debug",
	  .type = OPT_FLAG,
	  .offset = offsetof(typeof(settings), debug),
	  .help = "build a kernel with debug checks; use it as kernel:ext4@debug" },
	{ .name = "coverage",
	  .type = OPT_FLAG,
	  .offset = offsetof(typeof(settings), coverage),
	  .help = "build a kernel that records executed code, for explore --kernel-coverage" },
	{ .name = "overlap",
	  .type = OPT_FLAG,
	  .offset = offsetof(typeof(settings), overlap),
	  .help = "build a kernel whose schedule can be given, for conform --preemptions" },
	{ .name = "config",
	  .type = OPT_TEXT,
	  .offset = offsetof(typeof(settings), config),
	  .value = "FILE",
	  .help = "build a kernel with these options (lines CONFIG_X=y); use it as "
		  "kernel:ext4@NAME, "
		  "the name of the file" },
	{ .name = "patch",
	  .type = OPT_TEXT,
	  .offset = offsetof(typeof(settings), patch),
	  .value = "FILE|DIR",
	  .help = "build a kernel with this patch, or with all patches of a directory; use it as "
		  "kernel:ext4@NAME, the name of the file or directory" },
	{ .name = "json",
	  .type = OPT_FLAG,
	  .offset = offsetof(typeof(settings), json),
	  .help = "list as an array of objects" },
	OPT_END,
};

/* What a script ends with is an exit code of ours, or a failure. */
static int run_script(const char *name, const char *arguments[], const char *cache, struct err *err)
{
	int status = 0, code = kernel_script_run(name, arguments, cache, &status, err);

	if (code || status == EXIT_USAGE)
		return code ? code : EXIT_USAGE;
	return status ? EXIT_UNKNOWN : EXIT_CLEAN;
}

static int build_kernel(const char *cache, struct err *err)
{
	const char *arguments[10] = { NULL, cache, "--source", settings.source };
	size_t count = 4;
	int code = operand_file(settings.config, err);

	if (!code)
		code = operand_readable(settings.patch, err);
	if (!code && strchr(settings.source, '/'))
		code = operand_directory(settings.source, err);
	if (code)
		return code;
	if (settings.debug)
		arguments[count++] = "--debug";
	if (settings.coverage)
		arguments[count++] = "--coverage";
	if (settings.overlap)
		arguments[count++] = "--overlap";
	if (settings.config) {
		arguments[count++] = "--config";
		arguments[count++] = settings.config;
	}
	if (settings.patch) {
		arguments[count++] = "--patch";
		arguments[count++] = settings.patch;
	}
	return run_script("build", arguments, cache, err);
}

static int list_kernels(const char *cache, struct err *err)
{
	kernel_list_print(cache, settings.json);
	return EXIT_CLEAN;
}

static int prune_kernels(const char *cache, struct err *err)
{
	return run_script("prune", (const char *[]){ NULL, cache, NULL }, cache, err);
}

static const struct {
	const char *name;
	int (*run)(const char *cache, struct err *err);
} actions[] = {
	{ "build", build_kernel },
	{ "list", list_kernels },
	{ "prune", prune_kernels },
};

static int run_kernel(int argc, char **argv, struct err *err)
{
	struct buf cache = BUF_INIT;
	int code = EXIT_USAGE;
	size_t i = 0;

	while (argc == 2 && i < ARRAY_LEN(actions) && strcmp(argv[1], actions[i].name))
		i++;
	kernels_directory(&cache);
	if (argc != 2 || i == ARRAY_LEN(actions)) {
		err_set(err, EINVAL, "build, list or prune?");
	} else if (settings.debug + settings.coverage + settings.overlap > 1) {
		err_set(err, EINVAL, "either --debug, --coverage or --overlap");
	} else if (!cache.len) {
		err_set(err, ENOENT,
			"cannot find the cache: neither XDG_CACHE_HOME nor HOME is set");
		code = EXIT_UNKNOWN;
	} else if (actions[i].run != list_kernels && kernels_make_directory(cache.data, err)) {
		code = EXIT_UNKNOWN;
	} else {
		code = actions[i].run(cache.data, err);
	}
	buf_free(&cache);
	return code;
}

const struct command command_kernel = {
	.name = "kernel",
	.usage = "build|list|prune",
	.summary = "build and list the kernels that run in a process",
	.text = "Targets like *kernel:ext4* are file systems of a Linux kernel that runs as an\n"
		"ordinary process: deterministic, with snapshots by fork, without root. *build*\n"
		"builds that kernel from Debian's source package or from your own source tree,\n"
		"in ~/.cache/assay/kernel. The first build takes minutes; later builds reuse\n"
		"it. After changes in your source tree, *build* compiles only the changed\n"
		"files. *list* lists the built kernels and their names. *prune* removes kernels\n"
		"that this version cannot use, and sources that no kernel needs.",
	.opts = opts,
	.settings = &settings,
	.run = run_kernel,
};
