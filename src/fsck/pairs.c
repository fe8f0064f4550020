/* pairs.c -- what two runs of a checker may say, one after the other on the same disk. */
#include "fsck/pairs.h"

/* Rows: the first run; columns: the second. */
static const char *const problems[ANSWERS][ANSWERS] = {
	[ANSWER_CLEAN] = {
		[ANSWER_REPAIRED] = "finds nothing, and run again it finds errors and repairs them",
		[ANSWER_LEFT] = "finds nothing, and run again it finds errors that it leaves",
		[ANSWER_FAILED] = "finds nothing, and run again it fails",
		[ANSWER_UNKNOWN] = "finds nothing, and run again it ends with an undocumented code",
	},
	[ANSWER_REPAIRED] = {
		[ANSWER_REPAIRED] = "says that all is repaired, and run again it finds errors and "
				    "repairs them",
		[ANSWER_LEFT] = "says that all is repaired, and run again it finds errors that it "
				"leaves",
		[ANSWER_FAILED] = "says that all is repaired, and run again it fails",
		[ANSWER_UNKNOWN] = "says that all is repaired, and run again it ends with an "
				   "undocumented code",
	},
	[ANSWER_LEFT] = {
		[ANSWER_CLEAN] = "says that errors are left, and run again it finds nothing",
		[ANSWER_REPAIRED] = "says that errors are left, and run again it repairs all",
		[ANSWER_FAILED] = "says that errors are left, and run again it fails",
	},
	[ANSWER_FAILED] = {
		[ANSWER_CLEAN] = "fails, and run again it finds nothing",
		[ANSWER_REPAIRED] = "fails, and run again it repairs all",
		[ANSWER_LEFT] = "fails, and run again it says that errors are left",
	},
};

const char *pair_check_problem(enum checker_answer check, enum checker_answer repair)
{
	if (check == ANSWER_CLEAN && repair == ANSWER_REPAIRED)
		return "finds nothing when it is only asked to check, and its repair corrects "
		       "errors";
	if (check == ANSWER_CLEAN && repair == ANSWER_LEFT)
		return "finds nothing when it is only asked to check, and its repair leaves errors";
	if (check == ANSWER_LEFT && repair == ANSWER_CLEAN)
		return "finds errors when it is only asked to check, and its repair finds none";
	return NULL;
}

const char *pair_problem(enum checker_answer first, enum checker_answer second)
{
	return problems[first][second];
}
