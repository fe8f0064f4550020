/* usual_sources.c -- the workloads of `assay crash` where none are named: the table. */
#include "crash/usual_sources.h"

#include "target/target.h"

/* Files that are durable before, with few values; files that are new, with many values, up to the
 * unmounting; durable files that are synced again, of whose crashes that lose writes some are
 * judged; the same with crashes during recovery, on a full disk, and with a write that fails; files
 * that two processes have open; and some walks. Where a time is given there are more of them until
 * then, and longer ones. */
const struct usual_source usual_sources[USUAL_SOURCES] = {
	{ "seq-1", { .scattered = true }, .turn = 8 },
	{ "resync",
	  { .wide = false },
	  .turn = 32,
	  .power_only = true,
	  .effort = { .states_max = 24,
		      .all_in_order = true,
		      .checks_calls = true,
		      .check_one_in = 8 } },
	{ "seq-1",
	  { .wide = true, .in_place = true, .unmounts = true, .scattered = true },
	  .turn = 8 },
	{ "pair", { .scattered = true }, .turn = 8, .power_only = true },
	{ "resync",
	  { .wide = false },
	  .turn = 1,
	  .power_only = true,
	  .aside = true,
	  .effort = { .during_recovery = true, .states_max = 4 } },
	{ "resync",
	  { .full = true },
	  .turn = 1,
	  .power_only = true,
	  .aside = true,
	  .effort = { .states_max = 8, .all_in_order = true } },
	{ "seq-1",
	  { .faults = true, .scattered = true },
	  .turn = 2,
	  .power_only = true,
	  .aside = true,
	  .effort = { .states_max = 8, .all_in_order = true } },
	{ "walk", { .wide = false }, .turn = 2, .power_only = true },
	{ "seq-2", { .scattered = true }, .turn = 8, .power_only = true, .timed_only = true },
};

bool usual_source_is_wanted(const struct usual_source *u, const struct target *t,
			    const struct usual_wanted *wanted)
{
	if ((wanted->daemon && u->power_only) || (!wanted->timed && u->timed_only))
		return false;
	/* Where a checker recovers it takes longer. */
	if (u->effort.during_recovery && (!wanted->recoveries || t->traits.crash_needs_fsck))
		return false;
	if ((u->how.full || u->how.faults) && !wanted->varied)
		return false;
	if (u->how.faults && target_needs(OP_fail_write) & ~t->caps)
		return false;
	return t->caps & TARGET_PROCESSES || !workload_source_has_processes(u->name);
}
