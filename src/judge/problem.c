/* problem.c -- the table of problems. */
#include "judge/problem.h"

#include <string.h>

const struct severity_row severity_table[SEVERITIES] = {
	[SEVERITY_CRASH] = { "crash", "the daemon or the kernel crashes, hangs or reports an "
				      "internal error" },
	[SEVERITY_DATA] = { "data", "data or names are lost or wrong" },
	[SEVERITY_DAMAGE] = { "damage", "the file system is damaged, or loses space or memory" },
	[SEVERITY_METADATA] = { "metadata", "metadata is wrong" },
	[SEVERITY_OUTSIDE_POSIX] = { "outside-posix", "the outcome is none that POSIX allows" },
	[SEVERITY_UNLIKE_LINUX] = { "unlike-linux", "POSIX allows the outcome, Linux does not "
						    "return it" },
};

enum severity severity_find(const char *name)
{
	enum severity s = 0;

	while (s < SEVERITIES && strcmp(severity_table[s].name, name))
		s++;
	return s;
}

const struct problem_row problem_table[PROBLEMS] = {
	[PROBLEM_OUTCOME] = { "OUTCOME", SEVERITY_OUTSIDE_POSIX,
			      "The call returned an outcome that the model does not allow.",
			      "A program that relies on the result takes the wrong branch." },
	[PROBLEM_TREE] = { "TREE", SEVERITY_DATA,
			   "The call returned an allowed outcome, but the tree is wrong "
			   "afterwards.",
			   "Programs see wrong names, data or metadata; data may be lost." },
	[PROBLEM_HANG] = { "HANG", SEVERITY_CRASH, "The call did not return before its deadline.",
			   "The calling process is stuck, and often the mount with it." },
	[PROBLEM_DEATH] = { "DEATH", SEVERITY_CRASH,
			    "The file-system daemon or its mount is gone after the call.",
			    "All programs that use the file system fail until it is mounted "
			    "again." },
	[PROBLEM_DRIFT] = { "DRIFT", SEVERITY_DATA,
			    "The tree changed although no call was made between two scans.",
			    "Programs that read twice see two different states." },
	[PROBLEM_KERNEL] = { "KERNEL", SEVERITY_CRASH,
			     "The kernel log has a warning, BUG, oops or report of corruption.",
			     "The kernel or the file system may be damaged from then on." },
	[PROBLEM_LEAK] = { "LEAK", SEVERITY_DAMAGE,
			   "Memory stays allocated after the file system is unmounted.",
			   "A program that repeats the calls uses up the memory of the machine." },
	[PROBLEM_TIMES] = { "TIMES", SEVERITY_METADATA,
			    "The times of a file fit no order of the calls.",
			    "Backup and build tools miss changes, or see changes where there are "
			    "none." },
	[PROBLEM_FSCK] = { "FSCK", SEVERITY_DAMAGE,
			   "The checker of the file system finds an error on the disk after a "
			   "clean unmount.",
			   "The file system is damaged. Data may be lost at once, or later." },
	[PROBLEM_SPACE] = { "SPACE", SEVERITY_DAMAGE,
			    "Space stays allocated after everything was removed.",
			    "A program that repeats the calls fills the file system." },
	[PROBLEM_LOST] = { "LOST", SEVERITY_DATA,
			   "After a crash and recovery, the tree is none that the calls before the "
			   "crash allow.",
			   "Data that a program has made durable is lost when the power fails.",
			   .by_crash = true },
	[PROBLEM_RECOVERY] = { "RECOVERY", SEVERITY_DAMAGE,
			       "After a crash, the file system does not recover.",
			       "A power failure may make all data inaccessible.",
			       .by_crash = true },
	[PROBLEM_UNSAFE] = { "UNSAFE", SEVERITY_DATA,
			     "After a crash, the program's own check of its files fails.",
			     "A power failure may lose data of the program or make it unusable.",
			     .by_crash = true },
	[PROBLEM_CHECKER] = { "CHECKER", SEVERITY_DAMAGE,
			      "On a damaged disk, the checker crashes or does not end.",
			      "The file system cannot be repaired.", .by_damage = true },
	[PROBLEM_REPAIR] = { "REPAIR", SEVERITY_DAMAGE,
			     "On a damaged disk, the checker does not do what it says.",
			     "A file system that is taken for repaired is not, or has lost more than "
			     "was damaged.",
			     .by_damage = true },
	[PROBLEM_DISK] = { "DISK", SEVERITY_CRASH,
			   "A damaged disk makes the kernel crash, hang or report an internal error.",
			   "Whoever can plug in a disk, or has a disk that fails, can crash the "
			   "machine.",
			   .by_damage = true },
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
