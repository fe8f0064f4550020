/* examination.h -- a checker is examined: its disk, the map of its fields, and everything that is
 * tried with them.
 *
 * A checker is a program, or a kernel in a process. */
#ifndef FSCK_EXAMINATION_H
#define FSCK_EXAMINATION_H

#include "damage/own_map.h"
#include "fsck/campaign.h"
#include "fsck/compare.h"
#include "fsck/kernel_checker.h"
#include "run/run.h"
#include "settings/opt.h"

struct examination_options {
	struct opt_list fields; /* "structure" or "structure.field"; none: all */
	const char *image;      /* a damaged disk that is tried instead; NULL: none */
	const char *against_image;
	const char *disk; /* to be damaged, instead of one that is made; NULL: none */
	const char *config;
	uint64_t seed, findings; /* so many at most */
	double seconds;          /* 0: no limit */
	unsigned job, jobs;      /* which share of the work */
	unsigned order;          /* of the fields */
	bool no_paths;           /* the checker's code is not searched */
	bool pairs;              /* two fields at a time */
};

struct examination {
	const struct examination_options *options;
	struct run *run;
	struct test_disk disk;
	struct ondisk_map map; /* no format: nothing is described */
	struct own_map own;    /* instead, where the checker lists its fields */
	struct fsck_session program;
	struct kernel_checker kernel;
	bool is_kernel;
	struct campaign campaign;
	struct examination *other; /* with another checker, that is compared (against.h): */
	struct checker_comparison comparison;
};

/* "kernel:FS", of a kernel in a process. Close them also after a failure. */
int examination_open_kernel(struct examination *x, const struct examination_options *o,
			    const char *name, struct err *err);
int examination_open_program(struct examination *x, const struct examination_options *o,
			     const struct checker_program *p, struct err *err);
void examination_close(struct examination *x);
/* The map of the fields; NULL: nothing is described. */
const struct ondisk_map *examination_map(const struct examination *x);

/* Everything, within the limits. run: where findings go. */
int examination_work(struct examination *x, struct err *err);
/* Field by field, in every way that there is. 1: to the end. */
int examination_fields(struct examination *x, campaign_test *test, struct err *err);
/* Ends the processes of the checker: their time counts then. Figures stay. */
void examination_end(struct examination *x);

bool examination_is_over(const struct examination *x);
void examination_show_progress(const struct examination *x);

#endif
