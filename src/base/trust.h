/* trust.h -- files and directories that no other user can have created, replaced or changed.
 *
 * A file that belongs to another user, or that others can write to, is rejected with -EPERM, its
 * name and the reason. Root and the effective user are trusted; a group whose only member is the
 * effective user is trusted, too. Paths are walked component by component, and the check looks at
 * the opened object, so that no one can replace it in between. */
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
 * by sudo is, too. The path must not contain a directory in which all users can replace entries of
 * others, nor another user's symbolic link in a world-writable directory. */
int trust_output(const char *path, struct err *err);

#endif
