/* corpus.h -- a checker is tested with damaged disks of others: those it was written for.
 *
 * What it repairs on such a disk is where its code looks. The repaired disk becomes the test disk,
 * and the bytes that were repaired get other values, a field at a time. */
#ifndef FSCK_CORPUS_H
#define FSCK_CORPUS_H

#include "fsck/fsck.h"
#include "run/run.h"

struct corpus_options {
	const struct checker_program *program;
	const char *folder; /* disks below it: *.img and *.gz */
	const char *config, *export_to;
	uint64_t seed;
	double until_seconds;  /* of clock_seconds(); 0: no limit */
	uint64_t findings_max; /* it is over then */
};

struct corpus_figures {
	uint64_t disks;      /* that were read */
	uint64_t left_out;   /* too large, or no disk */
	uint64_t unrepaired; /* errors are left, or the checker fails */
	uint64_t mountable;  /* what it repaired, a kernel has mounted */
	uint64_t fields, fields_left_out;
	struct fsck_figures checker;
};

/* Findings go to the run. -ENOENT: there is no disk in the folder. */
int corpus_run(const struct corpus_options *o, struct run *run, struct corpus_figures *ret,
	       struct err *err);

#endif
