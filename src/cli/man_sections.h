/* man_sections.h -- the sections of manual pages besides the options: examples, files, environment,
 * exit status. */
#ifndef CLI_MAN_SECTIONS_H
#define CLI_MAN_SECTIONS_H

struct buf;
struct command;

/* Adds them as scdoc source; NULL: of the program. */
void man_sections(const struct command *c, struct buf *out);
/* "0 clean, 1 findings, ..." */
void man_exit_codes(struct buf *out);

#endif
