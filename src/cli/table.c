/* table.c -- the list of subcommands, made by the build from the files' names. */
#include "cli/table.h"

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

enum { NAME_MAX_BYTES = 31, DISTANCE_MAX = 2 };

static size_t least_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Levenshtein's, one row of the table at a time. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t row[NAME_MAX_BYTES + 1], len = strlen(b), diagonal, above;

	for (size_t j = 0; j <= len; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		diagonal = row[0]++;
		for (size_t j = 1; j <= len; j++) {
			above = row[j];
			row[j] = least_size(least_size(above, row[j - 1]) + 1,
					    diagonal + (a[i] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[len];
}

const struct command *command_nearest(const char *name)
{
	const struct command *nearest = NULL;
	size_t best = DISTANCE_MAX + 1, d;

	for (size_t i = 0; i < command_count; i++) {
		must(strlen(command_table[i]->name) <= NAME_MAX_BYTES);
		d = edit_distance(name, command_table[i]->name);
		if (d < best && d < strlen(command_table[i]->name)) {
			best = d;
			nearest = command_table[i];
		}
	}
	return nearest;
}
