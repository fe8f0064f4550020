/* test_bandit.c -- turns of a campaign go where they yield most, and none starves: simulated. */
#include <string.h>

#include "base/must.h"
#include "base/rng.h"
#include "campaign/bandit.h"
#include "tests/harness/unit.h"

enum { ARMS = 8, TURNS = 4000 };

/* What an arm yields: one finding in so many turns (0: none), and states per turn that fade. */
struct simulated_arm {
	unsigned turns_per_finding;
	double states, states_left; /* of the last turn, in the next one */
	double cpu_per_second;
};

static struct bandit_arm arms[ARMS];
static double shares[2];
static struct simulated_arm worlds[ARMS];
static double spent[ARMS];
static unsigned longest_wait[ARMS], waited[ARMS];

static struct bandit fresh_bandit(void)
{
	memset(arms, 0, sizeof(arms));
	memset(shares, 0, sizeof(shares));
	memset(spent, 0, sizeof(spent));
	memset(waited, 0, sizeof(waited));
	memset(longest_wait, 0, sizeof(longest_wait));
	for (size_t i = 0; i < ARMS; i++)
		worlds[i] = (struct simulated_arm){ .cpu_per_second = 1 };
	return (struct bandit){ arms, ARMS, 0.2, shares, ARRAY_LEN(shares) };
}

static void simulate(struct bandit *b, unsigned turns, struct rng *rng)
{
	for (unsigned t = 0; t < turns; t++) {
		int arm = bandit_choose(b);
		struct simulated_arm *w = &worlds[arm];
		struct bandit_yield y = { .seconds = 10, .cpu_seconds = 10 * w->cpu_per_second };

		assert_int_not_equal(arm, BANDIT_NONE);
		y.findings = w->turns_per_finding && !rng_below(rng, w->turns_per_finding);
		y.states = w->states;
		w->states *= w->states_left;
		bandit_learn(b, (size_t)arm, &y);
		spent[arm] += y.seconds;
		for (size_t i = 0; i < ARMS; i++) {
			waited[i] = i == (size_t)arm ? 0 : waited[i] + 1;
			if (waited[i] > longest_wait[i])
				longest_wait[i] = waited[i];
		}
	}
}

static double share_of(size_t arm)
{
	double all = 0;

	for (size_t i = 0; i < ARMS; i++)
		all += spent[i];
	return spent[arm] / all;
}

static void every_arm_has_its_first_turn_first(void **state)
{
	struct bandit b = fresh_bandit();
	struct rng rng;

	rng_seed(&rng, 1);
	worlds[0].turns_per_finding = 1;
	simulate(&b, ARMS, &rng);
	for (size_t i = 0; i < ARMS; i++)
		assert_true(arms[i].tried);
}

/* Sections take turns from the beginning: one with few arms does not wait for one with many. */
static void sections_begin_together(void **state)
{
	struct bandit b = fresh_bandit();
	struct rng rng;

	rng_seed(&rng, 1);
	arms[ARMS - 1].section = 1;
	simulate(&b, 2, &rng);
	assert_true(arms[0].tried);
	assert_true(arms[ARMS - 1].tried);
}

static void time_follows_findings(void **state)
{
	struct bandit b = fresh_bandit();
	struct rng rng;

	rng_seed(&rng, 1);
	worlds[3].turns_per_finding = 3;
	simulate(&b, TURNS, &rng);
	assert_true(share_of(3) > 0.5);
	for (size_t i = 0; i < ARMS; i++) {
		assert_true(share_of(i) > 0.8 * b.floor / ARMS);
		assert_true(longest_wait[i] < 4 * ARMS / b.floor);
	}
}

/* Findings per CPU-second: of two arms that find as much, the cheaper one is better. */
static void cpu_time_is_the_cost(void **state)
{
	struct bandit b = fresh_bandit();
	struct rng rng;

	rng_seed(&rng, 1);
	worlds[2].turns_per_finding = worlds[5].turns_per_finding = 2;
	worlds[2].cpu_per_second = 0.1;
	simulate(&b, TURNS, &rng);
	assert_true(share_of(2) > 2 * share_of(5));
}

static void time_moves_when_a_yield_dries_up(void **state)
{
	struct bandit b = fresh_bandit();
	struct rng rng;

	rng_seed(&rng, 1);
	worlds[3].turns_per_finding = 2;
	simulate(&b, TURNS / 2, &rng);
	assert_true(share_of(3) > 0.5);
	worlds[3].turns_per_finding = 0;
	worlds[6].turns_per_finding = 2;
	simulate(&b, 10 * ARMS, &rng);
	memset(spent, 0, sizeof(spent));
	simulate(&b, TURNS / 2, &rng);
	assert_true(share_of(6) > 0.5);
	assert_true(share_of(3) < 0.2);
}

/* A million states a second that become fewer are worth less than ten that do not. */
static void states_are_compared_within_an_arm(void **state)
{
	struct bandit b = fresh_bandit();
	struct rng rng;

	rng_seed(&rng, 1);
	for (size_t i = 0; i < ARMS; i++) {
		worlds[i].states = 1e7;
		worlds[i].states_left = 0.5;
	}
	worlds[4].states = 100;
	worlds[4].states_left = 1;
	simulate(&b, TURNS, &rng);
	for (size_t i = 0; i < ARMS; i++)
		assert_true(i == 4 || share_of(4) > 1.5 * share_of(i));
}

static void a_section_gets_its_share(void **state)
{
	struct bandit b = fresh_bandit();
	struct rng rng;

	rng_seed(&rng, 1);
	shares[1] = 0.4;
	arms[0].section = arms[1].section = 1;
	worlds[5].turns_per_finding = 1;
	simulate(&b, TURNS, &rng);
	assert_true(share_of(0) + share_of(1) > 0.35);
	assert_true(share_of(0) + share_of(1) < 0.5);
	assert_true(share_of(5) > 0.3);
}

static void what_is_out_is_not_chosen(void **state)
{
	struct bandit b = fresh_bandit();
	struct rng rng;

	rng_seed(&rng, 1);
	arms[3].out = arms[0].out = true;
	shares[1] = 1;
	arms[0].section = 1;
	worlds[3].turns_per_finding = 1;
	simulate(&b, 200, &rng);
	assert_true(spent[3] == 0 && spent[0] == 0);
	for (size_t i = 0; i < ARMS; i++)
		arms[i].out = true;
	assert_int_equal(bandit_choose(&b), BANDIT_NONE);
}

/* Turns that took no time, or that failed, break nothing. */
static void nothing_is_divided_by_nothing(void **state)
{
	struct bandit b = fresh_bandit();
	struct bandit_yield none = { 0 };

	for (unsigned t = 0; t < 5 * ARMS; t++) {
		int arm = bandit_choose(&b);

		assert_int_not_equal(arm, BANDIT_NONE);
		bandit_learn(&b, (size_t)arm, &none);
		assert_true(bandit_score(&b, (size_t)arm) == 0);
	}
	for (size_t i = 0; i < ARMS; i++)
		assert_true(arms[i].tried);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_arm_has_its_first_turn_first),
		cmocka_unit_test(sections_begin_together),
		cmocka_unit_test(time_follows_findings),
		cmocka_unit_test(cpu_time_is_the_cost),
		cmocka_unit_test(time_moves_when_a_yield_dries_up),
		cmocka_unit_test(states_are_compared_within_an_arm),
		cmocka_unit_test(a_section_gets_its_share),
		cmocka_unit_test(what_is_out_is_not_chosen),
		cmocka_unit_test(nothing_is_divided_by_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
