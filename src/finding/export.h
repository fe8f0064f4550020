/* export.h -- a finding as a test of another suite.
 *
 * Everything that a test says comes from the folder of the finding. A finding that a suite has no
 * words for is refused with the reason. */
#ifndef FINDING_EXPORT_H
#define FINDING_EXPORT_H

#include <sys/types.h>

#include "base/buf.h"
#include "finding/repro.h"

struct err;

enum { EXPORT_NAME_MAX = 48 };

struct export
{
	const struct finding *finding;
	struct repro program;       /* what its program needs; the text is not there */
	char name[EXPORT_NAME_MAX]; /* of the test: "truncate_data_stale" */
	struct buf fs;              /* the file system in the kernel, "ext4"; empty: none */
	struct buf mkfs;            /* the command that makes it, with {image}; may be empty */
};

/* Where files go; after a failure, nowhere. */
struct export_dir {
	const char *path;
	struct err *err;
	int status;
};

struct export_suite {
	const char *name;
	/* Says why the suite cannot have it; nothing if it can. May be NULL. */
	void (*lacks)(const struct export *x, struct buf *why);
	/* Writes the files, and README, which says how to use them. */
	void (*write)(const struct export *x, struct export_dir *dir);
};

extern const struct export_suite export_xfstests, export_ltp, export_pjdfstest, export_kselftest;

/* NULL if there is none of that name. */
const struct export_suite *export_suite_find(const char *name);
/* "xfstests, ltp, ..." */
void export_suite_names(struct buf *out);

/* Writes the test of a finding (finding_read_whole()) to dir, which is made. -ENOTSUP: this finding
 * cannot be a test of this suite. */
int export_finding(const struct finding *f, const struct export_suite *suite, const char *dir,
		   struct err *err);

/* For the suites. Writes a file, parents included, with this mode, and frees the text. */
void export_file(struct export_dir *dir, struct buf *text, mode_t mode, const char *path, ...)
	__attribute__((format(printf, 4, 5)));
/* What the finding is, as lines of a comment: title, steps, expected, actual, where found. */
void export_story(const struct export *x, const char *prefix, struct buf *out);
/* The title as a C string. */
void export_title_c(const struct export *x, struct buf *out);
/* The base call of the last call that is one of a program: "truncate". */
const char *export_call(const struct export *x);
/* Whether it is unmounted on the way. */
bool export_remounts(const struct export *x);

#endif
