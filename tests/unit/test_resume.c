/* test_resume.c -- a search that is killed at any moment and taken up again loses nothing.
 *
 * The target kills its process at a call of the test's choice, also while a finding is replayed
 * and shrunk; a checkpoint is written between any two plans. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "explore/explore.h"
#include "tests/harness/unit.h"

enum { STOPS = 3 };

static uint64_t calls_made, calls_max;  /* 0: none is the last */
static uint64_t replayed, replayed_max; /* calls of replays; then a stop as by a signal */
static const struct target_kind *whole;

static void count_calls(uint64_t count)
{
	calls_made += count;
	if (calls_max && calls_made >= calls_max)
		raise(SIGKILL);
}

/* A replay asks for a report of every call. */
static int counted_follow(struct target *t, const struct plan_step *steps, size_t count,
			  struct plan_report *ret, struct err *err)
{
	count_calls(count);
	if (steps->reported && ++replayed == replayed_max)
		stop_requested = SIGINT;
	return whole->follow(t, steps, count, ret, err);
}

struct search {
	const char *target;
	enum strategy strategy;
	bool bitstate;
	char dir[64];
};

/* The figures, and the number of findings. */
static size_t search(const struct search *s, bool resume, struct explore_figures *ret)
{
	struct explore_options o = {
		.strategy = s->strategy,
		.seed = 3,
		.depth_max = 1000,
		.memory_max = 1 << 24,
		.verify_every = 1,
		.findings_max = 10,
		.shrink_tries = 300,
		.verify_times = 3,
		.adaptive = true,
		.bitstate = s->bitstate,
		.resume = resume,
		.checkpoint_seconds = 1e-9,
		.kernel_log =
			"/dev/null", /* what others do to the kernel is none of our business */
	};
	struct target_kind kind;
	struct target *t;
	struct universe u;
	struct cover cover;
	struct run run;
	struct err err = { 0 };
	size_t findings;

	if (target_open(&t, s->target, NULL, &err) || universe_open(&u, "tiny", NULL, 0, &err) ||
	    run_open(&run, "explore", t->name, s->dir, o.seed, &err))
		fail_msg("%s", err.text);
	whole = t->kind;
	kind = *whole;
	kind.follow = counted_follow;
	t->kind = &kind;
	cover_init(&cover);
	if (explore(&o, t, &u, &run, &cover, ret, &err))
		fail_msg("%s", err.text);
	findings = json_array_size(run.findings);
	cover_free(&cover);
	run_free(&run);
	universe_free(&u);
	target_close(t);
	return findings;
}

static void make_dir(struct search *s)
{
	strcpy(s->dir, "/tmp/assay-resume-XXXXXX");
	assert_non_null(mkdtemp(s->dir));
}

static void remove_dir(const struct search *s)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", s->dir);
	assert_int_equal(system(command), 0);
}

/* The search in a child that is killed at this call. */
static void killed_search(const struct search *s, uint64_t at)
{
	struct explore_figures figures;
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child) {
		calls_made = 0;
		calls_max = at;
		search(s, false, &figures);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* Findings that run.json names. */
static size_t findings_on_disk(const struct search *s)
{
	char path[128];
	json_t *run;
	size_t count;

	snprintf(path, sizeof(path), "%s/run.json", s->dir);
	run = json_load_file(path, 0, NULL);
	count = json_array_size(json_object_get(run, "findings"));
	json_decref(run);
	return count;
}

/* Killed at this part of all its calls and taken up again, a search has as many findings, states
 * and transitions as without. Where there are findings, a search that is taken up again knows them
 * and steps over what it met for the first time before, so that its states may be others. */
static void check_kill(struct search s, double part)
{
	struct explore_figures straight, resumed;
	size_t findings, before;
	uint64_t all;

	make_dir(&s);
	calls_made = calls_max = 0;
	findings = search(&s, false, &straight);
	all = calls_made;
	remove_dir(&s);
	make_dir(&s);
	killed_search(&s, (uint64_t)((double)all * part));
	before = findings_on_disk(&s);
	assert_int_equal(search(&s, true, &resumed), findings);
	assert_true(before <= findings);
	if (!findings) {
		assert_int_equal(resumed.states, straight.states);
		assert_int_equal(resumed.transitions, straight.transitions);
		assert_int_equal(resumed.edges_left, straight.edges_left);
	}
	remove_dir(&s);
}

static void whole_ones_go_on(void **state)
{
	for (enum strategy s = 0; s < STRATEGIES; s++)
		if (s != STRATEGY_RANDOM)
			check_kill((struct search){ .target = "reffs", .strategy = s },
				   (s + 1.0) / (STRATEGIES + 1));
	for (enum strategy s = 0; s < STRATEGIES; s++)
		if (strategy_branches(s))
			check_kill((struct search){ "reffs", s, .bitstate = true }, 0.5);
}

static void findings_stay(void **state)
{
	struct search s = { .target = "reffs!unlink_shared" };

	check_kill(s, 0.01);
	check_kill(s, 0.3);
	check_kill(s, 0.9);
	s.strategy = STRATEGY_BFS;
	check_kill(s, 0.3);
}

/* Stopped while a finding is worked on: it is there, and the search ends. */
static void findings_survive_a_stop(void **state)
{
	struct search s = { .target = "reffs!unlink_shared" };
	struct explore_figures figures;
	uint64_t all;

	make_dir(&s);
	calls_max = replayed = 0;
	search(&s, false, &figures);
	all = replayed;
	remove_dir(&s);
	for (unsigned i = 1; i <= STOPS; i++) {
		make_dir(&s);
		replayed = 0;
		replayed_max = all * i / (STOPS + 1);
		assert_int_equal(search(&s, false, &figures), 1);
		assert_string_equal(figures.end, "stopped");
		replayed_max = 0;
		stop_requested = 0;
		assert_int_equal(search(&s, true, &figures), 1);
		remove_dir(&s);
	}
}

/* Killed when the finding was written and run.json was not. */
static void unlisted_findings_count(void **state)
{
	struct search s = { .target = "reffs!unlink_shared" };
	struct explore_figures figures;
	char path[128];
	size_t findings;

	make_dir(&s);
	calls_max = 0;
	findings = search(&s, false, &figures);
	assert_int_equal(findings, 1);
	snprintf(path, sizeof(path), "%s/run.json", s.dir);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(search(&s, true, &figures), findings);
	assert_int_equal(findings_on_disk(&s), 0); /* nothing new was found */
	remove_dir(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_ones_go_on),
		cmocka_unit_test(findings_stay),
		cmocka_unit_test(findings_survive_a_stop),
		cmocka_unit_test(unlisted_findings_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
