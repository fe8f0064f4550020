/* stop.c -- being asked to end. */
#include "base/stop.h"

#include <stddef.h>

#include "base/must.h"

volatile sig_atomic_t run_stop;

/* The second signal, of whatever kind, is delivered again as soon as the handler returns. */
static void run_stop_by(int number)
{
	if (run_stop) {
		signal(number, SIG_DFL);
		raise(number);
	}
	run_stop = number;
}

void run_catch_signals(void)
{
	static const int signals[] = { SIGHUP, SIGINT, SIGTERM };
	struct sigaction action = { .sa_handler = run_stop_by }, before;

	for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
		sigaction(signals[i], NULL, &before);
		if (signals[i] != SIGHUP || before.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
}
