/* bandit.h -- which arm of a campaign gets the next turn: the one whose turns yield most, as far as
 * that is known.
 *
 * An arm is one instrument on one target with one set of options. A turn of it yields new states,
 * new code and new findings, and costs CPU time. The choice, in this order:
 *
 *  1. An arm that had no turn yet, of the section that had the least time.
 *  2. A section with less than its share of the time: only its arms count then.
 *  3. An arm with less than its part of the floor, a share of all time that is dealt out evenly, so
 *     that no arm starves.
 *  4. The arm with the highest upper confidence bound (UCB): its score, and a bonus that grows the
 *     longer it had no turn.
 *
 * The score is between 0 and 1. Findings count most: one finding in the CPU time of five average
 * turns has half of their weight, more have up to all of it. States and code of different file
 * systems cannot be compared (a state of RefFS costs a thousandth of one of Btrfs), so an arm is
 * compared with itself: its rate of late with the highest it ever had. What was long ago fades: an
 * arm's yield with each of its turns, the time and number of turns of all arms with each turn of
 * any. */
#ifndef CAMPAIGN_BANDIT_H
#define CAMPAIGN_BANDIT_H

#include <stdbool.h>
#include <stddef.h>

/* What one turn has cost and yielded. */
struct bandit_yield {
	double seconds, cpu_seconds;
	double states, code, findings; /* new ones */
};

struct bandit_arm {
	size_t section;
	bool out;                      /* it is done, cannot run, or runs now: not to be chosen */
	bool tried;                    /* it had a turn */
	double weight, seconds;        /* turns and time of late, as all arms fade */
	struct bandit_yield yield;     /* turns of this arm alone, of late */
	double best_states, best_code; /* the highest rates per CPU-second */
};

struct bandit {
	struct bandit_arm *arms;
	size_t count;
	double floor;         /* 0..1 */
	const double *shares; /* of each section, 0..1; 0: none */
	size_t section_count;
};

enum { BANDIT_NONE = -1 };

/* The number of an arm, or BANDIT_NONE where all are out. */
int bandit_choose(const struct bandit *b);
void bandit_learn(struct bandit *b, size_t arm, const struct bandit_yield *y);
/* What all arms lose of their weight and seconds with each turn. */
double bandit_fading(const struct bandit *b);
double bandit_score(const struct bandit *b, size_t arm);

#endif
