/* remove_tree.h -- removes what a test left in a directory. */
#ifndef STORAGE_REMOVE_TREE_H
#define STORAGE_REMOVE_TREE_H

struct err;

/* Removes everything below the directory, whatever its modes and flags and never through a link,
 * and takes the directory's own extended attributes and flags off; its mode is to be set again.
 * Something mounted below is left alone: -EXDEV. */
int remove_tree_below(int dir_fd, struct err *err);

/* Takes the flags that forbid removal, and all extended attributes, off an object. */
void remove_attributes(int fd);

#endif
