/* crash_app.h -- `assay crash --app`: is a program safe in a crash, and on which file systems? */
#ifndef CMD_CRASH_APP_H
#define CMD_CRASH_APP_H

#include <stdbool.h>
#include <stdint.h>

struct err;

struct crash_app {
	const char *app, *prepare, *verify; /* commands */
	const char *trace;                  /* recorded before, instead of the first two */
	const char *out, *known, *write_known;
	int level; /* 0: all, else 1 + enum persist_level */
	uint64_t seed, states, findings;
	double seconds, deadline;
	bool json;
};

/* Returns the exit code. */
int crash_app_run(const struct crash_app *a, struct err *err);

#endif
