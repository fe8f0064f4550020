/* janitor.h -- a directory of ours that is removed at the latest when we are gone.
 *
 * A separate process waits for the end of the process that made the directory, by close or by
 * death, and then removes it. So nothing is left behind by SIGKILL, and a file system that hangs
 * over the removal hangs the janitor only. */
#ifndef STORAGE_JANITOR_H
#define STORAGE_JANITOR_H

struct err;
struct janitor;

/* Makes a directory ".assay-XXXXXX" in `in`. */
int janitor_open(struct janitor **ret, const char *in, struct err *err);
/* The directory; the descriptor and the path stay the janitor's. */
int janitor_fd(const struct janitor *j);
const char *janitor_path(const struct janitor *j);
/* Removes the directory; gives up on a removal that takes longer than the given time. */
void janitor_close(struct janitor *j, double seconds);

#endif
