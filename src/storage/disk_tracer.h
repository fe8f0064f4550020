/* disk_tracer.h -- what a loop device is asked to write, by a BPF program in the kernel.
 *
 * Loaded by the checker; what it hands over may be collected there and in processes that are forked
 * later, by one at a time. It costs the device little, where loading is allowed. */
#ifndef STORAGE_DISK_TRACER_H
#define STORAGE_DISK_TRACER_H

#include <stdbool.h>

struct disk_tracer;
struct err;
struct recording;

/* Whether it may work here; only trying says. */
bool disk_tracer_possible(void);
/* Fails where the kernel does not take the program, or data would be read from the wrong place:
 * that is tried on a small device. */
int disk_tracer_open(struct disk_tracer **ret, struct recording *recording, struct err *err);
void disk_tracer_close(struct disk_tracer *t); /* NULL is none */

/* From now on this device is watched. */
void disk_tracer_watch(struct disk_tracer *t, int loop_fd);
/* Adds to the recording what was asked for until now. */
void disk_tracer_collect(struct disk_tracer *t);
/* The same in the process that opened it, which can also say whether requests were missed. */
void disk_tracer_collect_last(struct disk_tracer *t);

#endif
