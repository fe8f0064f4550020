/* test_capture.c -- what a search meets once and no replay shows: kept aside with what was
 * observed, never a finding; and failures of ours on the way lose nothing.
 *
 * The target lies about an outcome at calls of the test's choice, fails to be made fresh, or takes
 * long for it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "explore/explore.h"
#include "tests/harness/unit.h"
#include "trace/script.h"

/* No rule of the model ever gives it. */
enum { LIE = EXDEV };

static const struct target_kind *whole;
static uint64_t made, lie_at, lie_every; /* steps of plans; 0: it is honest */
static unsigned lies, resets_failing;
static bool slow, mismatched; /* after the first discrepancy a reset takes long */
static char answer[16];   /* as on a channel: the next thing asked of the target overwrites it */
static bool look_at_data; /* at a call with data it only seems to be wrong */

static bool is_time_to_lie(size_t count)
{
	if (!lie_at || made < lie_at || !count)
		return false;
	lie_at = lie_every ? made + lie_every : 0;
	lies++;
	return true;
}

/* The steps up to the first that answers with data; 0 if none does. */
static size_t up_to_data(const struct plan_step *steps, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!steps[i].expected.error && steps[i].expected.len &&
		    steps[i].expected.len < sizeof(answer))
			return i + 1;
	return 0;
}

static int lying_follow(struct target *t, const struct plan_step *steps, size_t count,
			struct plan_report *ret, struct err *err)
{
	/* Replays are told the truth: they ask for reports. */
	bool lying =
		!steps->reported && is_time_to_lie(look_at_data ? up_to_data(steps, count) : count);
	size_t most = lying && look_at_data ? up_to_data(steps, count) : count;
	int status = whole->follow(t, steps, most, ret, err);

	made += steps->reported ? 0 : most;
	mismatched = mismatched || ret->done < most;
	if (!lying || status || ret->done < most)
		return status;
	*ret = (struct plan_report){ .done = most - 1, .outcome_differs = true };
	ret->outcome.error = LIE;
	if (look_at_data) {
		ret->outcome = steps[most - 1].expected;
		ret->outcome.bytes = memcpy(answer, ret->outcome.bytes, ret->outcome.len);
	}
	return 0;
}

static int overwriting_observe(struct target *t, struct tree *ret, enum target_fate *ret_fate,
			       struct err *err)
{
	strcpy(answer, "?????");
	return whole->observe(t, ret, ret_fate, err);
}

static int failing_reset(struct target *t, struct err *err)
{
	if (slow && mismatched)
		sleep(1);
	if (lies && resets_failing) {
		resets_failing--;
		return err_set(err, EIO, "the test fails a reset");
	}
	return whole->reset(t, err);
}

struct search {
	enum strategy strategy;
	uint64_t calls;
	double seconds;
	const char *target; /* NULL: reffs */
	bool against;       /* another one, which is honest */
	char dir[64];
	struct run run;
	int status;
	struct err err;
};

static void begin(struct search *s)
{
	made = lies = 0;
	mismatched = false;
	strcpy(s->dir, "/tmp/assay-capture-XXXXXX");
	assert_non_null(mkdtemp(s->dir));
}

static void search(struct search *s)
{
	struct explore_options o = {
		.strategy = s->strategy,
		.calls = s->calls,
		.seconds = s->seconds,
		.seed = 3,
		.depth_max = 60,
		.memory_max = 1 << 24,
		.verify_every = 1,
		.findings_max = 100,
		.shrink_tries = 300,
		.verify_times = 3,
		.checkpoint_seconds = 1e9,
		.kernel_log = "/dev/null",
	};
	struct explore_figures figures;
	struct target_kind kind;
	struct target *t, *other;
	struct universe u;
	struct cover cover;
	struct err err = { 0 };

	if (target_open(&t, s->target ? s->target : "reffs", NULL, &err) ||
	    target_open(&other, "reffs", NULL, &err) || universe_open(&u, "tiny", NULL, 0, &err) ||
	    run_open(&s->run, "explore", t->name, s->dir, o.seed, &err))
		fail_msg("%s", err.text);
	whole = t->kind;
	kind = *whole;
	kind.follow = lying_follow;
	kind.reset = failing_reset;
	kind.observe = overwriting_observe;
	t->kind = &kind;
	t->caps &= ~(unsigned)TARGET_SPACE; /* its calls are not judged: a lie there is not met */
	o.against = &other;
	o.against_count = s->against;
	cover_init(&cover);
	s->status = explore(&o, t, &u, &s->run, &cover, &figures, &s->err);
	cover_free(&cover);
	universe_free(&u);
	target_close(t);
	target_close(other);
}

