/* namespace_init.c -- the first process of a sandbox's namespaces. */
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "process/descriptors.h"
#include "process/owner.h"
#include "sandbox/sandbox_server.h"

enum {
	LAST_S = 15, /* for cleaning up once the owner is gone */
	GONE_S = 5,  /* for killed processes to be gone */
};

/* All processes in the namespace are ended before its first one is: a FUSE daemon must not be the
 * last to hold the mounts. It would get its last request while they are torn down, by itself,
 * and wait for the answer for ever; sync(2) would wait with it, on the whole machine. */
static _Noreturn void init_end_all(const sigset_t *signals, int code)
{
	const struct timespec gone = { .tv_sec = GONE_S };
	siginfo_t child;

	if (getpid() != 1)
		_exit(code); /* they die with us, one after the other */
	kill(-1, SIGKILL);
	for (;;) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD)
			break;
		if (sigtimedwait(signals, NULL, &gone) < 0 && errno == EAGAIN)
			break;
	}
	_exit(code);
}

/* Ends when the serving process has ended. */
static void init_reap(pid_t server, const sigset_t *signals)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == server)
			init_end_all(signals, WIFEXITED(status)
						      ? WEXITSTATUS(status)
						      : SANDBOX_SIGNAL + WTERMSIG(status));
}

/* SIGUSR1: the owner is gone. The server cleans up if there is something to clean. */
static _Noreturn void init_wait(const struct sandbox_ops *ops, const sigset_t *signals,
				pid_t server)
{
	const struct timespec last = { .tv_sec = LAST_S };
	int sig;

	while ((sig = sigwaitinfo(signals, NULL)) != SIGUSR1 && sig != SANDBOX_END_NOW)
		init_reap(server, signals);
	if (sig == SANDBOX_END_NOW)
		init_end_all(signals, 1);
	kill(server, ops->end ? SIGUSR1 : SIGKILL);
	while (sigtimedwait(signals, NULL, &last) > 0 || errno == EINTR)
		init_reap(server, signals);
	init_end_all(signals, 1);
}

_Noreturn void namespace_init_run(const struct sandbox_ops *ops,
				  const struct sandbox_options *options,
				  struct sandbox_message *message, int owner_pidfd)
{
	int self = owner_open();
	sigset_t signals, before;
	pid_t server;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SANDBOX_END_NOW);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, &before);
	owner_follow_fd(owner_pidfd, SIGUSR1);
	setsid();
	server = fork();
	if (!server) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		sandbox_server_run(ops, options, message, self);
	}
	if (server < 0)
		_exit(1);
	descriptors_keep(NULL, 0);
	init_wait(ops, &signals, server);
}
