/* cmd_cover.c -- `assay cover`: which inputs and outputs a file-system test exercises. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/log.h"
#include "cmd/command.h"
#include "cover/live.h"
#include "cover/readers.h"

static struct settings {
	struct opt_list mounts;
	bool json;
	int read; /* 0 or a reader + 1 */
	const char *cwd;
	const char *out;
} settings;

static const struct opt opts[] = {
	{ "mount", OPT_LIST, offsetof(struct settings, mounts), "DIR",
	  "mount point of the file system under test; several may be given", 0, 0 },
	{ "read", OPT_CHOICE, offsetof(struct settings, read), "none|strace|ftrace|ctf|trace",
	  "takes the trace in the operand instead of running a command", 0, 0 },
	{ "cwd", OPT_TEXT, offsetof(struct settings, cwd), "DIR",
	  "where the traced command began, for relative paths in a trace", 0, 0 },
	{ "json", OPT_FLAG, offsetof(struct settings, json), NULL, "prints one object", 0, 0 },
	{ "out", OPT_TEXT, offsetof(struct settings, out), "DIR", "directory for coverage.json", 0,
	  0 },
	OPT_END,
};

static int write_out(json_t *report, struct err *err)
{
	struct buf path = BUF_INIT;
	int r = 0;

	if (mkdir(settings.out, 0755) && errno != EEXIST)
		r = err_sys(err, errno, "cannot make the directory %s", settings.out);
	buf_addf(&path, "%s/coverage.json", settings.out);
	if (!r && json_dump_file(report, buf_str(&path), JSON_INDENT(1)))
		r = err_sys(err, errno, "cannot write %s", buf_str(&path));
	buf_free(&path);
	return r;
}

static int finish(struct coverage *c, struct err *err)
{
	json_t *report = coverage_json(c);
	int code = EXIT_CLEAN;

	if (settings.out && write_out(report, err))
		code = EXIT_UNKNOWN;
	if (settings.json) {
		json_dumpf(report, stdout, JSON_INDENT(1));
		putchar('\n');
	}
	json_decref(report);
	return code;
}

static int run_live(char *const *command, struct err *err)
{
	struct live_options options = {
		.mounts = settings.mounts.items,
		.mount_count = settings.mounts.count,
		.command = command,
		.output_to_stderr = settings.json,
	};
	struct coverage c;
	int status = 0, code = EXIT_UNKNOWN;

	coverage_init(&c, "bpf");
	if (*live_missing())
		err_set(err, EOPNOTSUPP,
			"%s; strace -f -y -X raw -s 0 -o FILE COMMAND records a trace that "
			"--read strace FILE takes",
			live_missing());
	else if (!live_trace(&c, &options, &status, err))
		code = finish(&c, err);
	if (!err->code && status)
		fprintf(stderr, "assay cover: the command ended with status %d\n",
			WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	coverage_free(&c);
	return code;
}

static int run_reader(const char *path, struct err *err)
{
	struct read_options options = {
		.mounts = settings.mounts.items,
		.mount_count = settings.mounts.count,
		.cwd = settings.cwd,
	};
	const struct reader *reader = &readers[settings.read - 1];
	struct coverage c;
	int code = EXIT_UNKNOWN;

	coverage_init(&c, reader->name);
	if (!reader->read(&c, &options, path, err))
		code = finish(&c, err);
	coverage_free(&c);
	return code;
}

static int run(int argc, char **argv, struct err *err)
{
	if (argc < 2) {
		err_set(err, EINVAL, "which command?");
		return EXIT_USAGE;
	}
	if (settings.read)
		return run_reader(argv[1], err);
	if (!settings.mounts.count || settings.mounts.count > TRACE_MOUNTS) {
		err_set(err, EINVAL, "which mount? 1 to %d of --mount", TRACE_MOUNTS);
		return EXIT_USAGE;
	}
	return run_live(argv + 1, err);
}

const struct command command_cover = {
	.name = "cover",
	.usage = "--mount DIR -- COMMAND...",
	.summary = "which inputs and outputs a test exercises",
	.text = "Runs _COMMAND_.",
	.opts = opts,
	.settings = &settings,
	.run = run,
};
