/* descriptors.c -- what a forked process keeps of the descriptors it inherits. */
#include "process/descriptors.h"

#include <fcntl.h>
#include <unistd.h>

/* The smallest of the descriptors from `from` on, or -1. */
static int next_kept(const int *fds, size_t count, int from)
{
	int next = -1;

	for (size_t i = 0; i < count; i++)
		if (fds[i] >= from && (next < 0 || fds[i] < next))
			next = fds[i];
	return next;
}

void descriptors_keep(const int *fds, size_t count)
{
	int null, kept, from = STDERR_FILENO + 1;

	while ((kept = next_kept(fds, count, from)) >= 0) {
		if (kept > from)
			close_range((unsigned)from, (unsigned)kept - 1, 0);
		from = kept + 1;
	}
	close_range((unsigned)from, ~0U, 0);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0)
		return;
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	close(null);
}
