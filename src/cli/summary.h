/* summary.h -- a run's result as it is printed and written at the end. */
#ifndef CLI_SUMMARY_H
#define CLI_SUMMARY_H

#include "run/run.h"

/* Prints what run.json says. */
void summary_print(const struct run *run);
/* Writes run.json and report.html. Where one does not fit any more the other still may: the first
 * error is returned, `before` if that is one already. */
int summary_write(struct run *run, int before, struct err *err);
/* Writes the findings as a file of known failures; NULL: none. */
int summary_write_known(const struct run *run, const char *path, struct err *err);
/* Prints what became of the known failures. */
void summary_print_known(const struct run *run);
/* The exit code of the verdict; after a failure of Assay (status) it is never clean. */
int summary_code(const struct run *run, int status);

#endif
