/* finding_argument.h -- a finding named on the command line, and the target it is to be shown on.
 */
#ifndef CLI_FINDING_ARGUMENT_H
#define CLI_FINDING_ARGUMENT_H

#include "cli/operands.h"
#include "finding/finding.h"

struct finding_argument {
	struct finding finding;
	struct target *target;
};

/* Where to show it, if not where it was found; each may be NULL. */
struct finding_place {
	const char *on;     /* another target */
	const char *kernel; /* the same file system in a kernel of this name: "debug" */
	const char *config; /* an INI file that describes targets */
	uint64_t space;     /* that calls may take of a disk of the user's; 0: the usual */
};

/* The options that say where. */
#define FINDING_PLACE_OPTS(settings, place) \
	{ "on", \
	  OPT_TEXT, \
	  offsetof(settings, place.on), \
	  "TARGET", \
	  "another target than the one it was found on", \
	  0, \
	  0 }, \
		{ "kernel", \
		  OPT_TEXT, \
		  offsetof(settings, place.kernel), \
		  "NAME", \
		  "the same file system in this kernel (assay kernel list): debug", \
		  0, \
		  0 }, \
		{ "config", \
		  OPT_TEXT, \
		  offsetof(settings, place.config), \
		  "FILE", \
		  "an INI file that describes targets", \
		  0, \
		  0 }, \
		SPACE_OPT(settings, place.space)

/* Reads the finding at `path` and opens the target. Returns EXIT_CLEAN, or the exit code to end
 * with. */
int finding_argument_open(struct finding_argument *f, const char *path,
			  const struct finding_place *place, struct err *err);
void finding_argument_close(struct finding_argument *f);
/* Prints what the finding's own program showed. */
void found_print_proof(const struct finding *f);

#endif
