/* run_argument.c -- directories of runs named on the command line. */
#include "cli/run_argument.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"

enum { SUMMARY_BYTES_MAX = 1 << 28 };

static int run_argument_read(struct report_run *run, const char *dir, struct err *err)
{
	struct buf path = BUF_INIT, text = BUF_INIT;
	json_error_t why;
	int status;

	run->dir = dir;
	buf_addf(&path, "%s/run.json", dir);
	status = buf_read_file(&text, path.data, SUMMARY_BYTES_MAX, err);
	if (!status) {
		run->summary = json_loadb(buf_str(&text), text.len, 0, &why);
		if (!json_is_object(run->summary))
			status = err_set(err, EINVAL, "%s: not the result of a run", path.data);
	}
	buf_free(&path);
	buf_free(&text);
	return status;
}

int run_arguments_read(struct report_run *runs, int count, char **dirs, struct err *err)
{
	int status = 0;

	for (int i = 0; i < count && !status; i++)
		status = run_argument_read(&runs[i], dirs[i], err);
	return status;
}

void run_arguments_free(struct report_run *runs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		json_decref(runs[i].summary);
	free(runs);
}
