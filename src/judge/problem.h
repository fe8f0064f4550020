/* problem.h -- what can be wrong with a file system: one row for each problem.
 *
 * Codes and names are stable. Names begin signatures and end the names of folders. */
#ifndef JUDGE_PROBLEM_H
#define JUDGE_PROBLEM_H

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
	PROBLEMS
};

enum severity { SEVERITY_LOW, SEVERITY_MEDIUM, SEVERITY_HIGH, SEVERITY_CRITICAL, SEVERITIES };
extern const char *const severity_names[SEVERITIES]; /* "low", ... */

struct problem_row {
	const char *name; /* "OUTCOME" */
	enum severity severity;
	const char *sentence;    /* what is wrong */
	const char *consequence; /* what that means for programs and users */
};
extern const struct problem_row problem_table[PROBLEMS];

/* The problem that a signature begins with; PROBLEM_OUTCOME where it begins with none. */
enum problem problem_of_signature(const char *signature);

#endif
