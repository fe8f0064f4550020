/* workload_source.h -- where workloads come from: a generator, or a script. */
#ifndef CRASH_WORKLOAD_SOURCE_H
#define CRASH_WORKLOAD_SOURCE_H

#include "crash/ace.h"
#include "crash/walk.h"
#include "workload/workload.h"

/* How generated workloads are made. */
struct workload_source_options {
	bool wide, in_place, unmounts;
	bool scattered;    /* those of a sequence, but not one beside the other */
	bool full, faults; /* on a full disk; with a failing write */
	bool processes;    /* several can use the file system */
	uint64_t seed, disk_bytes;
	uint64_t walks;   /* how many, */
	unsigned length;  /* and of how many calls */
	uint64_t resyncs; /* how many of these */
};

struct workload_source {
	const char *name;
	enum { SOURCE_FILE, SOURCE_ACE, SOURCE_WALK, SOURCE_PAIR, SOURCE_RESYNC } kind;
	struct workload_source_options how;
	const struct model *model;
	const struct state *start;
	struct ace ace;
	struct walk walk;
	uint64_t count; /* of workloads */
};

/* Whether it names a generator: "seq-2", "walk:PROFILE", "pair", "resync". */
bool workload_source_is_generated(const char *name);
/* Whether its workloads are of several processes. */
bool workload_source_has_processes(const char *name);
/* Name, model and start must outlive it. */
int workload_source_open(struct workload_source *s, const char *name,
			 const struct workload_source_options *how, const struct model *model,
			 const struct state *start, struct err *err);
/* Where workloads are drawn, there is no last one. */
void workload_source_go_on(struct workload_source *s);
void workload_source_close(struct workload_source *s);
/* In memory of the arena. */
int workload_source_make(const struct workload_source *s, uint64_t index, struct arena *arena,
			 struct workload *ret, struct err *err);

#endif
