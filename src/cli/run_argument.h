/* run_argument.h -- directories of runs named on the command line. */
#ifndef CLI_RUN_ARGUMENT_H
#define CLI_RUN_ARGUMENT_H

#include "report/formats.h"

struct err;

/* Reads run.json of each directory. Free them also after a failure; runs must be zero before. */
int run_arguments_read(struct report_run *runs, int count, char **dirs, struct err *err);
/* Frees the array, too. */
void run_arguments_free(struct report_run *runs, size_t count);

#endif
