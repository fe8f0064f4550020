/* test_schedule.c -- the search for schedules: on two simulated processes, it leaves out nothing
 * that differs, and tries less than everything. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/must.h"
#include "base/rng.h"
#include "schedule/search.h"
#include "tests/harness/unit.h"

/* A process is a list of steps: variables, and what is done with them. */
enum { STEPS = 8, VARIABLES = 4, OUTCOMES_MAX = 4096, ROUNDS = 100 };

struct step {
	uint8_t variable;
	bool write; /* the variable becomes a function of what the process has seen */
};

static struct simulated {
	struct step steps[2][STEPS];
	struct schedule_board board;
	uint64_t outcomes[OUTCOMES_MAX];
	size_t outcome_count;
	unsigned runs, hangs_at;
} sim;

static void note_outcome(uint64_t outcome)
{
	for (size_t i = 0; i < sim.outcome_count; i++)
		if (sim.outcomes[i] == outcome)
			return;
	assert_true(sim.outcome_count < OUTCOMES_MAX);
	sim.outcomes[sim.outcome_count++] = outcome;
}

static uint64_t mixed(uint64_t hash, uint64_t x)
{
	return (hash ^ x) * UINT64_C(0x9e3779b97f4a7c15) + 1;
}

/* Every step is a point; the outcome is all that both have seen, and the variables. */
static int simulate(void *own, const struct schedule *s, bool *ret_ended, struct err *err)
{
	struct schedule_board *b = &sim.board;
	uint64_t seen[2] = { 1, 2 }, variables[VARIABLES] = { 0 }, outcome = 0;
	unsigned at[2] = { 0 }, task = s->first, next = 0;

	b->schedule = *s;
	b->points = b->uses = b->made = 0;
	while (at[0] < STEPS || at[1] < STEPS) {
		const struct step *step;

		if (at[task] == STEPS)
			task = !task;
		b->point[b->points] =
			(struct schedule_point){ 1, task, at[!task] < STEPS ? 1 << !task : 0 };
		if (next < s->count && s->to[next] >= SCHEDULE_ANY) {
			if (s->at[next] <= b->points && b->point[b->points].others) {
				b->schedule.at[next] = b->points;
				b->schedule.to[next] = !task;
			}
		}
		if (next < s->count && b->schedule.at[next] == b->points &&
		    b->schedule.to[next] < SCHEDULE_ANY) {
			assert_true(b->point[b->points].others >> b->schedule.to[next] & 1);
			b->uses_before[next++] = b->uses;
			b->made++;
			b->points++;
			task = !task;
			/* The step that was stopped has no further point. */
			b->point[b->points] =
				(struct schedule_point){ 1, task,
							 at[!task] < STEPS ? 1 << !task : 0 };
		}
		step = &sim.steps[task][at[task]++];
		b->use[b->uses++] =
			(struct schedule_use){ 8 + step->variable, b->points, task, step->write };
		b->points++;
		if (step->write)
			variables[step->variable] = mixed(seen[task], at[task]);
		else
			seen[task] = mixed(seen[task], variables[step->variable]);
	}
	for (unsigned i = 0; i < VARIABLES; i++)
		outcome = mixed(outcome, variables[i]);
	note_outcome(mixed(mixed(outcome, seen[0]), seen[1]));
	sim.runs++;
	*ret_ended = sim.runs != sim.hangs_at;
	return 0;
}

static struct schedule_search search_all(bool whole, unsigned switches)
{
	struct schedule_search s = {
		.board = &sim.board, .processes = 2, .run = simulate, .whole = whole
	};

	sim.outcome_count = 0;
	sim.runs = 0;
	for (unsigned n = 1; n <= switches; n++)
		assert_int_equal(schedule_search(&s, n, NULL), 0);
	schedule_search_free(&s);
	return s;
}

static void make_steps(struct rng *rng)
{
	for (unsigned i = 0; i < 2 * STEPS; i++)
		sim.steps[i / STEPS][i % STEPS] = (struct step){
			.variable = (uint8_t)rng_below(rng, VARIABLES),
			.write = rng_below(rng, 3) == 0,
		};
}

