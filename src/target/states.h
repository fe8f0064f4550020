/* states.h -- one kernel in a process, and the copies of it that are its saved states.
 *
 * Every state is a process that sits in the hall and waits. A state that is kept is never run
 * again: whoever wants to go on from it is given a copy, made by fork() when it is first needed.
 * All of them are children of this process and end with it. */
#ifndef TARGET_STATES_H
#define TARGET_STATES_H

#include "target/errands.h"
#include "target/hall.h"

struct buf;
struct states;

/* What is to be mounted. */
struct states_options {
	const char *kernel;  /* the program */
	const char *memory;  /* it is to have: "64M" */
	const char *fs, *source, *options;
	uint8_t sysctls[SYSCTL_COUNT];
	bool keeps;          /* what is there survives unmounting */
	bool records;        /* what is written to the disk */
	int image_fd;        /* -1: none */
	unsigned fields;
	double deadline_seconds;
};

/* Started, booted and mounted: the fresh state, which stays. */
int states_start(struct states **ret, const struct states_options *options, struct err *err);
void states_stop(struct states *s); /* NULL is none */

/* Errands are run by the present state. */
const struct errands *states_errands(const struct states *s);
int states_save(struct states *s, uint64_t key, struct err *err);
int states_restore(struct states *s, uint64_t key, struct err *err);
void states_drop(struct states *s, uint64_t key);
void states_reset(struct states *s); /* to the fresh one */
/* What was written to the disk from mounting on. */
int states_recorded(struct states *s, struct buf *out, struct err *err);
/* To a state that is not mounted, and there the image is. *ret_error: what mounting answered. */
int states_load(struct states *s, int image_fd, int *ret_error, enum target_fate *ret_fate,
		struct err *err);
/* A compiled program on a copy of the file system as it is now. A kernel that dies kills it. */
int states_run_program(struct states *s, const struct buf *program, double seconds,
		       struct program_end *ret, struct err *err);
/* What the kernel has logged since the last errand began. */
const char *states_console(const struct states *s);
/* What its kernel tells of its code. */
struct code_map *states_code(const struct states *s);

#endif
