/* problem.c -- the table of problems. */
#include "judge/problem.h"

#include <string.h>

const char *const severity_names[SEVERITIES] = {
	[SEVERITY_LOW] = "low",
	[SEVERITY_MEDIUM] = "medium",
	[SEVERITY_HIGH] = "high",
	[SEVERITY_CRITICAL] = "critical",
};

const struct problem_row problem_table[PROBLEMS] = {
	[PROBLEM_OUTCOME] = { "OUTCOME", SEVERITY_MEDIUM,
			      "The call returned an outcome that the model does not allow.",
			      "A program that relies on the result takes the wrong branch." },
	[PROBLEM_TREE] = { "TREE", SEVERITY_HIGH,
			   "The call returned an allowed outcome, but the tree is wrong "
			   "afterwards.",
			   "Programs see wrong names, data or metadata; data may be lost." },
	[PROBLEM_HANG] = { "HANG", SEVERITY_HIGH, "The call did not return before its deadline.",
			   "The calling process is stuck, and often the mount with it." },
	[PROBLEM_DEATH] = { "DEATH", SEVERITY_CRITICAL,
			    "The file-system daemon or its mount is gone after the call.",
			    "All programs that use the file system fail until it is mounted "
			    "again." },
	[PROBLEM_DRIFT] = { "DRIFT", SEVERITY_HIGH,
			    "The tree changed although no call was made between two scans.",
			    "Programs that read twice see two different states." },
	[PROBLEM_KERNEL] = { "KERNEL", SEVERITY_CRITICAL,
			     "The kernel log has a warning, BUG, oops or report of corruption.",
			     "The kernel or the file system may be damaged from then on." },
	[PROBLEM_LEAK] = { "LEAK", SEVERITY_MEDIUM,
			   "Memory stays allocated after the file system is unmounted.",
			   "A program that repeats the calls uses up the memory of the machine." },
	[PROBLEM_TIMES] = { "TIMES", SEVERITY_LOW, "The times of a file fit no order of the calls.",
			    "Backup and build tools miss changes, or see changes where there are "
			    "none." },
	[PROBLEM_FSCK] = { "FSCK", SEVERITY_HIGH,
			   "The checker of the file system finds an error on the disk after a "
			   "clean unmount.",
			   "The file system is damaged. Data may be lost at once, or later." },
	[PROBLEM_SPACE] = { "SPACE", SEVERITY_MEDIUM,
			    "Space stays allocated after everything was removed.",
			    "A program that repeats the calls fills the file system." },
};

enum problem problem_of_signature(const char *signature)
{
	size_t len = strcspn(signature, " ");

	for (enum problem p = 0; p < PROBLEMS; p++)
		if (strlen(problem_table[p].name) == len &&
		    !strncmp(problem_table[p].name, signature, len))
			return p;
	return PROBLEM_OUTCOME;
}