static void end(struct search *s)
{
	char command[128];

	run_free(&s->run);
	snprintf(command, sizeof(command), "rm -r %s", s->dir);
	assert_int_equal(system(command), 0);
}

static json_int_t number(const json_t *row, const char *key)
{
	return json_integer_value(json_object_get(row, key));
}

static const char *path_of(const json_t *row)
{
	return json_string_value(json_object_get(row, "path"));
}

static void read_folder(const json_t *row, const char *name, struct buf *ret)
{
	struct err err = { 0 };
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", path_of(row), name);
	if (buf_read_file(ret, path, 1 << 26, &err))
		fail_msg("%s", err.text);
}

/* The only row there is, which is not among the findings. */
static json_t *only_unconfirmed(const struct search *s)
{
	assert_int_equal(json_array_size(s->run.findings), 0);
	assert_int_equal(json_array_size(s->run.unconfirmed), 1);
	assert_int_equal(s->run.verdict, VERDICT_UNKNOWN);
	return json_array_get(s->run.unconfirmed, 0);
}

/* Lines of calls, and those of them that have an outcome. */
static void count_lines(const char *trace, size_t *ret_calls, size_t *ret_outcomes)
{
	size_t len;

	*ret_calls = *ret_outcomes = 0;
	for (; *trace; trace += len + (trace[len] == '\n')) {
		char line[4096];

		len = strcspn(trace, "\n");
		if (*trace == '#')
			continue;
		snprintf(line, sizeof(line), "%.*s", (int)len, trace);
		++*ret_calls;
		*ret_outcomes += strstr(line, ") = ") != NULL;
	}
}

/* What the search saw is what its trace says, though no replay shows it. */
static void what_was_observed_is_kept(void **state)
{
	struct search s = { .strategy = STRATEGY_TOUR, .calls = 1000 };
	struct buf trace = BUF_INIT, readme = BUF_INIT;
	size_t calls, outcomes;
	struct finding f;
	json_t *row;

	begin(&s);
	lie_at = 500;
	search(&s);
	assert_int_equal(s.status, 0);
	row = only_unconfirmed(&s);
	assert_int_equal(number(row, "shown"), 0);
	assert_true(number(row, "tries") > 0);
	assert_true(number(row, "calls_left_out") > 0);
	assert_int_equal(number(json_object_get(row, "outcomes"), "observed"),
			 number(row, "calls"));
	read_folder(row, "trace", &trace);
	count_lines(buf_str(&trace), &calls, &outcomes);
	assert_int_equal(calls, number(row, "calls"));
	assert_int_equal(outcomes, calls);
	assert_non_null(strstr(trace.data, ") = EXDEV\n"));
	read_folder(row, "README.md", &readme);
	assert_non_null(strstr(readme.data, "do not begin on a fresh file system"));
	assert_non_null(strstr(readme.data, "Not confirmed"));
	/* Replay and shrink take all of it. */
	if (finding_read(&f, path_of(row), &s.err))
		fail_msg("%s", s.err.text);
	assert_int_equal(f.count, number(row, "calls") + number(row, "calls_left_out"));
	finding_free(&f);
	buf_free(&trace);
	buf_free(&readme);
	end(&s);
}

/* What the targets did is told with what each of them answered, not with what came after. */
static void answers_are_copied(void **state)
{
	struct search s = { .strategy = STRATEGY_TOUR, .calls = 20000, .against = true };
	const json_t *row;

	begin(&s);
	lie_at = 500;
	look_at_data = true;
	search(&s);
	look_at_data = false;
	assert_int_equal(s.status, 0);
	assert_int_equal(lies, 1);
	row = json_array_get(json_object_get(s.run.figures, "allowed_differences"), 0);
	assert_string_equal(json_string_value(json_object_get(row, "this")),
			    json_string_value(json_object_get(row, "others")));
	end(&s);
}

