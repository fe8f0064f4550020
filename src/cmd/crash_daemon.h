/* crash_daemon.h -- `assay crash --daemon`: its options, its figures and its summary. */
#ifndef CMD_CRASH_DAEMON_H
#define CMD_CRASH_DAEMON_H

#include "crash/daemon_crash.h"
#include "settings/opt.h"

struct run;

/* In the manual page of the command. */
#define CRASH_DAEMON_TEXT \
	"*--daemon* kills the daemon of a FUSE file system instead, by SIGKILL and with files\n" \
	"open, starts it again with the same command, and compares in the same way. Lost is\n" \
	"then what the daemon held in memory, and pages that the kernel had not sent to it;\n" \
	"the kernel and what lies below the daemon stay alive. fsync, fdatasync, msync and\n" \
	"synchronous writes promise as ever; sync does not, for Linux does not pass it on to\n" \
	"FUSE daemons. What a workload needs is made durable by a remount. For a directory\n" \
	"(dir:PATH, such as a mounted network file system) the key *restart* of its\n" \
	"description is the command that kills its server and starts it again. *--view*,\n" \
	"*--subsets*, *--sector*, *--sanity* and *--during-recovery* mean nothing then.\n"

/* Names of the figures, NULL behind the last. */
extern const char *const crash_daemon_figures[];

/* EXIT_USAGE for a moment that does not exist, or moments without --daemon; else 0. */
int crash_daemon_check_names(bool daemon, const struct opt_list *moments, struct err *err);
/* Whether the target can be killed at these moments; 0 or a negative errno. */
int crash_daemon_check(const struct target *t, const struct opt_list *moments, struct err *err);
/* Bits of enum kill_moment. */
unsigned crash_daemon_moments(const struct opt_list *moments);
void crash_daemon_set_figures(struct run *run, const struct daemon_crash_session *s);
/* The end of the line that sums up. */
void crash_daemon_print(const struct run *run, struct buf *out);

#endif
