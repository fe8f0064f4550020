/* owner.c -- a process that ends when the one that made it does. */
#include "process/owner.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

void owner_follow(pid_t owner, int signal)
{
	prctl(PR_SET_PDEATHSIG, signal);
	if (getppid() != owner)
		_exit(0);
}

int owner_open(void)
{
	return (int)syscall(SYS_pidfd_open, getpid(), 0);
}

void owner_follow_fd(int owner_fd, int signal)
{
	struct pollfd gone = { .fd = owner_fd, .events = POLLIN };

	prctl(PR_SET_PDEATHSIG, signal);
	if (poll(&gone, 1, 0) != 0)
		_exit(0);
}
