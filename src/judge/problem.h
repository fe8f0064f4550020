/* problem.h -- what can be wrong with a file system: one row for each problem.
 *
 * Codes and names are stable. Names begin signatures and end the names of folders. */
#ifndef JUDGE_PROBLEM_H
#define JUDGE_PROBLEM_H

#include <stdbool.h>

enum problem {
	PROBLEM_OUTCOME,
	PROBLEM_TREE,
	PROBLEM_HANG,
	PROBLEM_DEATH,
	PROBLEM_DRIFT,
	PROBLEM_KERNEL,
	PROBLEM_LEAK,
	PROBLEM_TIMES,
	PROBLEM_FSCK,
	PROBLEM_SPACE,
	PROBLEM_LOST,
	PROBLEM_RECOVERY,
	PROBLEM_UNSAFE,
	PROBLEM_CHECKER,
	PROBLEM_REPAIR,
	PROBLEM_DISK,
	PROBLEMS
};

/* Worst first. Findings are listed in this order everywhere. */
enum severity {
	SEVERITY_CRASH,
	SEVERITY_DATA,
	SEVERITY_DAMAGE,
	SEVERITY_METADATA,
	SEVERITY_OUTSIDE_POSIX,
	SEVERITY_UNLIKE_LINUX,
	SEVERITIES
};
struct severity_row {
	const char *name;     /* "data": stable, in run.json */
	const char *sentence; /* "data is lost or wrong" */
};
extern const struct severity_row severity_table[SEVERITIES];
/* The severity of this name; SEVERITIES if there is none. */
enum severity severity_find(const char *name);

struct problem_row {
	const char *name;        /* "OUTCOME" */
	enum severity severity;  /* where the discrepancy itself says no more (severity.h) */
	const char *sentence;    /* what is wrong */
	const char *consequence; /* what that means for programs and users */
	bool by_crash;           /* a program cannot show it: the power has to fail */
	bool by_damage;          /* nor this: the disk has to be damaged */
};
extern const struct problem_row problem_table[PROBLEMS];

/* The problem that a signature begins with; PROBLEM_OUTCOME where it begins with none. */
enum problem problem_of_signature(const char *signature);

#endif
