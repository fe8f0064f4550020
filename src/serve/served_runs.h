/* served_runs.h -- the runs below a directory: opened without a way out of it.
 *
 * No symbolic link is followed below the root, and only regular files are opened. A run that
 * another user could have written is refused (base/trust.h). */
#ifndef SERVE_SERVED_RUNS_H
#define SERVE_SERVED_RUNS_H

#include <stdbool.h>
#include <sys/types.h>

struct err;

enum { RUN_JSON_BYTES_MAX = 256 << 20 };

struct served_root {
	const char *name; /* as it was given */
	char *path;       /* without links: `latest` may lead elsewhere later */
	int fd;
	bool is_run;      /* it is a run itself, and none that has others */
	bool is_campaign; /* it has the database of one */
};

int served_root_open(struct served_root *r, const char *path, struct err *err);
void served_root_close(struct served_root *r);

/* Below a directory; a descriptor, or a negative errno. */
int served_open_directory(int dir_fd, const char *path);
int served_open_file(int dir_fd, const char *path, off_t *ret_size);
/* The directory of a run below the root: -ENOENT if it holds none. */
int served_open_run(const struct served_root *r, const char *path, struct err *err);
/* Whether a process works on it, or can at least not be excluded to. */
bool served_run_is_alive(int run_fd);

#endif
