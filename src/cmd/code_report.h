/* code_report.h -- coverage of a kernel's code, from the option to what is left of it. */
#ifndef CMD_CODE_REPORT_H
#define CMD_CODE_REPORT_H

#include "codecov/code.h"
#include "run/run.h"
#include "target/target.h"

/* The name of the same target in a kernel with code coverage: "kernel:ext4@coverage". */
int code_spec(const char *spec, const char *config, struct buf *ret, struct err *err);
/* The code of such a target. Free it also after a failure. */
int code_open(struct code *c, struct target *t, struct err *err);
/* Puts what the target has reached into the run's figures; into its directory as well. */
void code_set_figures(struct run *run, const struct code *c, struct target *t);
int code_finish(struct run *run, const struct code *c, struct target *t, struct err *err);
/* The same for all jobs of a run together, where they have saved any. */
int code_merge(struct run *run, unsigned jobs, struct err *err);
/* How much of these files was reached, a line each, of a result (run.json) that says so. */
void code_add_files(const json_t *result, const struct str_map *paths, struct buf *out);
/* For the terminal; nothing where the run has none. */
void code_print(const struct run *run);

#endif
