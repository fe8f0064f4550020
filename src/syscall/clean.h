/* clean.h -- empties a directory between two uses of it. */
#ifndef SYSCALL_CLEAN_H
#define SYSCALL_CLEAN_H

struct err;

/* Removes everything below the directory, whatever its modes and flags, and takes the
 * directory's own extended attributes and flags off; its mode is to be set again. Something
 * mounted below is left alone: -EXDEV. */
int clean_directory(int dir_fd, struct err *err);

#endif
