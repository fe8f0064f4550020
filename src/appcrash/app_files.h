/* app_files.h -- a tree of the model as files in a directory. */
#ifndef APPCRASH_APP_FILES_H
#define APPCRASH_APP_FILES_H

struct err;
struct tree;

/* Makes all objects of the tree in the directory, which is empty. Extended attributes and owners
 * that the user may not set, and devices and sockets, are left out. */
int app_files_write(const struct tree *t, const char *dir, struct err *err);

#endif
