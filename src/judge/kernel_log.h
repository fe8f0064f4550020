/* kernel_log.h -- what the running kernel complains of during a run.
 *
 * Read from /dev/kmsg, from where it ends when it is opened. Whoever may not read it hears nothing;
 * a process that may read it sees the whole machine (attribution.h says what of it is ours). */
#ifndef JUDGE_KERNEL_LOG_H
#define JUDGE_KERNEL_LOG_H

#include <stdbool.h>

#include "base/buf.h"

enum kernel_alarm {
	ALARM_NONE,
	ALARM_LEAK,
	ALARM_WARNING,
	ALARM_CORRUPTION, /* a file system says that it is damaged */
	ALARM_HUNG_TASK,
	/* After these the kernel is not to be trusted any more. */
	ALARM_LOCKUP,
	ALARM_BUG,
	ALARM_OOPS,
	KERNEL_ALARMS
};
extern const char *const kernel_alarm_names[KERNEL_ALARMS]; /* "none", "warning", ... */

/* Where a complaint comes from, as far as it can be compared: "fs/xfs/xfs_inode.c:123". */
enum { KERNEL_PLACE_MAX = 128, CALLER_MAX = 24 };

struct kernel_log {
	int fd;            /* -1: it cannot be read */
	struct buf rest;   /* read, and not taken yet */
	struct buf others; /* said by others while a complaint is read */
	/* The complaint that is being read, or was read last. */
	enum kernel_alarm alarm;
	char place[KERNEL_PLACE_MAX];
	struct buf text; /* all of it */
	unsigned lines;
	bool named; /* it has named its process: what begins now is another complaint */
	char caller[CALLER_MAX]; /* who logs it, where the kernel says so; other callers' lines are
				  * not part of it */
};

/* From now on; `path` is /dev/kmsg, or a file of the same form. */
void kernel_log_open(struct kernel_log *k, const char *path);
void kernel_log_close(struct kernel_log *k);
/* The next complaint since it was opened or last asked, ALARM_NONE if there is none. What it is
 * about is in *k until the next call. */
enum kernel_alarm kernel_log_next(struct kernel_log *k);
/* The first complaint in a text of several lines, as a console has them, and its place. */
enum kernel_alarm kernel_log_first(const char *log, char ret_place[KERNEL_PLACE_MAX]);
/* Whether the kernel is not to be trusted after this. */
bool kernel_alarm_is_damage(enum kernel_alarm alarm);

#endif
