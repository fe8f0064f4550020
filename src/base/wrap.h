/* wrap.h -- words filled into lines of 80 columns. */
#ifndef BASE_WRAP_H
#define BASE_WRAP_H

#include <stddef.h>

struct buf;

/* Adds the words of text, beginning at column indent and going back to it in every further
 * line, and a newline. */
void wrap_words(const char *text, size_t indent, struct buf *out);
/* Adds paragraphs, each filled again; lines that begin with a space, a tab, '-' or '#' stay. */
void wrap_text(const char *text, struct buf *out);

#endif
