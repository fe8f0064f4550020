/* stop.c -- a request to stop, by signal. */
#include "base/stop.h"

#include <stddef.h>

#include "base/must.h"

volatile sig_atomic_t stop_requested;

/* The second signal, of whatever kind, is delivered again as soon as the handler returns. */
static void stop_on_signal(int number)
{
	if (stop_requested) {
		signal(number, SIG_DFL);
		raise(number);
	}
	stop_requested = number;
}

void stop_catch_signals(void)
{
	static const int signals[] = { SIGHUP, SIGINT, SIGTERM };
	struct sigaction action = { .sa_handler = stop_on_signal }, before;

	for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
		sigaction(signals[i], NULL, &before);
		if (signals[i] != SIGHUP || before.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
}
