/* suite.h -- the scripts of a run: made from families, or read from files.
 *
 * A script is a few calls behind a set-up that it shares with others. Set-ups are distinguished by
 * their text; their first calls may make processes, which stay while set-ups with the same
 * processes follow one another. Building a suite is deterministic: a number names a script. */
#ifndef SUITE_SUITE_H
#define SUITE_SUITE_H

#include "base/map.h"
#include "suite/family.h"
#include "target/target.h"
#include "trace/script.h"

enum { SUITE_CALLS_MAX = 1024 };

struct setup {
	const char *text;
	const struct call *calls;
	unsigned count;
	unsigned tasks; /* calls at its beginning that make processes and groups */
	bool opens;     /* it leaves something open */
	bool cold;      /* it empties caches, which a look at the tree would fill again */
};

struct suite_script {
	const struct family *family; /* NULL: from a file */
	struct combination combination;
	const char *file; /* the name of one from a file */
	const struct call *calls;
	unsigned count;
	unsigned setup;
	unsigned needs;   /* of a target: enum target_cap */
	bool makes_tasks; /* it makes or ends processes, or changes groups */
	bool races;       /* its processes, all of one user, make their calls at the same time */
};

struct suite {
	struct families families;
	struct setup *setups;
	size_t setup_count;
	struct str_map setup_texts; /* to their numbers */
	struct suite_script *scripts;
	size_t count, cap;
	uint64_t calls; /* of all scripts, without their set-ups */
	struct script parsed;
	struct arena arena;
};

/* Families: the shipped ones, and those of a user's INI file where it is not NULL. */
int suite_open(struct suite *s, const char *families_path, struct err *err);
void suite_free(struct suite *s);

/* Adds the scripts of one family, or with NULL of all but races. */
int suite_add_family(struct suite *s, const char *name, struct err *err);
/* Adds the scripts of all families of races; of those that need schedules, where these are given.
 */
int suite_add_races(struct suite *s, bool scheduled, struct err *err);
/* Adds a script from a file's text; its name is kept. It begins in an empty directory that
 * everyone may write to. */
int suite_add_file(struct suite *s, const char *name, const char *text, size_t len,
		   struct err *err);
/* Adds a race with its own set-up, which is of no family. */
int suite_add_race(struct suite *s, const char *name, const char *setup, const char *calls,
		   struct err *err);
/* Adds the *.trace files of a directory, or of a tar archive, in the order of their names. */
int suite_add_path(struct suite *s, const char *path, struct err *err);
/* Brings scripts with the same set-up together. */
void suite_sort(struct suite *s);
/* Keeps one script in n, evenly spread, from this one on. */
void suite_thin(struct suite *s, size_t n, size_t first);

/* Keeps this script alone. */
void suite_keep(struct suite *s, size_t number);

void suite_name(const struct suite_script *script, struct buf *out);
/* Set-up and calls as one script. */
void suite_print(const struct suite *s, const struct suite_script *script, struct buf *out);
/* The number of the script of that name, or -1. */
long suite_find(const struct suite *s, const char *name);

#endif
