/* crash_report.h -- from a violation to a finding: shrunk, shown again, explained. */
#ifndef CRASH_CRASH_REPORT_H
#define CRASH_CRASH_REPORT_H

#include "crash/crash.h"
#include "run/run.h"

/* Whether so many calls, carried out again, lead to a violation of this signature: 1, with the case
 * and the violation to be freed; 0; or a negative errno. */
int crash_shows(struct crash_session *s, const struct call *calls, size_t count, size_t setup_count,
		const char *signature, struct crash_case *ret_case, struct crash_violation *ret,
		struct err *err);

/* Whether a finding shows again on this target, which was opened to record: 1, and what is wrong is
 * added to `seen`; 0; or a negative errno. */
int crash_replay(struct target *t, const struct finding *f, struct buf *seen, struct err *err);

/* Makes a finding of what a workload showed, unless the run knows it. */
int crash_report(struct crash_session *s, struct run *run, const struct crash_case *c,
		 const struct crash_violation *v, struct err *err);

/* The same of a case without calls (logged_disk.h). */
int crash_report_log(struct crash_session *s, struct run *run, struct crash_case *c,
		     const struct crash_violation *v, struct err *err);

/* The call that made the promise that is broken, in a line, if there is one. */
void crash_print_promise(const struct broken_promise *b, const struct call *calls, struct buf *out);
/* What reached the disk and what did not, call by call. */
void crash_print_writes(const struct crash_case *c, const struct crash_point *p, struct buf *out);
/* The recovered tree, a line for each name: what a shell can find out on any machine. */
void crash_print_tree(const struct tree *t, struct buf *out);
/* Shell text that compares the file `recovered` with what is there below $root: sets $result to 1
 * if that is the same, else to 0. $work is for its files. */
void crash_print_look(struct buf *out);
/* A script that mounts the crashed disk on a stock kernel and compares. */
void crash_print_script(const struct target *t, const struct crash_violation *v, struct buf *out);
/* The recovered tree, which there is, for a guest that has mounted the disk (assay confirm). */
void crash_print_sums(const struct target *t, const struct crash_violation *v, struct buf *out);

#endif
