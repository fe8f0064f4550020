/* terminal.h -- what commands show while they work, and the options that all of them have for it.
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <jansson.h>
#include <stdbool.h>

#include "settings/opt.h"

/* The rows, for help, manual page and completion, and their settings. */
extern const struct opt terminal_opts[];
extern const void *const terminal_settings;

/* Takes these options out of argv, up to "--", but for those that the command has as its own. */
int terminal_take_options(const struct opt *own, int *argc, char **argv, struct err *err);
/* A finding, by its row of run.json: one line on standard error, as soon as it is found, each once.
 * On a terminal, or with --verbose. A process that was started for a part of the work leaves that
 * to the first one, if that listens. */
void terminal_show_finding(const json_t *row);
/* Processes that are started from now on say what they find; shows what they have said so far. */
void terminal_listen(void);
void terminal_hear(void);

#endif
