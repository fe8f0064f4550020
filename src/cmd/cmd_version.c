/* cmd_version.c -- `assay version`: what this program was built from. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <sys/utsname.h>

#include "base/buf.h"
#include "cli/command.h"
#include "cover/live.h"
#include "gen/kernel_hash.h"
#include "gen/version.h"
#include "model/model.h"

static struct version_settings {
	bool json;
} settings;

static const struct opt opts[] = {
	{ "json", OPT_FLAG, offsetof(struct version_settings, json), NULL,
	  "print the result as one JSON object", 0, 0 },
	OPT_END,
};

#ifdef __OPTIMIZE__
static const char build_kind[] = "optimised";
#else
static const char build_kind[] = "not optimised";
#endif

/* Each row is printed and is a key of the object. */
static json_t *version_rows(void)
{
	struct buf model = BUF_INIT;
	const char *missing = live_missing();
	struct utsname host;
	json_t *rows;

	version_print(KERNEL_CURRENT, &model);
	if (uname(&host))
		host.release[0] = host.machine[0] = '\0';
	rows = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "version", ASSAY_VERSION,
			 "compiler", "gcc " __VERSION__, "build", build_kind, "machine",
			 host.machine, "kernel", host.release, "model", buf_str(&model),
			 "kernel_sources", ASSAY_KERNEL_HASH, "jansson", JANSSON_VERSION, "tracer",
			 *missing ? missing : "here");
	buf_free(&model);
	return rows;
}

static int run_version(int argc, char **argv, struct err *err)
{
	json_t *rows, *value;
	const char *key;

	if (argc > 1) {
		err_set(err, EINVAL, "%s: unexpected operand", argv[1]);
		return EXIT_USAGE;
	}
	rows = version_rows();
	if (settings.json) {
		json_dumpf(rows, stdout, JSON_INDENT(2));
		putchar('\n');
	} else {
		printf("assay %s\n", ASSAY_VERSION);
		json_object_foreach(rows, key, value)
			printf("%-16s %s\n", key, json_string_value(value));
	}
	json_decref(rows);
	return EXIT_CLEAN;
}

const struct command command_version = {
	.name = "version",
	.summary = "print what this program was built from",
	.text = "Prints the version and how the program was built: the compiler, the newest\n"
		"Linux that the model knows (_model_), the hash of the sources that kernels in a\n"
		"process are built from (_kernel\\_sources_), and what is missing for *assay "
		"cover*\n"
		"to trace calls (_tracer_); and the kernel that is running.",
	.opts = opts,
	.settings = &settings,
	.run = run_version,
};
