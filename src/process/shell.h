/* shell.h -- words for the shell. */
#ifndef PROCESS_SHELL_H
#define PROCESS_SHELL_H

#include <stddef.h>

struct buf;

/* Adds the text as one word, whatever it holds: in single quotes. */
void shell_add_quoted(struct buf *out, const char *text, size_t len);

#endif
