/* input.h -- a fuzzer's input as a file, for readers that take a path. */
#ifndef TESTS_INPUT_H
#define TESTS_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/must.h"

struct input {
	int fd;
	char path[32];
};

/* In memory, and gone with its descriptor. */
static inline struct input input_open(const uint8_t *data, size_t size)
{
	struct input in = { .fd = memfd_create("input", MFD_CLOEXEC) };

	must(in.fd >= 0);
	must(write(in.fd, data, size) == (ssize_t)size);
	snprintf(in.path, sizeof(in.path), "/proc/self/fd/%d", in.fd);
	return in;
}

static inline void input_close(struct input *in)
{
	close(in->fd);
}

#endif
