/* tidy.h -- removing what a test left in a directory of ours. */
#ifndef STORAGE_TIDY_H
#define STORAGE_TIDY_H

struct err;

/* Removes everything below the directory, never through a link and never on another file system;
 * immutable and append-only flags are no obstacle to those who may clear them. */
int tidy_below(int dir_fd, struct err *err);
/* Makes it a directory without flags, attributes of a user, or a mode of its own. */
int tidy_directory(int dir_fd, unsigned mode, struct err *err);

#endif
