/* table.c -- the list of subcommands, made by the build from the files' names. */
#include "cli/table.h"

#include <errno.h>
#include <string.h>

#include "base/must.h"
#include "cli/command.h"

#define COMMAND(name) extern const struct command command_##name;
#include "gen/commands.h"
#undef COMMAND

#define COMMAND(name) &command_##name,
const struct command *const command_table[] = {
#include "gen/commands.h"
};
#undef COMMAND

const size_t command_count = ARRAY_LEN(command_table);

const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < command_count; i++)
		if (!strcmp(command_table[i]->name, name))
			return command_table[i];
	return NULL;
}

int command_unknown(const char *name, struct err *err)
{
	struct nearest n = NEAREST_TO(name);

	for (size_t i = 0; i < command_count; i++)
		nearest_offer(&n, command_table[i]->name);
	err_set(err, EINVAL, "%s: no such command", name);
	err_suggest(err, &n);
	return -EINVAL;
}
