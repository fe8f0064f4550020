/* finding_argument.c -- a finding named on the command line, and the target it is to be shown on.
 */
#include "cli/finding_argument.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/trust.h"
#include "cli/command.h"
#include "cli/operands.h"
#include "finding/prove.h"
#include "target/learn.h"

/* "kernel:ext4@debug", whether it was found on kernel:ext4, kernel:ext4@6.1 or ext4. */
static void name_kernel_target(struct buf *target, const char *kernel)
{
	static const char kind[] = "kernel:";
	struct buf other = BUF_INIT;
	const char *fs = buf_str(target);

	if (!strncmp(fs, kind, strlen(kind)))
		fs += strlen(kind);
	buf_addf(&other, "%s%.*s@%s", kind, (int)strcspn(fs, "@"), fs, kernel);
	buf_free(target);
	*target = other;
}

int finding_argument_open(struct finding_argument *f, const char *path,
			  const struct finding_place *place, struct err *err)
{
	struct target_options options = { .config = place->config, .space_bytes = place->space };
	struct buf target = BUF_INIT;
	int code = EXIT_CLEAN;

	if (finding_read(&f->finding, path, err))
		return EXIT_USAGE;
	options.record = finding_is_by_crash(&f->finding);
	/* A target can be a command, which the author of the finding would make us run. */
	if (!place->on && trust_check(path, err))
		code = EXIT_UNKNOWN;
	buf_adds(&target, place->on ? place->on : buf_str(&f->finding.target));
	if (!code && !target.len) {
		err_set(err, EINVAL, "%s names no target; give one with --on", path);
		code = EXIT_USAGE;
	}
	if (!code && place->kernel)
		name_kernel_target(&target, place->kernel);
	if (!code)
		code = operand_target(buf_str(&target), place->config, err);
	if (!code && learn_open(&f->target, buf_str(&target), &options, err))
		code = EXIT_UNKNOWN;
	if (code)
		finding_free(&f->finding);
	buf_free(&target);
	return code;
}

void finding_argument_close(struct finding_argument *f)
{
	target_close(f->target);
	finding_free(&f->finding);
}

void found_print_proof(const struct finding *f)
{
	struct buf text = BUF_INIT;

	program_proof_print(&f->proof, &text);
	puts(buf_str(&text));
	buf_free(&text);
}
