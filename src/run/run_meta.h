/* run_meta.h -- what run.json says of the program, the machine and the moment. */
#ifndef RUN_RUN_META_H
#define RUN_RUN_META_H

#include <jansson.h>

/* Rises where readers of run.json have to change (docs/RUN.md). */
enum { RUN_SCHEMA = 1, RUN_DATE = sizeof("2026-01-31T23:59:59+0000") };

/* The command line, for all runs of this process. Its texts are not copied. */
void run_set_argv(int argc, char *const *argv);
/* Now, by ISO 8601, with the time zone. */
void run_date_now(char ret[RUN_DATE]);
/* schema, version, kernel, host, argv. */
void run_meta_add(json_t *o);

#endif
