/* usual_sources.h -- the workloads of `assay crash` where none are named.
 *
 * They take short turns, and what is enumerated comes in a scattered order, since none of them
 * finds most, and a run may end early. */
#ifndef CRASH_USUAL_SOURCES_H
#define CRASH_USUAL_SOURCES_H

#include "crash/crash.h"
#include "crash/workload_source.h"

struct target;

struct usual_source {
	const char *name;
	struct workload_source_options how;
	uint64_t turn;   /* workloads */
	bool power_only; /* not for a daemon that is killed */
	bool timed_only;
	bool aside; /* its end is not waited for */
	struct crash_effort effort;
};
enum { USUAL_SOURCES = 9 };
extern const struct usual_source usual_sources[USUAL_SOURCES];

/* What the whole run is asked to do. */
struct usual_wanted {
	bool timed, daemon;
	bool recoveries; /* some are to be crashed */
	bool varied;     /* some are to be on a full disk, or to meet a failing write */
};
bool usual_source_is_wanted(const struct usual_source *u, const struct target *t,
			    const struct usual_wanted *wanted);

#endif
