/* session.h -- scripts on one target, one after another, every call judged by the model.
 *
 * The target follows a plan of the whole script (plan.h). What mismatches is judged: allowed after
 * all, or a deviation. The tree is compared at the end of every script.
 *
 * A script begins with its set-up. If the script before had the same one and changed nothing,
 * that is still in place; else the calls that undo what is there are put in front of the plan.
 * What cannot be undone, and what deviated, costs a reset of the target. */
#ifndef CONFORM_SESSION_H
#define CONFORM_SESSION_H

#include "conform/deviation.h"
#include "conform/figures.h"
#include "conform/scheduled.h"
#include "suite/suite.h"
#include "target/target.h"

struct session_options {
	const char *target;
	struct target_options target_options;
	enum platform platform;
	struct version kernel;              /* VERSION_NONE: the target's */
	unsigned repeat;                    /* how often each race is run, */
	struct scheduled_options schedules; /* or under which schedules */
};

/* The model that judges the target. */
void session_model(const struct session_options *o, const struct target *t, struct model *ret);

struct session;
int session_open(struct session **ret, const struct suite *suite,
		 const struct session_options *options, struct err *err);
void session_close(struct session *s);

/* Races have exactly so many switches from now on. */
void session_set_switches(struct session *s, unsigned switches);
/* Runs a script. Its first deviation is in *ret where it is rejected. */
int session_run(struct session *s, size_t number, enum script_fate *ret_fate, struct deviation *ret,
		struct err *err);

const struct session_figures *session_figures(const struct session *s);

#endif
