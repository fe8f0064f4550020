/* found.h -- a finding named on the command line, and the target it is to be shown on. */
#ifndef CMD_FOUND_H
#define CMD_FOUND_H

#include "judge/finding.h"

struct found {
	struct finding finding;
	struct target *target;
};

/* Reads the finding at `path` and opens the target `on`, or where that is NULL the one it was found
 * on. Returns EXIT_CLEAN, or the exit code to end with. */
int found_open(struct found *f, const char *path, const char *on, const char *config,
	       struct err *err);
void found_close(struct found *f);

#endif
