/* cmd_shrink.c -- `assay shrink FINDING`: the fewest and simplest calls that show it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/finding_argument.h"
#include "run/run.h"

static struct shrink_settings {
	uint64_t tries, times;
	struct finding_place place;
} settings = {
	.tries = 10000,
	.times = 10,
};

#define ROW(field) offsetof(struct shrink_settings, field)

static const struct opt opts[] = {
	{ "tries", OPT_U64, ROW(tries), "N", "maximum number of replays", 1, UINT32_MAX },
	{ "times", OPT_U64, ROW(times), "N", "replays of the result", 1, 1000000 },
	FINDING_PLACE_OPTS(struct shrink_settings, place),
	OPT_END,
};

static int shrink_finding(const struct finding *given, struct target *t, const char *dir,
			  struct err *err)
{
	const char *sought = given->discrepancy.signature[0] ? given->discrepancy.signature : NULL;
	struct finding f;
	struct model m;
	struct replay_on on = { .target = t, .model = &m, .unseen = given->unseen };
	int status, code = EXIT_UNKNOWN;

	stop_catch_signals();
	target_model(t, &m);
	status = judge_replay(&on, given->calls, given->count, sought, &f, err);
	if (!status && sought)
		status = judge_replay(&on, given->calls, given->count, NULL, &f, err);
	if (status < 0)
		return EXIT_UNKNOWN;
	if (!status) {
		printf("it does not show on %s\n", t->name);
		return EXIT_CLEAN;
	}
	finding_take_remarks(&f, given);
	if (given->discrepancy.signature[0] &&
	    strcmp(given->discrepancy.signature, f.discrepancy.signature))
		printf("another discrepancy than the one sought: %s\n", f.discrepancy.signature);
	if (!finding_improve(&f, &on, (unsigned)settings.tries, (unsigned)settings.times, err) &&
	    !finding_write(&f, t, dir, err)) {
		finding_keep_evidence(t, dir);
		printf("%s\n%zu calls instead of %zu; shown in %u of %u replays\n",
		       buf_str(&f.discrepancy.title), f.count, given->count, f.shown, f.tries);
		found_print_proof(&f);
		code = EXIT_FINDINGS;
	}
	finding_free(&f);
	return code;
}

static int run_shrink(int argc, char **argv, struct err *err)
{
	struct finding_argument argument;
	int code;

	if (argc != 2 && argc != 3) {
		err_set(err, EINVAL, "expected a finding, and where to write the smaller one");
		return EXIT_USAGE;
	}
	code = finding_argument_open(&argument, argv[1], &settings.place, err);
	if (code)
		return code;
	if (finding_is_by_crash(&argument.finding)) {
		err_set(err, ENOTSUP, "%s: `assay crash` has shrunk it already", argv[1]);
		code = EXIT_USAGE;
	} else {
		code = shrink_finding(&argument.finding, argument.target, argv[argc - 1], err);
	}
	finding_argument_close(&argument);
	return code;
}

const struct command command_shrink = {
	.name = "shrink",
	.usage = "FINDING [FOLDER]",
	.summary = "shrink a finding to the fewest and simplest calls",
	.text = "Replays the calls of a finding (or of any trace), removes calls that are not\n"
		"needed and simplifies the arguments. Writes the result with its reproducer to\n"
		"_FOLDER_, by default the folder of the finding. Compiles the reproducer, runs\n"
		"it on a fresh file system and prints its result. If it is interrupted, it\n"
		"writes the smallest result so far.\n"
		"\n"
		"Exit status: 1 the result shows the finding, 0 no replay shows it, 2 could not\n"
		"tell.",
	.opts = opts,
	.settings = &settings,
	.run = run_shrink,
};
