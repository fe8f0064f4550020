/* operands.c -- what a command line names has to be there before anything is made or run. */
#include "cli/operands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "run/known.h"
#include "run/run_dir.h"
#include "target/target.h"

int operand_code(int status)
{
	switch (-status) {
	case 0:
		return EXIT_CLEAN;
	case ENOENT:
	case ENOTDIR:
	case EISDIR:
	case EINVAL:
	case ENOTSUP:
		return EXIT_USAGE;
	default:
		return EXIT_UNKNOWN;
	}
}

int operand_target(const char *spec, const char *config, struct err *err)
{
	return operand_code(target_check(spec, config, err));
}

bool operand_is_directory(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

int operand_readable(const char *path, struct err *err)
{
	return path && access(path, R_OK) ? operand_code(err_sys(err, errno, "%s", path))
					  : EXIT_CLEAN;
}

int operand_file(const char *path, struct err *err)
{
	if (path && operand_is_directory(path))
		return operand_code(err_sys(err, EISDIR, "%s", path));
	return operand_readable(path, err);
}

int operand_known(const char *path, const char *write, struct err *err)
{
	struct known known = { 0 };
	int status = path ? known_read(&known, path, "", err) : 0;

	known_free(&known);
	return status ? operand_code(status) : operand_new_file(write, err);
}

int operand_directory(const char *path, struct err *err)
{
	struct stat st;

	if (stat(path, &st))
		return operand_code(err_sys(err, errno, "%s", path));
	return S_ISDIR(st.st_mode) ? EXIT_CLEAN : operand_code(err_sys(err, ENOTDIR, "%s", path));
}

int operand_new_file(const char *path, struct err *err)
{
	struct buf directory = BUF_INIT;
	const char *slash = path ? strrchr(path, '/') : NULL;
	int code = EXIT_CLEAN;

	if (path && operand_is_directory(path))
		return operand_code(err_sys(err, EISDIR, "%s", path));
	if (slash) {
		buf_add(&directory, path, (size_t)(slash - path) + 1);
		code = operand_directory(directory.data, err);
	}
	buf_free(&directory);
	return code;
}

int operand_new_directory(const char *path, struct err *err)
{
	struct stat st;

	return path && !stat(path, &st) ? operand_directory(path, err) : EXIT_CLEAN;
}

int operand_run_directory(const char *path, struct err *err)
{
	int code = operand_new_directory(path, err);
	char *name = NULL;

	if (!code && path && run_dir_set_aside(path, &name, err))
		code = EXIT_UNKNOWN;
	if (name)
		fprintf(stderr, "%s held an earlier run, which is %s now\n", path, name);
	free(name);
	return code;
}
