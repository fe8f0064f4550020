/* bandit.c -- which arm of a campaign gets the next turn. */
#include "campaign/bandit.h"

#include <float.h>
#include <math.h>

/* Of the three kinds of yield in the score. */
static const double findings_part = 0.6, code_part = 0.2, states_part = 0.2;
/* A finding in so many average turns has half of the weight of findings. */
static const double good_turns = 5;
/* How much of an arm's yield is left after another turn of it. */
static const double yield_memory = 0.85;
/* So many turns of each arm count, of those of all arms. */
static const double turns_remembered = 10;
/* How much is not known weighs against what is. */
static const double curiosity = 0.2;
static const double weight_least = 0.02;

double bandit_fading(const struct bandit *b)
{
	return 1 - 1 / (turns_remembered * (double)(b->count ? b->count : 1));
}

/* CPU time of an average turn. */
static double bandit_turn_cpu(const struct bandit *b)
{
	double cpu = 0, turns = 0;

	for (size_t i = 0; i < b->count; i++)
		if (b->arms[i].tried) {
			cpu += b->arms[i].yield.cpu_seconds;
			turns++;
		}
	/* What fades at this rate adds up to so many turns. */
	return turns > 0 ? cpu / turns * (1 - yield_memory) : 0;
}

static double bandit_rate(double amount, double cpu_seconds)
{
	return cpu_seconds > 0 ? amount / cpu_seconds : 0;
}

static double bandit_ratio(double rate, double best)
{
	return best > 0 ? fmin(rate / best, 1) : 0;
}

double bandit_score(const struct bandit *b, size_t arm)
{
	const struct bandit_arm *a = &b->arms[arm];
	const struct bandit_yield *y = &a->yield;
	double found = bandit_rate(y->findings, y->cpu_seconds) * good_turns * bandit_turn_cpu(b);

	return findings_part * found / (1 + found) +
	       code_part * bandit_ratio(bandit_rate(y->code, y->cpu_seconds), a->best_code) +
	       states_part * bandit_ratio(bandit_rate(y->states, y->cpu_seconds), a->best_states);
}

static double bandit_bonus(const struct bandit *b, size_t arm)
{
	double all = 0;

	for (size_t i = 0; i < b->count; i++)
		all += b->arms[i].weight;
	return curiosity * sqrt(log(1 + all) / fmax(b->arms[arm].weight, weight_least));
}

/* Time of a section, or of all arms that could be chosen or run now. */
static double bandit_seconds(const struct bandit *b, size_t section, bool all)
{
	double seconds = 0;

	for (size_t i = 0; i < b->count; i++)
		if (all || b->arms[i].section == section)
			seconds += b->arms[i].seconds;
	return seconds;
}

static int bandit_untried(const struct bandit *b)
{
	double least = DBL_MAX, seconds;
	int best = BANDIT_NONE;

	for (size_t i = 0; i < b->count; i++) {
		if (b->arms[i].out || b->arms[i].tried)
			continue;
		seconds = bandit_seconds(b, b->arms[i].section, false);
		if (seconds < least) {
			least = seconds;
			best = (int)i;
		}
	}
	return best;
}

/* The section that lacks most of its share and has an arm that can be chosen; BANDIT_NONE: none. */
static int bandit_poor_section(const struct bandit *b)
{
	double all = bandit_seconds(b, 0, true), most = 0, lack;
	int poorest = BANDIT_NONE;

	for (size_t i = 0; i < b->count; i++) {
		size_t section = b->arms[i].section;

		lack = b->shares[section] * all - bandit_seconds(b, section, false);
		if (!b->arms[i].out && lack > most) {
			most = lack;
			poorest = (int)section;
		}
	}
	return poorest;
}

static bool bandit_is_candidate(const struct bandit *b, size_t arm, int section)
{
	return !b->arms[arm].out &&
	       (section == BANDIT_NONE || b->arms[arm].section == (size_t)section);
}

static int bandit_starved(const struct bandit *b, int section)
{
	double least = b->floor * bandit_seconds(b, 0, true) / (double)b->count;
	int best = BANDIT_NONE;

	for (size_t i = 0; i < b->count; i++)
		if (bandit_is_candidate(b, i, section) && b->arms[i].seconds < least) {
			least = b->arms[i].seconds;
			best = (int)i;
		}
	return best;
}

static int bandit_promising(const struct bandit *b, int section)
{
	int best = BANDIT_NONE;
	double most = -1, bound;

	for (size_t i = 0; i < b->count; i++) {
		if (!bandit_is_candidate(b, i, section))
			continue;
		bound = bandit_score(b, i) + bandit_bonus(b, i);
		if (bound > most) {
			most = bound;
			best = (int)i;
		}
	}
	return best;
}

int bandit_choose(const struct bandit *b)
{
	int arm = bandit_untried(b), section;

	if (arm != BANDIT_NONE)
		return arm;
	section = bandit_poor_section(b);
	arm = bandit_starved(b, section);
	return arm != BANDIT_NONE ? arm : bandit_promising(b, section);
}

static void bandit_fade(struct bandit *b)
{
	double fading = bandit_fading(b);

	for (size_t i = 0; i < b->count; i++) {
		b->arms[i].weight *= fading;
		b->arms[i].seconds *= fading;
	}
}

static void bandit_add(double *sum, double more)
{
	*sum = *sum * yield_memory + more;
}

void bandit_learn(struct bandit *b, size_t arm, const struct bandit_yield *y)
{
	struct bandit_arm *a = &b->arms[arm];

	bandit_fade(b);
	a->tried = true;
	a->weight += 1;
	a->seconds += y->seconds;
	bandit_add(&a->yield.seconds, y->seconds);
	bandit_add(&a->yield.cpu_seconds, y->cpu_seconds);
	bandit_add(&a->yield.states, y->states);
	bandit_add(&a->yield.code, y->code);
	bandit_add(&a->yield.findings, y->findings);
	a->best_states = fmax(a->best_states, bandit_rate(y->states, y->cpu_seconds));
	a->best_code = fmax(a->best_code, bandit_rate(y->code, y->cpu_seconds));
}