static void leaves_out_only_what_cannot_differ(void **state)
{
	struct rng rng;
	uint64_t whole = 0, reduced = 0;

	rng_seed(&rng, 1);
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned switches = 1; switches <= 3; switches++) {
			size_t outcomes;

			if (switches == 1)
				make_steps(&rng);
			whole += search_all(true, switches).schedules;
			outcomes = sim.outcome_count;
			reduced += search_all(false, switches).schedules;
			assert_int_equal(sim.outcome_count, outcomes);
		}
	}
	assert_true(reduced * 10 < whole);
}

static void tries_every_point_of_the_whole(void **state)
{
	struct schedule_search s;

	memset(sim.steps, 0, sizeof(sim.steps));
	s = search_all(true, 1);
	/* Two without a switch, and one for each step of the process that begins. */
	assert_int_equal(s.schedules, 2 + 2 * STEPS);
	assert_int_equal(s.points, 2 * STEPS);
	/* Nothing is written: no schedule with a switch differs. */
	s = search_all(false, 1);
	assert_int_equal(s.schedules, 2);
}

static void goes_on_behind_one_that_does_not_end(void **state)
{
	memset(sim.steps, 0, sizeof(sim.steps));
	sim.steps[0][STEPS - 1] = (struct step){ .variable = 1, .write = true };
	sim.steps[1][0].variable = 1;
	/* Each process is stopped before the step that the other one is in conflict with. */
	assert_int_equal(search_all(false, 1).schedules, 4);
	/* What the other process did is not known then: the point before it is tried. */
	sim.hangs_at = 2;
	assert_int_equal(search_all(false, 1).schedules, 5);
	sim.hangs_at = 0;
}

static void ends_at_its_limit(void **state)
{
	struct schedule_search s = {
		.board = &sim.board, .processes = 2, .run = simulate, .whole = true, .limit = 5
	};
	struct rng rng;

	rng_seed(&rng, 2);
	make_steps(&rng);
	assert_int_equal(schedule_search(&s, 1, NULL), 0);
	assert_true(s.schedules >= 5 && s.schedules <= 6);
	assert_true(s.left > 0);
	schedule_search_free(&s);
}

static void counts_words_in_conflict(void **state)
{
	memset(sim.board.word_use, 0, sizeof(sim.board.word_use));
	sim.board.word_use[1] = 1 | 4;
	sim.board.word_use[2] = 2;
	sim.board.word_use[3] = 2 | 4;
	sim.board.word_use[4] = 1 | 8;
	assert_int_equal(schedule_conflicts(&sim.board), 2);
}

/* With enough of them, schedules by chance have all outcomes that there are. */
static void draws_every_outcome(void **state)
{
	struct schedule_search s = { .board = &sim.board, .processes = 2, .run = simulate };
	size_t outcomes;
	struct rng rng;

	rng_seed(&rng, 7);
	make_steps(&rng);
	search_all(true, 2);
	outcomes = sim.outcome_count;
	assert_true(outcomes > 2);
	sim.outcome_count = 0;
	assert_int_equal(schedule_draw(&s, 2, 1, 20000, &rng, NULL), 0);
	assert_int_equal(s.schedules, 20000);
	assert_int_equal(sim.outcome_count, outcomes);
	/* One in 2 * 17 * 17 / 2, as often. */
	assert_int_equal(s.longest, 2 * STEPS + 2);
	assert_true(schedule_chance(&s, 2, 1) > 0.999);
	s.schedules = 1;
	assert_true(schedule_chance(&s, 2, 1) < 0.01);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaves_out_only_what_cannot_differ),
		cmocka_unit_test(tries_every_point_of_the_whole),
		cmocka_unit_test(goes_on_behind_one_that_does_not_end),
		cmocka_unit_test(draws_every_outcome),
		cmocka_unit_test(ends_at_its_limit),
		cmocka_unit_test(counts_words_in_conflict),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
