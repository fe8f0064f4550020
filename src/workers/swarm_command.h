/* swarm_command.h -- which commands a swarm can work on, and what of their options is its own. */
#ifndef WORKERS_SWARM_COMMAND_H
#define WORKERS_SWARM_COMMAND_H

#include <jansson.h>
#include <limits.h>

#include "cli/command.h"

enum { SWARM_ARGS_MAX = 256 };

/* The command of a run; NULL if no swarm can work on it. */
const struct command *swarm_command(const json_t *args);
/* In how many parts the work of a run is divided, as its description says; 0: it says nothing that
 * can be. */
unsigned swarm_part_count(const json_t *about);
/* Where the run has known failures: writes them to a file in the directory, whose name is kept in
 * `path`, and adds the option to a command line. */
int swarm_add_known(const json_t *about, const char *dir, char path[PATH_MAX], const char **argv,
		    int *argc, struct err *err);
/* Sets the options of the command in this process. json: it is to print its result as JSON. */
int swarm_command_parse(const struct command *c, const json_t *args, bool json, struct err *err);
/* Before a run is made of it: whether everything on the command line is there. diverse: workers are
 * to share nothing. parts: in how many the work is divided. */
int swarm_command_check(int argc, char **argv, bool diverse, uint64_t parts, struct err *err);

#endif
