/* operands.h -- what a command line names has to be there before anything is made or run.
 *
 * All of these return an exit code: EXIT_CLEAN, EXIT_USAGE for a name that does not exist or means
 * nothing, EXIT_UNKNOWN for one that is there and cannot be used. */
#ifndef CLI_OPERANDS_H
#define CLI_OPERANDS_H

#include "cli/command.h"

/* The option of commands that make calls on a disk of the user; the field is a uint64_t. */
#define SPACE_OPT(settings, field) \
	{ \
		"space", OPT_U64, offsetof(settings, field), "BYTES", \
			"disk space that the calls may use on a disk of yours; a call that could " \
			"use " \
			"more is not made. Default: a tenth of the free space, at most 1G", \
			0, 0 \
	}

/* The options of commands that judge a file system; the fields are `known` and `write_known`. */
#define KNOWN_OPTS(settings) \
	{ "known", \
	  OPT_TEXT, \
	  offsetof(settings, known), \
	  "FILE", \
	  "a file of known failures, with their reasons: counted, not reported", \
	  0, \
	  0 }, \
	{ \
		"write-known", OPT_TEXT, offsetof(settings, write_known), "FILE", \
			"write such a file: what is known, and all that this run has found", 0, 0 \
	}

/* Help on them. */
#define KNOWN_TEXT \
	"A file of *--known* lists known failures, each on a line \"TARGET: FAILURE\". An\n" \
	"asterisk as target means all; in the failure it matches any text. The failure is\n" \
	"the signature or the group of a finding, or a cause as *assay conform* prints it.\n" \
	"A line \"# because: REASON\" above is required; a line \"# until: YYYY-MM-DD\" below\n" \
	"that names the last day. From then on the report says that it has expired, and\n" \
	"the failure is reported again. The report also lists known failures that the run\n" \
	"could have shown and did not. *--write-known* writes such a file; the reasons of\n" \
	"its new lines are to be filled in.\n"

/* The exit code for a named object that could not be opened or read. */
int operand_code(int status);
/* The one function here that is no exit code. */
bool operand_is_directory(const char *path);
int operand_target(const char *spec, const char *config, struct err *err);
/* What is to be read: anything, a file or a directory. NULL is fine but for a directory. */
int operand_readable(const char *path, struct err *err);
int operand_file(const char *path, struct err *err);
int operand_directory(const char *path, struct err *err);
/* A file of known failures (known.h), and one that is to be written. NULL is fine. */
int operand_known(const char *path, const char *write, struct err *err);
/* A file that is to be written: the directory it is to be in, and no directory itself. A directory
 * that is made where it is not there. NULL is fine. */
int operand_new_file(const char *path, struct err *err);
int operand_new_directory(const char *path, struct err *err);
/* The same for the directory of a run that begins: one that holds an earlier run is renamed,
 * which is printed (run_dir_set_aside). To be asked last, when nothing else is wrong. */
int operand_run_directory(const char *path, struct err *err);

#endif
