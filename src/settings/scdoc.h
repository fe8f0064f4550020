/* scdoc.h -- the markup of man page sources: into it, and out of it. */
#ifndef SETTINGS_SCDOC_H
#define SETTINGS_SCDOC_H

struct buf;

/* Adds text so that scdoc prints exactly it. */
void scdoc_escape(const char *text, struct buf *out);
/* Adds what is left of text without the marks for bold and underlined and the backslashes. */
void scdoc_plain(const char *text, struct buf *out);

#endif
