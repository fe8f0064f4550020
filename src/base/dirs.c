/* dirs.c -- making directories. */
#include "base/dirs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/must.h"

int dirs_make(const char *path, struct err *err)
{
	if (mkdir(path, 0755) && errno != EEXIST)
		return err_sys(err, errno, "cannot make the directory %s", path);
	return 0;
}

int dirs_make_all(const char *path, struct err *err)
{
	char *copy = must_strdup(path);
	int status = 0;

	for (char *slash = copy; !status && *slash && (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		status = dirs_make(copy, err);
		*slash = '/';
	}
	free(copy);
	return status ? status : dirs_make(path, err);
}
