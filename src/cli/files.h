/* files.h -- operands that name files, or directories full of them. */
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include <stddef.h>

struct err;

struct input_files {
	char **paths;
	size_t count, cap;
};

/* A file means itself, a directory every file below it whose name ends in suffix, in
 * order of their names. A directory without one is a mistake: -ENOENT. */
int files_expand(struct input_files *list, char *const *operands, const char *suffix,
		 struct err *err);
void files_free(struct input_files *list);

#endif
