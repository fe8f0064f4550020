/* caught.c -- signals by which a program fails, where it catches them.
 *
 * e2fsck prints where it was, and exits by the code of any other failure: the session must learn of
 * the signal all the same. Handlers stay those of the program. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>

#include "preload.h"

static const int failures[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };

enum { FAILURES = sizeof(failures) / sizeof(failures[0]) };

static struct sigaction handlers[FAILURES]; /* those of the program */

/* Where its handler is; NULL: it is no failure. */
static struct sigaction *caught_handler(int signal)
{
	for (size_t i = 0; i < FAILURES; i++)
		if (failures[i] == signal)
			return &handlers[i];
	return NULL;
}

static void caught_handle(int signal, siginfo_t *info, void *context)
{
	const struct sigaction *own = caught_handler(signal);

	preload_control->caught = signal;
	rewind_spoil();
	if (own->sa_flags & SA_SIGINFO)
		own->sa_sigaction(signal, info, context);
	else
		own->sa_handler(signal);
}

static bool caught_is_handler(const struct sigaction *a)
{
	return a->sa_flags & SA_SIGINFO || (a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN);
}

static int caught_set(int signal, const struct sigaction *new, struct sigaction *old)
{
	struct sigaction *own = caught_handler(signal), before = *own, ours = *new;
	int ret;

	*own = *new;
	if (caught_is_handler(new)) {
		ours.sa_flags |= SA_SIGINFO;
		ours.sa_sigaction = caught_handle;
	}
	ret = preload_next()->sigaction(signal, &ours, old);
	if (old && caught_is_handler(old))
		*old = before;
	return ret;
}

PRELOAD_EXPORT int sigaction(int signal, const struct sigaction *new, struct sigaction *old)
{
	if (new)
		rewind_spoil();
	if (new &&preload_control && caught_handler(signal))
		return caught_set(signal, new, old);
	return preload_next()->sigaction(signal, new, old);
}

PRELOAD_EXPORT __sighandler_t signal(int number, __sighandler_t handler)
{
	struct sigaction new = { .sa_handler = handler, .sa_flags = SA_RESTART }, old;

	if (!preload_control || !caught_handler(number)) {
		rewind_spoil();
		return preload_next()->signal(number, handler);
	}
	return sigaction(number, &new, &old) ? SIG_ERR : old.sa_handler;
}
