/* completion.h -- completion scripts for shells, from the rows of commands and options. They know
 * targets, profiles, checkers, operations and the choices of options. */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

struct buf;
struct err;

/* Names that are lists of words in the scripts, separated by blanks. The lists of checkers and of
 * profiles are given, since not all who complete know them. */
struct completion_lists {
	const char *checkers, *profiles;
};

void completion_bash(const struct completion_lists *lists, struct buf *out);
void completion_zsh(const struct completion_lists *lists, struct buf *out);
void completion_fish(const struct completion_lists *lists, struct buf *out);

#endif
