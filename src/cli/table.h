/* table.h -- the list of subcommands, sorted by name. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stddef.h>

struct command;

extern const struct command *const command_table[];
extern const size_t command_count;

const struct command *command_find(const char *name); /* or NULL */
/* The command whose name is nearest to a mistyped one, or NULL where none is near. */
const struct command *command_nearest(const char *name);

#endif