/* A way that was put together from states is no record: what the model says of it is marked. */
static void predictions_are_marked(void **state)
{
	struct search s = { .strategy = STRATEGY_BFS, .calls = 3000 };
	struct script script = { 0 };
	struct buf trace = BUF_INIT;
	size_t calls, outcomes;
	json_t *row, *known;

	begin(&s);
	lie_at = 1000;
	search(&s);
	assert_int_equal(s.status, 0);
	row = only_unconfirmed(&s);
	known = json_object_get(row, "outcomes");
	assert_true(number(known, "predicted") > 0);
	assert_int_equal(number(known, "not_recorded"), 0);
	read_folder(row, "trace", &trace);
	count_lines(buf_str(&trace), &calls, &outcomes);
	assert_int_equal(outcomes, number(known, "observed"));
	assert_int_equal(calls - outcomes, number(known, "predicted"));
	assert_non_null(strstr(trace.data, "#   predicted, not observed: "));
	if (script_parse(&script, "trace", trace.data, trace.len, &s.err))
		fail_msg("%s", s.err.text);
	script_free(&script);
	buf_free(&trace);
	end(&s);
}

/* One entry for each cause, and every time counts. */
static void repeats_are_counted(void **state)
{
	struct search s = { .strategy = STRATEGY_TOUR, .calls = 20000 };
	json_int_t counted = 0;
	json_t *row;
	size_t i;

	begin(&s);
	lie_at = lie_every = 300;
	search(&s);
	lie_every = 0;
	assert_int_equal(s.status, 0);
	assert_int_equal(json_array_size(s.run.findings), 0);
	json_array_foreach(s.run.unconfirmed, i, row) counted += number(row, "count");
	assert_true(lies > 10);
	assert_int_equal(counted, lies);
	assert_true(json_array_size(s.run.unconfirmed) < lies);
	end(&s);
}

/* A replay that fails is told; the discrepancy stays, and the search goes on. */
static void a_failed_replay_loses_nothing(void **state)
{
	struct search s = { .strategy = STRATEGY_TOUR, .calls = 1000 };
	struct buf readme = BUF_INIT;
	json_t *row;

	begin(&s);
	lie_at = 500;
	resets_failing = 1;
	search(&s);
	assert_int_equal(s.status, 0);
	row = only_unconfirmed(&s);
	read_folder(row, "README.md", &readme);
	assert_non_null(strstr(readme.data, "the test fails a reset"));
	buf_free(&readme);
	end(&s);
}

/* One that cannot be made fresh any more ends the search, with what was met. */
static void a_lost_target_loses_nothing(void **state)
{
	struct search s = { .strategy = STRATEGY_TOUR, .calls = 1000 };

	begin(&s);
	lie_at = 500;
	resets_failing = 1000;
	search(&s);
	resets_failing = 0;
	assert_int_equal(s.status, -EIO);
	only_unconfirmed(&s);
	end(&s);
}

/* A disk that is full: it is in the list, with its calls. */
static void what_cannot_be_written_is_listed(void **state)
{
	struct search s = { .strategy = STRATEGY_TOUR, .calls = 1000 };
	char path[128];
	json_t *row;
	FILE *file;

	begin(&s);
	lie_at = 500;
	snprintf(path, sizeof(path), "%s/unconfirmed", s.dir);
	file = fopen(path, "w"); /* where a directory should be */
	assert_non_null(file);
	fclose(file);
	search(&s);
	assert_int_equal(s.status, 0);
	row = only_unconfirmed(&s);
	assert_non_null(json_string_value(json_object_get(row, "failure")));
	assert_non_null(strstr(json_string_value(json_object_get(row, "trace")), " = EXDEV"));
	end(&s);
}

/* What is met when the time is nearly over is replayed all the same. */
static void the_end_of_time_confirms(void **state)
{
	struct search s = { .strategy = STRATEGY_TOUR,
			    .seconds = 0.5,
			    .target = "reffs!mkdir_nlink" };

	begin(&s);
	slow = true;
	search(&s);
	slow = false;
	assert_int_equal(s.status, 0);
	assert_int_equal(s.run.verdict, VERDICT_BAD);
	assert_int_equal(json_array_size(s.run.unconfirmed), 0);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_observed_is_kept),
		cmocka_unit_test(answers_are_copied),
		cmocka_unit_test(predictions_are_marked),
		cmocka_unit_test(repeats_are_counted),
		cmocka_unit_test(a_failed_replay_loses_nothing),
		cmocka_unit_test(a_lost_target_loses_nothing),
		cmocka_unit_test(the_end_of_time_confirms),
		cmocka_unit_test(what_cannot_be_written_is_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
