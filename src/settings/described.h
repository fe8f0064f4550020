/* described.h -- things that are described in sections of INI files: where they are looked for, and
 * which section is the base of which.
 *
 *	[target.ext4-nojournal]
 *	base = ext4
 *	...
 *
 * Looked for beside the run (assay.ini, or --config), in the user's configuration
 * ($XDG_CONFIG_HOME/assay/FILE), in the system's (/etc/assay/FILE), then among the shipped ones. A
 * base is looked for in the same order; one that has its own name as base means the next one of
 * that name. */
#ifndef SETTINGS_DESCRIBED_H
#define SETTINGS_DESCRIBED_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct err;
struct ini_row;

struct described_text {
	const char *name, *text;
};

struct described_kind {
	const char *prefix; /* of sections: "target." */
	const char *folder; /* of the shipped ones: "targets"; FILE is "targets.ini" */
	const struct described_text *shipped;
	size_t shipped_count;
};

struct described;
int described_read(struct described **ret, const struct described_kind *kind, const char *config,
		   struct err *err);
void described_free(struct described *d);

bool described_has(const struct described *d, const char *name);
/* Calls for every row of the section and, before them, of its bases, but not for `base` itself.
 * An error of a row is set with its file and line. -ENOENT: there is no such section. */
int described_apply(const struct described *d, const char *name,
		    int (*row)(void *own, const struct ini_row *row, bool shipped, struct err *err),
		    void *own, struct err *err);
/* Adds the names, each with a NUL behind it, in the order of the search. */
void described_names(const struct described *d, struct buf *ret_names_nul);
/* The file that has the section, which is there. */
const char *described_path(const struct described *d, const char *name);

#endif
