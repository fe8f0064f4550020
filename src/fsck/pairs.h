/* pairs.h -- what two runs of a checker may say, one after the other on the same disk.
 *
 * The table is SWIFT's (Carreira and others, "Scalable testing of file system checkers", EuroSys
 * 2012, section 3): a checker that says "clean" or "repaired" must find nothing to do when it is
 * run again, and one that says that errors are left must say so again. No knowledge of the file
 * system is needed for that. */
#ifndef FSCK_PAIRS_H
#define FSCK_PAIRS_H

#include "checker/checker_program.h"

/* Why the second answer does not fit the first; NULL: it does. */
const char *pair_problem(enum checker_answer first, enum checker_answer second);
/* The same of a run that is only asked to check, and the repair of the disk as it was before. */
const char *pair_check_problem(enum checker_answer check, enum checker_answer repair);

#endif
