/* daemon_report.h -- from what is wrong after a daemon was killed to a finding. */
#ifndef CRASH_DAEMON_REPORT_H
#define CRASH_DAEMON_REPORT_H

#include "crash/daemon_crash.h"
#include "run/run.h"

/* Makes a finding of what a workload showed, unless the run knows it: shown again, shrunk by
 * leaving out calls, with a script that shows it. */
int daemon_crash_report(struct daemon_crash_session *s, struct run *run,
			const struct daemon_crash_case *c, const struct daemon_violation *v,
			struct err *err);

#endif
