/* usual_sources.c -- the workloads of `assay crash` where none are named: the table. */
#include "crash/usual_sources.h"

#include "target/target.h"

/* Files that are durable before, with few values; files that are new, with many values, up to the
 * unmounting; durable files that are synced again, once more with crashes during recovery; files
 * that two processes have open; and some walks. Where a time is given there are more of them until
 * then, and longer ones. */
const struct usual_source usual_sources[USUAL_SOURCES] = {
	{ "seq-1", { .scattered = true }, .turn = 8 },
	{ "resync", { .wide = false }, .turn = 24, .power_only = true },
	{ "seq-1",
	  { .wide = true, .in_place = true, .unmounts = true, .scattered = true },
	  .turn = 8 },
	{ "pair", { .scattered = true }, .turn = 8, .power_only = true },
	{ "resync", { .wide = false }, .turn = 1, .power_only = true, .recoveries = 4 },
	{ "walk", { .wide = false }, .turn = 2, .power_only = true },
	{ "seq-2", { .scattered = true }, .turn = 8, .power_only = true, .timed_only = true },
};

bool usual_source_is_wanted(const struct usual_source *u, const struct target *t,
			    const struct usual_wanted *wanted)
{
	if ((wanted->daemon && u->power_only) || (!wanted->timed && u->timed_only))
		return false;
	/* Where a checker recovers it takes longer. */
	if (u->recoveries && (!wanted->recoveries || t->traits.crash_needs_fsck))
		return false;
	return t->caps & TARGET_PROCESSES || !workload_source_has_processes(u->name);
}
