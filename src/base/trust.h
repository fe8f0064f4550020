/* trust.h -- files and directories that nobody else can have put where they are, or change.
 *
 * What belongs to somebody else, or can be written to by others, is refused with -EPERM, its name
 * and the reason. Root is always trusted, and so is the effective user; a group that holds nobody
 * but that user is no one else. Paths are walked component by component, and what is checked is
 * what was opened, so that nothing can be exchanged in between. */
#ifndef BASE_TRUST_H
#define BASE_TRUST_H

struct err;

/* Opens a file or directory that can name commands to be run: it, everything on the way to it, and
 * every symbolic link has to be trusted; entries of a sticky directory are their owners'. Returns a
 * descriptor or a negative errno. */
int trust_open(const char *path, int flags, struct err *err);
/* The same without opening it. */
int trust_check(const char *path, struct err *err);
/* Checks a directory that is to be written to. It has to be trusted, where the user who became root
 * by sudo is, too. On the way to it there may be no directory in which everybody can exchange what
 * is not theirs, and no symbolic link of somebody else in one where everybody can make them. */
int trust_output(const char *path, struct err *err);

#endif
