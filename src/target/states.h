/* states.h -- one kernel in a process, and the copies of it that are its saved states.
 *
 * Every state is a process that sits in the hall and waits. A state that is kept is never run
 * again: whoever wants to go on from it is given a copy, made by fork() when it is first needed.
 * All of them are children of this process and end with it. */
#ifndef TARGET_STATES_H
#define TARGET_STATES_H

#include "target/errands.h"
#include "target/hall.h"

struct states;

/* What is to be mounted. */
struct states_options {
	const char *kernel;  /* the program */
	const char *fs, *source, *options;
	bool keeps;          /* what is there survives unmounting */
	int image_fd;        /* -1: none */
	unsigned fields;
	double deadline_seconds;
};

/* Started, booted and mounted: the first state, which stays. */
int states_start(struct states **ret, const struct states_options *options, struct err *err);
void states_stop(struct states *s); /* NULL is none */

/* Errands are run by the present state. */
const struct errands *states_errands(const struct states *s);
int states_save(struct states *s, uint64_t key, struct err *err);
int states_restore(struct states *s, uint64_t key, struct err *err);
void states_drop(struct states *s, uint64_t key);
void states_reset(struct states *s); /* to the first */
/* What the kernel has logged since the last errand began. */
const char *states_console(const struct states *s);

#endif
