/* campaign.h -- which fields of a disk are damaged, in which order, and how far that went. */
#ifndef FSCK_CAMPAIGN_H
#define FSCK_CAMPAIGN_H

#include "base/opt.h"
#include "fsck/fsck.h"

struct campaign_options {
	const struct opt_list *fields; /* "inode.i_mode", "inode"; none: all */
	uint64_t seed;
	double until_seconds; /* of clock_seconds(); 0: no limit */
	unsigned job, jobs;   /* which share of the work */
	bool symbolic;        /* paths of the checker are sought in its code (symbolic/paths.h) */
};

/* How far the work on a field went. */
struct field_progress {
	const struct ondisk_structure *structure;
	const struct ondisk_field *field;
	uint64_t instances, tried; /* of the field, on the disk */
	uint64_t images, faults;
	uint64_t paths, left; /* of the checker, for all instances */
	uint64_t explored;    /* instances whose paths were all found */
	bool all_values;      /* every value was tried, in all instances that were */
	struct buf why_not;   /* why paths may be missing */
};

struct campaign {
	struct fsck_session *session;
	struct campaign_options options;
	struct field_progress *fields;
	size_t count;
	/* Called for each test with a fault; false ends the campaign. */
	bool (*found)(void *to, const struct fsck_test *t);
	void (*progress)(void *to);
	void *to;
};

/* -EINVAL: no such field. */
int campaign_open(struct campaign *c, struct fsck_session *s, const struct campaign_options *o,
		  struct err *err);
void campaign_close(struct campaign *c);
int campaign_run(struct campaign *c, struct err *err);

#endif
