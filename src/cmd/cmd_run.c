/* cmd_run.c -- `assay run`: executes scripts in a directory and prints what came back. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "channel/limits.h"
#include "cli/command.h"
#include "cli/files.h"
#include "cli/operands.h"
#include "cli/runner.h"
#include "sandbox/crew.h"
#include "storage/directory.h"
#include "storage/janitor.h"
#include "storage/remove_tree.h"
#include "tree/scan.h"

enum { ROOT_MODE = 0777 }; /* of a fresh directory: every user may make files in it */

static struct run_settings {
	const char *on, *out, *user;
	double deadline;
	uint64_t space;
	bool fresh, chroot, devices;
} settings = { .deadline = 10, .chroot = true };

static const struct opt opts[] = {
	{ "on", OPT_TEXT, offsetof(struct run_settings, on), "DIR",
	  "the directory that is the root of the scripts", 0, 0 },
	{ "fresh", OPT_FLAG, offsetof(struct run_settings, fresh), NULL,
	  "runs each script in a new empty directory in DIR and removes it at the end", 0, 0 },
	{ "out", OPT_TEXT, offsetof(struct run_settings, out), "DIR",
	  "writes each trace to a file in DIR, named by folder and name of the script", 0, 0 },
	{ "user", OPT_TEXT, offsetof(struct run_settings, user), "UID:GID",
	  "user and group of process 1; default: root, or the caller", 0, 0 },
	{ "deadline", OPT_DOUBLE, offsetof(struct run_settings, deadline), "SECONDS",
	  "time limit of one call; a longer call is killed", 0, OPT_SECONDS_MAX },
	{ "chroot", OPT_FLAG, offsetof(struct run_settings, chroot), NULL,
	  "confines the scripts to the directory; without it, absolute links and \"..\" lead "
	  "outside",
	  0, 0 },
	SPACE_OPT(struct run_settings, space),
	{ "devices", OPT_FLAG, offsetof(struct run_settings, devices), NULL,
	  "allows device nodes: a script can then write to the disks of this machine", 0, 0 },
	OPT_END,
};

static struct limits limits;
static struct janitor *janitor; /* of the directory made for the scripts; NULL without --fresh */

static int parse_user(struct crew_options *options, struct err *err)
{
	char rest;

	if (!settings.user)
		return 0;
	if (sscanf(settings.user, "%u:%u%c", &options->uid, &options->gid, &rest) != 2)
		return err_set(err, EINVAL, "--user %s: not UID:GID", settings.user);
	return 0;
}

/* The directory the scripts will see as "/". */
static int open_run_root(struct runner *r, struct err *err)
{
	int status = settings.fresh ? janitor_open(&janitor, settings.on, err) : 0;
	const char *path = status || !janitor ? settings.on : janitor_path(janitor);

	if (status)
		return status;
	r->root_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r->root_fd < 0 || (settings.fresh && fchmod(r->root_fd, ROOT_MODE)))
		return err_sys(err, errno, "%s", path);
	return 0;
}

static int open_runner(struct runner *r, const struct crew_options *options, struct err *err)
{
	struct scan_options scan = {
		.fields = TREE_FIELDS_DEFAULT,
		.objects_max = 10 * 1000 * 1000,
		.bytes_max = (uint64_t)1 << 34,
	};
	int error = open_run_root(r, err);

	limits_init(&limits, r->root_fd, settings.space);
	if (!error)
		error = crew_open(&r->crew, r->root_fd, options, err);
	if (!error)
		r->scanner = scanner_new(&scan);
	return error;
}

static void close_runner(struct runner *r)
{
	crew_close(r->crew);
	janitor_close(janitor, settings.deadline);
	if (r->root_fd >= 0)
		close(r->root_fd);
	scanner_free(r->scanner);
	script_free(&r->script);
	script_free(&r->trace);
	buf_free(&r->text);
}

/* As before the first script. Cleaned first: a user's process may need the root's old mode. */
static int begin_script(struct runner *r, struct err *err)
{
	int error = 0;

	if (settings.fresh) {
		error = remove_tree_below(r->root_fd, err);
		if (!error)
			error = directory_reset(r->root_fd, ROOT_MODE, err);
	}
	return error ? error : crew_reset(r->crew, err);
}

