/* branches.c -- which conditional branches of the checker were taken, in either direction.
 *
 * The table is in the shared log, and only one process translates at a time, so a branch has its
 * slot for all runs. */
#include "pathtool/branches.h"

#include <pub_tool_debuginfo.h>
#include <pub_tool_libcbase.h>

/* Code that all programs have is not the checker's. */
static const HChar *const others[] = { "/libc.so",    "/libc-",   "/ld-linux",  "/ld-2",
				       "/libpthread", "/libm.so", "/vgpreload_" };

static Bool is_of_checker(Addr at)
{
	static Addr from, to; /* of the object that was looked at last */
	static Bool answer;
	DebugInfo *object;
	const HChar *name;

	if (at >= from && at < to)
		return answer;
	object = VG_(find_DebugInfo)(VG_(current_DiEpoch)(), at);
	if (!object)
		return False;
	from = VG_(DebugInfo_get_text_avma)(object);
	to = from + VG_(DebugInfo_get_text_size)(object);
	name = VG_(DebugInfo_get_filename)(object);
	answer = True;
	for (UInt i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (VG_(strstr)(name, others[i]))
			answer = False;
	}
	return answer && at >= from && at < to;
}

UChar *branches_slot(Addr at)
{
	struct path_branch *table = tool_log->branches;
	UInt i = (at * 0x9e3779b97f4a7c15ULL >> 40) % PATH_BRANCHES_MAX;

	if (!is_of_checker(at))
		return NULL;
	for (; table[i].at; i = (i + 1) % PATH_BRANCHES_MAX) {
		if (table[i].at == at)
			return table[i].taken;
	}
	if (tool_log->branch_count > PATH_BRANCHES_MAX / 4 * 3)
		return NULL;
	tool_log->branch_count++;
	table[i].at = at;
	return table[i].taken;
}
