/* cmd_replay.c -- `assay replay FINDING`: does it still show? */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/finding_argument.h"
#include "crash/crash_report.h"
#include "finding/prove.h"

static struct replay_settings {
	uint64_t times;
	bool bisect;
	struct finding_place place;
} settings = {
	.times = 10,
};

enum { EXIT_BISECT_SKIP = 125, EXIT_BISECT_STOP = 255 };

#define ROW(field) offsetof(struct replay_settings, field)

static const struct opt opts[] = {
	{ "times", OPT_U64, ROW(times), "N", "number of replays", 1, 1000000 },
	{ "bisect", OPT_FLAG, ROW(bisect), NULL,
	  "exit as git bisect run expects: 0 good, 1 bad, 125 could not tell, 255 stop", 0, 0 },
	FINDING_PLACE_OPTS(struct replay_settings, place),
	OPT_END,
};

/* The tree that differs, or what a kernel said. */
static void print_finding(const struct finding *f)
{
	bool said = f->discrepancy.code == PROBLEM_KERNEL || f->discrepancy.code == PROBLEM_LEAK ||
		    f->discrepancy.code == PROBLEM_DEATH;

	printf("%s\n", buf_str(&f->discrepancy.title));
	if (f->discrepancy.diff.len)
		printf("%s", buf_str(&f->discrepancy.diff));
	else if (said)
		printf("%s\n", buf_str(&f->discrepancy.seen));
}

/* What the replay shows, and whether the C program shows it, too. */
static int show_first(struct finding *f, struct target *t, struct err *err)
{
	int status;

	print_finding(f);
	status = finding_prove(f, t, 0, err);
	if (!status)
		found_print_proof(f);
	return status;
}

/* Prints what shows; another discrepancy than the one sought counts, too, but is named. It would
 * lead a bisection to another commit: there it does not count. */
static int replay_finding(struct finding *f, struct target *t, struct err *err)
{
	const char *sought = f->discrepancy.signature[0] ? f->discrepancy.signature : NULL;
	struct finding again;
	struct model m;
	struct replay_on on = { .target = t, .model = &m, .unseen = f->unseen };
	unsigned shown = 0;
	int status;

	target_model(t, &m);
	for (uint64_t i = 0; i < settings.times; i++) {
		status = judge_replay(&on, f->calls, f->count, sought, &again, err);
		if (!status && sought && !settings.bisect)
			status = judge_replay(&on, f->calls, f->count, NULL, &again, err);
		if (status < 0)
			return EXIT_UNKNOWN;
		if (!status)
			continue;
		if (!shown++ && (status = show_first(&again, t, err)) < 0) {
			finding_free(&again);
			return EXIT_UNKNOWN;
		}
		if (f->discrepancy.signature[0] &&
		    strcmp(f->discrepancy.signature, again.discrepancy.signature))
			printf("another discrepancy than the one sought: %s\n",
			       again.discrepancy.signature);
		finding_free(&again);
	}
	printf("shown in %u of %llu replays on %s\n", shown, (unsigned long long)settings.times,
	       t->name);
	return shown ? EXIT_FINDINGS : EXIT_CLEAN;
}

/* The calls again, and every crash that they could meet. */
static int replay_crash(const struct finding *f, struct target *t, struct err *err)
{
	struct buf seen = BUF_INIT;
	unsigned shown = 0;
	int shows = 0;

	if (!(t->caps & TARGET_RECORD)) {
		err_set(err, ENOTSUP, "%s: what it writes to its disk cannot be recorded", t->name);
		return EXIT_UNKNOWN;
	}
	for (uint64_t i = 0; i < settings.times && shows >= 0; i++) {
		buf_clear(&seen);
		shows = crash_replay(t, f, &seen, err);
		if (shows > 0 && !shown++)
			printf("after a crash, %s", buf_str(&seen));
	}
	buf_free(&seen);
	if (shows < 0)
		return EXIT_UNKNOWN;
	printf("shown in %u of %llu replays on %s\n", shown, (unsigned long long)settings.times,
	       t->name);
	return shown ? EXIT_FINDINGS : EXIT_CLEAN;
}

/* What is wrong with the command would be wrong at every commit. */
static int bisect_code(int code)
{
	switch (code) {
	case EXIT_CLEAN:
	case EXIT_FINDINGS:
		return code;
	case EXIT_UNKNOWN:
		return EXIT_BISECT_SKIP;
	default:
		return EXIT_BISECT_STOP;
	}
}

static int replay_argument(int argc, char **argv, struct err *err)
{
	struct finding_argument argument;
	int code;

	if (argc != 2) {
		err_set(err, EINVAL, "expected one finding");
		return EXIT_USAGE;
	}
	code = finding_argument_open(&argument, argv[1], &settings.place, err);
	if (code)
		return code;
	code = finding_is_by_crash(&argument.finding)
		     ? replay_crash(&argument.finding, argument.target, err)
		     : replay_finding(&argument.finding, argument.target, err);
	finding_argument_close(&argument);
	return code;
}

static int run_replay(int argc, char **argv, struct err *err)
{
	int code = replay_argument(argc, argv, err);

	return settings.bisect ? bisect_code(code) : code;
}

const struct command command_replay = {
	.name = "replay",
	.usage = "FINDING",
	.summary = "replay a finding on a fresh file system",
	.text = "Makes the calls of a finding (or of any trace) on a fresh file system and\n"
		"compares every outcome, and the tree after every call, with the model. If this\n"
		"reproduces the finding, it also compiles the C program and runs it on a fresh\n"
		"file system.\n"
		"\n"
		"*--kernel debug* replays the finding in a kernel with debug checks: use after\n"
		"free, out-of-bounds accesses, wrong lock order, and memory leaks with the\n"
		"allocating function. *assay kernel build --debug* builds that kernel.\n"
		"\n"
		"*--bisect* makes it a command for _git bisect run_ (see *assay-bisect*(1)).\n"
		"Another discrepancy than the one of the finding does not count then.\n"
		"\n"
		"Exit status: 1 at least one replay shows it, 0 no replay shows it, 2 could not\n"
		"tell.",
	.opts = opts,
	.settings = &settings,
	.run = run_replay,
};
