/* table.h -- the list of subcommands, sorted by name. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stddef.h>

struct command;
struct err;

extern const struct command *const command_table[];
extern const size_t command_count;

const struct command *command_find(const char *name); /* or NULL */
/* Fills in that there is none of this name, and which one may have been meant. */
int command_unknown(const char *name, struct err *err);

#endif
