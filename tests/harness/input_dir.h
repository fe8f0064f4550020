/* input_dir.h -- a fuzzer's input as files of a directory, for readers that take one.
 *
 * One directory serves a whole run and goes with the process. */
#ifndef TESTS_INPUT_DIR_H
#define TESTS_INPUT_DIR_H

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/must.h"

static char input_dir_path[] = "/tmp/assay-fuzz.XXXXXX";

static inline void input_dir_remove(void)
{
	char command[64];

	snprintf(command, sizeof(command), "exec rm -r %s", input_dir_path);
	if (system(command))
		fprintf(stderr, "%s is left behind\n", input_dir_path);
}

static inline const char *input_dir(void)
{
	static bool is_made;

	if (!is_made) {
		must(mkdtemp(input_dir_path));
		must(!atexit(input_dir_remove));
		is_made = true;
	}
	return input_dir_path;
}

static inline void input_dir_put(const char *name, const uint8_t *data, size_t size)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", input_dir(), name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	must(fd >= 0);
	must(write(fd, data, size) == (ssize_t)size);
	close(fd);
}

#endif