/* "OUT/folder/name" of a script's path. */
static int open_output(const char *path, struct err *err)
{
	const char *name = strrchr(path, '/'), *folder = name;
	struct buf to = BUF_INIT;
	int fd;

	while (folder && folder > path && folder[-1] != '/')
		folder--;
	buf_adds(&to, settings.out);
	mkdir(to.data, 0777);
	if (name)
		buf_addf(&to, "/%.*s", (int)(name - folder), folder);
	mkdir(to.data, 0777);
	buf_addf(&to, "/%s", name ? name + 1 : path);
	fd = open(to.data, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		err_sys(err, errno, "%s", to.data);
	buf_free(&to);
	return fd;
}

static int print_run_trace(struct runner *r, const char *path, bool named, struct err *err)
{
	int error = 0, fd;

	buf_clear(&r->text);
	if (named)
		buf_addf(&r->text, "# %s\n", path);
	script_print(&r->trace, r->script.dialect, &r->text);
	if (!settings.out) {
		fwrite(r->text.data, 1, r->text.len, stdout);
		return 0;
	}
	fd = open_output(path, err);
	if (fd < 0)
		return err->code;
	if (write(fd, r->text.data, r->text.len) != (ssize_t)r->text.len)
		error = err_sys(err, errno, "%s: cannot write the trace", path);
	close(fd);
	return error;
}

/* A script that could not be run to its end does not keep the others from being run. */
static int run_all(struct runner *r, const struct input_files *files)
{
	bool named = files->count > 1 && !settings.out;
	int code = EXIT_CLEAN;

	for (size_t i = 0; i < files->count; i++) {
		const char *path = files->paths[i];
		struct err err = { 0 };

		if (!script_read(&r->script, path, &err) && !begin_script(r, &err)) {
			runner_run(r, &err);
			print_run_trace(r, path, named, &err);
		}
		if (err.code) {
			progress_end();
			fprintf(stderr, "assay run: %s\n", err.text);
			code = EXIT_UNKNOWN;
		}
		if (settings.out && i % 64 == 0)
			progress_show("%zu of %zu scripts", i, files->count);
	}
	progress_end();
	return code;
}

/* Nothing is executed if any script has a mistake. */
static int check_scripts(struct script *s, const struct input_files *files, struct err *err)
{
	int error = 0;

	for (size_t i = 0; !error && i < files->count; i++)
		error = script_read(s, files->paths[i], err);
	return error;
}

static int run_run(int argc, char **argv, struct err *err)
{
	struct crew_options options = {
		.deadline_seconds = settings.deadline,
		.no_chroot = !settings.chroot,
		.no_devices = !settings.devices,
		.limits = &limits,
	};
	struct runner r = { .root_fd = -1 };
	struct input_files files = { 0 };
	int code = EXIT_USAGE;

	if (argc < 2 || !settings.on)
		err_set(err, EINVAL, argc < 2 ? "which script?" : "where? --on DIR is missing");
	else if (!files_expand(&files, argv + 1, ".trace", err) &&
		 !check_scripts(&r.script, &files, err) && !parse_user(&options, err))
		code = operand_directory(settings.on, err);
	if (code == EXIT_CLEAN)
		code = operand_new_directory(settings.out, err);
	if (code == EXIT_CLEAN)
		code = open_runner(&r, &options, err) ? EXIT_UNKNOWN : run_all(&r, &files);
	close_runner(&r);
	files_free(&files);
	return code;
}

const struct command command_run = {
	.name = "run",
	.usage = "SCRIPT... --on DIR",
	.summary = "execute scripts in a directory and print their traces",
	.text = "Makes the calls of each script as real system calls, with _DIR_ as the root\n"
		"directory and one process for each process of the script. Prints the trace:\n"
		"every call with its outcome, in the dialect of the script. A directory among\n"
		"the scripts means all files below it that end in _.trace_. Outcomes that a\n"
		"script already has are replaced. Scripts run one after another, each with new\n"
		"processes, on the files that the previous script left, unless *--fresh* is\n"
		"given.\n"
		"\n"
		"If any script has an error, no script is executed and the exit status is 64.\n"
		"If a call does not return in time or would use too much disk space, or if a\n"
		"process needs privileges that are missing, the trace ends there and the exit\n"
		"status is 2. As root, mounts below _DIR_ are hidden and device nodes cannot be\n"
		"opened.\n"
		"\n"
		"Several users need root. Without root the scripts run as one user, confined by\n"
		"a user namespace, or unconfined with *--no-chroot*. _remount_ and\n"
		"_advance_time_ return ENOSYS on a plain directory.",
	.opts = opts,
	.settings = &settings,
	.run = run_run,
};
