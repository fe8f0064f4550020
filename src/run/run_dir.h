/* run_dir.h -- the directory of a run: made, kept apart from other runs, named `latest`. */
#ifndef RUN_RUN_DIR_H
#define RUN_RUN_DIR_H

#include <stdbool.h>

struct err;

struct run_dir {
	char *path;
	int lock_fd;
};

/* Makes the directory `out`, and those on the way to it, or, where that is NULL, one in runs/ with
 * runs/latest pointing to it. One that is there already is taken if it can be trusted and no other
 * process has it. The lock ends with the process, however that ends. */
int run_dir_open(struct run_dir *d, const char *command, const char *target, const char *out,
		 struct err *err);
void run_dir_close(struct run_dir *d);
/* Has a search left a checkpoint to continue from? */
bool run_dir_has_checkpoint(const char *path);
/* Fails where the directory holds no run. */
int run_dir_check(const char *path, struct err *err);

/* What an earlier run has left in DIR is no result of the next one: DIR becomes DIR.1, or the first
 * such name that is free, which *ret_name is then; else NULL. Fails while a run uses it. */
int run_dir_set_aside(const char *path, char **ret_name, struct err *err);
/* Removes such a directory with all that is in it, as far as that is possible. */
void run_dir_remove(const char *path);

#endif
