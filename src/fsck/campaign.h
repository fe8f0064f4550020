/* campaign.h -- which fields of a disk are damaged, in which order, and how far that went. */
#ifndef FSCK_CAMPAIGN_H
#define FSCK_CAMPAIGN_H

#include "base/buf.h"
#include "damage/corruption.h"
#include "settings/opt.h"

struct err;
struct image;

struct campaign_options {
	const struct opt_list *fields; /* "inode.i_mode", "inode"; none: all */
	uint64_t seed;
	double until_seconds; /* of clock_seconds(); 0: no limit */
	unsigned job, jobs;   /* which share of the work */
	unsigned order;       /* of the fields: another one for each disk of a checker */
	/* The command whose paths are sought (symbolic/paths.h), and the disk; NULL: none. */
	const char *command;
	const struct image *image;
	double paths_seconds; /* at most, for a field of an instance; 0: as is usual */
};

enum { REWARDING_MAX = 16 };

/* How far the work on a field went. */
struct field_progress {
	const struct ondisk_structure *structure;
	const struct ondisk_field *field;
	uint64_t instances, tried; /* of the field, on the disk */
	uint64_t images, faults;
	uint64_t in_groups; /* values that were tried together with others, and nothing was wrong */
	uint64_t hangs;     /* groups with it that the checker hung on */
	uint64_t spoils;    /* images that were not repaired, or with a fault */
	uint64_t paths, left; /* of the checker, for all instances */
	uint64_t explored;    /* instances whose paths were all found */
	bool has_lanes;       /* of this share of the work */
	bool all_values;      /* every value was tried, in all instances that were */
	struct buf why_not;   /* why paths may be missing */
	uint64_t news;        /* disks of which the checker said something new */
	uint8_t rewarding[REWARDING_MAX][CHANGE_BYTES_MAX]; /* values of the last ones of these, */
	size_t rewarding_count;                             /* and how many there were */
};

/* A field of one instance, or a part of it, where it is long. */
struct field_lane {
	const struct ondisk_instance *instance;
	struct field_progress *p;
	struct ondisk_field field; /* the bytes that are changed */
	uint64_t round;            /* which instance of the field this is */
	uint64_t due;              /* the step that its next values are for */
	size_t next;               /* value */
	size_t telling;            /* values that there are; 0: not known yet */
	uint64_t news;
	uint64_t in_groups; /* values that were tried together with those of others */
	unsigned silent_mutants;
	bool is_novel; /* of an instance that differs in kind from all earlier ones */
	bool paths_tried, paths_complete, done;
};

/* Tests a disk with this corruption, unless an equal one was, and counts it. 1: go on, 0: it is
 * over, or -errno. p->news grows where the checker said what it had not said before. */
typedef int campaign_test(void *to, const struct corruption *c, struct field_progress *p,
			  struct err *err);

/* Whether a disk with this corruption is repaired, and nothing is wrong then: PROBE_... or -errno.
 */
enum { PROBE_WRONG, PROBE_FINE, PROBE_HANGS };
typedef int campaign_probe(void *to, const struct corruption *c, struct err *err);

struct campaign {
	const struct ondisk_map *map;
	const uint8_t *disk;
	struct campaign_options options;
	struct path_process *paths; /* NULL: not started */
	struct field_progress *fields;
	size_t count;
	struct field_lane *lanes; /* of this share of the work */
	size_t lane_count;
	double started_seconds, paths_seconds; /* spent on paths so far */
	uint64_t branches;   /* of the checker, that its runs in the search for paths took */
	uint64_t path_count; /* found so far, for all fields */
	campaign_test *test;
	campaign_probe *probe; /* NULL: one field at a time */
	void *to;
};

/* Of all fields of the map that are wanted, or all. -EINVAL: there is none of that name. */
int campaign_open(struct campaign *c, const struct ondisk_map *map, const uint8_t *disk,
		  const struct campaign_options *o, struct err *err);
void campaign_close(struct campaign *c);
/* One value of a field; 1: go on, 0: it is over. */
int campaign_try(struct campaign *c, const struct field_lane *lane, const uint8_t *value,
		 struct err *err);
bool campaign_is_over(const struct campaign *c);
/* 1: everything was tried; 0: it ended before. */
int campaign_run(struct campaign *c, struct err *err);
/* Two fields at a time, drawn until the time is over, which is limited. */
int campaign_run_pairs(struct campaign *c, struct err *err);

#endif
