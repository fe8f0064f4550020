/* kernels.h -- where the kernels lie that run in a process.
 *
 * They are built by kernel/build into the user's cache, in a directory named after everything
 * that kernel and checker have to agree on: one that does not fit is never found. */
#ifndef TARGET_KERNELS_H
#define TARGET_KERNELS_H

#include <stdbool.h>

struct buf;
struct err;

/* The directory of all kernels; empty if the user has no cache. */
void kernels_directory(struct buf *ret);
/* What names those that fit this program. */
extern const char kernels_fitting[];
/* The version of the kernel of this name; nothing is added where there is none. */
void kernels_version(const char *name, struct buf *ret);
/* How much memory it is to have: "64M". */
void kernels_flavour(const char *name, struct buf *ret); /* "": the usual one */
void kernels_memory(const char *name, struct buf *ret);
/* The kernel of this name ("6.12", "debug"; NULL: the usual one), whether it is there or not. */
void kernels_path(const char *name, struct buf *ret);
/* Fails if it does not exist, or if another user could have made it (trust.h): it is a program that
 * runs with our rights. */
int kernels_check(const char *name, struct err *err);
/* Makes the directory of all kernels, for one to be built there; the same holds of it. */
int kernels_make_directory(const char *path, struct err *err);
/* The table of the points of its code, which only kernels have that report them. */
void kernels_points_path(const char *name, struct buf *ret);
/* Whether a bug of this name was put into it (seeded.h of kernel/driver). */
bool kernels_has_bug(const char *name, const char *bug);
/* The name of the kernel that is built from a source directory: that of the directory, as
 * kernel/build writes it. The path is absolute and has no links. */
void kernels_source_name(const char *directory, struct buf *ret);
/* The name of the same kernel built to report them: "coverage", "6.12-coverage". */
void kernels_coverage_name(const char *name, struct buf *ret);

#endif
