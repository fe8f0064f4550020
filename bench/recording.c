/* recording.c -- what recording the writes of a file system of the running kernel costs, by each
 * means, and recoveries: mounting what a crash leaves and looking at all of it. Beside the time of
 * our processes, that of the kernel's threads counts, so that both CPU and wall time are given. */
#include <stdio.h>

#include "base/clock.h"
#include "base/err.h"
#include "bench/crashed.h"

enum { ROUNDS = 200, RECOVERIES = 100 };

static const char *const undo[] = { "unlink(\"h\")", "rmdir(\"a/b\")", "unlink(\"a/f\")",
				    "rmdir(\"a\")" };

struct span {
	double cpu, wall;
};

static struct span span_begin(void)
{
	return (struct span){ cpu_seconds(), clock_seconds() };
}

static struct span span_end(struct span from)
{
	return (struct span){ cpu_seconds() - from.cpu, clock_seconds() - from.wall };
}

static struct span time_calls(struct target *t)
{
	struct span from = span_begin();

	for (unsigned i = 0; i < ROUNDS; i++) {
		make_calls(t, history, ARRAY_LEN(history));
		make_calls(t, undo, ARRAY_LEN(undo));
	}
	return span_end(from);
}

static struct span time_recoveries(struct target *t)
{
	struct span from;
	int crashed;

	must(!target_reset(t, NULL));
	make_calls(t, history, ARRAY_LEN(history));
	crashed = crashed_image(t);
	from = span_begin();
	recover_crashed(t, crashed, RECOVERIES);
	from = span_end(from);
	close(crashed);
	return from;
}

static void measure(const char *spec, const char *how, const struct target_options *options)
{
	struct span open = span_begin(), calls, recoveries;
	struct err err = { 0 };
	struct target *t;

	if (target_open(&t, spec, options, &err)) {
		printf("%-6s %-4s %s\n", spec, how, err.text);
		return;
	}
	open = span_end(open);
	calls = time_calls(t);
	printf("%-6s %-4s opened in %.0f ms; a round of calls: %.0f us of CPU, %.0f us", spec, how,
	       open.wall * 1e3, calls.cpu / ROUNDS * 1e6, calls.wall / ROUNDS * 1e6);
	if (options->record) {
		recoveries = time_recoveries(t);
		printf("; recoveries: %.0f per second of CPU, %.0f per second",
		       RECOVERIES / recoveries.cpu, RECOVERIES / recoveries.wall);
	}
	printf("\n");
	target_close(t);
}

int main(void)
{
	static const char *const specs[] = { "ext4", "xfs", "btrfs" };

	for (size_t i = 0; i < ARRAY_LEN(specs); i++) {
		measure(specs[i], "-", &(struct target_options){ 0 });
		measure(specs[i], "BPF",
			&(struct target_options){ .record = true, .record_by = RECORDER_BPF });
		measure(specs[i], "FUSE",
			&(struct target_options){ .record = true, .record_by = RECORDER_FUSE });
	}
	return 0;
}
