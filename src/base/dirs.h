/* dirs.h -- making directories. */
#ifndef BASE_DIRS_H
#define BASE_DIRS_H

struct err;

/* Makes the directory, which may be there already. */
int dirs_make(const char *path, struct err *err);
/* The same, with all missing parent directories. */
int dirs_make_all(const char *path, struct err *err);

#endif
