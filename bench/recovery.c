/* recovery.c -- copies of a kernel in a process, and recoveries of a dirty ext4: mounting it, which
 * replays the journal, and looking at all of it. At least 400 a second of CPU. */
#include <stdio.h>
#include <sys/resource.h>

#include "base/err.h"
#include "bench/crashed.h"

enum { COPIES = 2000, RECOVERIES = 1000 };

static double cpu_seconds_used(void)
{
	double sum = 0;

	for (int who = RUSAGE_CHILDREN; who <= RUSAGE_SELF; who++) {
		struct rusage usage;

		getrusage(who, &usage);
		sum += (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
	}
	return sum;
}

static void time_copies(struct target *t)
{
	const char *call = "umask(022)";
	double since = cpu_seconds_used();

	must(!t->kind->save(t, 1, NULL));
	for (unsigned i = 0; i < COPIES; i++) {
		must(!t->kind->restore(t, 1, NULL));
		make_calls(t, &call, 1);
	}
	must(!target_reset(t, NULL));
	printf("a copy of the kernel, made and ended: %.0f us of CPU\n",
	       (cpu_seconds_used() - since) / COPIES * 1e6);
}

static void time_recoveries(struct target *t)
{
	double since;
	int crashed;

	make_calls(t, history, ARRAY_LEN(history));
	crashed = crashed_image(t);
	since = cpu_seconds_used();
	recover_crashed(t, crashed, RECOVERIES);
	must(!target_reset(t, NULL));
	printf("recoveries of ext4: %.0f per second of CPU (at least 400)\n",
	       RECOVERIES / (cpu_seconds_used() - since));
	close(crashed);
}

int main(void)
{
	struct target_options options = { .record = true };
	struct err err = { 0 };
	struct target *t;

	if (target_open(&t, "kernel:ext4", &options, &err)) {
		printf("%s\n", err.text);
		return 0;
	}
	time_copies(t);
	time_recoveries(t);
	target_close(t);
	return 0;
}
