/* run_meta.c -- what run.json says of the program, the machine and the moment. */
#include "run/run_meta.h"

#include <sys/utsname.h>
#include <time.h>

#include "base/buf.h"
#include "base/must.h"
#include "gen/version.h"
#include "run/row_text.h"

static const char **meta_argv;
static int meta_argc;

void run_set_argv(int argc, char *const *argv)
{
	meta_argv = must_realloc(meta_argv, (size_t)(argc + 1) * sizeof(*meta_argv));
	for (meta_argc = 0; meta_argc < argc; meta_argc++)
		meta_argv[meta_argc] = argv[meta_argc];
}

void run_date_now(char ret[RUN_DATE])
{
	time_t now = time(NULL);
	struct tm tm;

	strftime(ret, RUN_DATE, "%Y-%m-%dT%H:%M:%S%z", localtime_r(&now, &tm));
}

void run_meta_add(json_t *o)
{
	struct utsname machine = { 0 };
	struct buf kernel = BUF_INIT;
	json_t *argv = json_array();

	uname(&machine);
	buf_addf(&kernel, "%s %s %s", machine.sysname, machine.release, machine.machine);
	for (int i = 0; i < meta_argc; i++)
		json_array_append_new(argv, row_json_text(meta_argv[i]));
	json_object_set_new(o, "schema", json_integer(RUN_SCHEMA));
	json_object_set_new(o, "version", json_string(ASSAY_VERSION));
	json_object_set_new(o, "kernel", row_json_text(buf_str(&kernel)));
	json_object_set_new(o, "host", row_json_text(machine.nodename));
	json_object_set_new(o, "argv", argv);
	buf_free(&kernel);
}
