/* instrument.h -- what can be an arm of a campaign: the commands that test, as rows. */
#ifndef CAMPAIGN_INSTRUMENT_H
#define CAMPAIGN_INSTRUMENT_H

#include <stdbool.h>

struct instrument {
	const char *name;     /* in the file of a campaign: "races" */
	const char *command;  /* "conform" */
	const char *words[3]; /* its options, NULL behind them */
	unsigned needs;       /* enum target_cap of a target that a pattern names */
	bool timed;           /* it has --seconds and --seed; another one is asked to end */
	bool resumes;         /* it continues in its directory */
	bool in_parts;        /* it has --part, */
	bool ends;            /* and is done when all parts are: a second time shows the same */
	bool of_checkers;     /* its targets are checkers, and kernels as checkers; */
	bool of_kernels;      /* kernels in a process alone; */
	bool of_racers;       /* those on which several processes can make calls at once */
	const char *states;   /* figures of run.json: of what counts as states, */
	const char *code;     /* and as code; NULL: nothing, but the code of a kernel */
};

/* As a choice: "explore|conform|..." */
#define INSTRUMENTS "explore|conform|crash|fsck|races|schedules"
enum { INSTRUMENT_COUNT = 6 };
extern const struct instrument instrument_table[INSTRUMENT_COUNT];

#endif
