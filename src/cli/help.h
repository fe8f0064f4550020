/* help.h -- what the program says about itself: help, man pages, completion. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include <stdbool.h>

struct buf;
struct command;

void help_overview(struct buf *out);
void help_command(const struct command *c, struct buf *out);
/* scdoc source: of assay(1), and of assay-NAME(1). */
void help_man_overview(struct buf *out);
void help_man_command(const struct command *c, struct buf *out);
/* A completion script; false: not for this shell. */
bool help_completion(const char *shell, struct buf *out);

#endif
