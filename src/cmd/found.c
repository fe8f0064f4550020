/* found.c -- a finding named on the command line, and the target it is to be shown on. */
#include "cmd/found.h"

#include <errno.h>

#include "cmd/command.h"

int found_open(struct found *f, const char *path, const char *on, const char *config,
	       struct err *err)
{
	struct target_options options = { .config = config };
	int code = EXIT_CLEAN;

	if (finding_read(&f->finding, path, err))
		return EXIT_USAGE;
	if (!on)
		on = buf_str(&f->finding.target);
	if (!*on) {
		err_set(err, EINVAL, "%s names no target; give one with --on", path);
		code = EXIT_USAGE;
	} else if (target_open(&f->target, on, &options, err)) {
		code = EXIT_UNKNOWN;
	}
	if (code)
		finding_free(&f->finding);
	return code;
}

void found_close(struct found *f)
{
	target_close(f->target);
	finding_free(&f->finding);
}
