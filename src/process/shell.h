/* shell.h -- words and lines for the shell. */
#ifndef PROCESS_SHELL_H
#define PROCESS_SHELL_H

#include <stddef.h>

struct buf;

/* Adds the text as one word, whatever it holds: in single quotes. */
void shell_add_quoted(struct buf *out, const char *text, size_t len);
/* Adds lines that make a temporary directory, $work. It is removed when the script ends, also by a
 * signal that can be caught, after the command `first` (or ""). */
void shell_add_work_directory(struct buf *out, const char *first);

#endif
