/* checker_program.h -- a checker of file systems, described in a few lines of INI (checkers/).
 *
 *	[checker.e2fsck-ext2]
 *	base = e2fsck
 *	file_system = ext2
 *	mkfs = mkfs.ext2 -q -F -b 1024 {image}
 *	disk_size = 1M
 *	repair = e2fsck -fy {image}
 *	check = e2fsck -fn {image}
 *	clean = 0
 *	repaired = 1-3
 *
 * A format that no kernel mounts has no file_system. Its fields are listed, and a command prints
 * what is on a disk:
 *
 *	fields =
 *		super.magic 0 4
 *		file.size 3076 4 number file 0, /a
 *	list = toyfs list {image}
 *
 * Where they are looked for: settings/described.h. Where a checker repairs in several ways, each
 *one has a name: `repair.rebuild-tree`. Where the codes of the run that only checks mean something
 * else, they are `check.clean` and so on. */
#ifndef CHECKER_CHECKER_PROGRAM_H
#define CHECKER_CHECKER_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct buf;
struct err;

enum {
	CHECKER_MODES_MAX = 4,
	/* Modes that repair count from 0. */
	CHECKER_CHECK = -1, /* the mode that only checks */
	CHECKER_LIST = -2,  /* prints what is on the disk */
};

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
	const char *name; /* "repair", or as the checker calls it: "rebuild-tree" */
	const char *command;
};

struct checker_program {
	struct arena arena; /* of the texts */
	const char *name;
	const char *config; /* the path of the file that it was looked for in first; NULL: none */
	const char *summary;
	const char *packages;    /* of Debian */
	const char *file_system; /* what kernel:FS mounts; NULL: no kernel does */
	const char *mkfs;        /* {image} */
	uint64_t disk_size;
	const char *content; /* more calls that fill it (checkers/NAME.trace); NULL: the usual */
	const char *crash;   /* calls after another mount, and it is not unmounted; NULL: it is */
	const char *disks;   /* names of checkers, whose disks are for this one, too; NULL: none */
	const char *fields;  /* of a format that is not described otherwise (damage/own_map.h) */
	struct checker_mode modes[CHECKER_MODES_MAX]; /* that repair */
	size_t mode_count;
	struct checker_mode check;        /* that must not write; no command: it has none */
	struct checker_mode list;         /* a line for each file (fsck/contents.h); or none */
	const char *codes[ANSWERS];       /* "0", "1 2", "4-7", ... */
	const char *check_codes[ANSWERS]; /* all NULL: the same */
	const char *partial; /* names of modes that read a part of the disk only; NULL: none */
	const char *input;   /* what it reads from its terminal, again and again */
	/* How the checker's own tests run it, with {image} (fsck/fsck_export.h); NULL: as here. */
	const char *own_tests;
	double seconds;  /* of a CPU; a run that takes longer hangs */
	uint64_t memory; /* bytes that a run can have */
	uint64_t now;    /* the time it is for it, in seconds since 1970 */
};

/* A described one by its name; `config` may be NULL. -ENOENT: there is none; the error lists those
 * that are. */
int checker_program_find(struct checker_program *ret, const char *name, const char *config,
			 struct err *err);
void checker_program_free(struct checker_program *p);
/* Gives it the disk of another one: what makes it, fills it and mounts it. */
int checker_program_take_disk(struct checker_program *p, const char *name, const char *config,
			      struct err *err);
/* Adds the names of all, each with a NUL behind it. */
int checker_program_names(const char *config, struct buf *ret_names_nul, struct err *err);
/* Says which program is missing here, and which package has it; nothing where none is. */
void checker_program_lacking(const struct checker_program *p, struct buf *out);

/* Whether a code of a repair is listed for this answer, too. */
bool checker_program_has_code(const struct checker_program *p, enum checker_answer answer,
			      int exit_code);
/* Whether what this way to repair calls clean says nothing of the whole disk. */
bool checker_program_is_partial(const struct checker_program *p, int mode);
const struct checker_mode *checker_program_mode(const struct checker_program *p, int mode);
/* changed: the run has changed the disk. A code for repaired that is also one for errors that are
 * left, or for failures, is the latter where nothing was changed. */
enum checker_answer checker_program_answer(const struct checker_program *p, int mode, int exit_code,
					   bool changed);

#endif
