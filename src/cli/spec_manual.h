/* spec_manual.h -- `assay spec OPERATION`, `--html`, `--examples`: the model as manual pages. */
#ifndef CLI_SPEC_MANUAL_H
#define CLI_SPEC_MANUAL_H

#include "model/model.h"

struct err;

struct spec_manual {
	const char *examples; /* a directory for scripts, or NULL */
	bool html;
};

/* Is it a name of an operation, or a mistyped one, and not of a file? */
bool spec_is_operation_meant(const char *operand);
/* Operands are names of operations (none: all of them) and, for a document, last of all the file or
 * the directory it goes to; without one it is printed. Returns an exit code. */
int spec_manual_run(const struct spec_manual *s, const struct model *model, int argc, char **argv,
		    struct err *err);

#endif
