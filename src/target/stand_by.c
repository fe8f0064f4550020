/* stand_by.c -- the first process of a keeper's namespaces. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "target/descriptors.h"
#include "target/inside.h"

enum { LAST_S = 15 }; /* for cleaning up once the owner is gone */

/* Ends, and with it everything in the namespace, when the serving process has ended. */
static void reap(pid_t server)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == server)
			_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* SIGUSR1: the owner is gone. The server cleans up if there is something to clean. */
static _Noreturn void wait_for_the_end(const struct keeping *keeping, const sigset_t *signals,
				       pid_t server)
{
	const struct timespec last = { .tv_sec = LAST_S };

	while (sigwaitinfo(signals, NULL) != SIGUSR1)
		reap(server);
	kill(server, keeping->end ? SIGUSR1 : SIGKILL);
	while (sigtimedwait(signals, NULL, &last) > 0 || errno == EINTR)
		reap(server);
	_exit(1);
}

_Noreturn void keeper_stand_by(const struct keeping *keeping, const struct keeper_options *options,
			       struct board *board, int owner_pidfd)
{
	struct pollfd gone = { .fd = owner_pidfd, .events = POLLIN };
	int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
	sigset_t signals, before;
	pid_t server;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, &before);
	prctl(PR_SET_PDEATHSIG, SIGUSR1);
	if (poll(&gone, 1, 0) != 0)
		_exit(0);
	setsid();
	server = fork();
	if (!server) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		keeper_serve(keeping, options, board, self);
	}
	if (server < 0)
		_exit(1);
	descriptors_keep(NULL, 0);
	wait_for_the_end(keeping, &signals, server);
}
