/* checker_program.h -- a checker of file systems, described in a few lines of INI (checkers/). */
#ifndef CHECKER_CHECKER_PROGRAM_H
#define CHECKER_CHECKER_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

enum { CHECKER_MODES_MAX = 4 };

/* What an exit code says; the words of the INI file are clean, repaired, left, failed. */
enum checker_answer {
	ANSWER_CLEAN,    /* nothing is wrong */
	ANSWER_REPAIRED, /* errors were found, and all corrected */
	ANSWER_LEFT,     /* errors are left */
	ANSWER_FAILED,   /* it could not do its work, and says so */
	ANSWER_UNKNOWN,  /* a code that is not documented */
	ANSWERS
};
extern const char *const checker_answer_names[ANSWERS];

/* A way to run it. {image} is the disk. */
struct checker_mode {
	char *name; /* "repair", or as the checker calls it: "rebuild-tree" */
	char *command;
};

struct checker_program {
	char *name;
	char *package;     /* of Debian */
	char *file_system; /* what kernel:FS mounts */
	char *mkfs;        /* {image}; several disks: see disks.h of the instrument */
	uint64_t disk_bytes;
	struct checker_mode modes[CHECKER_MODES_MAX]; /* that repair */
	size_t mode_count;
	struct checker_mode check; /* that must not write; no command: it has none */
	char *codes[ANSWERS];      /* "0", "1 2", ... */
	double seconds;            /* a run that takes longer hangs */
};

/* A described one by its name, from the files in checkers/ and from `config`, which may be NULL.
 * -ENOENT: there is none; the error lists those that are. */
int checker_program_find(struct checker_program *ret, const char *name, const char *config,
			 struct err *err);
void checker_program_free(struct checker_program *p);
enum checker_answer checker_program_answer(const struct checker_program *p, int exit_code);

#endif
